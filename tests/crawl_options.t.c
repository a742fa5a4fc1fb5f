/* crawl_options.t - every option of a crawl has an effect that the server's log
 * or the files show. The server is tests/http.c; commands run in a directory of
 * their own through the shell, where $U is the server's URL. */
#include "config.h"

#include "tap.h"
#include "http.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static struct http_server web, other;
static char top[] = "/tmp/crawl-options-XXXXXX";
static char out[1 << 16], err[1 << 16];
static int64_t took;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void slurp(const char *name, char *into, size_t max)
{
    char path[128];
    FILE *f;
    size_t n;
    snprintf(path, sizeof path, "%s/%s", top, name);
    f = fopen(path, "r");
    n = f ? fread(into, 1, max - 1, f) : 0;
    into[n] = 0;
    if (f)
        fclose(f);
}

static int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *fmt, ...)
{
    char command[2048];
    int n = snprintf(command, sizeof command, "cd %s/d && ", top), status;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command + n, sizeof command - (size_t)n, fmt, ap);
    va_end(ap);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* coscrawl with these words in the directory as it is; its exit code. */
static int again(const char *words)
{
    int64_t start = now_ms();
    int code = shell("timeout 60 \"$COSCRAWL\" --no-progress %s >../out 2>../err", words);
    took = now_ms() - start;
    slurp("out", out, sizeof out);
    slurp("err", err, sizeof err);
    return code;
}

/* The same in an empty directory, against these pages. */
static int run(const struct http_page *pages, const char *words)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/d; mkdir %s/d", top, top);
    if (system(command))
        BAIL_OUT("cannot make a directory");
    http_serve(&web, pages);
    http_serve(&other, pages);
    return again(words);
}

/* Whether a file of that name is somewhere below the directory. */
static int saved(const char *name)
{
    return shell("find . -name '%s' -type f | grep -q .", name) == 0;
}

static int nothing_left(void)
{
    return shell("test -z \"$(ls -A)\"") == 0;
}

static int asked(const char *path)
{
    return http_count(&web, path);
}

/* On failure the program's own words are the first thing one wants. */
static void said(int held)
{
    char *copy = held ? NULL : strdup(err);
    for (char *s = copy ? strtok(copy, "\n") : NULL; s; s = strtok(NULL, "\n"))
        diag("stderr: %s", s);
    if (!held)
        for (size_t i = 0; i < web.nhits && i < 30; i++)
            diag("%lld ms: %s", (long long)web.hits[i].ms, web.hits[i].path);
    free(copy);
}
#define check(held, ...) said(ok(held, __VA_ARGS__))

#define A(x) "<a href='" x "'>x</a>"

/* A chain of eight, a tree of directories, and some requisites. */
static const struct http_page small[] = {
    {.path = "/", .body = A("1.html") A("/d/a.html") A("/e/b.html") "<img src=/i.png>"},
    {.path = "/1.html", .body = A("2.html")},
    {.path = "/2.html", .body = A("3.html")},
    {.path = "/3.html", .body = A("4.html")},
    {.path = "/4.html", .body = A("5.html")},
    {.path = "/5.html", .body = A("6.html")},
    {.path = "/6.html", .body = A("7.html")},
    {.path = "/7.html", .body = "end"},
    {.path = "/d/a.html", .body = A("deep/c.html") A("/e/b.html") A("/1.html")},
    {.path = "/d/deep/c.html", .body = A("../a.html")},
    {.path = "/e/b.html", .body = "b"},
    {.path = "/i.png", .head = "Content-Type: image/png\r\n", .body = "png"},
    {.path = "/map.xml", .head = "Content-Type: text/xml\r\n",
     .body = "<urlset><url><loc>/hidden.html</loc></url></urlset>"},
    {0},
};

