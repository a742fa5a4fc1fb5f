/* request.h - what a fetch is asked for. A zeroed struct with a url is a plain
 * GET with the defaults named beside each field. Everything is borrowed until
 * the starting call returns. Durations are milliseconds, sizes bytes. Where a
 * default is not "none", -1 means none. */
#ifndef COS_WEB_REQUEST_H
#define COS_WEB_REQUEST_H

#include <stddef.h>
#include <stdint.h>

/* Which ways to prove oneself the server may choose from. */
enum cos_auth {
    COS_AUTH_BASIC = 0, /* sent at once */
    COS_AUTH_ANY,       /* asked first: Basic, Digest, NTLM, Negotiate */
    COS_AUTH_DIGEST,
    COS_AUTH_BEARER,    /* password is the token */
};

struct cos_request {
    const char *url;    /* absolute, http or https */

    /* what is asked */
    const char *method;         /* NULL: GET, or POST when there is a body */
    const void *body;           /* sent with it; copied */
    size_t body_len;
    const char *const *headers; /* "Name: value", ends with NULL; "Name:" removes one of ours */
    const char *agent;          /* NULL: "coscrawl/VERSION"; "" sends none */
    const char *referer;
    const char *range;          /* "0-499", "500-" */
    const char *etag;           /* If-None-Match: as the server sent it */
    const char *modified;       /* If-Modified-Since: as the server sent it */
    const char *encodings;      /* "gzip,br" …; NULL: all that are built in; "" none */

    /* who asks */
    const char *user;           /* NULL: none, or what the URL says */
    const char *password;
    int auth;                   /* enum cos_auth */
    const char *netrc;          /* text of a .netrc file (not its name); used when user is NULL */
    const char *origin;         /* URL that user, password and the headers Authorization and Cookie
                                 * are meant for: another host does not get them. NULL: url */
    int no_cookies;             /* 1: neither send nor keep cookies */

    /* the way there */
    const char *proxy;          /* URL; NULL: from the environment; "" none */
    const char *no_proxy;       /* hosts reached directly, "a,b"; NULL: from the environment */
    const char *proxy_user;     /* "name:password" */
    const char *const *resolve; /* "HOST:PORT:ADDRESS[,ADDRESS]", ends with NULL; "*" is any HOST
                                 * or PORT; the first that fits counts */
    const char *from;           /* local address or interface to leave from */
    int ip;                     /* 4 or 6: only that family */
    int http;                   /* 1: HTTP/1.1 only; 0: HTTP/2 where TLS offers it */

    /* trust */
    const char *ca_file;        /* PEM; NULL: the system's */
    const char *cert, *key;     /* client certificate and key, PEM files */
    int insecure;               /* 1: certificates are not checked */

    /* patience */
    int64_t connect_ms;         /* until connected, TLS included: 10000 */
    int64_t total_ms;           /* all of it: none (the call's deadline holds too) */
    int64_t idle_ms;            /* without a byte in either direction: 30000 */
    int64_t min_speed;          /* bytes a second, averaged over min_speed_s: none */
    int64_t min_speed_s;        /* seconds: 30 */
    int64_t max_speed;          /* bytes a second received, on average: none */

    int keep_wire;              /* 1: the page keeps the bytes of the exchange (base/wire.h) */

    /* ceilings; beyond them the fetch fails with COS_ETOOBIG */
    int64_t max_body;           /* decoded bytes: 64 MiB in memory, no limit when spilled */
    int64_t max_inflated;       /* decoded bytes of a compressed body: 64 MiB */
    const char *spill_dir;      /* where a body too large for memory goes; NULL: memory only */
    int64_t spill_at;           /* bytes kept in memory before it spills: 1 MiB */
};

#endif
