/* fetch.h - one HTTP exchange as a leaf operation. May call base and web/url;
 * the only users of libcurl are fetch*.c and pump*.c behind this header. */
#ifndef COS_WEB_FETCH_H
#define COS_WEB_FETCH_H

#include "base/op.h"
#include "base/page.h"
#include "web/request.h"

/* A fetch of req->url into a page of its own. Everything is copied. */
struct cos_op *cos__fetch_op(const struct cos_request *req);
/* The same into the caller's page (its url is fetched, req->url is not looked
 * at), which must stay until the operation is done and is not touched after. */
struct cos_op *cos__fetch_into_op(struct cos_page *page, const struct cos_request *req);
/* The page of a fetch that is done; NULL for an operation that is none. */
struct cos_page *cos__fetch_page(struct cos_op *op);
/* Moves it out: the operation does not free it. */
struct cos_page *cos__fetch_take(struct cos_op *op);

/* The engine's settings for this thread, see coscrawl.h. */
struct cos_fetch_setup {
    int connections;      /* open to all hosts together: 256; -1: no limit */
    int host_connections; /* open to one host: no limit */
    int streams;          /* requests at once in one HTTP/2 connection: 100 */
};
int cos_fetch_setup(const struct cos_fetch_setup *setup);

/* The coroutine face, documented in coscrawl.h. */
int cos_fetch(const struct cos_request *req, struct cos_page **out, int64_t deadline);
int cos_fetch_into(struct cos_page *page, const struct cos_request *req, int64_t deadline);

/* Connections and handles of this thread, for tests. */
struct cos__fetch_stats {
    size_t in_flight, idle_handles;
    uint64_t started, sockets, handles;
};
struct cos__fetch_stats cos__fetch_stats(void);

#endif
