/* fetch.h - one HTTP exchange as a leaf operation. May call base and web/url;
 * the only users of libcurl are fetch*.c and pump*.c behind this header. */
#ifndef COS_WEB_FETCH_H
#define COS_WEB_FETCH_H

#include "base/op.h"
#include "base/page.h"
#include "coscrawl.h"
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

/* Fills the page from the head of an answer that was kept, from the status line
 * on, as if it had just come. COS_EPROTO when it is none, COS_ENOMEM. */
int cos__fetch_told(struct cos_page *page, const char *head, size_t len);

/* The coroutine face (cos_fetch …) and cos_fetch_setup are in coscrawl.h. */

/* Connections and handles of this thread, for tests. */
struct cos__fetch_stats {
    size_t in_flight, idle_handles;
    uint64_t started, sockets, handles;
};
struct cos__fetch_stats cos__fetch_stats(void);

#endif
