/* crawl.t - whole crawls of a synthetic site: what is fetched, how often, what
 * the database says, how it stops and goes on. */
#include "tap.h"

#include "crawl.h"

#include "base/err.h"
#include "base/op.h"
#include "coscrawl-cps.h"

#include <libdill.h>

static struct site site;

static void wide(struct crawl *c)
{
    c->options.concurrency = 64;
    c->options.host_concurrency = 64;
    c->options.level = COS_OPT_INF;
}

static void check_mirror(void)
{
    struct crawl c;
    site_start(&site, "--pages=120", NULL);
    crawl_init(&c, &site, "/");
    cmp_ok(crawl_run(&c), "==", 0, "a crawl of the demo site ends well");
    cmp_ok(c.result.stop, "==", COS_STOP_FINISHED, "finished");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE state = 'done'"), "==", c.pages,
           "each page told is a row");
    cmp_ok(site_number(&site, "requests"), "==", site_urls(&site), "each URL is asked for once");
    cmp_ok(site_urls(&site), "==", c.pages + 1, "all of them pages, and robots.txt");
    cmp_ok(c.pages, ">=", 120, "%ld pages and what they need", c.pages);
    cmp_ok(crawl_files(&c), "==", c.pages, "a file for each");
    cmp_ok(crawl_bad_files(&c), "==", 0, "of the right size");
    is(crawl_sql(&c, "SELECT url IS NOT NULL, reason FROM skipped"), "1|robots: Disallow: /private/",
       "what robots.txt forbids is skipped and says why");
    cmp_ok(site_requests(&site, "/private/secret.html"), "==", 0, "and never asked for");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE state = 'done' AND (path IS NULL OR "
                           "hash IS NULL OR fetched_at IS NULL OR total_us IS NULL)"),
           "==", 0, "rows are complete");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM links"), ">", 120, "links are there");
    cmp_ok(site_number(&site, "peak"), "<=", 6, "in flight at most 6 to one host");
    site_reset(&site);
    cmp_ok(crawl_run(&c), "==", 0, "the same again");
    cmp_ok(c.result.stop, "==", COS_STOP_ALREADY, "says that it is finished");
    cmp_ok(site_number(&site, "requests"), "==", 0, "and asks for nothing");
    c.options.level = 2;
    cmp_ok(crawl_run(&c), "==", 2, "other scope options are an error");
    like(c.result.message, "--level was the default and is now 2", "that names them");
    c.options.fresh = 1;
    cmp_ok(crawl_run(&c), "==", 0, "--fresh starts again");
    cmp_ok(crawl_count(&c, "SELECT max(depth) FROM pages WHERE state = 'done'"), "==", 2,
           "and goes two levels deep");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE reason = 'level' AND depth = 3"), ">",
           0, "what lies beyond is skipped for its level");
    crawl_remove(&c);
    site_stop(&site);
}

/* root → f → g → x → y and root → s (slow) → x, level 3: y is 3 away by s. */
static void check_lost(const char *slow, int concurrency)
{
    struct crawl c;
    site_start(&site, "--shape=lost", slow, NULL);
    crawl_init(&c, &site, "/");
    c.options.level = 3;
    c.options.concurrency = concurrency;
    crawl_run(&c);
    is(crawl_sql(&c, "SELECT state, depth FROM pages WHERE url LIKE '%/y.html'"), "done|3",
       "C10b y is found, %s, %d at once", slow ? slow : "no page slow", concurrency);
    is(crawl_sql(&c, "SELECT p.depth, substr(r.url, -6) FROM pages p JOIN pages r "
                     "ON r.id = p.referrer WHERE p.url LIKE '%/x.html'"),
       "2|s.html", "C10b x is two away, by s");
    cmp_ok(site_number(&site, "requests"), "==", site_urls(&site), "C10b nothing is asked twice");
    crawl_remove(&c);
    site_stop(&site);
}

static void check_c10b(void)
{
    static const char *const slow[] = {"--slow=/s.html:300", "--slow=/f.html:100",
                                       "--slow=/g.html:100", "--slow=/x.html:150"};
    for (int i = 0; i < 4; i++)
        check_lost(slow[i], 64);
    check_lost("--latency=0", 64);
    check_lost("--slow=/s.html:200", 1);
}

