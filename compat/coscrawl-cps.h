/* coscrawl-cps.h - the callback face of coscrawl: the same operations in
 * continuation-passing style.
 *
 * cps_x(rt, …, deadline, cb, arg) starts what cos_x(…, deadline) waits for and
 * returns; the result comes to cb, from cps_run(). The laws, for every function
 * here that takes a callback:
 *   - cb runs exactly once, whatever happens, the error first among its
 *     arguments (0 or a negative enum cos_err);
 *   - never before the starting call has returned, not even when the answer is
 *     known at once;
 *   - never inside another callback: a chain of a million steps needs no more
 *     stack than one;
 *   - arguments are copied at the start; what cb gets is lent until it returns,
 *     unless the function says how to take it;
 *   - a cos_ function that would suspend returns COS_ECONTEXT inside a callback.
 *
 * The starting call returns a ticket (> 0) for cps_cancel(), or COS_ENOMEM: then
 * there was not even memory to remember cb, and cb does not run. Every other
 * failure, wrong arguments too, comes to cb. Deadlines are those of coscrawl.h.
 * Nothing here suspends, except cps_run().
 *
 * A runtime belongs to the thread that opened it. */
#ifndef COSCRAWL_CPS_H
#define COSCRAWL_CPS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "coscrawl.h"

struct cps_rt;

/* What a callback without a result looks like. */
typedef void cps_cb(int err, void *arg);

/* --- the runtime ----------------------------------------------------------------- */

/* A runtime of this thread into *out (cps_close). COS_ENOMEM. */
int cps_open(struct cps_rt **out);
/* Ends it. COS_EBUSY and no effect while anything is pending. NULL is fine. */
int cps_close(struct cps_rt *rt);

/* Runs callbacks until nothing is pending: no operation, no deferred or
 * immediate callback. Suspends the calling coroutine while it waits, so other
 * coroutines of the thread go on. 0; COS_ECANCELED when the coroutine is closed
 * (what is pending stays, and a later cps_run goes on with it); COS_ECONTEXT
 * inside a callback; COS_EBUSY while another cps_run of this thread is at work. */
int cps_run(struct cps_rt *rt);
/* Makes cps_run return 0 as soon as the callback that runs now has returned,
 * or, called from outside, before it runs the next one. */
void cps_stop(struct cps_rt *rt);
/* How much is pending. */
size_t cps_pending(const struct cps_rt *rt);

/* Stops the operation with that ticket: its callback still runs, once and
 * later, with COS_ECANCELED. COS_ENOENT when its callback has run already. */
int cps_cancel(struct cps_rt *rt, int64_t ticket);

/* Runs cb(0, arg) before the next look at descriptors; callbacks deferred by it
 * come before that look, too, so a chain of them starves input and output.
 * 0, or COS_ENOMEM/COS_EFULL (4 million wait already) and cb does not run. */
int cps_defer(struct cps_rt *rt, cps_cb *cb, void *arg);
/* Runs cb(0, arg) after one look at descriptors: for long work cut in pieces.
 * Errors as cps_defer. */
int cps_immediate(struct cps_rt *rt, cps_cb *cb, void *arg);

/* --- time ------------------------------------------------------------------------ */

/* Calls cb at the deadline, with 0. */
int64_t cps_sleep(struct cps_rt *rt, int64_t deadline, cps_cb *cb, void *arg);

/* --- fetch ------------------------------------------------------------------------ */

/* page is lent: cos_page_take(page) moves what it holds to a page of the
 * callback's own. It is there after an error too, saying as much as is known,
 * but may be NULL then. */
typedef void cps_fetch_cb(int err, struct cos_page *page, void *arg);

/* See cos_fetch(). */
int64_t cps_fetch(struct cps_rt *rt, const struct cos_request *req, int64_t deadline,
                  cps_fetch_cb *cb, void *arg);
/* See cos_fetch_into(): page is the caller's and must stay until cb runs. */
int64_t cps_fetch_into(struct cps_rt *rt, struct cos_page *page, const struct cos_request *req,
                       int64_t deadline, cps_fetch_cb *cb, void *arg);

/* See cos_cookies_load(). */
int64_t cps_cookies_load(struct cps_rt *rt, const char *path, int64_t deadline, cps_cb *cb,
                         void *arg);
/* See cos_cookies_save(). What is in the jar now is written. */
int64_t cps_cookies_save(struct cps_rt *rt, const char *path, int64_t deadline, cps_cb *cb,
                         void *arg);

/* --- reading pages ---------------------------------------------------------------- */

/* See cos_read_links(): page is the caller's and must stay until cb runs. */
int64_t cps_read_links(struct cps_rt *rt, struct cos_page *page, int64_t deadline, cps_cb *cb,
                       void *arg);

/* --- files and threads ---------------------------------------------------------- */

