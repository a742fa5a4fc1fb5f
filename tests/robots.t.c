/* robots.t - robots.txt against a table of our own: groups, rules, wildcards,
 * encodings, delays, sitemaps, ceilings, status; X-Robots-Tag and meta robots. */
#include "tap.h"

#include "base/page.h"
#include "web/robots.h"

#include <string.h>
#include <time.h>

static struct cos_robots *robots;

static void load(const char *text, size_t len, const char *agent)
{
    cos_robots_free(robots);
    robots = NULL;
    if (cos_robots_parse(&robots, text, len, agent))
        BAIL_OUT("out of memory");
}

static int allowed(const char *target)
{
    return cos_robots_check(robots, target, strlen(target), NULL);
}

struct row {
    const char *target;
    int allow;
};

static void check(const char *text, const char *agent, const struct row *rows, const char *what)
{
    load(text, strlen(text), agent);
    for (; rows->target; rows++)
        cmp_ok(allowed(rows->target), "==", rows->allow, "%s: %s for %s", what, rows->target,
               agent);
}
#define ROWS(...)                                                                                  \
    (const struct row[])                                                                           \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

static void groups(void)
{
    static const char text[] =
        "Disallow: /stray\nUser-agent: one\nUser-agent: Two\nDisallow: /a\n\n\nDisallow: /b\n"
        "user-agent: *\r\ndisallow: /c\r\rUSER-AGENT:two # again\rDISALLOW:/d\n"
        "useragent: bot2\ndisalow /e\n";
    check(text, "ONE/1.0 (+http://x)",
          ROWS({"/a", 0}, {"/b", 0}, {"/c", 1}, {"/d", 1}, {"/stray", 1}), "groups");
    check(text, "two", ROWS({"/a", 0}, {"/b", 0}, {"/c", 1}, {"/d", 0}), "merged groups");
    check(text, "three", ROWS({"/a", 1}, {"/b", 1}, {"/c", 0}, {"/d", 1}), "other agents");
    check(text, "bot2", ROWS({"/c", 1}, {"/e", 0}), "lenient lines");
    check(text, "tw", ROWS({"/a", 1}, {"/c", 0}), "half a name");
    check("\xEF\xBB\xBFUser-agent: *\nDisallow: /", "x", ROWS({"/", 0}),
          "byte order mark, no newline");
    check("User-agent: a\nSitemap: s\nfoo: bar\nUser-agent: b\nDisallow: /", "a", ROWS({"/", 0}),
          "other lines do not end the agents");
    check("User-agent: *\nDisallow:\nUser-agent: a\nDisallow: /", "b", ROWS({"/x", 1}),
          "an empty Disallow is a rule line");
    check("", "x", ROWS({"/", 1}), "empty file");
    check("User-agent: *\nDisallow: /", "x", ROWS({"/robots.txt", 1}, {"/robots.txt?", 0}, {"", 0}),
          "the file itself");
    cos_robots_free(robots);
    robots = NULL;
    check("User-agent: a\nAllow: /", "a", ROWS({"/", 1}), "named");
    ok(cos_robots_names_agent(robots), "the agent is named");
    ok(cos_robots_check(NULL, "/", 1, NULL) == 1 && cos_robots_delay(NULL) == -1,
       "no file allows everything");
}

