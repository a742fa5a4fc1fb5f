/* scope_int.h - what scope.c and trap.c share. */
#ifndef COS_CRAWL_SCOPE_INT_H
#define COS_CRAWL_SCOPE_INT_H

#include "base/set.h"
#include "crawl/scope.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>

/* Pointers into a serialised URL. */
struct cos__parts {
    const char *url;
    size_t len;
    const char *host;  /* without credentials */
    size_t host_len;
    const char *port;  /* ":81", empty for the scheme's own */
    size_t port_len;
    const char *path;  /* up to query */
    const char *query; /* '?', or end */
    const char *end;
    int https;
};
void cos__scope_split(struct cos__parts *parts, const char *url, size_t len);

struct cos__seed {
    char *url;
    struct cos__parts parts;
    char *domain;
    size_t dir_len; /* of the directory part of its path */
    size_t next;    /* seed of the same host, index + 1 */
};

/* How many URLs have the same text but for their digits. */
struct cos__trap {
    int repeat, depth, similar; /* -1: off */
    uint64_t *keys;
    uint32_t *counts;
    uint32_t used;
    char text[160];
};
void cos__trap_init(struct cos__trap *trap, const struct cos_crawl_options *options);
void cos__trap_release(struct cos__trap *trap);
/* NULL, or what makes it look like a trap. Counts the URL. */
const char *cos__trap_check(struct cos__trap *trap, const struct cos__parts *url);

struct cos_scope {
    const struct cos_crawl_options *opt;
    int mode;
    struct cos__seed *seeds;
    size_t nseeds, seed_room;
    struct cos_set hosts;   /* "host:port" to its first seed, index + 1 */
    struct cos_set domains; /* registrable domains of the seeds */
    pcre2_code *accept, *reject;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    struct cos_buf detail;
    struct cos__trap trap;
};

#endif