/* The file is lent in data: cos_buf_take(data, &len) keeps it. NULL on error. */
typedef void cps_file_read_cb(int err, struct cos_buf *data, void *arg);
/* The entries are lent; NULL on error. Moving *dir out and zeroing it keeps them. */
typedef void cps_list_dir_cb(int err, struct cos_dir *dir, void *arg);
/* NULL on error. */
typedef void cps_stat_cb(int err, const struct cos_stat *stat, void *arg);
/* data is the callback's again; NULL when drop has it or will get it. */
typedef void cps_offload_cb(int err, void *data, void *arg);

/* See cos_file_read(); max is the ceiling. */
int64_t cps_file_read(struct cps_rt *rt, const char *path, size_t max, int64_t deadline,
                      cps_file_read_cb *cb, void *arg);
/* See cos_file_write(). */
int64_t cps_file_write(struct cps_rt *rt, const char *path, const void *data, size_t len,
                       unsigned flags, int64_t deadline, cps_cb *cb, void *arg);
/* See cos_file_remove(). */
int64_t cps_file_remove(struct cps_rt *rt, const char *path, int64_t deadline, cps_cb *cb,
                        void *arg);
/* See cos_mkdir_p(). */
int64_t cps_mkdir_p(struct cps_rt *rt, const char *path, int64_t deadline, cps_cb *cb, void *arg);
/* See cos_list_dir(). */
int64_t cps_list_dir(struct cps_rt *rt, const char *path, int64_t deadline, cps_list_dir_cb *cb,
                     void *arg);
/* See cos_stat(). */
int64_t cps_stat(struct cps_rt *rt, const char *path, int64_t deadline, cps_stat_cb *cb,
                 void *arg);
/* See cos_offload(). Out of memory, drop gets data before this returns. */
int64_t cps_offload(struct cps_rt *rt, int (*work)(void *data), void *data,
                    void (*drop)(void *data), int64_t deadline, cps_offload_cb *cb, void *arg);

/* --- control flow ----------------------------------------------------------------- */

#include "cps_flow.h"
#include "cps_shared.h"

/* --- names ------------------------------------------------------------------------ */

/* addrs is lent; NULL on error. */
typedef void cps_resolve_cb(int err, const struct cos_addrs *addrs, void *arg);
/* See cos_resolve(). */
int64_t cps_resolve(struct cps_rt *rt, const char *host, int family, int64_t deadline,
                    cps_resolve_cb *cb, void *arg);

/* --- worker processes -------------------------------------------------------------- */

/* worker is the callback's to release (cos_pool_release); NULL on error. */
typedef void cps_pool_acquire_cb(int err, struct cos_worker *worker, void *arg);
/* message is lent; cos_buf_take(&message->data, …) keeps its data. After an error
 * it says why, or is NULL. */
typedef void cps_message_cb(int err, struct cos_message *message, void *arg);

/* See cos_pool_acquire(). */
int64_t cps_pool_acquire(struct cps_rt *rt, struct cos_pool *pool, int64_t deadline,
                         cps_pool_acquire_cb *cb, void *arg);
/* See cos_worker_send(). */
int64_t cps_worker_send(struct cps_rt *rt, struct cos_worker *worker, const char *event,
                        const void *data, size_t len, int64_t deadline, cps_cb *cb, void *arg);
/* See cos_worker_recv(). */
int64_t cps_worker_recv(struct cps_rt *rt, struct cos_worker *worker, int64_t deadline,
                        cps_message_cb *cb, void *arg);
/* See cos_pool_job(). each is called from cps_run(), before cb. */
int64_t cps_pool_job(struct cps_rt *rt, struct cos_pool *pool, const char *event, const void *data,
                     size_t len, cos_message_fn *each, void *each_arg, int64_t deadline,
                     cps_message_cb *cb, void *arg);

/* --- a whole crawl ------------------------------------------------------------------- */

/* result is lent; NULL when the crawl was cancelled or never began. */
typedef void cps_crawl_cb(int err, const struct cos_crawl_result *result, void *arg);
/* See cos_crawl(). options are copied, strings and all; events come from
 * cps_run(), between callbacks, until cb runs. Cancelled or at its deadline it
 * drains unseen, so that the same crawl can be resumed; cps_run() returns
 * without waiting for that, and cos_shutdown() may not be called before. */
int64_t cps_crawl(struct cps_rt *rt, const struct cos_crawl_options *options,
                  const struct cos_crawl_events *events, int64_t deadline, cps_crawl_cb *cb,
                  void *arg);

/* --- tidy --------------------------------------------------------------------------- */

/* tidied is lent; what is moved out of it must be zeroed there. */
typedef void cps_tidy_cb(int err, struct cos_tidied *tidied, void *arg);
/* See cos_tidy(). */
int64_t cps_tidy(struct cps_rt *rt, struct cos_pool *pool, const char *html, size_t len,
                 unsigned what, int64_t deadline, cps_tidy_cb *cb, void *arg);

#ifdef __cplusplus
}
#endif

#include "cps_site.h"

#endif
