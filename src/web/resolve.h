/* resolve.h - cos_resolve() as an operation (op.h), and the short way for names
 * whose answer is at hand. */
#ifndef COS_WEB_RESOLVE_H
#define COS_WEB_RESOLVE_H

#include "base/op.h"
#include "web/names.h"

/* family: 4, 6 or 0 for both. host is copied: a name, an address, or an IPv6
 * address in brackets. NULL when out of memory. */
struct cos_op *cos__resolve_op(const char *host, int family);
/* Valid when the operation is done with 0, until it is freed. */
const struct cos_addrs *cos__resolve_result(struct cos_op *op);

/* The answer when it needs no wait: an address, or a name in the cache. 1 and
 * *err (0 and *out, or why there is no address); 0 when a lookup is needed. */
int cos__resolve_cached(const char *host, int family, struct cos_addrs *out, int *err);

struct cos__names_stats {
    uint64_t lookups; /* operations started */
    uint64_t hits;    /* answered from the cache */
    uint64_t shared;  /* joined a lookup under way */
    uint64_t queries; /* sent to a name server */
    uint64_t system;  /* asked of getaddrinfo */
    size_t cached;    /* names kept now */
};
/* Of the calling thread's engine. */
struct cos__names_stats cos__names_stats(void);

#endif
