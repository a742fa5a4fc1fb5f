/* robots_int.h - the compiled form, shared by robots.c, robots_match.c. */
#ifndef COS_WEB_ROBOTS_INT_H
#define COS_WEB_ROBOTS_INT_H

#include "web/robots.h"

/* One rule. Its pattern is stored twice: as written, for the verdict, and
 * normalised: bytes that are not ASCII as %XX, hex in upper case, '*' only as
 * the wildcard and '$' never, for they become a flag or %24 and %2A. */
struct cos__robots_rule {
    uint32_t raw, raw_len;
    uint32_t pattern, pattern_len;
    uint32_t line;
    uint32_t weight; /* length that decides which rule wins */
    uint64_t bytes;  /* which bytes it needs: bit c % 64 */
    uint8_t allow;
    uint8_t anchored; /* ended in '$' */
    uint8_t wild;     /* has a '*' */
};

struct cos_robots {
    struct cos_buf text;            /* patterns and sitemaps */
    struct cos__robots_rule *rules; /* by weight, longest first; Allow before Disallow */
    size_t nrules, rules_cap;
    uint32_t *sitemaps; /* offsets into text, NUL-terminated */
    size_t nsitemaps, sitemaps_cap;
    int64_t delay;
    int names_agent;
};

/* How a pattern or a target is normalised. */
enum {
    COS__ROBOTS_PATTERN = 1, /* '*' is a wildcard and stays */
    COS__ROBOTS_DECODE = 2,  /* %XX of unreserved characters is decoded */
};

/* Appends in[0..len) normalised. */
int cos__robots_normalise(struct cos_buf *out, const char *in, size_t len, int how);
/* Bit c % 64 for each byte c of in, wildcards left out. */
uint64_t cos__robots_bytes(const char *in, size_t len);

#endif