/* Twenty times the same: pages, depths, referrers, links. */
static void check_same_set(void)
{
    char *first = NULL;
    int differ = 0, twice = 0, runs = 20;
    site_start(&site, "--shape=cross", "--pages=250", "--bytes=500", "--errors=3", NULL);
    for (int i = 0; i < runs; i++) {
        struct crawl c;
        char *rows;
        crawl_init(&c, &site, "/");
        wide(&c);
        c.options.level = 6;
        c.options.tries = 1;
        c.options.adaptive = COS_SWITCH_OFF;
        site_reset(&site);
        crawl_run(&c);
        rows = crawl_rows(c.dir, CRAWL_ESSENCE);
        if (!first)
            first = strdup(rows);
        differ += strcmp(first, rows) != 0;
        twice += site_number(&site, "requests") != site_urls(&site);
        free(rows);
        crawl_remove(&c);
    }
    ok(strlen(first) > 20000, "there is something to compare");
    cmp_ok(differ, "==", 0, "C10b 20 crawls at concurrency 64 agree about every row");
    cmp_ok(twice, "==", 0, "and each fetched every page exactly once");
    free(first);
    site_stop(&site);
}

static void check_limits(void)
{
    struct crawl c;
    site_start(&site, "--shape=cross", "--pages=200", "--bytes=1000", "--errors=10", NULL);
    crawl_init(&c, &site, "/");
    wide(&c);
    c.options.max_pages = 25;
    c.options.tries = 1;
    cmp_ok(crawl_run(&c), "==", 14, "--max-pages ends with 14");
    cmp_ok(c.result.stats.done, "==", 25, "after exactly that many");
    ok(c.result.resumable && c.result.stop == COS_STOP_PAGES, "and can go on");
    c.options.max_pages = 0;
    c.options.quota = 50000;
    cmp_ok(crawl_run(&c), "==", 14, "-Q ends with 14");
    /* What failed came, too. */
    cmp_ok(c.result.stats.wire_bytes, ">=", 50000, "once so much came");
    c.options.quota = 0;
    c.options.max_failures = 2;
    cmp_ok(crawl_run(&c), "==", 12, "--max-failures ends with 12: it counts this run's");
    c.options.max_failures = 0;
    cmp_ok(crawl_run(&c), "==", 8, "to the end: a server answered with errors");
    is(crawl_sql(&c, "SELECT sum(pages), sum(failed), sum(bytes), min(pages) > 0 FROM runs"),
       crawl_sql(&c, "SELECT sum(state = 'done'), sum(state = 'failed'), "
                     "sum(iif(state = 'done', bytes, 0)), 1 FROM pages"),
       "runs: pages, failures and bytes of that run each");
    cmp_ok(crawl_run(&c), "==", 8, "a finished crawl that lost pages does not end with 0 later");
    cmp_ok(c.result.stop, "==", COS_STOP_ALREADY, "though there is nothing to do");
    cmp_ok(site_number(&site, "requests"), "==", site_urls(&site) + 3,
           "over five runs only robots.txt was asked for again");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE state = 'queued'"), "==", 0,
           "nothing is left");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM runs WHERE exit_code IN (14, 12, 8)"), "==", 5,
           "runs has all five");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM broken_links"), ">", 0, "broken_links has some");
    crawl_remove(&c);
    site_stop(&site);

    site_start(&site, "--shape=chain", "--pages=500", "--latency=20", NULL);
    crawl_init(&c, &site, "/");
    wide(&c);
    c.options.max_time = 300;
    cmp_ok(crawl_run(&c), "==", 15, "--max-time ends with 15");
    cmp_ok(c.result.stats.elapsed_ms, "<", 2000, "in time");
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    c.options.max_size = 3000;
    crawl_run(&c);
    like(crawl_sql(&c, "SELECT reason FROM skipped"), "^size: more than 3000 bytes",
         "--max-size leaves larger pages out");
    crawl_remove(&c);
    site_stop(&site);
}

