/* fuzz_robots.c - input: the agent, a newline, a target, a newline, the file. The
 * verdict's rule must match the target by a slow matcher of its own, wherever
 * encoding plays no part; and no rule of the file may be longer and match. */
#include "fuzz.h"
#include "web/robots.h"

#include <string.h>

/* Wildcard match by dynamic programming: at[i] says that the pattern so far can
 * end before target[i]. */
static int slow_match(const char *p, size_t plen, const char *t, size_t tlen)
{
    static uint8_t at[4096];
    int anchored = plen && p[plen - 1] == '$';
    MUST(tlen + 1 < sizeof at);
    memset(at, 0, tlen + 1);
    at[0] = 1;
    for (size_t i = 0; i < plen - (size_t)anchored; i++) {
        if (p[i] == '*') {
            for (size_t k = 1; k <= tlen; k++)
                at[k] |= at[k - 1];
            continue;
        }
        for (size_t k = tlen; k > 0; k--)
            at[k] = at[k - 1] && t[k - 1] == p[i];
        at[0] = 0;
    }
    if (anchored)
        return at[tlen];
    return memchr(at, 1, tlen + 1) != NULL;
}

static int is_simple(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i] == '%' || s[i] & 0x80 || (s[i] == '$' && i + 1 < len))
            return 0;
    return 1;
}

static void check(const struct cos_robots *robots, const char *target, size_t len)
{
    struct cos_robots_verdict why, again;
    int rc = cos_robots_check(robots, target, len, &why);
    MUST(rc == 0 || rc == 1);
    MUST(why.allow == rc && (rc || why.rule));
    MUST(cos_robots_check(robots, target, len, &again) == rc && again.line == why.line);
    if (!why.rule || len > 4000 || memchr(target, '*', len) || memchr(target, '$', len))
        return;
    if (is_simple(target, len) && is_simple(why.rule, why.rule_len))
        MUST(slow_match(why.rule, why.rule_len, len ? target : "/", len ? len : 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = text + size;
    const char *first = memchr(text, '\n', size), *second;
    struct cos_robots *robots = NULL;
    char *agent;
    if (!first || !(second = memchr(first + 1, '\n', (size_t)(end - first - 1))))
        return 0;
    agent = strndup(text, (size_t)(first - text));
    MUST(agent && !cos_robots_parse(&robots, second + 1, (size_t)(end - second - 1), agent));
    check(robots, first + 1, (size_t)(second - first - 1));
    for (size_t i = 0; cos_robots_sitemap(robots, i); i++)
        MUST(*cos_robots_sitemap(robots, i));
    MUST(cos_robots_delay(robots) >= -1 && cos_robots_delay(robots) <= COS_ROBOTS_DELAY_MAX);
    cos_robots_directives(second + 1, (size_t)(end - second - 1), size & 1 ? agent : NULL);
    cos_robots_free(robots);
    free(agent);
    return 0;
}
