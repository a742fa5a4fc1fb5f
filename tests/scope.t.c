/* scope.t - which URLs belong to the crawl, and what is said about the others. */
#include "tap.h"

#include "base/err.h"
#include "crawl/scope.h"

#include <string.h>
#include <time.h>

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *) \
    }

static struct cos_scope *scope;
static struct cos_buf why;
static const char *detail;

static void start(const struct cos_crawl_options *options, const char *seed)
{
    cos_scope_free(scope);
    scope = NULL;
    cos_buf_clear(&why);
    if (cos_scope_new(&scope, options, &why))
        BAIL_OUT("scope: %s", why.data);
    cos_scope_seed(scope, seed, strlen(seed));
}

static int check(const char *url)
{
    return cos_scope_check(scope, url, strlen(url), 0, &detail);
}

#define YES(url)         cmp_ok(check(url), "==", 0, "in:  %s", url)
#define NO(url, reason)  cmp_ok(check(url), "==", COS_SKIP_##reason, "out: %s (%s)", url, #reason)

static void check_modes(void)
{
    struct cos_crawl_options o = {0};
    note("--scope=host, the default");
    start(&o, "http://example.org/a/b.html");
    YES("http://example.org/");
    YES("https://example.org/x");
    NO("http://example.org:81/", SCOPE);
    NO("http://www.example.org/", SCOPE);
    NO("http://example.org.evil.com/", SCOPE);
    NO("http://evil.com/example.org/", SCOPE);
    NO("http://evil.com/?http://example.org/", SCOPE);
    NO("http://example.org@evil.com/", SCOPE);
    is(detail, "--scope host", "and names the rule");
    o.scope = COS_SCOPE_PREFIX;
    start(&o, "http://example.org/a/b.html");
    YES("http://example.org/a/");
    YES("http://example.org/a/c/d");
    NO("http://example.org/", SCOPE);
    NO("http://example.org/ab/c", SCOPE);
    NO("http://other.org/a/", SCOPE);
    o.scope = COS_SCOPE_PAGE;
    start(&o, "http://example.org/a/b.html");
    YES("http://example.org/a/b.html");
    NO("http://example.org/a/c.html", SCOPE);
    cmp_ok(cos_scope_check(scope, "http://cdn.net/x.png", 20, 1, &detail), "==", 0,
           "in:  what the page needs to be shown");
    o.scope = COS_SCOPE_DOMAIN;
    start(&o, "http://www.example.co.uk/");
    YES("http://example.co.uk/");
    YES("http://a.b.example.co.uk/");
    NO("http://other.co.uk/", SCOPE);
    NO("http://notexample.co.uk/", SCOPE);
    start(&o, "http://127.0.0.1:8080/");
    YES("http://127.0.0.1/");
    NO("http://1.0.0.1/", SCOPE);
    o.scope = COS_SCOPE_ANY;
    start(&o, "http://example.org/");
    YES("http://anything.net/");
    o.scope = COS_SCOPE_HOST;
    start(&o, "http://[::1]:80/");
    YES("http://[::1]:80/x");
    NO("http://[::1]:81/", SCOPE);
    start(&o, "http://user:pw@example.org/");
    YES("http://example.org/");
    cos_scope_seed(scope, "https://www.other.org/", 22);
    YES("http://www.other.org/x");
}

static void check_domains(void)
{
    struct cos_crawl_options o = {.domains = LIST("cdn.net", ".img.org"),
                                  .exclude_domains = LIST("bad.cdn.net")};
    start(&o, "http://h/");
    YES("http://cdn.net/");
    YES("http://a.cdn.net/");
    YES("http://x.img.org/");
    NO("http://xcdn.net/", SCOPE);
    NO("http://bad.cdn.net/", DOMAIN);
    is(detail, "--exclude-domains bad.cdn.net", "and names the rule");
    NO("http://a.bad.cdn.net/", DOMAIN);
}

static void check_parent(void)
{
    struct cos_crawl_options o = {.no_parent = 1};
    start(&o, "http://h/a/b/index.html");
    YES("http://h/a/b/");
    YES("http://h/a/b/c/d.html");
    NO("http://h/a/", PARENT);
    NO("http://h/a/bb/x", PARENT);
    NO("http://h/a/b?x=/a/b/", PARENT);
    cmp_ok(cos_scope_check(scope, "http://h/style.css", 18, 1, &detail), "==", 0,
           "in:  what a page needs may lie above");
    cos_scope_seed(scope, "http://h/z/", 11);
    YES("http://h/z/y");
    start(&o, "http://h/a");
    YES("http://h/b");
}

static void check_dirs(void)
{
    struct cos_crawl_options o = {.include_dirs = LIST("/docs", "img*"),
                                  .exclude_dirs = LIST("/docs/old/", "/*/tmp")};
    start(&o, "http://h/");
    YES("http://h/docs/x.html");
    YES("http://h/docs/deep/er/x.html");
    YES("http://h/img7/x");
    NO("http://h/", DIRECTORY);
    NO("http://h/docsx/y", DIRECTORY);
    is(detail, "-I", "not included");
    NO("http://h/docs/old/x", DIRECTORY);
    is(detail, "-X /docs/old/", "excluded, and by what");
    NO("http://h/docs/tmp/x", DIRECTORY);
    YES("http://h/docs/older/x");
}

