/* coscrawl.h - the coroutine face of coscrawl: a crawl engine in blocking style.
 *
 * Every function that waits is called from a libdill coroutine (main is one)
 * and suspends only that coroutine. It takes an int64_t deadline last: absolute
 * milliseconds of libdill's now(); 0 does not wait, a negative one waits for
 * ever. It returns 0 (or a count) or a negative enum cos_err; these can come
 * from any of these functions and are not repeated below:
 *   COS_ETIMEDOUT  the deadline passed; the operation was stopped
 *   COS_ECANCELED  the coroutine is being closed (hclose); it was stopped
 *   COS_ECONTEXT   called inside a callback of the callback face, where nothing
 *                  may suspend; nothing was started
 *   COS_ENOMEM     out of memory
 * Arguments marked const are borrowed until the call returns, also while it is
 * suspended. For each cos_x(…, deadline) here coscrawl-cps.h has a twin
 * cps_x(rt, …, deadline, cb, arg).
 *
 * Engines belong to threads: each thread that calls has its own, made on first
 * use, and objects may not be shared between threads while in use. */
#ifndef COSCRAWL_H
#define COSCRAWL_H

#ifdef __cplusplus
extern "C" {
#endif

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hook.h"
#include "base/page.h"
#include "crawl/options.h"
#include "flow/cache.h"
#include "flow/flow.h"
#include "flow/future.h"
#include "flow/gate.h"
#include "flow/once.h"
#include "flow/queue.h"
#include "store/shared.h"
#include "base/pool.h"
#include "web/names.h"
#include "web/request.h"
#include "web/tidied.h"

/* --- the engine ---------------------------------------------------------------- */

/* Limits of the calling thread's engine; zero is the default of each. */
struct cos_fetch_setup {
    /* Connections open to all hosts together: 256. -1: no limit, and then the
     * process may run out of descriptors (COS_EMFILE). */
    int connections;
    /* Connections open to one host and port: no limit. */
    int host_connections;
    /* Requests at once in one HTTP/2 connection: 100. */
    int streams;
};

/* Sets the limits of this thread's engine. Takes effect at once for new
 * connections. Does not suspend. COS_ENOMEM. */
int cos_fetch_setup(const struct cos_fetch_setup *setup);

/* Ends the calling thread's engine: idle connections are closed, threads and
 * workers are ended, memory is given back. Call it last, when nothing is under
 * way; the next call of any function makes a new engine. Does not suspend.
 * Returns the number of operations that were still under way (0 is right). */
int cos_shutdown(void);

/* --- time ------------------------------------------------------------------------ */

/* Waits until the deadline. Suspends. Returns 0 when the time has come (never
 * COS_ETIMEDOUT: the deadline is what was asked for). */
int cos_sleep(int64_t deadline);

/* --- fetch ------------------------------------------------------------------------ */

/* One HTTP exchange for req->url. Redirects are not followed: page->location
 * has the target, resolved, and cos_request_follow() makes the next request. An
 * HTTP status is data: a 404 returns 0.
 * *out is the caller's in any case (cos_page_free): after an error it says as
 * much as is known (err, why, status, timing, the part of the body that came);
 * NULL when there was not even memory for it or nothing was started. Suspends.
 * Errors: COS_EURL, COS_ESCHEME (http and https only), COS_EINVAL; of names
 * COS_ENXDOMAIN, COS_ENODATA, COS_ESERVFAIL, COS_ENONS; of the way
 * COS_ECONNREFUSED, COS_ECONNRESET, COS_EUNREACH, COS_EMFILE, COS_EPROXY; of TLS
 * COS_ETLS, COS_ECERT, COS_ECERTNAME, COS_ECERTEXPIRED; of the answer
 * COS_EEMPTYREPLY, COS_ETRUNCATED, COS_EPROTO, COS_EENCODING, COS_ETOOBIG,
 * COS_ESLOW; COS_EAUTH, COS_ESEND, and those of files when it spills. */
int cos_fetch(const struct cos_request *req, struct cos_page **out, int64_t deadline);

/* The same into a page that exists: page->url is fetched, req->url is not
 * looked at, and what an earlier fetch left is forgotten. The page stays the
 * caller's and may not be touched until the call returns. Suspends. Errors as
 * cos_fetch, also left in page->err. */
int cos_fetch_into(struct cos_page *page, const struct cos_request *req, int64_t deadline);

/* The request that follows a redirect: a copy of req for page->location, with
 * the method the status asks for and without a body where it changes. Nothing
 * is allocated: next lends from req and page and is good as long as both. What
 * req says about credentials stays with the host it was meant for (origin). Does
 * not suspend. 0; COS_ENOENT when page is no redirect or has no valid target. */
int cos_request_follow(struct cos_request *next, const struct cos_request *req,
                       const struct cos_page *page);

/* Cookies are kept in one jar per thread, for the domains they were set for. */

/* Adds the cookies of a file in Netscape's format, as curl and wget write it.
 * Suspends. Errors of cos_file_read. */
int cos_cookies_load(const char *path, int64_t deadline);
/* Writes the jar, replacing the file. Suspends. Errors of cos_file_write. */
int cos_cookies_save(const char *path, int64_t deadline);

/* --- reading pages -------------------------------------------------------------- */

/* Finds the links, the title and the robots directives of a page that was
 * fetched, or that has a url and a body from elsewhere: page->links, absolute,
 * without fragment, http and https, in document order. Runs on a thread of its
 * own; the page may not be touched until the call returns. Suspends. COS_ETOOBIG
 * or COS_ECHARSET: the page has what was found; COS_EURL. After COS_ECANCELED or
 * COS_ETIMEDOUT the page may be empty. */
int cos_read_links(struct cos_page *page, int64_t deadline);
/* Which parser reads HTML in cos_read_links() on this thread from now on: NULL,
 * the scanner; or a pool of cos_tidy_open(), whose processes build tidy's tree
 * first. Then a page may also fail with the errors of cos_tidy(). The pool stays
 * the caller's: call this with NULL before it is closed. Does not suspend. */
void cos_parser_setup(struct cos_pool *tidy);
/* The URL as it is compared: the WHATWG serialisation without fragment replaces
 * *out. Does not suspend. COS_EURL, COS_ESCHEME, COS_ETOOBIG. */
int cos_url_key(const char *url, struct cos_buf *out);
/* 1 when both are http or https URLs of the same host name. Does not suspend. */
int cos_same_host(const char *a, const char *b);
/* The file a URL is saved as, below the directory of a crawl, replaces *out:
 * two URLs never share one. Does not suspend. Errors as cos_url_key. */
int cos_url_file(const char *url, struct cos_buf *out);

/* --- files and threads ---------------------------------------------------------- */

/* Files are read and written on threads of their own: the loop never waits for
 * a disk. All of these suspend. Beside the errors named: COS_EFULL when too many
 * wait for a thread, and what the file system says (COS_ENOENT, COS_EACCES,
 * COS_ENOTDIR, COS_EISDIR, COS_ENOSPC, COS_EMFILE, COS_EIO …). An operation that
 * has begun when its caller gives up runs to its end unseen. */

/* Reads the whole file; out->max is the ceiling (COS_ETOOBIG). On success out
 * holds the file and nothing else; on failure it is untouched. */
int cos_file_read(const char *path, struct cos_buf *out, int64_t deadline);
/* Replaces the file at once: nobody ever sees a part of it. data is copied.
 * flags: COS_FILE_SYNC, COS_FILE_PARENTS, COS_FILE_PRIVATE. COS_ENOTSUP for a
 * device or a pipe. */
int cos_file_write(const char *path, const void *data, size_t len, unsigned flags,
                   int64_t deadline);
/* Removes a file, a link or an empty directory (COS_EEXIST: not empty). */
int cos_file_remove(const char *path, int64_t deadline);
/* Makes the directory and those above it. 0 when it is there already;
 * COS_ENOTDIR when a file is where a directory must be. */
int cos_mkdir_p(const char *path, int64_t deadline);
/* The entries, sorted; cos_dir_release() frees them. *out is only set on 0. */
int cos_list_dir(const char *path, struct cos_dir *out, int64_t deadline);
/* What kind of file it is, its size and its time; links are followed. *out is
 * only set on 0. */
int cos_stat(const char *path, struct cos_stat *out, int64_t deadline);
/* Runs work(*data) on a thread and returns what it returns. *data belongs to
 * the job meanwhile. Afterwards *data is as it was: the caller has it back; or
 * NULL: the caller gave up while it ran, and drop (may be NULL) gets it when
 * work is through. */
int cos_offload(int (*work)(void *data), void **data, void (*drop)(void *data), int64_t deadline);

/* --- names ------------------------------------------------------------------------ */

/* How this thread's engine finds addresses. What is cached is forgotten. NULL:
 * all defaults. Does not suspend. COS_EINVAL for a server that is no address;
 * COS_EBUSY while a lookup is under way. */
int cos_names_setup(const struct cos_names_setup *setup);
/* The addresses of a host: a name in ASCII, an address, or an IPv6 address in
 * brackets. family: 4, 6 or 0 for both. Answers are cached for their TTL,
 * failures too; who asks for a name that is being looked up shares the answer.
 * Suspends. COS_ENXDOMAIN no such name, COS_ENODATA no address of that family,
 * COS_ESERVFAIL the server failed or refused, COS_ENONS no server answers,
 * COS_EINVAL no name at all, COS_EFULL too many names under way. */
int cos_resolve(const char *host, int family, struct cos_addrs *out, int64_t deadline);

/* --- worker processes -------------------------------------------------------------- */

/* Starts the process that forks workers, unless it runs. Call it first in main,
 * before threads and large memory: workers are copies of what it sees. Opening
 * a pool does it otherwise. Does not suspend. COS_ENOMEM, COS_EMFILE. */
int cos_pool_prepare(void);
/* A pool of worker processes into *out (cos_pool_close). None is started before
 * the first is asked for. Does not suspend. COS_EINVAL, COS_ETOOBIG (arguments),
 * COS_ENOMEM, COS_EMFILE. */
int cos_pool_open(struct cos_pool **out, const struct cos_pool_setup *setup);
/* Kills the workers. Who waits gets COS_ECLOSED; workers that are held must still
 * be released, and answer COS_ECLOSED. Does not suspend. NULL is fine. */
void cos_pool_close(struct cos_pool *pool);

/* A worker for the caller alone: an idle one, or a new one while there are fewer
 * than setup.max, or the first that is released. Suspends. The caller holds
 * *out until cos_pool_release(). COS_ECLOSED; COS_ENOENT, COS_EACCES … when the
 * program cannot be run; COS_EBUSY when the system starts no more processes. */
int cos_pool_acquire(struct cos_pool *pool, struct cos_worker **out, int64_t deadline);
/* Gives it back, to the first who waits or to the idle ones. A worker that is
 * dead or still owes an "end" is replaced. Does not suspend. NULL is fine. */
void cos_pool_release(struct cos_worker *worker);

/* Sends a message to a worker and waits until it is written. Suspends.
 * COS_EINVAL (event), COS_ETOOBIG; COS_ECRASHED, COS_EHUNG, COS_EPROTO, COS_ECLOSED
 * when the worker is gone. */
int cos_worker_send(struct cos_worker *worker, const char *event, const void *data, size_t len,
                    int64_t deadline);
/* The worker's next message; out is zeroed or holds an earlier one, which is
 * released. After an error out->data says why in words, if that is known.
 * Suspends. COS_EBUSY when somebody else receives; errors as cos_worker_send. */
int cos_worker_recv(struct cos_worker *worker, struct cos_message *out, int64_t deadline);
/* The process, for logs and for kill(). */
pid_t cos_worker_pid(const struct cos_worker *worker);
/* What happened to a worker that is gone, in words; "" when it is not. */
const char *cos_worker_why(const struct cos_worker *worker);

/* One job: a worker is acquired, gets the message, and is released when it has
 * answered "end" or "error"; out (may be NULL) is that answer. Messages before
 * it go to each (may be NULL), which may not call the pool. A job whose worker
 * died before it said anything is run again setup.retries times. Suspends.
 * Errors as acquire, send and receive; what the worker gave as its error, or
 * COS_EPARSE when that is no number of ours: out->data has its words. */
int cos_pool_job(struct cos_pool *pool, const char *event, const void *data, size_t len,
                 cos_message_fn *each, void *each_arg, struct cos_message *out, int64_t deadline);

/* What the pool has now and did so far. Does not suspend. */
void cos_pool_stats(const struct cos_pool *pool, struct cos_pool_stats *out);

/* --- tidy --------------------------------------------------------------------------- */

/* A pool of at most max (0: cores) processes that run HTML Tidy, each page within
 * limits of time and memory. Errors as cos_pool_open. Does not suspend. */
int cos_tidy_open(struct cos_pool **out, int max);
/* Repairs, checks or outlines a page in UTF-8; what: COS_TIDY_REPAIR …, or-ed.
 * *out is the caller's in any case (cos_tidied_release); after an error out->why
 * says more. Suspends. COS_ETOOBIG when the page is not fit for tidy (size, open
 * elements, attributes), COS_EHUNG past its time, COS_ECRASHED, COS_EPARSE, and the
 * errors of cos_pool_job. */
int cos_tidy(struct cos_pool *pool, const char *html, size_t len, unsigned what,
             struct cos_tidied *out, int64_t deadline);

#ifdef __cplusplus
}
#endif

#include "base/site.h"

#endif
