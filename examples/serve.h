/* serve.h - what the example servers share: a server on loopback until SIGINT or
 * SIGTERM, on the small HTTP server of `coscrawl site`. A handler is a coroutine
 * of its connection; on the callback face it starts operations of serve->rt, whose
 * callbacks run in one coroutine beside the connections, and waits for a future
 * that the last callback sets. */
#ifndef COS_EXAMPLES_SERVE_H
#define COS_EXAMPLES_SERVE_H

#include "example.h"
#include "site/http.h"

#include <coscrawl-cps.h>

struct serve {
    const struct example *example;
    int64_t port; /* 0: any */
    int (*handle)(struct cos_http_conn *conn, const struct cos_http_req *req, void *arg);
    void *arg;
    /* Starts what runs beside the connections; returns 0 or an error. May be NULL.
     * Coroutines go into the bundle beside: they are closed with the connections. */
    int (*begin)(struct serve *serve, void *arg);
    int beside;
    /* Cancels callbacks that would come too late, once the connections are closed:
     * the server ends when none is pending. May be NULL. */
    void (*end)(struct serve *serve, void *arg);
    struct cps_rt *rt; /* callback face only */
};

/* Serves; its URL is the first line of standard output. Returns the exit code. */
int serve_run(struct serve *serve);

/* A text as the whole answer. */
int serve_text(struct cos_http_conn *conn, const struct cos_http_req *req, int status,
               const char *text);
/* The value of a name in the query, percent-decoded, replaces *out; def when it is
 * not there. */
int serve_query(const struct cos_http_req *req, const char *name, const char *def,
                struct cos_buf *out);

/* --- from callbacks to the coroutine of a connection ---------------------------------------- */

/* A future for the caller and for serve_done, each with its own reference: the
 * caller may be closed before the callback comes. NULL when out of memory. */
struct cos_future *serve_future(void);
/* A callback that sets such a future. */
void serve_done(int err, void *future);
/* Waits for it and gives the caller's reference back. ticket is what starting
 * returned: when that failed serve_done will not come. */
int serve_await(struct cos_future *future, int64_t ticket);

#endif