static void check_names(void)
{
    struct cos_crawl_options o = {.accept = LIST("html", "*.pn?"), .reject = LIST("bad*")};
    start(&o, "http://h/");
    YES("http://h/x.html");
    YES("http://h/x.HTML?q=.exe");
    YES("http://h/x.png");
    NO("http://h/x.exe", PATTERN);
    is(detail, "-A", "not accepted");
    NO("http://h/bad.png", PATTERN);
    is(detail, "-R bad*", "rejected, and by what");
    YES("http://h/dir/");
    YES("http://h/bad.html");
    cmp_ok(cos_scope_keeps(scope, "http://h/bad.html", 17), "==", COS_SKIP_TYPE,
           "a rejected page is fetched for its links and not kept");
    cmp_ok(cos_scope_keeps(scope, "http://h/x.html", 15), "==", 0, "an accepted one is kept");
    o = (struct cos_crawl_options){.follow = 1u << COS_LINK_A | 1u << COS_LINK_IMG};
    start(&o, "http://h/");
    ok(cos_scope_follows(scope, COS_LINK_A) && cos_scope_follows(scope, COS_LINK_IMG) &&
           !cos_scope_follows(scope, COS_LINK_SCRIPT) &&
           cos_scope_follows(scope, COS_LINK_REDIRECT),
       "--follow picks kinds of links");
    o.follow = 0;
    ok(cos_scope_follows(scope, COS_LINK_SCRIPT) && !cos_scope_follows(scope, COS_LINK_FORM),
       "by default all but forms");
}

static void check_regex(void)
{
    struct cos_crawl_options o = {.accept_regex = "/(a|b)/", .reject_regex = "\\.tmp$"};
    struct cos_scope *bad = NULL;
    clock_t before;
    static char url[400];
    start(&o, "http://h/");
    YES("http://h/a/x");
    NO("http://h/c/x", REGEX);
    NO("http://h/a/x.tmp", REGEX);
    is(detail, "--reject-regex \\.tmp$", "and names the rule");
    o.accept_regex = "a(b";
    cmp_ok(cos_scope_new(&bad, &o, &why), "==", COS_EINVAL, "a bad pattern is refused");
    like(why.data, "--accept-regex: .* at character 4 of 'a\\(b'", "with place and reason");
    o = (struct cos_crawl_options){.reject_regex = "(x+x+)+y"};
    start(&o, "http://h/");
    memset(url, 'x', sizeof url - 1);
    memcpy(url, "http://h/", 9);
    before = clock();
    check(url);
    cmp_ok((clock() - before) / (CLOCKS_PER_SEC / 1000), "<", 1000,
           "a pattern that backtracks for ever does not");
}

static void check_traps(void)
{
    struct cos_crawl_options o = {.trap_similar = 5};
    char url[256];
    int last = 0;
    start(&o, "http://h/");
    YES("http://h/a/a/a/x");
    NO("http://h/a/a/a/a/x", TRAP);
    is(detail, "a path segment repeats more than 3 times", "and says why");
    YES("http://h/a/b/a/b/a/b/x");
    NO("http://h/a/b/a/b/a/b/a/b/", TRAP);
    NO("http://h/x/a/b/c/a/b/c/a/b/c/a/b/c", TRAP);
    YES("http://h/a/b/a/c/a/d/a/e/a/f");
    snprintf(url, sizeof url, "http://h%s", "/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0"
                                            "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t");
    YES(url);
    strcat(url, "/x");
    NO(url, TRAP);
    is(detail, "more than 40 path segments", "too deep");
    for (int i = 1; i <= 6; i++) {
        snprintf(url, sizeof url, "http://h/calendar/2026/%d", i);
        last = check(url);
        if (i < 6 && last)
            fail("month %d is no trap yet", i);
    }
    cmp_ok(last, "==", COS_SKIP_TRAP, "the sixth month of five is a trap");
    for (int i = 1; i <= 6; i++) {
        snprintf(url, sizeof url, "http://h/s?page=%d", i * 7);
        last = check(url);
    }
    cmp_ok(last, "==", COS_SKIP_TRAP, "so is the sixth result page");
    for (int i = 1; i <= 1000; i++) {
        snprintf(url, sizeof url, "http://h/page-%d.html", i);
        last |= check(url) << 8;
    }
    cmp_ok(last >> 8, "==", 0, "a thousand numbered pages are a site");
    o.trap_repeat = o.trap_similar = o.trap_depth = COS_OPT_INF;
    start(&o, "http://h/");
    YES("http://h/a/a/a/a/a/a/a/x");
}

static void check_many_seeds(void)
{
    struct cos_crawl_options o = {0};
    char url[64];
    clock_t before;
    int n;
    start(&o, "http://h/");
    for (int i = 0; i < 50000; i++) {
        n = snprintf(url, sizeof url, "http://host%d.example/a/%d", i, i);
        cos_scope_seed(scope, url, (size_t)n);
    }
    before = clock();
    for (int i = 0; i < 50000; i++) {
        snprintf(url, sizeof url, "http://host%d.test/", i);
        if (check(url) != COS_SKIP_SCOPE)
            fail("%s is out", url);
    }
    cmp_ok((clock() - before) / (CLOCKS_PER_SEC / 1000), "<", 2000,
           "50,000 seeds are no reason to be slow");
    YES("http://host49999.example/x");
}

static void check_long(void)
{
    static char url[9000];
    struct cos_crawl_options o = {0};
    start(&o, "http://h/");
    memset(url, 'x', sizeof url - 1);
    memcpy(url, "http://h/", 9);
    NO(url, TOOLONG);
}

int main(void)
{
    plan(NO_PLAN);
    cos_buf_init(&why, 1000);
    check_modes();
    check_domains();
    check_parent();
    check_dirs();
    check_names();
    check_regex();
    check_traps();
    check_many_seeds();
    check_long();
    cos_scope_free(scope);
    cos_buf_release(&why);
    done_testing();
}
