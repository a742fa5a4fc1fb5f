/* coscrawl.h - the coroutine face of coscrawl: a crawl engine in blocking style.
 *
 * Every function that waits is called from a libdill coroutine (main is one)
 * and suspends only that coroutine. It takes an int64_t deadline last: absolute
 * milliseconds of libdill's now(); 0 does not wait, a negative one waits for
 * ever. It returns 0 (or a count) or a negative enum cos_err; two of them can
 * come from any of these functions and are not repeated below:
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
#include "base/page.h"
#include "web/request.h"

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

#ifdef __cplusplus
}
#endif

#endif
