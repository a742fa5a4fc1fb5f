/* tidy.h - HTML Tidy at a safe distance: it runs in worker processes with limits
 * of time and memory, since hostile pages crash it and make it run away. */
#ifndef COS_WEB_TIDY_H
#define COS_WEB_TIDY_H

#include "base/op.h"
#include "base/pool.h"
#include "web/links.h"
#include "web/tidied.h"

/* The twin of cos_links_each(): the same findings, from tidy's tree. Offsets are
 * those of the tags, as near as tidy knows; raw and value are the same. Starts a
 * worker and ends it again: for a page now and then. Suspends. 0, what fn
 * returned, and the errors of cos_tidy(). */
int cos_tidy_links(const struct cos_links_in *in, cos_links_fn fn, void *arg);

/* cos_tidy() as an operation; NULL when out of memory. */
struct cos_op *cos__tidy_op(struct cos_pool *pool, const char *html, size_t len, unsigned what);
/* Once it is done: moves what it gave into *out, for an error too (why). Returns
 * the operation's error, or one of reading the answer. */
int cos__tidy_take(struct cos_op *op, struct cos_tidied *out);

/* tidy.c: the worker. */
int cos__tidy_work(struct cos_work *work, const char *event, const char *data, size_t len);
/* tidy_guard.c: 0, or COS_ETOOBIG and what there is too much of. */
int cos__tidy_guard(const char *html, size_t len, const char **why);

/* The answer on the wire: this, then html, outline, marks, messages. */
struct cos__tidy_answer {
    uint32_t html, outline, marks, messages; /* bytes of each */
    uint32_t errors, warnings;
};
/* Each message on the wire: this, then len bytes. */
struct cos__tidy_note {
    uint32_t level, line, column, len;
};

#endif