static void check_modes(void)
{
    cmp_ok(run(small, "$U/"), "==", 0, "a plain crawl ends well");
    check(asked("/5.html") == 1 && asked("/6.html") == 0, "-l is 5 by default");
    check(saved("5.html") && saved("i.png") && saved("crawl.db"), "pages and database are saved");
    check(strstr(err, "1 beyond -l 5; use -l inf"), "the summary names what -l 5 left out");
    again("$U/");
    check(http_requests(&web) == 10 && strstr(err, "nothing to do"), "a second run has nothing to do");
    cmp_ok(again("--fresh $U/"), "==", 0, "--fresh ends well");
    check(asked("/1.html") == 2, "--fresh starts again");
    run(small, "--list -l 1 $U/");
    check(nothing_left(), "--list leaves nothing behind");
    check(strstr(out, "/1.html\n") && strstr(out, "/i.png\n") && !strstr(out, "2.html"),
          "--list prints the URLs");
    run(small, "--dry-run $U/");
    check(nothing_left() && http_requests(&web) == 1, "--dry-run fetches the start page only");
    check(strstr(out, "fetch http") && strstr(out, "/d/a.html\n"), "--dry-run says what it would do");
    run(small, "--dry-run -X /e $U/");
    check(strstr(out, "skip http") && strstr(out, "/e/b.html  # directory: "),
          "--dry-run says why not");
}

static void check_input(void)
{
    static const struct http_page maps[] = {
        {.path = "/robots.txt", .head = "Content-Type: text/plain\r\n",
         .body = "User-agent: *\nSitemap: /maps/named.xml\n"},
        {.path = "/", .body = "home"},
        {.path = "/x.html", .body = "x"},
        {.path = "/y.html", .body = "y"},
        {.path = "*", .head = "Content-Type: text/xml\r\n", .body = NULL},
        {0},
    };
    static struct http_page pages[8];
    static char map[512], robots[256];
    memcpy(pages, maps, sizeof maps);
    snprintf(map, sizeof map, "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/"
             "sitemap/0.9'><url><loc>http://127.0.0.1:%d/x.html</loc></url></urlset>", web.port);
    snprintf(robots, sizeof robots, "User-agent: *\nSitemap: http://127.0.0.1:%d/maps/named.xml\n",
             web.port);
    pages[0].body = robots;
    pages[4].body = map;
    run(small, "-l 0 -i ../list");
    check(http_requests(&web) == 2 && asked("/e/b.html"), "-i reads URLs from a file");
    run(small, "-l 0 -i - <../list");
    check(http_requests(&web) == 2, "-i - reads them from stdin");
    run(pages, "$U/");
    check(!asked("/x.html"), "sitemaps are not read unasked");
    run(pages, "--sitemap $U/");
    check(asked("/maps/named.xml") == 1 && asked("/x.html") == 1, "--sitemap: those of robots.txt");
    run(pages, "--sitemap=$U/mine.xml $U/");
    check(asked("/mine.xml") == 1 && asked("/x.html") == 1 && !asked("/maps/named.xml"),
          "--sitemap=URL");
    run(pages, "--sitemap=$U/mine.xml");
    check(asked("/x.html") == 1, "--sitemap=URL needs no other URL");
}

static void check_scope(void)
{
    static char hosts[512];
    static struct http_page pages[] = {
        {.path = "/", .body = hosts},
        {.path = "/d/", .body = A("in.html") A("/up.html") A("/d/s/x.html")},
        {.path = "/two", .body = "2"},
        {.path = "*", .body = "other"},
        {0},
    };
    const char *names = "--resolve=a.example.co.uk:*:127.0.0.1 --resolve=b.example.co.uk:*:127.0.0.1 "
                        "--resolve=c.other.co.uk:*:127.0.0.1";
    char words[1024];
    snprintf(hosts, sizeof hosts, A("/two") A("http://b.example.co.uk:%d/b")
             A("http://c.other.co.uk:%d/c"), web.port, web.port);
#define RUN(...)                                                                                   \
    do {                                                                                           \
        snprintf(words, sizeof words, __VA_ARGS__);                                                \
        run(pages, words);                                                                         \
    } while (0)
    RUN("%s http://a.example.co.uk:$PORT/", names);
    check(asked("/two") && !asked("/b") && !asked("/c"), "--scope is host by default");
    check(strstr(err, "2 outside --scope=host"), "the summary says what was outside");
    RUN("%s --scope=domain http://a.example.co.uk:$PORT/", names);
    check(asked("/two") && asked("/b") && !asked("/c"), "--scope=domain, by the public suffix list");
    RUN("%s --scope=any http://a.example.co.uk:$PORT/", names);
    check(asked("/b") && asked("/c"), "--scope=any");
    RUN("%s --scope=any --exclude-domains=other.co.uk http://a.example.co.uk:$PORT/", names);
    check(asked("/b") && !asked("/c"), "--exclude-domains");
    RUN("%s -D other.co.uk http://a.example.co.uk:$PORT/", names);
    check(asked("/c") && !asked("/b"), "-D");
    RUN("--scope=prefix $U/d/");
    check(asked("/d/in.html") && asked("/d/s/x.html") && !asked("/up.html"), "--scope=prefix");
    RUN("-np $U/d/");
    check(asked("/d/in.html") && !asked("/up.html"), "-np");
    RUN("$U/d/");
    check(asked("/up.html"), "--parent is the default");
#undef RUN
    run(small, "--scope=page $U/");
    check(asked("/i.png") && !asked("/1.html"), "--scope=page");
    run(small, "-l 0 $U/");
    check(http_requests(&web) == 1, "-l 0");
    run(small, "-l 2 $U/");
    check(asked("/2.html") && !asked("/3.html"), "-l 2");
    run(small, "-l inf $U/");
    check(asked("/7.html") == 1, "-l inf");
}

