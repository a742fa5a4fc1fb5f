/* crawl_timing.t - options of a crawl that take time to see: limits, politeness,
 * rates, retries, timeouts. The server's log has the start of every request. */
#include "config.h"

#include "crawl_run.h"

static char huge[4 << 20];

static void check_max_pages(void)
{
    static const struct http_page lossy[] = {
        {.path = "/", .body = A("/lost") A("/x1") A("/x2")},
        {.path = "/lost", .status = 404},
        {.path = "/x1", .body = "x", .delay_ms = 100},
        {.path = "*", .body = "x"},
        {0},
    };
    cmp_ok(run(small, "--max-pages=3 $U/"), "==", 14, "--max-pages: exit 14");
    check(http_requests(&web) == 3, "--max-pages: no more were fetched");
    cmp_ok(again("$U/"), "==", 0, "and without it the crawl goes on");
    check(asked("/5.html") == 1 && asked("/") == 1, "from where it was");
    cmp_ok(run(lossy, "--max-pages=2 $U/"), "==", 14, "--max-pages=2 with a lost page: exit 14");
    check(asked("/lost") == 1 && asked("/x1") == 1 && !asked("/x2"),
          "--max-pages: a page that failed is none");
}

static void check_max_time(void)
{
    static const struct http_page slow[] = {
        {.path = "/", .body = A("a") A("b")},
        {.path = "/a", .body = A("c"), .delay_ms = 700},
        {.path = "/b", .body = A("d"), .delay_ms = 700},
        {.path = "*", .body = "late", .delay_ms = 700},
        {0},
    };
    cmp_ok(run(slow, "--max-time=0.5 $U/"), "==", 15, "--max-time: exit 15");
    check(!asked("/c") && took < 2500, "--max-time: nothing new after it");
}

static void check_sizes(void)
{
    static char big[200001];
    static struct http_page pages[] = {
        {.path = "/", .body = A("a") A("b") A("c") A("d") A("e")},
        {.path = "/a", .body = big}, {.path = "/b", .body = big}, {.path = "/c", .body = big},
        {.path = "/d", .status = 404}, {.path = "/e", .status = 404},
        {0},
    };
    static const struct http_page large[] = {
        {.path = "/", .body = A("/large.bin")},
        {.path = "/large.bin", .head = "Content-Type: application/octet-stream\r\n", .body = huge,
         .len = sizeof huge},
        {0},
    };
    memset(big, 'x', sizeof big - 1);
    cmp_ok(run(pages, "-j 1 -Q 250k -t 1 $U/"), "==", 14, "-Q: exit 14");
    check(http_requests(&web) == 3, "-Q: stops after the page that went over it");
    cmp_ok(run(large, "-Q 1500k $U/"), "==", 14, "-Q: a page far beyond it is not let through");
    check(!saved("large.bin") && strstr(err, "given up") && strstr(err, "1 URL is waiting"),
          "-Q: it is given up and stays queued");
    cmp_ok(again("$U/"), "==", 0, "without -Q the next run gets it");
    check(saved("large.bin") && asked("/large.bin") == 2, "whole");
    run(pages, "--max-size=100k -t 1 $U/");
    check(!saved("a") && strstr(err, "3 larger than --max-size"), "--max-size");
    cmp_ok(run(pages, "-j 1 --max-failures=1 -t 1 $U/"), "==", 12, "--max-failures: exit 12");
    check(asked("/d") + asked("/e") == 1, "--max-failures: stops at the first");
}

static void check_traps(void)
{
    static const struct http_page traps[] = {
        {.path = "/", .body = A("/x/") A("/1/2/3/4/5/6/")},
        {.path = "*", .body = A("x/")},
        {0},
    };
    static const struct http_page calendar[] = {
        {.path = "/", .body = A("/?d=1") A("/?d=2") A("/?d=3") A("/?d=4") A("/?d=5")},
        {.path = "*", .body = "day"},
        {0},
    };
    run(traps, "-l inf $U/");
    check(asked("/x/x/x/") && !asked("/x/x/x/x/x/"), "--trap-limit: a repeating path ends");
    check(strstr(err, "endless trap"), "and the summary says so");
    run(traps, "-l 6 --trap-limit=repeat=5 $U/");
    check(asked("/x/x/x/x/x/"), "--trap-limit=repeat=5");
    run(traps, "-l 2 --trap-limit=depth=4 $U/");
    check(!asked("/1/2/3/4/5/6/") && asked("/x/x/"), "--trap-limit=depth=4");
    run(calendar, "--trap-limit=similar=3 $U/");
    cmp_ok(http_requests(&web), "==", 4, "--trap-limit=similar=3");
}