static void check_interrupted(void)
{
    struct crawl c, whole;
    char *a, *b;
    site_start(&site, "--shape=cross", "--pages=200", "--latency=2", NULL);
    crawl_init(&whole, &site, "/");
    wide(&whole);
    crawl_run(&whole);
    site_reset(&site);
    crawl_init(&c, &site, "/");
    wide(&c);
    c.drain_after = 40;
    cmp_ok(crawl_run(&c), "==", 11, "asked to stop: exit code 11");
    ok(c.result.resumable && c.result.stop == COS_STOP_INTERRUPTED, "state saved");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE state = 'done'"), "==", c.pages,
           "what was in flight was let end");
    c.drain_after = 0;
    cmp_ok(crawl_run(&c), "==", 0, "and it goes on to the end");
    like(c.said, "resumed: [0-9]+ done, [0-9]+ queued", "saying so");
    cmp_ok(site_number(&site, "requests"), "==", site_urls(&site) + 1, "nothing fetched twice");
    a = crawl_rows(whole.dir, CRAWL_ESSENCE);
    b = crawl_rows(c.dir, CRAWL_ESSENCE);
    ok(!strcmp(a, b), "the database is that of a crawl that was not stopped");
    free(a);
    free(b);
    crawl_remove(&c);
    crawl_remove(&whole);
    site_stop(&site);
}

static void check_modes(void)
{
    struct crawl c;
    struct stat st;
    site_start(&site, "--shape=cross", "--pages=60", NULL);
    crawl_init(&c, &site, "/");
    crawl_remove(&c);
    wide(&c);
    c.options.mode = COS_MODE_LIST;
    cmp_ok(crawl_run(&c), "==", 0, "--list");
    cmp_ok(c.pages, "==", 60, "crawls all pages");
    ok(stat(c.dir, &st) < 0, "and leaves no directory behind");
    c.options.level = 100;
    cmp_ok(crawl_run(&c), "==", 0, "--list with a limit on depth");
    cmp_ok(c.pages, "==", 60, "too");
    c.options.level = COS_OPT_INF;
    site_reset(&site);
    c.options.mode = COS_MODE_DRY_RUN;
    cmp_ok(crawl_run(&c), "==", 0, "--dry-run");
    cmp_ok(site_number(&site, "requests"), "==", 2, "asks for robots.txt and the first page only");
    cmp_ok(c.woulds, ">=", 3, "and says what it would fetch");
    ok(stat(c.dir, &st) < 0, "and leaves no directory behind either");
    site_stop(&site);
}

/* So little memory that texts are spilled again and again. */
static void check_spill_list(void)
{
    struct crawl c;
    site_start(&site, "--shape=cross", "--pages=2500", "--bytes=300", "--links=5", NULL);
    crawl_init(&c, &site, "/");
    wide(&c);
    c.options.mode = COS_MODE_LIST;
    c.options.max_memory = 700 << 10;
    cmp_ok(crawl_run(&c), "==", 0, "--list with little memory ends well");
    like(c.said, "memory: [0-9]+ bytes of URLs are in the database only", "it spilled");
    cmp_ok(c.pages, "==", 2500, "and every page came");
    cmp_ok(site_number(&site, "requests"), "==", 2501, "once");
    crawl_remove(&c);
    site_stop(&site);
}

static void check_spill(void)
{
    struct crawl c, whole;
    char *a, *b;
    site_start(&site, "--shape=cross", "--pages=2500", "--bytes=300", "--links=5", NULL);
    crawl_init(&whole, &site, "/");
    wide(&whole);
    crawl_run(&whole);
    crawl_init(&c, &site, "/");
    wide(&c);
    c.options.max_memory = 700 << 10;
    cmp_ok(crawl_run(&c), "==", 0, "a crawl with little memory ends well");
    like(c.said, "memory: [0-9]+ bytes of URLs are in the database only", "it spilled");
    a = crawl_rows(whole.dir, CRAWL_ESSENCE);
    b = crawl_rows(c.dir, CRAWL_ESSENCE);
    ok(strlen(a) > 100000 && !strcmp(a, b), "and its database is the same");
    free(a);
    free(b);
    c.options.fresh = 1;
    c.options.max_memory = 400 << 10;
    cmp_ok(crawl_run(&c), "==", 1, "with less than even the bare list needs it stops");
    like(c.result.message, "URLs are known and --max-memory holds no more; raise it", "and says so");
    c.options.fresh = 0;
    c.options.max_memory = 0;
    cmp_ok(crawl_run(&c), "==", 0, "with more it goes on");
    b = crawl_rows(c.dir, CRAWL_ESSENCE);
    ok(!strcmp(a = crawl_rows(whole.dir, CRAWL_ESSENCE), b), "to the same end");
    free(a);
    free(b);
    crawl_remove(&c);
    crawl_remove(&whole);
    site_stop(&site);
}

