/* fetch_host.h - what a fetch needs to know of a URL's host before curl has
 * parsed it: whom to look up, and whether credentials may go there. Pure
 * functions; may call web/url. */
#ifndef COS_WEB_FETCH_HOST_H
#define COS_WEB_FETCH_HOST_H

#include "base/buf.h"

#include <stddef.h>

struct cos__host {
    const char *name; /* points into the URL; an IPv6 address with its brackets */
    size_t len;
    int port;         /* effective */
    int https;
    int literal;      /* an address, nothing to look up */
    int plain;        /* in normal form as far as one look tells: curl gets it as it stands */
};

/* 0; COS_EURL; COS_ESCHEME for anything but http and https. */
int cos__host_of(const char *url, struct cos__host *out);
/* Whether what was meant for the one URL may be sent to the other: same host,
 * and the same scheme and port or the step from plain http to https. */
int cos__host_trusts(const char *origin, const char *url);
/* The addresses that an override "HOST:PORT:ADDRESS[,ADDRESS]" gives this host
 * (HOST and PORT may be "*"), or NULL. */
const char *cos__host_override(const char *const *list, const struct cos__host *host);
/* The machine entry of a .netrc text for this host, or its default entry: user
 * and password are set (either may stay empty). 0, COS_ENOENT, COS_ENOMEM. */
int cos__netrc_find(const char *text, const struct cos__host *host, struct cos_buf *user,
                    struct cos_buf *password);

#endif
