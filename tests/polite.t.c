/* polite.t - politeness as the server sees it: gaps, Retry-After, requests in
 * flight, all measured from its own log. */
#define DILL_DISABLE_RAW_NAMES
#include "tap.h"

#include "crawl.h"

#include <libdill.h>

static int by_time(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

/* All start times the site has for one URL (NULL: for all), in order. */
static size_t starts(const struct site *site, const char *path, long *times, size_t max)
{
    char *stats = site_stats(site), *at = stats, name[256];
    size_t n = 0;
    snprintf(name, sizeof name, "\"%s\":{", path ? path : "");
    if (path)
        at = strstr(stats, name);
    while (at && (at = strstr(at, "\"start_ms\":[")) != NULL) {
        for (at += 12; *at != ']' && n < max; at += *at == ',')
            times[n++] = strtol(at, &at, 10);
        if (path)
            break;
    }
    free(stats);
    qsort(times, n, sizeof *times, by_time);
    return n;
}

static long least_gap(const long *times, size_t n)
{
    long least = 1000000;
    for (size_t i = 1; i < n; i++)
        if (times[i] - times[i - 1] < least)
            least = times[i] - times[i - 1];
    return least;
}

static dill_coroutine void check_crawl_delay(void)
{
    struct site site;
    struct crawl c;
    long t[64];
    size_t n;
    site_start(&site, "--shape=star", "--pages=10", "--latency=30",
               "--robots=User-agent: *\\nCrawl-delay: 0.25\\n", NULL);
    crawl_init(&c, &site, "/");
    cmp_ok(crawl_run(&c), "==", 0, "a crawl with Crawl-delay");
    n = starts(&site, NULL, t, 64);
    cmp_ok(n, "==", 11, "fetched all");
    cmp_ok(least_gap(t, n), ">=", 250, "gaps as the server sees them: %ld ms", least_gap(t, n));
    cmp_ok(t[n - 1] - t[0], "<", 3600, "and from start to start, not from end to start");
    cmp_ok(site_number(&site, "peak"), "==", 1, "one request in flight");
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    site_reset(&site);
    c.options.crawl_delay_max = 50;
    crawl_run(&c);
    n = starts(&site, NULL, t, 64);
    ok(least_gap(t, n) >= 50 && t[n - 1] - t[0] < 1500, "--crawl-delay-max shortens it");
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    site_reset(&site);
    c.options.robots = COS_SWITCH_OFF;
    crawl_run(&c);
    n = starts(&site, NULL, t, 64);
    cmp_ok(n, "==", 10, "--no-robots: robots.txt is not asked for");
    cmp_ok(site_number(&site, "peak"), ">", 1, "and its delay is not kept");
    crawl_remove(&c);
    site_stop(&site);
}

static dill_coroutine void check_wait(void)
{
    struct site site;
    struct crawl c;
    long t[64], low = 1000000, high = 0;
    size_t n;
    site_start(&site, "--shape=star", "--pages=16", NULL);
    crawl_init(&c, &site, "/");
    c.options.wait = 100;
    crawl_run(&c);
    n = starts(&site, NULL, t, 64);
    cmp_ok(least_gap(t, n), ">=", 100, "-w: gaps of at least %ld ms", least_gap(t, n));
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    site_reset(&site);
    c.options.wait = 100;
    c.options.random_wait = 1;
    crawl_run(&c);
    n = starts(&site, NULL, t, 64);
    for (size_t i = 1; i < n; i++) {
        long gap = t[i] - t[i - 1];
        low = gap < low ? gap : low;
        high = gap > high ? gap : high;
    }
    cmp_ok(low, ">=", 49, "--random-wait: from half of it (%ld)", low);
    cmp_ok(high - low, ">", 25, "to half as much again (%ld)", high);
    crawl_remove(&c);
    site_stop(&site);
}

static dill_coroutine void check_caps(void)
{
    struct site site;
    struct crawl c;
    site_start(&site, "--shape=star", "--pages=80", "--latency=15", NULL);
    crawl_init(&c, &site, "/");
    crawl_run(&c);
    cmp_ok(site_number(&site, "peak"), "<=", 6, "by default at most 6 in flight to a host");
    cmp_ok(site_number(&site, "peak"), ">=", 3, "and more than one");
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    site_reset(&site);
    c.options.host_concurrency = 3;
    crawl_run(&c);
    cmp_ok(site_number(&site, "peak"), "<=", 3, "--host-concurrency");
    crawl_remove(&c);
    crawl_init(&c, &site, "/");
    site_reset(&site);
    c.options.host_concurrency = 50;
    c.options.concurrency = 4;
    crawl_run(&c);
    cmp_ok(site_number(&site, "peak"), "<=", 4, "-j");
    crawl_remove(&c);
    site_stop(&site);
}

static dill_coroutine void check_rate(void)
{
    struct site site;
    struct crawl c;
    long t[64];
    size_t n;
    site_start(&site, "--shape=star", "--pages=30", NULL);
    crawl_init(&c, &site, "/");
    c.options.rate = 20;
    crawl_run(&c);
    n = starts(&site, NULL, t, 64);
    cmp_ok(t[n - 1] - t[0], ">=", 1400, "--rate=20: 31 requests take %ld ms", t[n - 1] - t[0]);
    cmp_ok(t[n - 1] - t[0], "<", 3500, "and not much more");
    crawl_remove(&c);
    site_stop(&site);
}

/* 429 for one page: the whole host is left alone as long as it asks for. */
static dill_coroutine void check_retry_after(void)
{
    struct site site;
    struct crawl c;
    char seed[128];
    long t[8], all[300];
    size_t n;
    int between = 0;
    site_start(&site, "--shape=cross", "--pages=200", "--latency=10", NULL);
    crawl_init(&c, &site, "/fault/429?after=2");
    snprintf(seed, sizeof seed, "%s", site.url);
    c.seeds[1] = seed;
    c.options.nurls = 2;
    cmp_ok(crawl_run(&c), "==", 0, "429 with Retry-After is recovered");
    n = starts(&site, "/fault/429?after=2", t, 8);
    cmp_ok(n, "==", 2, "with one more request");
    cmp_ok(t[1] - t[0], ">=", 2000, "not before it asked for: %ld ms", t[1] - t[0]);
    cmp_ok(t[1] - t[0], "<", 5000, "and not long after");
    n = starts(&site, NULL, all, 300);
    /* Those in flight at that moment were on their way. */
    for (size_t i = 0; i < n; i++)
        between += all[i] > t[0] + 60 && all[i] < t[0] + 1900;
    cmp_ok(between, "==", 0, "meanwhile the host was left alone");
    crawl_remove(&c);
    site_stop(&site);
}

int main(void)
{
    int all;
    plan(NO_PLAN);
    all = dill_bundle();
    dill_bundle_go(all, check_crawl_delay());
    dill_bundle_go(all, check_wait());
    dill_bundle_go(all, check_rate());
    dill_bundle_go(all, check_retry_after());
    dill_bundle_wait(all, -1);
    dill_hclose(all);
    check_caps();
    done_testing();
}