static coroutine void crawl_in_a_coroutine(struct crawl *c)
{
    crawl_run(c);
}

/* hclose of the coroutine a crawl runs in: everything stops, nothing leaks. */
static void check_closed(void)
{
    struct crawl c;
    int handle;
    site_start(&site, "--shape=cross", "--pages=200", "--latency=20", NULL);
    crawl_init(&c, &site, "/");
    wide(&c);
    handle = go(crawl_in_a_coroutine(&c));
    cos_sleep(now() + 150);
    hclose(handle);
    cmp_ok(c.result.err, "==", COS_ECANCELED, "a crawl whose coroutine is closed is cancelled");
    cos_sleep(now() + 50);
    cmp_ok(cos__op_count(), "==", 0, "and leaves no operation behind");
    cmp_ok(crawl_bad_files(&c), "==", 0, "no page is done without its file");
    cmp_ok(crawl_run(&c), "==", 0, "it goes on afterwards");
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE state = 'done'"), "==", 200,
           "to the end");
    crawl_remove(&c);
    site_stop(&site);
}

struct cut {
    struct cps_rt *rt;
    int64_t ticket;
};

static void abort_crawl(int err, void *arg)
{
    struct cut *cut = arg;
    (void)err;
    cps_cancel(cut->rt, cut->ticket);
}

static void crawl_init_seed(struct crawl *c, const struct site *from)
{
    snprintf(c->seed, sizeof c->seed, "%s", from->url);
}

static int calls, call_err;
static struct cos_crawl_result call_result;

static void on_crawled(int err, const struct cos_crawl_result *result, void *arg)
{
    (void)arg;
    calls++;
    call_err = err;
    if (result)
        call_result = *result;
}

/* The twin on the callback face: the same crawl, cancelled once on the way. */
static void check_callbacks(void)
{
    struct crawl c, whole;
    struct cps_rt *rt = NULL;
    int64_t ticket;
    char *a, *b;
    site_start(&site, "--shape=cross", "--pages=120", "--latency=3", NULL);
    crawl_init(&whole, &site, "/");
    wide(&whole);
    crawl_run(&whole);
    crawl_init(&c, &site, "/");
    wide(&c);
    c.options.host_concurrency = 4;
    cps_open(&rt);
    ticket = cps_crawl(rt, &c.options, &c.events, -1, on_crawled, NULL);
    memset(c.seed, 'x', 10); /* what was given is copied */
    cps_sleep(rt, now() + 60, abort_crawl, &(struct cut){rt, ticket});
    cmp_ok(cps_run(rt), "==", 0, "cps_run");
    cmp_ok(calls, "==", 1, "C14 a cancelled cps_crawl calls back once");
    cmp_ok(call_err, "==", COS_ECANCELED, "C14 with COS_ECANCELED");
    while (cos__op_count() > 0)
        cos_sleep(now() + 10);
    crawl_init_seed(&c, &site);
    cmp_ok(crawl_count(&c, "SELECT count(*) FROM pages WHERE state = 'queued'"), ">", 0,
           "it had not come to its end");
    calls = 0;
    cps_crawl(rt, &c.options, &c.events, -1, on_crawled, NULL);
    cps_run(rt);
    ok(calls == 1 && call_err == 0 && call_result.exit_code == 0, "and is resumed by another");
    a = crawl_rows(whole.dir, CRAWL_ESSENCE);
    b = crawl_rows(c.dir, CRAWL_ESSENCE);
    ok(!strcmp(a, b), "whose database is that of cos_crawl");
    free(a);
    free(b);
    cps_close(rt);
    crawl_remove(&c);
    crawl_remove(&whole);
    site_stop(&site);
}

int main(void)
{
    plan(NO_PLAN);
    check_mirror();
    check_c10b();
    check_same_set();
    check_limits();
    check_interrupted();
    check_modes();
    check_spill();
    check_spill_list();
    check_callbacks();
    check_closed();
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
