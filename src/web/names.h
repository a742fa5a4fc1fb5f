/* names.h - host names to addresses: what cos_resolve() takes and gives. */
#ifndef COS_WEB_NAMES_H
#define COS_WEB_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { COS_ADDRS_MAX = 16, COS_ADDR_TEXT = 46 };

struct cos_addr {
    uint8_t family; /* 4 or 6 */
    uint8_t ip[16]; /* network order; the first 4 bytes for IPv4 */
};

/* In the order in which they are to be tried. */
struct cos_addrs {
    int n;
    struct cos_addr addr[COS_ADDRS_MAX];
};

/* Zero is the default of each. */
struct cos_names_setup {
    const char *dns_server;  /* "ADDRESS[:PORT][,…]"; NULL: the system's */
    const char *hosts_file;  /* NULL: /etc/hosts; "" none */
    int ip;                  /* 4 or 6: ask for that family only */
    int prefer;              /* 4 or 6 first; 0: IPv6 when the machine has a way there */
    int system;              /* ask getaddrinfo for what is not found: 1 always, -1 never, 0 unless
                              * dns_server is set */
    int tries;               /* of each server: 2 */
    int64_t timeout_ms;      /* of the first try, doubled for the next: 3000 */
    int64_t ttl_max_ms;      /* an answer is kept for its TTL, but no longer: 3,600,000 */
    int64_t negative_max_ms; /* "no such name" is kept for its TTL, but no longer: 60,000 */
    size_t cache_max;        /* names kept: 65,536 */
};

/* "192.0.2.1", "2001:db8::1" into out; returns out. */
char *cos_addr_text(const struct cos_addr *addr, char out[COS_ADDR_TEXT]);

#endif
