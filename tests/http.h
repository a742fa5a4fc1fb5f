/* http.h - a web server for tests: it answers from a table of pages, keeps a
 * log of every request with its headers, time and the requests beside it, and
 * can be slow, fail, ask for a password, act as a proxy. Threads; loopback. */
#ifndef COS_TESTS_HTTP_H
#define COS_TESTS_HTTP_H

#include <stddef.h>
#include <stdint.h>

enum { HTTP_HITS = 4096 };

struct http_page {
    const char *path;    /* with query; "*" answers everything else */
    int status;          /* 0: 200 */
    const char *head;    /* more header lines, each with \r\n, or NULL */
    const char *body;    /* or NULL */
    size_t len;          /* of body; 0: strlen */
    int delay_ms;        /* before the answer */
    int fail_first;      /* the first n requests get status 503 */
    int hang;            /* never answers */
    int drip_ms;         /* between pieces of 1000 bytes */
    const char *auth;    /* "Basic …" that is wanted, else 401 */
};

struct http_hit {
    char method[16];
    char target[512];    /* as sent: absolute for a proxy */
    char path[512];      /* without scheme and host */
    char head[2048];     /* header lines */
    char host[128];
    int64_t ms;          /* since http_start */
    int in_flight;       /* requests running when it came, itself included */
};

struct http_server {
    int port;
    int fd;
    const struct http_page *pages; /* ends with a NULL path; change with http_serve */
    struct http_hit *hits;
    size_t nhits;
    int peak;
    struct http_inner *inner;
};

/* family AF_INET or AF_INET6; 0 or -1. Lives until the process ends. */
int http_start(struct http_server *server, int family);
/* Other pages, and an empty log. */
void http_serve(struct http_server *server, const struct http_page *pages);
/* Call when the client has ended, before looking at hits: all that was logged is
 * seen from here on. */
void http_settle(struct http_server *server);
/* How often the path was asked for. */
int http_count(struct http_server *server, const char *path);
/* All requests but robots.txt. */
int http_requests(struct http_server *server);
/* The first request for path, or NULL. */
const struct http_hit *http_find(struct http_server *server, const char *path);
/* The header's value in a request, copied into out ("" when absent). */
const char *http_header(const struct http_hit *hit, const char *name, char *out, size_t len);

#endif
