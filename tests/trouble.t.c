/* trouble.t - servers that misbehave: what can be recovered is, what cannot is
 * reported, a part is never kept as the whole, and nobody waits for ever. With
 * TEST_TIER=full the default timeouts, else short ones. */
#define DILL_DISABLE_RAW_NAMES
#include "tap.h"

#include "crawl.h"

#include <libdill.h>
#include <regex.h>

static struct site site;
static int full;

static const struct row {
    const char *path;
    int exit_code;
    const char *state;  /* pattern on "state|status|reason" */
    long requests;      /* of this URL; 0: not looked at */
} rows[] = {
    {"/fault/ok", 0, "^done.200.NULL", 1},
    {"/fault/flaky", 0, "^done.200", 3},
    {"/fault/flaky?times=3", 8, "^failed.500.500", 3},
    {"/fault/404", 8, "^failed.404.404", 1},
    {"/fault/410", 8, "^failed.410", 1},
    {"/fault/500", 8, "^failed.500", 3},
    {"/fault/status?code=418", 8, "^failed.418", 1},
    {"/fault/429", 0, "^done.200", 2},
    {"/fault/503?after=1", 0, "^done.200", 2},
    {"/fault/429?after=3600", 8, "^queued.429.putoff: 429, the server asks to wait 3600 s", 1},
    {"/fault/truncated", 4, "^failed.200.body ended before", 3},
    {"/fault/truncated?times=1", 0, "^done.200", 2},
    {"/fault/truncated-chunked", 4, "^failed.200.body ended before|connection", 3},
    {"/fault/length-long", 4, "^failed.200.body ended before", 3},
    /* libcurl asks once more by itself where a used connection ended */
    {"/fault/reset", 4, "^failed.NULL.connection reset by the server$", 0},
    {"/fault/close", 4, "^failed.NULL.server closed without an answer$", 0},
    {"/fault/hang", 4, "^failed.NULL.transfer too slow or stalled$", 3},
    {"/fault/hang-body", 4, "^failed.200.transfer too slow", 3},
    {"/fault/drip?ms=200&bytes=100000", 4, "^failed.(200|NULL).transfer too slow", 3},
    {"/fault/redirect", 0, "^done.302", 1},
    {"/fault/redirect?n=5", 0, "^done.302", 1},
    {"/fault/redirect-loop", 8, "^failed.302.too many redirects or a redirect loop: a loop", 1},
    {"/fault/redirect-none", 8, "^failed.302.302: a redirect without Location$", 1},
    {"/fault/redirect-bad", 8, "^failed.302.302: a redirect to '.+', which is no http or https URL$",
     1},
    {"/fault/header-long", 1, "^failed.200.larger than its ceiling: a header line is too long$", 1},
    {"/fault/header-flood", 1, "^failed.200.larger than its ceiling: the headers are too long$", 1},
    {"/fault/auth", 6, "^failed.401.401", 1},
    {"/fault/gzip", 0, "^done.200", 1},
    {"/fault/gzip-broken", 7, "^failed.200.content encoding", 1},
    {"/fault/gzip-bomb", 1, "^failed.200.larger than its ceiling", 1},
    {"/fault/bad-chunk", 7, "^failed.200.server broke", 3},
    {"/fault/empty", 0, "^done.200", 1},
    {"/fault/no-length", 0, "^done.200", 1},
    {"/fault/interim", 0, "^done.200", 1},
    {"/fault/binary", 0, "^done.200", 1},
    {"/fault/wrong-type", 0, "^done.200", 1},
};

static int matches(const char *text, const char *pattern)
{
    regex_t re;
    int held;
    if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
        return 0;
    held = regexec(&re, text, 0, NULL, 0) == 0;
    regfree(&re);
    return held;
}

/* Each row in a crawl of its own, all of them at once: the exit code is that of
 * this fault, and crawls in one process do not disturb each other. */
static struct {
    struct crawl crawl;
    int64_t ms;
} runs[sizeof rows / sizeof *rows];

static dill_coroutine void run_row(size_t i)
{
    struct crawl *c = &runs[i].crawl;
    int64_t before = site_now_ms();
    crawl_init(c, &site, rows[i].path);
    c->options.level = COS_OPT_ZERO;
    c->options.waitretry = full ? 0 : 100;
    c->options.timeout = full ? 0 : 1500;
    crawl_run(c);
    runs[i].ms = site_now_ms() - before;
}

static void check_row(size_t i)
{
    const struct row *row = &rows[i];
    struct crawl *c = &runs[i].crawl;
    const char *got;
    cmp_ok(c->result.exit_code, "==", row->exit_code, "%s: exit code %d", row->path,
           row->exit_code);
    got = crawl_sql(c, "SELECT state, status, reason FROM pages WHERE id = 1");
    if (!ok(matches(got, row->state), "%s: %s", row->path, row->state))
        diag("got %s", got);
    if (row->requests)
        cmp_ok(site_requests(&site, row->path), "==", row->requests, "%s: asked for %ld times",
               row->path, row->requests);
    cmp_ok(crawl_count(c, "SELECT count(*) FROM pages WHERE path IS NOT NULL"), "==",
           crawl_files(c), "%s: no file but of pages that are done", row->path);
    cmp_ok(runs[i].ms, "<", 100000, "%s: %lld ms in all", row->path, (long long)runs[i].ms);
    crawl_remove(c);
}