static void check_patterns(void)
{
    run(small, "-I /d $U/");
    check(asked("/d/deep/c.html") && !asked("/e/b.html"), "-I");
    run(small, "-X /d,/e $U/");
    check(!asked("/d/a.html") && !asked("/e/b.html") && asked("/1.html"), "-X");
    run(small, "-A png $U/");
    check(saved("i.png") && asked("/2.html") && !saved("2.html"), "-A keeps by suffix, follows the rest");
    run(small, "-A 'i.*' $U/");
    check(saved("i.png") && !saved("1.html"), "-A keeps by pattern");
    run(small, "-R png,'[23].html' $U/");
    check(!saved("i.png") && !saved("2.html") && saved("1.html"), "-R");
    run(small, "--accept-regex='/[12]\\.html$' $U/");
    check(asked("/2.html") && !asked("/3.html") && !asked("/e/b.html"), "--accept-regex");
    run(small, "--reject-regex='\\.png$|/d/' $U/");
    check(!asked("/i.png") && !asked("/d/a.html") && asked("/1.html"), "--reject-regex");
    cmp_ok(run(small, "--accept-regex='(' $U/"), "==", 2, "a broken regex is bad usage");
    check(http_requests(&web) == 0 && strchr(err, '\n') == strrchr(err, '\n'), "said in one line");
    run(small, "--follow=a $U/");
    check(asked("/1.html") && !asked("/i.png"), "--follow=a");
    run(small, "--follow=img $U/");
    check(!asked("/1.html") && asked("/i.png"), "--follow=img");
}

