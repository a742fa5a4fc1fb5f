/* ui.h - what a person sees while a crawl runs: messages on stderr and in the
 * log file, and the status lines below them on a terminal. One struct, because
 * a message has to take the status lines away and put them back. */
#ifndef COS_TOOL_UI_H
#define COS_TOOL_UI_H

#include "base/buf.h"
#include "crawl/options.h"
#include "tool/options.h"

#include <pthread.h>
#include <stdio.h>

enum {
    UI_SAMPLES = 50,        /* of the rate: 5 s at ten ticks a second */
    UI_FAILURES = 20,       /* failures shown before -v is needed */
    UI_PLAIN_MS = 3000,     /* between two plain lines */
    UI_STATUS_MAX = 4096,
};

struct ui_sample {
    int64_t ms;
    int64_t done;
    int64_t bytes;
};

struct tool_ui {
    pthread_mutex_t lock;  /* other threads log too: one line at a time */
    int loud;
    int color;
    int progress;          /* enum tool_progress, AUTO already decided */
    int utf8;              /* the terminal shows more than ASCII */
    FILE *log;             /* or NULL */
    struct cos_buf status; /* as drawn, without the moves */
    int lines;             /* of status on the terminal now */
    int64_t last_plain;    /* elapsed ms at the last plain line */
    struct ui_sample samples[UI_SAMPLES];
    size_t nsamples;       /* ever taken */
    int64_t failures;      /* shown so far */
};

/* 0, or a negative error when the log file cannot be opened. */
int ui_init(struct tool_ui *ui, const struct tool_options *options);
/* Takes the status lines away and closes the log. A zeroed struct is fine. */
void ui_release(struct tool_ui *ui);

/* One message; level is enum cos_crawl_level. Cleaned, and without newline. */
void ui_say(struct tool_ui *ui, int level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A line for the terminal as it is (already safe), and for the log. */
void ui_line(struct tool_ui *ui, int level, const char *text);
/* The escape that starts a colour ("31"), or "" without colours. */
const char *ui_color(const struct tool_ui *ui, const char *code);

/* Called on every tick: draws what --progress asks for. */
void ui_progress(struct tool_ui *ui, const struct cos_crawl_stats *stats);
/* Sends the log file on its way. */
void ui_flush(struct tool_ui *ui);
/* Removes the status lines, for good or before foreign output. */
void ui_erase(struct tool_ui *ui);
/* The same for a caller that holds the lock. */
void ui__erase(struct tool_ui *ui);
/* Per second over the last moments. */
void ui_rates(const struct tool_ui *ui, double *pages, double *bytes);
/* SIGUSR1: a block of statistics, shown even with -q. */
void ui_statistics(struct tool_ui *ui, const struct cos_crawl_stats *stats);

/* The closing words (summary.c). */
void ui_summary(struct tool_ui *ui, const struct tool_options *options,
                const struct cos_crawl_result *result);

#endif