static void check_loop_members(void)
{
    struct crawl c;
    crawl_init(&c, &site, "/fault/redirect-loop?n=3");
    crawl_run(&c);
    is(crawl_sql(&c, "SELECT count(*), sum(state = 'failed') FROM pages"), "4|3",
       "every page of a redirect loop has failed, whichever was asked first");
    crawl_remove(&c);
    site_reset(&site);
    crawl_init(&c, &site, "/fault/redirect-endless");
    cmp_ok(crawl_run(&c), "==", 8, "redirects without end: exit code 8");
    cmp_ok(site_number(&site, "requests"), "==", 22, "after 20 of them and robots.txt");
    is(crawl_sql(&c, "SELECT hops, state FROM redirect_chains"), "20|failed",
       "redirect_chains shows it");
    crawl_remove(&c);
}

/* Pages that hang beside pages that do not. */
static dill_coroutine void check_not_held_up(void)
{
    struct crawl c;
    char hang[2][128];
    struct site other;
    site_start(&other, "--shape=cross", "--pages=100", NULL);
    crawl_init(&c, &other, "/");
    for (int i = 0; i < 2; i++) {
        snprintf(hang[i], sizeof hang[i], "%sfault/%s", other.url, i ? "hang-body" : "hang");
        c.seeds[i + 1] = hang[i];
    }
    c.options.nurls = 3;
    c.options.level = COS_OPT_INF;
    c.options.timeout = full ? 0 : 3000;
    c.options.tries = 2;
    cmp_ok(crawl_run(&c), "==", 4, "a crawl with two pages that hang is not a success");
    is(crawl_sql(&c, "SELECT sum(state = 'done'), sum(state = 'failed') FROM pages"), "100|2",
       "all other pages came");
    is(crawl_sql(&c, "SELECT (SELECT max(fetched_at) FROM pages WHERE state = 'done') < "
                     "(SELECT min(fetched_at) FROM pages WHERE state = 'failed')"),
       "1", "and none of them waited for those two");
    crawl_remove(&c);
    site_stop(&other);
}

static void check_calendar(void)
{
    struct crawl c;
    crawl_init(&c, &site, "/fault/calendar");
    c.options.level = COS_OPT_INF;
    c.options.host_concurrency = 32;
    c.options.trap_similar = 60;
    cmp_ok(crawl_run(&c), "==", 0, "an endless calendar ends");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE state = 'done'"), "<", 200, "soon");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE reason LIKE 'trap: more than 60%'"),
           ">", 0, "and says why");
    crawl_remove(&c);
}

static void check_huge(void)
{
    struct crawl c;
    crawl_init(&c, &site, full ? "/fault/huge?mb=200" : "/fault/huge?mb=30");
    c.options.level = COS_OPT_ZERO;
    cmp_ok(crawl_run(&c), "==", 0, "a huge page is fetched");
    cmp_ok(crawl_bad_files(&c), "==", 0, "and kept whole");
    cmp_ok(crawl_count(&c, "SELECT bytes FROM pages"), ">=", (full ? 200 : 30) << 20, "all of it");
    crawl_remove(&c);
}

/* The server is there, then it is not. */
static dill_coroutine void check_gone(void)
{
    struct crawl c;
    struct site other;
    site_start(&other, "--shape=cross", "--pages=300", "--latency=20", NULL);
    crawl_init(&c, &other, "/");
    c.options.level = COS_OPT_INF;
    c.options.host_concurrency = 2;
    c.options.waitretry = 100;
    c.drain_after = 20;
    crawl_run(&c);
    site_stop(&other);
    c.drain_after = 0;
    cmp_ok(crawl_run(&c), "==", 4, "a server that is gone when the crawl is resumed: exit code 4");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE state = 'done'"), ">=", 20,
           "what was done stays done");
    crawl_remove(&c);
}

static pid_t victim;

static void page_then_kill(void *arg, const struct cos_crawl_page *page)
{
    crawl__page(arg, page);
    if (((struct crawl *)arg)->pages == 30)
        kill(victim, SIGKILL);
}

static dill_coroutine void check_gone_in_the_middle(void)
{
    struct crawl c;
    struct site other;
    site_start(&other, "--shape=cross", "--pages=1000", "--latency=20", NULL);
    victim = other.pid;
    crawl_init(&c, &other, "/");
    c.options.level = COS_OPT_INF;
    c.options.waitretry = 100;
    c.events.page = page_then_kill;
    cmp_ok(crawl_run(&c), "==", 4, "a server that goes in mid-crawl: exit code 4");
    like(c.said, "does not answer any more \\(connection refused\\): [0-9]+ URLs are left",
         "with a clear sentence");
    ok(c.result.stats.skipped_by[COS_SKIP_GONE] == c.result.stats.queued &&
       c.result.stats.skipped_by[COS_SKIP_PUTOFF] == 0, "they are counted as what they are");
    is(crawl_sql(&c, "SELECT how FROM runs"), "incomplete", "and the run as what it was");
    ok(c.result.resumable, "and it can go on");
    is(crawl_sql(&c, "SELECT count(*) FROM pages WHERE state = 'failed'"), "0",
       "nothing counts as failed for it");
    cmp_ok(crawl_bad_files(&c), "==", 0, "nothing is corrupted");
    waitpid(other.pid, NULL, 0);
    crawl_remove(&c);
}

