/* trap.c - URLs that look as if a site made them up without end: a segment that
 * repeats (a relative link gone wrong), a path that only gets deeper, and a
 * calendar or search whose pages differ only in their digits. The last one is
 * asked only where there is a query or a date: pages numbered from 1 to 100,000
 * are a site, not a trap. */
#include "crawl/scope_int.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT = 3, DEPTH = 40, SIMILAR = 10000, TEMPLATES = 1 << 14, SEGMENTS = 512 };

static int limit(int value, int fallback)
{
    return value == 0 ? fallback : value == COS_OPT_INF ? -1 : value < 0 ? 0 : value;
}

void cos__trap_init(struct cos__trap *trap, const struct cos_crawl_options *options)
{
    trap->repeat = limit(options->trap_repeat, REPEAT);
    trap->depth = limit(options->trap_depth, DEPTH);
    trap->similar = limit(options->trap_similar, SIMILAR);
}

void cos__trap_release(struct cos__trap *trap)
{
    free(trap->keys);
    free(trap->counts);
}

/* --- segments ---------------------------------------------------------------------- */

struct segment {
    const char *at;
    size_t len;
};

static int cut(const struct cos__parts *url, struct segment *list, int max)
{
    const char *at = url->path;
    int n = 0;
    while (at < url->query && n < max) {
        const char *from = at + 1;
        const char *to = memchr(from, '/', (size_t)(url->query - from));
        at = to ? to : url->query;
        list[n++] = (struct segment){from, (size_t)(at - from)};
    }
    return n;
}

static int equal(const struct segment *a, const struct segment *b)
{
    return a->len == b->len && a->len && !memcmp(a->at, b->at, a->len);
}

/* How often in a row the last `period` segments are repeated before position i. */
static int repeats(const struct segment *list, int i, int period)
{
    int same = 0;
    while (i - period - same >= 0 && equal(&list[i - same], &list[i - same - period]))
        same++;
    return same / period + 1;
}

static int repeats_too_often(const struct segment *list, int n, int most)
{
    for (int period = 1; period <= 3; period++)
        for (int i = period; i < n; i++)
            if (repeats(list, i, period) > most)
                return 1;
    return 0;
}

/* --- templates ----------------------------------------------------------------------- */

static int digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A year and a month: 2026/11, 2026-11, 202611 do; 12345 does not. */
static int has_date(const struct cos__parts *url)
{
    for (const char *p = url->path; p + 5 < url->query; p++) {
        int year = (p[1] == '1' && p[2] == '9') || (p[1] == '2' && (p[2] == '0' || p[2] == '1'));
        if (digit(p[0]) || !year || !digit(p[3]) || !digit(p[4]))
            continue;
        if ((p[5] == '/' || p[5] == '-' || p[5] == '_') && p + 6 < url->query && digit(p[6]))
            return 1;
    }
    return 0;
}

/* The URL with each run of digits as one '0'. */
static uint64_t template_of(const struct cos__parts *url)
{
    char text[1024];
    size_t n = 0;
    for (const char *p = url->url; p < url->end && n < sizeof text; p++)
        if (!digit(*p))
            text[n++] = *p;
        else if (!n || text[n - 1] != '0' || !digit(p[-1]))
            text[n++] = '0';
    n = (size_t)cos_hash_keyed(cos_hash_process_key(), text, n);
    return n ? n : 1;
}

/* A full table stops counting new templates: the memory is bounded, and a site
 * with that many is no calendar. */
static uint32_t count(struct cos__trap *trap, uint64_t key)
{
    uint32_t at = (uint32_t)key % TEMPLATES;
    if (!trap->keys) {
        trap->keys = calloc(TEMPLATES, sizeof *trap->keys);
        trap->counts = calloc(TEMPLATES, sizeof *trap->counts);
        if (!trap->keys || !trap->counts)
            return 0;
    }
    while (trap->keys[at] && trap->keys[at] != key)
        at = (at + 1) % TEMPLATES;
    if (!trap->keys[at]) {
        if (trap->used >= TEMPLATES / 2)
            return 0;
        trap->used++;
        trap->keys[at] = key;
    }
    return ++trap->counts[at];
}

const char *cos__trap_check(struct cos__trap *trap, const struct cos__parts *url)
{
    struct segment list[SEGMENTS];
    int n = cut(url, list, SEGMENTS);
    if (trap->depth >= 0 && n > trap->depth) {
        snprintf(trap->text, sizeof trap->text, "more than %d path segments", trap->depth);
        return trap->text;
    }
    if (trap->repeat >= 0 && n > trap->repeat && repeats_too_often(list, n, trap->repeat)) {
        snprintf(trap->text, sizeof trap->text, "a path segment repeats more than %d times",
                 trap->repeat);
        return trap->text;
    }
    if (trap->similar >= 0 && (url->query < url->end || has_date(url)) &&
        count(trap, template_of(url)) > (uint32_t)trap->similar) {
        snprintf(trap->text, sizeof trap->text, "more than %d URLs that differ only in digits",
                 trap->similar);
        return trap->text;
    }
    return NULL;
}