static void check_limits(void)
{
    static char big[200001];
    static struct http_page pages[] = {
        {.path = "/", .body = A("a") A("b") A("c") A("d") A("e")},
        {.path = "/a", .body = big}, {.path = "/b", .body = big}, {.path = "/c", .body = big},
        {.path = "/d", .status = 404}, {.path = "/e", .status = 404},
        {0},
    };
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
    static const struct http_page slow[] = {
        {.path = "/", .body = A("a") A("b")},
        {.path = "/a", .body = A("c"), .delay_ms = 700},
        {.path = "/b", .body = A("d"), .delay_ms = 700},
        {.path = "*", .body = "late", .delay_ms = 700},
        {0},
    };
    memset(big, 'x', sizeof big - 1);
    cmp_ok(run(small, "--max-pages=3 $U/"), "==", 14, "--max-pages: exit 14");
    check(http_requests(&web) == 3, "--max-pages: no more were fetched");
    cmp_ok(again("$U/"), "==", 0, "and without it the crawl goes on");
    check(asked("/5.html") == 1 && asked("/") == 1, "from where it was");
    cmp_ok(run(pages, "-j 1 -Q 250k -t 1 $U/"), "==", 14, "-Q: exit 14");
    check(http_requests(&web) == 3, "-Q: stops after the page that went over it");
    cmp_ok(run(slow, "--max-time=0.5 $U/"), "==", 15, "--max-time: exit 15");
    check(!asked("/c") && took < 2500, "--max-time: nothing new after it");
    run(pages, "--max-size=100k -t 1 $U/");
    check(!saved("a") && strstr(err, "3 larger than --max-size"), "--max-size");
    cmp_ok(run(pages, "-j 1 --max-failures=1 -t 1 $U/"), "==", 12, "--max-failures: exit 12");
    check(asked("/d") + asked("/e") == 1, "--max-failures: stops at the first");
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
    run(delayed, "--crawl-delay-max=0.2 $U/");
    check(http_requests(&web) == 3 && smallest_gap() >= 190 && took < 5000, "--crawl-delay-max");
    run(wide, "-w 0.1 $U/");
    check(http_requests(&web) == 13 && smallest_gap() >= 95 && web.peak == 1, "-w");
    run(wide, "-w 0.1 --random-wait $U/");
    check(smallest_gap() >= 45 && smallest_gap() < 95 && largest_gap() > 105, "--random-wait");
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
        {.path = "/", .body = A("a") A("b")}, {.path = "*", .body = big}, {0}};
    static const struct http_page busy[] = {
        {.path = "/", .body = A("1") A("2") A("3") A("4") A("5") A("6")},
        {.path = "/1", .fail_first = 1, .body = "x"},
        {.path = "*", .body = "x", .delay_ms = 20},
        {0},
    };
    int64_t adaptive;
    memset(big, 'x', sizeof big - 1);
    run(pages, "--limit-rate=100k $U/");
    check(took > 1000, "--limit-rate: 200 kB at 100 kB/s (%lld ms)", (long long)took);
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
    cmp_ok(run(flaky, "--waitretry=0.1 $U/"), "==", 0, "two 503 are survived by default");
    cmp_ok(asked("/"), "==", 3, "-t is 3 by default");
    cmp_ok(run(flaky, "-t 2 --waitretry=0.1 $U/"), "==", 8, "-t 2 gives up: exit 8");
    cmp_ok(asked("/"), "==", 2, "-t 2: two requests");
    run(flaky, "--waitretry=0 $U/");
    check(took < 1500 && asked("/") == 3, "--waitretry=0 does not wait (%lld ms)", (long long)took);
    run(flaky, "--waitretry=1.2 $U/");
    check(took > 1000, "--waitretry=1.2 does (%lld ms)", (long long)took);
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

static const char *header(const char *path, const char *name)
{
    static char value[512];
    return http_header(http_find(&web, path), name, value, sizeof value);
}

static void check_headers(void)
{
    static const struct http_page gz[] = {
        {.path = "/", .head = "Content-Encoding: gzip\r\nContent-Type: text/html\r\n",
         /* "<a href=z>z</a>" */
         .body = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xb3\x49\x54\xc8\x28\x4a\x4d\xb3\xad\xb2"
                 "\xab\xb2\xd1\x4f\xb4\x03\x00\x4a\x02\x64\xa1\x0f\x00\x00\x00",
         .len = 35},
        {.path = "*", .body = "z"},
        {0},
    };
    run(small, "-l 0 $U/");
    like(header("/", "User-Agent"), "^coscrawl/[0-9]", "-U is honest by default");
    like(header("/", "Accept-Encoding"), "gzip", "compression is asked for by default");
    run(small, "-l 0 -U test/2 -H 'X-One: 1' -H 'Accept:' $U/");
    is(header("/", "User-Agent"), "test/2", "-U");
    is(header("/robots.txt", "User-Agent"), "test/2", "-U for robots.txt too");
    is(header("/", "X-One"), "1", "-H adds a header");
    is(header("/", "Accept"), "", "-H 'Name:' leaves one out");
    run(small, "-l 0 --user-agent= $U/");
    is(header("/", "User-Agent"), "", "--user-agent= sends none");
    run(small, "-l 0 --compression=gzip $U/");
    is(header("/", "Accept-Encoding"), "gzip", "--compression=gzip");
    run(small, "-l 0 --no-compression $U/");
    is(header("/", "Accept-Encoding"), "", "--no-compression");
    run(gz, "$U/");
    (void)gz;
}