/* Smallest time between two starts, over all requests but robots.txt. */
static int64_t smallest_gap(void)
{
    int64_t last = -1, gap = 1 << 30;
    for (size_t i = 0; i < web.nhits; i++) {
        if (!strcmp(web.hits[i].path, "/robots.txt"))
            continue;
        if (last >= 0 && web.hits[i].ms - last < gap)
            gap = web.hits[i].ms - last;
        last = web.hits[i].ms;
    }
    return gap;
}

static int64_t largest_gap(void)
{
    int64_t last = -1, gap = 0;
    for (size_t i = 0; i < web.nhits; i++) {
        if (!strcmp(web.hits[i].path, "/robots.txt"))
            continue;
        if (last >= 0 && web.hits[i].ms - last > gap)
            gap = web.hits[i].ms - last;
        last = web.hits[i].ms;
    }
    return gap;
}

/* A busy machine can read one request late and the next in time: what holds is
 * seen in one run of three, what is broken in none. */
static int gaps_of(const struct http_page *pages, const char *words, int64_t least)
{
    for (int i = 0; i < 3; i++) {
        run(pages, words);
        if (smallest_gap() >= least)
            return 1;
    }
    return 0;
}

static const struct http_page wide[] = {
    {.path = "/", .body = A("1") A("2") A("3") A("4") A("5") A("6") A("7") A("8") A("9") A("10")
                          A("11") A("12")},
    {.path = "*", .body = "x", .delay_ms = 60},
    {0},
};

static void check_politeness(void)
{
    static const struct http_page rules[] = {
        {.path = "/robots.txt", .head = "Content-Type: text/plain\r\n",
         .body = "User-agent: *\nDisallow: /d/\nUser-agent: special\nDisallow: /e/\n"},
        {.path = "/", .body = A("/d/a.html") A("/e/b.html")},
        {.path = "*", .body = "x"},
        {0},
    };
    static const struct http_page delayed[] = {
        {.path = "/robots.txt", .head = "Content-Type: text/plain\r\n",
         .body = "User-agent: *\nCrawl-delay: 20\n"},
        {.path = "/", .body = A("a") A("b")},
        {.path = "*", .body = "x"},
        {0},
    };
    run(rules, "$U/");
    check(!asked("/d/a.html") && asked("/e/b.html"), "robots.txt is obeyed by default");
    run(rules, "--no-robots $U/");
    check(asked("/d/a.html") == 1 && !asked("/robots.txt"), "--no-robots does not even ask for it");
    run(rules, "-U special/1.0 $U/");
    check(asked("/d/a.html") && !asked("/e/b.html"), "-U decides whose rules count");
    check(gaps_of(delayed, "--crawl-delay-max=0.2 $U/", 190) && http_requests(&web) == 3 &&
          took < 5000, "--crawl-delay-max");
    check(gaps_of(wide, "-w 0.1 $U/", 95) && http_requests(&web) == 13 && web.peak == 1, "-w");
    run(wide, "-w 0.27 --progress=plain $U/");
    check(strstr(err, " queued, 0 failed, "), "--progress=plain: a line after three seconds");
    check(gaps_of(wide, "-w 0.1 --random-wait $U/", 45) && smallest_gap() < 95 &&
          largest_gap() > 105, "--random-wait");
    run(wide, "--rate=10 $U/");
    check(http_requests(&web) == 13 && took >= 1000, "--rate");
    run(wide, "$U/");
    check(web.peak > 3 && web.peak <= 6, "--host-concurrency is 6 by default (peak %d)", web.peak);
    run(wide, "--host-concurrency=2 $U/");
    check(web.peak == 2, "--host-concurrency=2 (peak %d)", web.peak);
    run(wide, "-j 1 $U/");
    check(web.peak == 1, "-j 1 (peak %d)", web.peak);
    run(wide, "-j 64 --host-concurrency=12 $U/");
    check(web.peak > 6, "--host-concurrency=12 (peak %d)", web.peak);
}

static void check_throttle(void)
{
    static char big[100001];
    static struct http_page pages[] = {
        {.path = "/", .body = A("1") A("2") A("3") A("4") A("5") A("6") A("7") A("8") A("9") A("10")
                              A("11") A("12")},
        {.path = "*", .body = big},
        {0},
    };
    static const struct http_page busy[] = {
        {.path = "/", .body = A("1") A("2") A("3") A("4") A("5") A("6")},
        {.path = "/1", .fail_first = 1, .body = "x"},
        {.path = "*", .body = "x", .delay_ms = 20},
        {0},
    };
    int64_t adaptive;
    memset(big, 'x', sizeof big - 1);
    run(pages, "--limit-rate=300k $U/");
    check(http_requests(&web) == 13 && took > 1500, "--limit-rate: 1.2 MB at 300 kB/s (%lld ms)",
          (long long)took);
    run(busy, "--host-concurrency=1 --waitretry=0.2 $U/");
    adaptive = largest_gap();
    run(busy, "--host-concurrency=1 --waitretry=0.2 --no-adaptive $U/");
    check(adaptive > largest_gap(), "--adaptive slows down after a 503 (%lld ms against %lld)",
          (long long)adaptive, (long long)largest_gap());
}