/* More bad pages than requests may be in flight, and good ones beside them: the
 * host is there, whatever those say. */
static dill_coroutine void check_bad_pages(void)
{
    struct crawl c;
    struct site other;
    static char urls[20][128];
    const char *seeds[21];
    site_start(&other, "--shape=cross", "--pages=60", "--latency=10", NULL);
    crawl_init(&c, &other, "/");
    for (int i = 0; i < 20; i++) {
        snprintf(urls[i], sizeof urls[i], "%sfault/%s?n=%d", other.url,
                 i % 2 ? "close" : i % 4 ? "reset" : "hang", i);
        seeds[i] = urls[i];
    }
    seeds[20] = c.seed;
    c.options.urls = seeds;
    c.options.nurls = 21;
    c.options.level = COS_OPT_INF;
    c.options.timeout = 1000;
    c.options.waitretry = 100;
    cmp_ok(crawl_run(&c), "==", 4, "twenty bad pages: exit code 4");
    is(crawl_sql(&c, "SELECT state, count(*) FROM pages GROUP BY 1 ORDER BY 1"),
       "done|60 failed|20", "the bad ones failed, all others came");
    unlike(c.said, "does not answer any more", "nobody was taken for dead");
    crawl_remove(&c);
    site_stop(&other);
}

/* Away for two seconds: nothing is lost. */
static dill_coroutine void check_away(void)
{
    struct crawl c;
    struct site other;
    char seed[128];
    site_start(&other, "--shape=cross", "--pages=60", "--latency=10", NULL);
    crawl_init(&c, &other, "/fault/refuse?ms=2500");
    snprintf(seed, sizeof seed, "%s", other.url);
    c.seeds[1] = seed;
    c.options.nurls = 2;
    c.options.level = COS_OPT_INF;
    c.options.waitretry = 100;
    c.options.headers = (struct cos_strings){(const char *const[]){"Connection: close"}, 1};
    cmp_ok(crawl_run(&c), "==", 0, "a server that is away for a moment");
    is(crawl_sql(&c, "SELECT count(*) FROM pages WHERE state <> 'done'"), "0", "costs no page");
    crawl_remove(&c);
    site_stop(&other);
}

/* More kinds of failure than the summary has lines for. */
static dill_coroutine void check_kinds(void)
{
    static char urls[30][128];
    const char *seeds[30];
    struct crawl c;
    int64_t sum = 0;
    int n = 0;
    for (int code = 410; code < 421; code++)
        for (int i = 0; i < (code == 420 ? 10 : 1 + (code == 419)); i++) {
            snprintf(urls[n], sizeof urls[n], "%sfault/status?code=%d&n=%d", site.url, code, i);
            seeds[n] = urls[n];
            n++;
        }
    crawl_init(&c, &site, "/");
    c.options.urls = seeds;
    c.options.nurls = (size_t)n;
    c.options.host_concurrency = 1;
    for (int pass = 0; pass < 2; pass++) {
        sum = 0;
        cmp_ok(crawl_run(&c), "==", 8, "eleven kinds of failure");
        for (size_t i = 0; i < c.result.nerrors; i++)
            sum += c.result.errors[i].count;
        ok(c.result.nerrors == COS_TOP_ERRORS && !strcmp(c.result.errors[0].text, "420") &&
           c.result.errors[0].count == 10, "the most frequent came last and is first");
        ok(c.result.errors[1].count == 2 && c.result.errors[7].count == 1 && sum == 18,
           "no kind is counted with another%s", pass ? ", nor what failed in an earlier run" : "");
    }
    crawl_remove(&c);
}

/* Those that wait for something wait at the same time. */
static void run_all(void)
{
    int all = dill_bundle();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        dill_bundle_go(all, run_row(i));
    dill_bundle_go(all, check_not_held_up());
    dill_bundle_go(all, check_gone());
    dill_bundle_go(all, check_gone_in_the_middle());
    dill_bundle_go(all, check_bad_pages());
    dill_bundle_go(all, check_away());
    dill_bundle_go(all, check_kinds());
    dill_bundle_wait(all, -1);
    dill_hclose(all);
}

int main(void)
{
    full = getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full");
    if (full)
        setenv("TAP_TIMEOUT", "900", 0);
    plan(NO_PLAN);
    site_start(&site, NULL);
    run_all();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(i);
    check_loop_members();
    check_calendar();
    check_huge();
    site_stop(&site);
    done_testing();
}
