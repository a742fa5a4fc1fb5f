/* http.h - a small HTTP/1.1 server for sites on loopback: one coroutine per
 * connection, a handler per server. Bounded in connections, request size and
 * time; a client that vanishes costs its connection and nothing else.
 *
 *     struct cos_http_server server = {.handle = my_handler, .arg = &mine};
 *     cos_http_listen(&server, "127.0.0.1", 0);
 *     dill_bundle_go(b, cos_http_serve(&server));   until cancelled
 *     …
 *     dill_hclose(b);
 *     cos_http_release(&server);
 *
 * Whatever sends or waits here suspends. */
#ifndef COS_SITE_HTTP_H
#define COS_SITE_HTTP_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { COS_HTTP_HEAD_MAX = 64 * 1024, COS_HTTP_BODY_MAX = 1024 * 1024 };

/* A request, good until the handler returns. */
struct cos_http_req {
    const char *method;
    const char *target;  /* as sent: path, and query after '?' */
    size_t path_len;     /* of the path in target */
    const char *query;   /* behind the '?', "" when there is none */
    const char *headers; /* "Name: value" lines; not terminated */
    size_t headers_len;
    const char *body;
    size_t body_len;
    int minor;           /* HTTP/1.minor */
    int is_head;
};

struct cos_http_conn {
    int fd;
    int keep;            /* more requests may follow; clear it to close after this one */
    int dropped;         /* close at once, nothing more to say */
    int chunked;         /* the answer under way is */
    int mark;            /* for the handler, 0 at first */
    struct cos_buf in;
    size_t used;         /* bytes of in that belong to the request being handled */
    struct cos_buf out;
    struct cos_buf page; /* for the handler: room to build a body in */
    struct cos__hook *hook;
    struct cos_http_server *server;
};

struct cos_http_server {
    /* set by the caller; 0 means default */
    int (*handle)(struct cos_http_conn *conn, const struct cos_http_req *req, void *arg);
    void *arg;
    int max_connections; /* 1000; more are reset */
    int idle_ms;         /* 60,000: how long a connection may do nothing */
    int send_ms;         /* 60,000: how long a client may take nothing */
    /* state */
    int fd, guard;       /* the listener, and a socket that keeps its port; 0: none */
    int port;
    int open, peak;      /* connections */
    int64_t refused;
    int64_t refuse_until;
    struct cos__hook *hook;
};

/* Binds and listens; port 0 takes a free one and server->port says which. 0 or
 * a negative error. */
int cos_http_listen(struct cos_http_server *server, const char *address, int port);
/* Accepts until it is cancelled; then every connection ends too. */
void cos_http_serve(struct cos_http_server *server);
/* No connection is accepted for so long: the kernel answers "refused". */
void cos_http_refuse(struct cos_http_server *server, int64_t ms);
void cos_http_release(struct cos_http_server *server);

/* The value of a header, not terminated, trimmed; NULL when there is none. */
const char *cos_http_header(const struct cos_http_req *req, const char *name, size_t *len);
int cos_http_is(const struct cos_http_req *req, const char *path);
/* A number from the query (ms=100), or the default; kept between min and max. */
int64_t cos_http_number(const struct cos_http_req *req, const char *name, int64_t def, int64_t min,
                        int64_t max);

/* An answer. Zero means: 200, text/html in UTF-8, no more headers, no body. */
struct cos_http_reply {
    int status;
    const char *type;    /* Content-Type; "" sends none */
    const char *headers; /* more lines, each with its \r\n */
    const void *body;
    size_t len;
    const char *etag;    /* with its quotes; makes the answer conditional */
    time_t modified;     /* likewise */
    int ranges;          /* a part may be asked for */
};

/* A handler answers with one of these and returns what it returned: 0, or a
 * negative error that ends the connection. HEAD, 304 and ranges are taken care
 * of. */
int cos_http_reply(struct cos_http_conn *conn, const struct cos_http_req *req,
                   const struct cos_http_reply *reply);
/* An answer in pieces: start, then chunks (an empty one is none), then end. */
int cos_http_start(struct cos_http_conn *conn, const struct cos_http_req *req,
                   const struct cos_http_reply *reply);
int cos_http_chunk(struct cos_http_conn *conn, const void *data, size_t len);
int cos_http_end(struct cos_http_conn *conn);
/* Bytes as they are, for answers that break the rules. */
int cos_http_raw(struct cos_http_conn *conn, const void *data, size_t len);
/* Waits until the client leaves (COS_ECLOSED) or ms have passed (0). */
int cos_http_linger(struct cos_http_conn *conn, int64_t ms);
/* The connection ends in a TCP reset when the handler returns. */
int cos_http_reset(struct cos_http_conn *conn);
/* Suspends for ms; 0, or a negative error when cancelled. */
int cos_http_sleep(int64_t ms);

/* "Sun, 06 Nov 1994 08:49:37 GMT" and back; -1 when it is no date. */
void cos_http_date(char out[32], time_t when);
time_t cos_http_parse_date(const char *s, size_t len);

/* Shared by the files behind this header. */
int cos__http_read(struct cos_http_conn *conn, struct cos_http_req *req);
int cos__http_fill(struct cos_http_conn *conn, int64_t deadline);
void cos__http_bye(struct cos_http_conn *conn);

#endif