static void rules(void)
{
    check("User-agent: *\nAllow: /p\nDisallow: /\n", "x", ROWS({"/page", 1}, {"/q", 0}), "longest");
    check("User-agent: *\nAllow: /f\nDisallow: /f\n", "x", ROWS({"/f", 1}), "a tie allows");
    check("User-agent: *\nDisallow: /*.gif$\n", "x",
          ROWS({"/a.gif", 0}, {"/a.gif?x", 1}, {"/a.gift", 1}, {"/.gif", 0}, {"/a.gif.gif", 0}),
          "wildcard and end");
    check("User-agent: *\nDisallow: /a*b*c\n", "x",
          ROWS({"/abc", 0}, {"/axbxcx", 0}, {"/acb", 1}, {"/bac", 1}), "wildcards");
    check("User-agent: *\nDisallow: *x\nDisallow: y\n", "x", ROWS({"/ax", 0}, {"/y", 1}),
          "without a slash");
    check("User-agent: *\nDisallow: /a$\nDisallow: /$b\nDisallow: /c%24\nDisallow: /d%2A\n", "x",
          ROWS({"/a", 0}, {"/ab", 1}, {"/a$", 1}, {"/$b", 0}, {"/c$x", 0}, {"/d*", 0}, {"/dx", 1}),
          "specials as text");
    check("User-agent: *\nDisallow: /$\n", "x", ROWS({"/", 0}, {"/x", 1}), "only the root");
    check("User-agent: *\nDisallow: /a**b$\n", "x", ROWS({"/a/b", 0}, {"/ab", 0}, {"/abc", 1}),
          "two wildcards");
    check("User-agent: *\nDisallow: /*ab$\n", "x", ROWS({"/ab", 0}, {"/a", 1}, {"/abab", 0}),
          "the end may overlap nothing");
    check("User-agent: *\nDisallow: /aba*aba$\n", "x",
          ROWS({"/aba", 1}, {"/ababa", 1}, {"/abaaba", 0}), "pieces do not overlap");
    check("User-agent: *\nDisallow: /x # why\nAllow: /x/y\t\n", "x",
          ROWS({"/x", 0}, {"/x/y", 1}, {"/x # why", 0}), "comments");
}

static void encodings(void)
{
    check("User-agent: *\nDisallow: /\xE3\x83\x84\nDisallow: /%7Ejoe\nDisallow: /a%3cd\n", "x",
          ROWS({"/%E3%83%84", 0}, {"/%e3%83%84", 0}, {"/~joe", 0}, {"/%7ejoe", 0}, {"/a%3Cd", 0},
               {"/a%3cd", 0}),
          "a Disallow knows every spelling");
    check("User-agent: *\nDisallow: /\nAllow: /%62\nAllow: /c%2f\n", "x",
          ROWS({"/%62", 1}, {"/b", 0}, {"/c%2F", 1}, {"/c/", 0}), "an Allow is taken as written");
}

static void others(void)
{
    static const char text[] =
        "Sitemap: https://h/s1.xml\nUser-agent: a\nCrawl-delay: 2.5\nDisallow: /\n"
        "User-agent: *\nCrawl-delay: 7\nsitemap:/s2.xml\nUser-agent: a\nCrawl-delay: 1\n";
    load(text, strlen(text), "a");
    cmp_ok(cos_robots_delay(robots), "==", 2500, "the longest delay of the merged groups");
    is(cos_robots_sitemap(robots, 0), "https://h/s1.xml", "first sitemap");
    is(cos_robots_sitemap(robots, 1), "/s2.xml", "second sitemap");
    ok(!cos_robots_sitemap(robots, 2), "no third");
    load(text, strlen(text), "b");
    cmp_ok(cos_robots_delay(robots), "==", 7000, "the delay of the others");
    static const struct {
        const char *value;
        long long ms;
    } delays[] = {{"0", 0},
                  {"0.001", 1},
                  {".5", 500},
                  {"10.", 10000},
                  {"-1", -1},
                  {"1s", -1},
                  {"", -1},
                  {"99999999999999999999999", COS_ROBOTS_DELAY_MAX},
                  {"1.0000000000000000001", 1000}};
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        char file[128];
        snprintf(file, sizeof file, "User-agent: *\nCrawl-delay: %s\n", delays[i].value);
        load(file, strlen(file), "x");
        cmp_ok(cos_robots_delay(robots), "==", delays[i].ms, "Crawl-delay: '%s'", delays[i].value);
    }
    struct cos_robots_verdict why;
    load("User-agent: *\n\nDisallow: /a*\n", 29, "x");
    cmp_ok(cos_robots_check(robots, "/ab", 3, &why), "==", 0, "a verdict");
    ok(why.rule_len == 3 && !memcmp(why.rule, "/a*", 3) && why.line == 3 && !why.is_allow_rule,
       "names its rule");
    cmp_ok(cos_robots_check(robots, "/b", 2, &why), "==", 1, "another");
    ok(!why.rule && why.allow, "has none");
    cmp_ok(cos_robots_access(200), "==", COS_ROBOTS_READ, "200 is read");
    cmp_ok(cos_robots_access(404), "==", COS_ROBOTS_ALLOW, "404 allows");
    cmp_ok(cos_robots_access(403), "==", COS_ROBOTS_ALLOW, "403 allows");
    cmp_ok(cos_robots_access(301), "==", COS_ROBOTS_ALLOW, "endless redirects allow");
    cmp_ok(cos_robots_access(500), "==", COS_ROBOTS_DISALLOW, "500 disallows");
    cmp_ok(cos_robots_access(503), "==", COS_ROBOTS_DISALLOW, "503 disallows");
    cmp_ok(cos_robots_access(0), "==", COS_ROBOTS_DISALLOW, "no answer disallows");
}

