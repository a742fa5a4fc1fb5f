/* web.h - the small web that one cell of the benchmark is about: its pages, what
 * they hold and link to, which of them a right spider gets, and what a run did
 * to them. The leaves answer from it. */
#ifndef COS_BENCH_WEB_H
#define COS_BENCH_WEB_H

#include "site/site.h"

#include <coscrawl-cps.h>

enum bench_leaves { BENCH_NULL, BENCH_REPLAY, BENCH_REAL, BENCH_LEAVES };
enum bench_shape {
    BENCH_ONE, /* a single page: hell and discipline */
    BENCH_CHAIN,
    BENCH_TREE,
    BENCH_CROSS,
    BENCH_STAR,
    BENCH_LOST,
    BENCH_ERRORS, /* a tree, 5 % of it broken */
    BENCH_CROWD,  /* few pages, many links between them: only for limits.c */
    BENCH_SHAPES
};

struct bench_page {
    char *url, *file;
    struct cos_buf body;
    int status;   /* 200, 404, 500 */
    int expected; /* a right spider has it at the end */
    /* of the run under way */
    int written, wrong;
    int64_t requests;
    int64_t since; /* when a task began with it; 0: none has */
};

/* What a probing run saw; see probe.c. */
struct bench_probe {
    int on;
    const char *base; /* of the stack that the run began on */
    int64_t before, memory, stack;
    int64_t next; /* so many tasks are worth a look */
    int fds;
    unsigned steps;
};

struct bench_web {
    enum bench_leaves leaves;
    int nesting;
    struct cos__site site;
    struct bench_page *pages;
    size_t count;
    struct bench_page **by_url, **by_file; /* tables of 4 × count and more places */
    size_t mask;
    /* of the run under way */
    int64_t steps, in_flight, peak;
    int64_t *times; /* ns of each fetch; real only */
    size_t ntimes;
    int64_t *tasks; /* ns of each page, from the first look to its report */
    size_t ntasks;
    int64_t callbacks; /* leaves whose callback came twice */
    int clocked;       /* tasks are timed */
    struct bench_probe probe;
};

enum { BENCH_TIMES_MAX = 65536 };

/* The site's options of a shape, and how deep its links are followed. */
void bench_shape_options(enum bench_shape shape, struct cos_site_options *out, int *nesting);
/* origin without a slash at its end. 0 or a negative error. */
int bench_web_init(struct bench_web *web, enum bench_leaves leaves, enum bench_shape shape,
                   const char *origin, const char *dir);
void bench_web_release(struct bench_web *web);
/* Forgets what a run did. */
void bench_web_clear(struct bench_web *web);
/* NULL when it is none of ours. */
struct bench_page *bench_web_url(const struct bench_web *web, const char *url);
struct bench_page *bench_web_file(const struct bench_web *web, const char *path);

/* --- what a leaf does, whatever its face ---------------------------------------- */

/* The web that the leaves answer from. */
extern struct bench_web *bench_web;

/* Around every leaf. */
void bench_step_begin(void);
void bench_step_end(void);
/* Of a task: its first look at the page of a file, and its end. */
void bench_task_begin(const char *path);
void bench_task_end(const char *url);
struct bench_page *bench_asked(const char *url);
void bench_took(int64_t since_ns);
int64_t bench_clock(void);
/* A page as the network would give it; NULL when out of memory. */
struct cos_page *bench_answer(const struct bench_page *page, const char *url);
int bench_saved(const struct bench_page *page, struct cos_buf *out);
void bench_save(struct bench_page *page, const void *data, size_t len);
int bench_links(struct cos_page *page);

/* --- probe.c --------------------------------------------------------------------- */

void bench_probe_begin(struct bench_probe *probe);
/* tasks: steps in flight. */
void bench_probe_step(struct bench_probe *probe, int64_t tasks);
/* The worst delay of a timer on this thread's loop, ns. */
void bench_lag_begin(void);
int64_t bench_lag_end(void);

#endif
