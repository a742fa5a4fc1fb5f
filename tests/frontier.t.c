/* frontier.t - known URLs, queues, turns, retries, and what a URL costs. */
#include "tap.h"

#include "base/err.h"
#include "crawl/frontier.h"

#include <string.h>

static const struct cos_polite_rules rules = {
    .cap = 2, .adaptive = 1, .delay_max = 30000, .retry_max = 10000};
static const struct cos_polite_answer fine = {.status = 200, .retry_after = -1};
static struct cos_frontier f;

static uint32_t known(const char *url)
{
    return cos_frontier_find(&f, cos_frontier_hash(&f, url, strlen(url)));
}

static uint32_t add(const char *url, int depth, int queue)
{
    uint32_t id = 0;
    cos_frontier_add(&f, cos_frontier_hash(&f, url, strlen(url)), url, strlen(url), &id);
    cos_frontier_offer(&f, id, depth, 0, 0, 0);
    if (queue)
        cos_frontier_queue(&f, id);
    return id;
}

static uint32_t next(int64_t now)
{
    int64_t when;
    uint32_t id = cos_frontier_next(&f, now, &when);
    if (id)
        cos_frontier_start(&f, cos_frontier_host(&f, id));
    return id;
}

static void finish(uint32_t id, int64_t now)
{
    cos_frontier_answered(&f, cos_frontier_host(&f, id), now, &fine);
    cos_frontier_settle(&f, id, COS_URL_DONE);
}

static void check_known(void)
{
    uint32_t a, b;
    cos_frontier_init(&f, &rules, 0);
    ok(!known("http://h/a"), "not known before");
    a = add("http://h/a", 0, 0);
    b = add("http://h/b", 0, 0);
    ok(a == 1 && b == 2, "ids count from 1");
    ok(known("http://h/a") == a && known("http://h/b") == b, "both are known");
    ok(!known("http://h/"), "others are not");
    is(cos_frontier_text(&f, b), "http://h/b", "the text comes back");
    is(cos_frontier_host(&f, a)->origin, "http://h", "the host is the origin");
    add("https://h/a", 0, 0);
    add("http://h:81/a", 0, 0);
    cmp_ok(f.nhosts, "==", 3, "another scheme or port is another one");
    cos_frontier_release(&f);
}

static void check_offer(void)
{
    uint32_t x;
    struct cos_node *node;
    cos_frontier_init(&f, &rules, 0);
    x = add("http://h/x", 3, 0);
    node = cos_frontier_node(&f, x);
    cmp_ok(cos_frontier_offer(&f, x, 4, 7, 1, 0), "==", 0, "a longer way changes nothing");
    node->rank = 50;
    cmp_ok(cos_frontier_offer(&f, x, 3, 7, 60, 0), "==", 0, "nor does one as long, ranked behind");
    cmp_ok(cos_frontier_offer(&f, x, 3, 8, 40, 0), "==", COS_OFFER_REFERRER,
           "ranked before it gives a new referrer");
    cmp_ok(cos_frontier_offer(&f, x, 2, 9, 99, 0), "==", COS_OFFER_DEPTH | COS_OFFER_REFERRER,
           "C10b a shorter way always counts");
    ok(node->depth == 2 && node->referrer == 9 && !node->stale, "and is kept");
    node->written = 1;
    cos_frontier_offer(&f, x, 1, 5, 5, 0);
    ok(node->stale, "once its row is put, a change makes the row stale");
    cos_frontier_release(&f);
}

static void check_order(void)
{
    uint32_t a[3], b[3];
    int64_t when;
    cos_frontier_init(&f, &rules, 0);
    a[0] = add("http://a/0", 0, 1);
    a[1] = add("http://a/1", 1, 1);
    a[2] = add("http://a/2", 1, 1);
    b[0] = add("http://b/0", 0, 1);
    b[1] = add("http://b/1", 0, 1);
    cmp_ok(f.open, "==", 5, "five are open");
    cmp_ok(next(10), "==", a[0], "the first found goes first");
    cmp_ok(next(10), "==", b[0], "then the other host has its turn");
    cmp_ok(next(10), "==", a[1], "first in, first out within a host");
    cmp_ok(next(10), "==", b[1], "turns go on");
    cmp_ok(cos_frontier_next(&f, 10, &when), "==", 0, "a is at its cap, b is empty");
    ok(when == INT64_MAX, "and only an event can change that");
    finish(a[0], 20);
    cmp_ok(next(20), "==", a[2], "one ended: the next may start");
    finish(a[1], 30);
    finish(a[2], 30);
    finish(b[0], 30);
    cmp_ok(f.open, "==", 1, "one is still open");
    finish(b[1], 30);
    cmp_ok(f.open + f.queued + f.flight, "==", 0, "nothing is open: the crawl is over");
    cos_frontier_release(&f);
}

static void check_unsaved(void)
{
    uint32_t a;
    int64_t when;
    cos_frontier_init(&f, &rules, 0);
    a = add("http://a/0", 0, 1);
    add("http://a/1", 0, 1);
    add("http://a/2", 0, 1);
    next(1);
    next(1);
    finish(a, 2);
    cos_frontier_unsaved(&f, a, 1);
    cmp_ok(cos_frontier_next(&f, 2, &when), "==", 0,
           "C10 a page that is not committed still holds its slot");
    cos_frontier_unsaved(&f, a, -1);
    ok(next(3), "and gives it back with the commit");
    cos_frontier_release(&f);
}