static void ceilings(void)
{
    size_t len = 2 * COS_ROBOTS_MAX;
    char *text = malloc(len + 1);
    memset(text, '\n', len);
    memcpy(text, "User-agent: *\n", 14);
    memcpy(text + COS_ROBOTS_MAX - 13, "Disallow: /a\n", 13);
    memcpy(text + COS_ROBOTS_MAX, "Disallow: /b\n", 13);
    load(text, len, "x");
    ok(!allowed("/a") && allowed("/b"), "500 KiB count, not a byte more");
    memset(text + COS_ROBOTS_MAX - 13, '\n', 26);
    memcpy(text + COS_ROBOTS_MAX - 12, "Disallow: /c/d\n", 15);
    load(text, len, "x");
    ok(allowed("/c") && allowed("/c/d"), "a line cut by the end does not count");
    free(text);
}

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Patterns that a backtracking matcher never finishes. */
static void hostile(void)
{
    struct cos_buf text;
    size_t len = 60000;
    char *target = malloc(len + 1);
    double start;
    memset(target, 'a', len);
    target[0] = '/';
    target[len] = 0;
    cos_buf_init(&text, COS_ROBOTS_MAX);
    cos_buf_adds(&text, "User-agent: *\n");
    for (int i = 0; i < 50; i++) {
        cos_buf_adds(&text, "Disallow: /");
        for (int k = 0; k < 2000; k++)
            cos_buf_adds(&text, k & 1 ? "*a" : "*aa");
        cos_buf_addf(&text, "*ab%d$\n", i);
    }
    start = seconds();
    load(text.data, text.len, "x");
    cmp_ok(allowed(target), "==", 1, "wildcards in masses");
    cmp_ok((long long)((seconds() - start) * 1000), "<", 2000, "take no time to speak of");
    free(target);
    cos_buf_release(&text);
}

static void directives(void)
{
    static const struct {
        const char *value, *agent;
        int flags;
    } rows[] = {
        {"noindex", "x", COS_PAGE_NOINDEX},
        {"NoIndex , NOFOLLOW", "x", COS_PAGE_NOINDEX | COS_PAGE_NOFOLLOW},
        {"none", NULL, COS_PAGE_NOINDEX | COS_PAGE_NOFOLLOW},
        {"all", NULL, 0},
        {"index,follow,noarchive", NULL, COS_PAGE_NOARCHIVE},
        {"noindex nofollow", NULL, COS_PAGE_NOINDEX | COS_PAGE_NOFOLLOW},
        {"other: noindex", "x", 0},
        {"x: noindex", "X/1.0", COS_PAGE_NOINDEX},
        {"*: noindex", "x", COS_PAGE_NOINDEX},
        {"other: noindex, x: nofollow", "x", COS_PAGE_NOFOLLOW},
        {"nofollow, other: noindex", "x", COS_PAGE_NOFOLLOW},
        {"max-snippet: 5, noindex", "x", COS_PAGE_NOINDEX},
        {"unavailable_after: Saturday, 25 Jun 2010 15:00:00 PST, noindex", "x", COS_PAGE_NOINDEX},
        {"noindexx", "x", 0},
        {"", "x", 0},
        {":,:,,:noindex", "x", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cmp_ok(cos_robots_directives(rows[i].value, strlen(rows[i].value), rows[i].agent),
               "==", rows[i].flags, "directives '%s' for %s", rows[i].value,
               rows[i].agent ? rows[i].agent : "meta");
}

int main(void)
{
    plan(NO_PLAN);
    groups();
    rules();
    encodings();
    others();
    ceilings();
    hostile();
    directives();
    cos_robots_free(robots);
    done_testing();
}