static void check_login(void)
{
    static const struct http_page locked[] = {
        {.path = "/", .auth = "Basic bWU6cHc=", .body = A("/in")},
        {.path = "/in", .auth = "Basic bWU6cHc=", .body = "in"},
        {0},
    };
    static struct http_page away[3];
    static char link[128];
    cmp_ok(run(locked, "-t 1 $U/"), "==", 6, "no password: exit 6");
    cmp_ok(run(locked, "-u me:pw $U/"), "==", 0, "-u logs in");
    check(asked("/in") >= 1, "-u: on the pages behind too");
    shell("true");
    run(locked, "-l 0 -u me:pw $U/");
    snprintf(link, sizeof link, A("http://localhost:%d/foreign"), other.port);
    away[0] = (struct http_page){.path = "/", .body = link};
    away[1] = (struct http_page){.path = "*", .body = "x"};
    run(away, "--scope=any -u me:pw $U/");
    {
        char value[128];
        const struct http_hit *hit = http_find(&other, "/foreign");
        check(hit && !*http_header(hit, "Authorization", value, sizeof value),
              "-u: the password does not go to other hosts");
    }
    run(locked, "-l 0 --netrc $U/");
    shell("echo 'machine 127.0.0.1 login me password pw' >../.netrc; chmod 600 ../.netrc");
    cmp_ok(again("--fresh --netrc $U/"), "==", 0, "--netrc logs in");
    cmp_ok(again("--fresh -t 1 $U/"), "==", 6, "and only when asked to");
}

static void check_cookies(void)
{
    static const struct http_page pages[] = {
        {.path = "/", .head = "Set-Cookie: fresh=2; Path=/; Max-Age=3600\r\n", .body = A("/next")},
        {.path = "*", .body = "x"},
        {0},
    };
    FILE *f;
    char path[128];
    snprintf(path, sizeof path, "%s/jar", top);
    f = fopen(path, "w");
    fprintf(f, "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800\told\t1\n");
    fclose(f);
    run(pages, "--load-cookies=../jar --save-cookies=kept $U/");
    is(header("/", "Cookie"), "old=1", "--load-cookies");
    like(header("/next", "Cookie"), "fresh=2", "cookies of the crawl are sent back");
    check(shell("grep -q 'fresh.2' kept && grep -q 'old.1' kept") == 0, "--save-cookies");
    cmp_ok(run(pages, "--load-cookies=missing $U/"), "==", 3, "no such cookie file: exit 3");
}

/* Answers every question for an address with 127.0.0.1, the rest with nothing. */
static int asked_names;
static void *dns(void *arg)
{
    int fd = *(int *)arg;
    for (;;) {
        unsigned char q[512], tail[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1};
        struct sockaddr_in from;
        socklen_t len = sizeof from;
        ssize_t n = recvfrom(fd, q, sizeof q - sizeof tail, 0, (struct sockaddr *)&from, &len);
        size_t end = 12;
        if (n < 17)
            continue;
        while (end < (size_t)n && q[end])
            end += q[end] + 1u;
        end += 5;
        __atomic_add_fetch(&asked_names, 1, __ATOMIC_RELAXED);
        q[2] = 0x84, q[3] = 0, q[8] = q[9] = q[10] = q[11] = 0;
        q[6] = 0, q[7] = end >= 4 && q[end - 3] == 1;
        if (q[7])
            memcpy(q + end, tail, sizeof tail);
        sendto(fd, q, end + (q[7] ? sizeof tail : 0), 0, (struct sockaddr *)&from, len);
    }
    return NULL;
}

static void check_names(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static struct http_server six;
    static int fd;
    socklen_t len = sizeof addr;
    pthread_t thread;
    char words[256];
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (struct sockaddr *)&addr, len) || getsockname(fd, (struct sockaddr *)&addr, &len) ||
        pthread_create(&thread, NULL, dns, &fd))
        BAIL_OUT("no name server");
    pthread_detach(thread);
    snprintf(words, sizeof words, "-l 0 --dns-server=127.0.0.1:%d http://made.up.example:$PORT/",
             ntohs(addr.sin_port));
    cmp_ok(run(small, words), "==", 0, "--dns-server answers");
    check(asked_names > 0 && asked("/") == 1, "--dns-server was asked");
    cmp_ok(run(small, "-l 0 --resolve=made.up.example:$PORT:127.0.0.1 http://made.up.example:$PORT/"),
           "==", 0, "--resolve answers");
    snprintf(words, sizeof words, "made.up.example:%d", web.port);
    is(header("/", "Host"), words, "--resolve keeps the name");
    six.port = web.port;
    if (http_start(&six, AF_INET6))
        BAIL_OUT("no IPv6 on loopback");
    http_serve(&six, small);
    run(small, "-l 0 -4 --resolve=two.example:$PORT:127.0.0.1,[::1] http://two.example:$PORT/");
    check(asked("/") == 1 && http_count(&six, "/") == 0, "-4");
    http_serve(&six, small);
    run(small, "-l 0 -6 --resolve=two.example:$PORT:127.0.0.1,[::1] http://two.example:$PORT/");
    check(asked("/") == 0 && http_count(&six, "/") == 1, "-6");
}