static void check_retry(void)
{
    uint32_t a, b;
    int64_t when;
    cos_frontier_init(&f, &rules, 0);
    a = add("http://a/0", 0, 1);
    b = add("http://a/1", 0, 1);
    next(100);
    cos_frontier_answered(&f, cos_frontier_host(&f, a), 100, &fine);
    cos_frontier_retry(&f, a, 500);
    cmp_ok(next(100), "==", b, "a retry does not hold the others up");
    cmp_ok(cos_frontier_next(&f, 200, &when), "==", 0, "it is not due yet");
    cmp_ok(when, "==", 500, "and says when it will be");
    cmp_ok(f.open, "==", 2, "it is open all the while");
    cmp_ok(next(500), "==", a, "then it comes");
    for (int i = 0; i < 50; i++) {
        char url[32];
        uint32_t id;
        snprintf(url, sizeof url, "http://r%d/", i);
        id = add(url, 0, 1);
        next(600);
        cos_frontier_answered(&f, cos_frontier_host(&f, id), 600, &fine);
        cos_frontier_retry(&f, id, 10000 - i * 37 % 50 * 100);
    }
    for (int64_t last = 0, now = 0; f.nretries; last = now) {
        cos_frontier_next(&f, 600, &now);
        if (now < last)
            fail("retries out of order");
        if (!next(now))
            fail("a due retry did not come");
    }
    pass("50 retries come in order of time");
    cos_frontier_release(&f);
}

static void check_hold(void)
{
    struct cos_host *host;
    uint32_t a;
    int64_t when;
    cos_frontier_init(&f, &rules, 0);
    a = add("http://a/0", 0, 1);
    add("http://a/1", 0, 1);
    host = cos_frontier_host(&f, a);
    host->held = 1;
    cos_frontier_touch(&f, host);
    cmp_ok(cos_frontier_next(&f, 1, &when), "==", 0, "a held host is not asked");
    host->held = 0;
    cos_polite_crawl_delay(&host->polite, &f.polite, 1000);
    cos_frontier_touch(&f, host);
    cmp_ok(next(1), "==", a, "until it is let go");
    cos_frontier_answered(&f, host, 5, &fine);
    cmp_ok(cos_frontier_next(&f, 5, &when), "==", 0, "its Crawl-delay holds");
    cmp_ok(when, "==", 1001, "from start to start");
    cos_frontier_settle(&f, a, COS_URL_DONE);
    a = cos_frontier_next(&f, 1001, &when);
    cos_frontier_untake(&f, a);
    cmp_ok(cos_frontier_next(&f, 1001, &when), "==", a, "one put back comes again");
    cos_frontier_release(&f);
}

static void count(void *arg, uint32_t id)
{
    *(int *)arg += 1;
    cos_frontier_settle(&f, id, COS_URL_QUEUED);
}

static void check_drop(void)
{
    int n = 0;
    uint32_t a;
    int64_t when;
    cos_frontier_init(&f, &rules, 0);
    a = add("http://a/0", 0, 1);
    add("http://a/1", 0, 1);
    add("http://b/1", 0, 1);
    cos_frontier_drop_queue(&f, cos_frontier_host(&f, a), count, &n);
    cmp_ok(n, "==", 2, "a host's queue can be dropped");
    cmp_ok(f.open, "==", 1, "its URLs are not open any more");
    is(cos_frontier_text(&f, cos_frontier_next(&f, 1, &when)), "http://b/1", "others stay");
    cos_frontier_release(&f);
}

/* The sanitizers keep books of their own about every byte. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BOOKS 4
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BOOKS 4
#endif
#endif
#ifndef BOOKS
#define BOOKS 1
#endif

static long resident(void)
{
    long pages = 0, rss = 0;
    FILE *s = fopen("/proc/self/statm", "r");
    if (!s || fscanf(s, "%ld %ld", &pages, &rss) != 2)
        rss = 0;
    if (s)
        fclose(s);
    return rss * 4096;
}

static void check_memory(void)
{
    enum { N = 300000 };
    long before = resident(), grown;
    size_t freed;
    int bad = 0;
    cos_frontier_init(&f, &rules, 0);
    for (int i = 0; i < N; i++) {
        char url[100];
        snprintf(url, sizeof url, "http://www.example.org/section-%d/some-page-%d.html", i % 997, i);
        add(url, 1, 1);
    }
    grown = (resident() - before) / N;
    cmp_ok(grown, "<=", 150 * BOOKS, "a known URL of 50 bytes costs %ld bytes resident", grown);
    cmp_ok(f.bytes / N, "<=", 150, "and is accounted for with %zu", f.bytes / N);
    cmp_ok((long)(f.bytes / N), ">=", BOOKS > 1 ? 0 : grown - 15,
           "which is about right");
    freed = cos_frontier_spill(&f);
    cmp_ok(freed, ">", N * 40, "spilling drops the texts");
    cmp_ok((resident() - before) / N, "<=", 60 * BOOKS, "which leaves %ld resident",
           (resident() - before) / N);
    ok(!cos_frontier_text(&f, 17) && known("http://www.example.org/section-16/some-page-16.html") == 17,
       "a URL is known without its text");
    cos_frontier_set_text(&f, 17, "http://x/", 9);
    is(cos_frontier_text(&f, 17), "http://x/", "and can have it back");
    for (uint32_t i = 0; i < N; i++) {
        char url[100];
        snprintf(url, sizeof url, "http://www.example.org/section-%d/some-page-%d.html", i % 997, i);
        bad += known(url) != i + 1;
    }
    cmp_ok(bad, "==", 0, "all 300,000 are found");
    cos_frontier_release(&f);
}

int main(void)
{
    plan(NO_PLAN);
    check_known();
    check_offer();
    check_order();
    check_unsaved();
    check_retry();
    check_hold();
    check_drop();
    check_memory();
    done_testing();
}
