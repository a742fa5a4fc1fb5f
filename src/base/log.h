/* log.h - what happens, in lines, on stderr or into a file. Every line is
 * escaped: control characters, broken UTF-8 and marks that turn text around
 * appear as \x1b or \u{202e}, because much of what is logged comes from the
 * network. One message is one line; safe from any thread; does not suspend. */
#ifndef COS_BASE_LOG_H
#define COS_BASE_LOG_H

#include "base/buf.h"

#include <stddef.h>

/* What a message is. */
enum cos_log_kind {
    COS_LOG_ERROR,   /* shown at every level */
    COS_LOG_WARN,    /* shown from normal on */
    COS_LOG_INFO,    /* shown from normal on */
    COS_LOG_DETAIL,  /* shown from verbose on */
    COS_LOG_DEBUG,
};

/* How much is shown. */
enum cos_log_level {
    COS_LOG_QUIET,
    COS_LOG_NORMAL,
    COS_LOG_VERBOSE,
    COS_LOG_ALL, /* debug */
};

enum { COS_LOG_LINE_MAX = 8192 };

void cos_log_level(enum cos_log_level level);
/* Whether a message of that kind would be shown: ask before costly work. */
int cos_log_shows(enum cos_log_kind kind);
/* Colours by kind; off unless switched on. The caller knows NO_COLOR. */
void cos_log_colour(int on);
/* Appends to this file from now on, each line with the time; NULL: back to
 * stderr. 0 or a negative error, and the log stays where it was. */
int cos_log_open(const char *path);
/* Hands each finished line (with its newline) to fn instead, under the log's
 * lock: do not log in it. NULL: back to stderr or the file. */
void cos_log_sink(void (*fn)(void *arg, const char *line, size_t len), void *arg);

/* A line longer than COS_LOG_LINE_MAX ends in "…". errno stays as it was. */
void cos_log(enum cos_log_kind kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends s[0..len) as the log would show it. COS_ETOOBIG: only what fits. */
int cos_log_escape(struct cos_buf *out, const char *s, size_t len);

#endif