static void check_retries(void)
{
    static const struct http_page flaky[] = {
        {.path = "/", .fail_first = 2, .body = "at last"}, {0}};
    static const struct http_page gone[] = {{.path = "/", .status = 404}, {0}};
    static const struct http_page silent[] = {{.path = "/", .hang = 1}, {0}};
    static const struct http_page loop[] = {
        {.path = "/", .status = 302, .head = "Location: /1\r\n"},
        {.path = "/1", .status = 302, .head = "Location: /2\r\n"},
        {.path = "/2", .status = 302, .head = "Location: /3\r\n"},
        {.path = "/3", .body = "end"},
        {0},
    };
    int64_t gap;
    cmp_ok(run(flaky, "--waitretry=0.1 $U/"), "==", 0, "two 503 are survived by default");
    cmp_ok(asked("/"), "==", 3, "-t is 3 by default");
    cmp_ok(run(flaky, "-t 2 --waitretry=0.1 $U/"), "==", 8, "-t 2 gives up: exit 8");
    cmp_ok(asked("/"), "==", 2, "-t 2: two requests");
    run(flaky, "--no-adaptive --waitretry=0 $U/");
    gap = largest_gap();
    run(flaky, "--no-adaptive --waitretry=1.2 $U/");
    check(gap < 150 && largest_gap() > 250, "--waitretry=0 does not wait (%lld ms), 1.2 does (%lld)",
          (long long)gap, (long long)largest_gap());
    run(flaky, "--no-retry-on-http-error $U/");
    cmp_ok(asked("/"), "==", 1, "--no-retry-on-http-error");
    run(gone, "--waitretry=0.1 $U/");
    cmp_ok(asked("/"), "==", 1, "a 404 is not tried again");
    run(gone, "--retry-on-http-error=404 --waitretry=0.1 $U/");
    cmp_ok(asked("/"), "==", 3, "--retry-on-http-error=404");
    cmp_ok(run(silent, "--no-robots -T 0.5 -t 1 $U/"), "==", 4, "-T: a silent server is exit 4");
    check(took < 4000 && took > 450, "-T 0.5 (%lld ms)", (long long)took);
    cmp_ok(run(loop, "--max-redirect=2 $U/"), "==", 8, "--max-redirect=2: exit 8");
    check(!asked("/3"), "--max-redirect=2");
    cmp_ok(run(loop, "--max-redirect=3 $U/"), "==", 0, "--max-redirect=3");
    check(asked("/3") == 1, "the third is followed");
    cmp_ok(run(loop, "--max-redirect=0 $U/"), "==", 8, "--max-redirect=0: exit 8");
    check(!asked("/1"), "--max-redirect=0 follows none");
}

/* A socket that listens and never accepts: once its queue is full, the kernel
 * drops what comes, and a connect waits. */
static void check_connect_timeout(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof addr;
    int fd = socket(AF_INET, SOCK_STREAM, 0), full[4];
    char words[128];
    if (bind(fd, (struct sockaddr *)&addr, len) || listen(fd, 0) ||
        getsockname(fd, (struct sockaddr *)&addr, &len))
        BAIL_OUT("cannot listen");
    for (int i = 0; i < 4; i++) {
        full[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(full[i], (struct sockaddr *)&addr, len)) {
            /* in progress or full: both are what is wanted */
        }
    }
    usleep(20000);
    snprintf(words, sizeof words, "--no-robots --connect-timeout=0.5 -t 1 http://127.0.0.1:%d/",
             ntohs(addr.sin_port));
    cmp_ok(run(small, words), "==", 4, "--connect-timeout: exit 4");
    check(took < 4000 && took > 450, "--connect-timeout=0.5 (%lld ms)", (long long)took);
    for (int i = 0; i < 4; i++)
        close(full[i]);
    close(fd);
}

int main(void)
{
    static const struct group groups[] = {
        {"pages", check_max_pages},
        {"time", check_max_time},
        {"sizes", check_sizes},
        {"traps", check_traps},
        {"politeness", check_politeness},
        {"throttle", check_throttle},
        {"retries", check_retries},
        {"connect", check_connect_timeout},
        {NULL, NULL},
    };
    setenv("TAP_TIMEOUT", "300", 0);
    plan(NO_PLAN);
    run_groups(groups);
    done_testing();
}