static void check_proxy(void)
{
    const struct http_hit *hit;
    run(small, "-l 0 -x $U http://far.example/");
    hit = http_find(&web, "/");
    is(hit ? hit->target : "", "http://far.example/", "-x");
    run(small, "-l 0 http://localhost:$PORT/");
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    cmp_ok(run(small, "-l 0 -t 1 $U/"), "==", 4, "http_proxy of the environment is used");
    cmp_ok(run(small, "-l 0 --no-proxy $U/"), "==", 0, "--no-proxy is not");
    unsetenv("http_proxy");
}

static void check_output(void)
{
    run(small, "-l 1 -P deep/er $U/");
    check(shell("test -f deep/er/.coscrawl/crawl.db && test ! -e .coscrawl") == 0, "-P");
    run(small, "-l 1 -o list $U/");
    check(shell("grep -q '/1.html$' list") == 0 && saved("1.html") && !*out, "-o");
    run(small, "-l 1 --format=jsonl -X /e $U/");
    check(strstr(out, "\"state\":\"done\"") && strstr(out, "\"reason\":\"directory\""),
          "--format=jsonl");
    run(small, "-q -l 1 $U/ $U/lost");
    is(err, "", "-q says nothing of a lost page");
    run(small, "-nv -l 1 $U/ $U/lost");
    check(strstr(err, "/lost: 404") && strchr(strchr(err, '\n') + 1, '\n')[1] == 0,
          "-nv: failures and one closing line");
    run(small, "-v -l 1 $U/");
    check(strstr(err, "200 http") && strstr(err, "/1.html"), "-v: a line for every page");
    run(small, "-vv -X /e -l 1 $U/");
    check(strstr(err, "skipped http"), "-vv: a line for every URL skipped");
    run(small, "-q -l 1 --log-file=log $U/");
    check(shell("grep -q '/1.html' log") == 0 && !*err, "--log-file");
    run(wide, "-w 0.3 --progress=plain $U/");
    check(strstr(err, " queued, 0 failed, "), "--progress=plain");
    run(small, "--color=always $U/");
    check(strchr(err, '\033'), "--color=always");
    run(small, "$U/");
    check(!strchr(err, '\033'), "no colours without a terminal");
    cmp_ok(run(small, "--max-memory=1M -l inf $U/"), "==", 0, "--max-memory=1M crawls");
    cmp_ok(run(small, "-P /proc/nowhere $U/"), "==", 3, "-P that cannot be made: exit 3");
}

static void prepare(void)
{
    char buf[256], list[128];
    FILE *f;
    if (!mkdtemp(top) || http_start(&web, AF_INET) || http_start(&other, AF_INET))
        BAIL_OUT("no server");
    snprintf(buf, sizeof buf, "http://127.0.0.1:%d", web.port);
    setenv("U", buf, 1);
    snprintf(buf, sizeof buf, "%d", web.port);
    setenv("PORT", buf, 1);
    setenv("HOME", top, 1);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    if (!getenv("COSCRAWL"))
        setenv("COSCRAWL", "./coscrawl", 1);
    snprintf(list, sizeof list, "%s/list", top);
    f = fopen(list, "w");
    fprintf(f, "# two\n%s/1.html\n\n  %s/e/b.html  \n", getenv("U"), getenv("U"));
    fclose(f);
}

int main(void)
{
    char command[128];
    static const struct {
        const char *name;
        void (*run)(void);
    } groups[] = {
        {"modes", check_modes},       {"input", check_input},
        {"scope", check_scope},       {"patterns", check_patterns},
        {"limits", check_limits},     {"politeness", check_politeness},
        {"throttle", check_throttle}, {"retries", check_retries},
        {"connect", check_connect_timeout},
        {"headers", check_headers},   {"login", check_login},
        {"cookies", check_cookies},   {"names", check_names},
        {"proxy", check_proxy},       {"output", check_output},
    };
    const char *only = getenv("ONLY");
    plan(NO_PLAN);
    prepare();
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (!only || !strcmp(only, groups[i].name))
            groups[i].run();
    snprintf(command, sizeof command, "rm -rf %s", top);
    if (system(command))
        diag("could not remove %s", top);
    done_testing();
}
