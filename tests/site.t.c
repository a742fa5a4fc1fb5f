/* site.t - the synthetic site from outside: its life, its graph, what it counts,
 * what HTTP asks of it. Its faults are in fault.t. */
#include "site.h"

#include <zlib.h>

/* ---- a crawl in fifty lines, to look at the graph ---- */

enum { SEEN_MAX = 300 };
static char *seen[SEEN_MAX];
static int nseen, nlinks;

static int see(const char *path, size_t len)
{
    for (int i = 0; i < nseen; i++)
        if (strlen(seen[i]) == len && !strncmp(seen[i], path, len))
            return i;
    if (nseen == SEEN_MAX)
        BAIL_OUT("more pages than this test expects");
    seen[nseen] = strndup(path, len);
    return nseen++;
}

static void forget(void)
{
    while (nseen)
        free(seen[--nseen]);
    nlinks = 0;
}

/* Follows every link; counts those of good pages. Returns failed pages. */
static int walk(const struct site *site)
{
    int failed = 0;
    forget();
    see("/", 1);
    for (int i = 0; i < nseen; i++) {
        char *text = site_ask(site, "GET", seen[i], NULL, NULL), *at = text, *end;
        failed += strncmp(text, "HTTP/1.1 200", 12) != 0;
        while ((at = strstr(at, "<a href=\"")) != NULL) {
            at += 9;
            end = strchr(at, '"');
            see(at, (size_t)(end - at));
            nlinks++;
        }
        free(text);
    }
    return failed;
}

static void shape(const char *option, const char *pages, const char *links, int want_pages,
                  int want_links)
{
    struct site site;
    site_start(&site, option, pages, links, "--bytes=200", NULL);
    cmp_ok(walk(&site), "==", 0, "%s %s: every link leads to a page", option, pages);
    cmp_ok(nseen, "==", want_pages, "%d pages are reached", want_pages);
    cmp_ok(nlinks, "==", want_links, "by %d links", want_links);
    cmp_ok(site_number(&site, "requests"), "==", want_pages, "and asked for once each");
    ok(site_stop(&site), "and the server ends well");
}

static void shapes(void)
{
    struct site site;
    shape("--shape=tree", "--pages=40", "--links=3", 40, 39);
    shape("--shape=tree", "--depth=4", "--links=2", 31, 30);
    shape("--shape=chain", "--pages=20", NULL, 20, 19);
    shape("--shape=star", "--pages=50", NULL, 50, 49);
    shape("--shape=cross", "--pages=60", NULL, 60, 180);
    shape("--shape=cross", "--pages=20", "--links=1", 20, 20);
    shape("--shape=cross", "--pages=1", NULL, 1, 0);
    shape("--shape=tree", "--pages=1", NULL, 1, 0);
    shape("--shape=lost", "--pages=6", NULL, 6, 6);
    site_start(&site, "--shape=lost", "--latency=150", NULL);
    int64_t start = site_now_ms();
    free(site_ask(&site, "GET", "/f.html", NULL, NULL));
    cmp_ok(site_now_ms() - start, "<", 100, "C10b in 'lost' f is quick");
    start = site_now_ms();
    char *text = site_ask(&site, "GET", "/s.html", NULL, NULL);
    cmp_ok(site_now_ms() - start, ">=", 145, "C10b and s is slow");
    like(text, "<a href=\"/x.html\">", "C10b and s leads to x");
    free(text);
    site_stop(&site);
}

/* ---- life ---- */

static int run_and_read(const char *options, char *out, size_t room)
{
    char command[4096];
    FILE *pipe;
    size_t n;
    snprintf(command, sizeof command, "timeout 10 '%s' site %s 2>&1", site_program(), options);
    pipe = popen(command, "r");
    if (!pipe)
        BAIL_OUT("popen failed");
    n = fread(out, 1, room - 1, pipe);
    out[n] = 0;
    n = (size_t)pclose(pipe);
    return WIFEXITED((int)n) ? WEXITSTATUS((int)n) : -1;
}

static void usage(void)
{
    static const char *const bad[] = {"--pages=x", "--pages=0", "--shape=ring", "--port=99999",
                                      "--nonsense", "word", "--errors=101", "--port",
                                      "--slow=s:1", "--shape=star --depth=3"};
    char out[65536];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cmp_ok(run_and_read(bad[i], out, sizeof out), "==", 2, "%s: exit 2", bad[i]);
        ok(*out && strchr(out, '\n') == out + strlen(out) - 1, "and one line: %s", out);
    }
    cmp_ok(run_and_read("--help", out, sizeof out), "==", 0, "--help");
    like(out, "\n  gzip-bomb +", "lists the faults");
    like(out, "agents", "and the robots variants");
    cmp_ok(run_and_read("--robots=/nonexistent/robots", out, sizeof out), "==", 3,
           "a robots file that is not there is an error");
}

static void life(void)
{
    struct site site, again;
    char port[32], out[512];
    site_start(&site, NULL);
    like(site.url, "^http://127\\.0\\.0\\.1:[1-9][0-9]*/$", "the first line is the URL");
    snprintf(port, sizeof port, "--port=%d", site.port);
    isnt(run_and_read(port, out, sizeof out) == 0 ? "0" : "not 0", "0",
         "a port in use is an error");
    like(out, "^coscrawl site: cannot serve .*\n$", "with a clear line");
    ok(site_stop(&site), "SIGTERM ends it well");
    site_start(&again, port, NULL);
    cmp_ok(again.port, "==", site.port, "the port is free at once");
    kill(again.pid, SIGINT);
    int status = 0;
    waitpid(again.pid, &status, 0);
    cmp_ok(status, "==", 0, "SIGINT ends it well too");
}

static void orphan(void)
{
    struct site site;
    int out[2], gone = 0;
    if (pipe(out))
        BAIL_OUT("pipe failed");
    fflush(NULL);
    if (fork() == 0) {
        site_start(&site, NULL);
        if (write(out[1], &site, sizeof site) < 0)
            _exit(1);
        _exit(0);
    }
    close(out[1]);
    if (read(out[0], &site, sizeof site) != (ssize_t)sizeof site)
        BAIL_OUT("no site");
    close(out[0]);
    wait(NULL);
    for (int i = 0; i < 200 && !gone; i++) {
        int fd = site_connect(&site);
        gone = fd < 0;
        if (fd >= 0)
            close(fd);
        usleep(20000);
    }
    ok(gone, "--die-with-parent: it ends with its parent");
}

static void same_bytes(void)
{
    struct site a, b, c;
    char *one, *two, *three, *at;
    int other = 0, equal = 0;
    size_t n = 0;
    site_start(&a, "--shape=cross", "--pages=30", NULL);
    site_start(&b, "--shape=cross", "--pages=30", NULL);
    site_start(&c, "--shape=cross", "--pages=30", "--seed=2", NULL);
    walk(&a);
    for (int i = 0; i < nseen; i++) {
        one = site_ask(&a, "GET", seen[i], NULL, NULL);
        two = site_ask(&b, "GET", seen[i], NULL, NULL);
        three = site_ask(&c, "GET", seen[i], NULL, NULL);
        at = strstr(one, "\r\n\r\n");
        equal += !strcmp(at, strstr(two, "\r\n\r\n"));
        other += strcmp(at, strstr(three, "\r\n\r\n")) != 0;
        n += strlen(at + 4);
        free(one), free(two), free(three);
    }
    cmp_ok(equal, "==", 30, "the same seed gives the same bytes");
    cmp_ok(other, "==", 30, "another seed gives others");
    ok(n / 30 > 7000 && n / 30 < 10000, "a page has about 8192 bytes");
    site_stop(&a), site_stop(&b), site_stop(&c);
    site_start(&a, "--shape=chain", "--pages=3", "--bytes=50000", NULL);
    one = site_ask(&a, "GET", "/p1.html", NULL, &n);
    ok(n > 49000 && n < 53000, "or as many as it is told");
    free(one);
    site_stop(&a);
}

/* ---- statistics ---- */

static void counts(void)
{
    struct site site;
    char *stats;
    int fds[5];
    size_t len;
    site_start(&site, "--shape=chain", "--pages=5", NULL);
    cmp_ok(site_number(&site, "requests"), "==", 0, "/.stats does not count itself");
    cmp_ok(site_number(&site, "connections"), "==", 0, "nor its connection");
    for (int i = 0; i < 5; i++) {
        fds[i] = site_connect(&site);
        if (send(fds[i], "GET /fault/delay?ms=600 HTTP/1.1\r\nHost: h\r\n\r\n", 45, MSG_NOSIGNAL) !=
            45)
            BAIL_OUT("send failed");
    }
    usleep(150000);
    cmp_ok(site_number(&site, "in_flight"), "==", 5, "five requests in flight");
    cmp_ok(site_requests(&site, "/fault/delay?ms=600"), "==", 5, "counted per URL, with its query");
    for (int i = 0; i < 5; i++) {
        char answer[4096];
        if (recv(fds[i], answer, sizeof answer, 0) <= 0)
            BAIL_OUT("no answer");
        close(fds[i]);
    }
    free(site_ask(&site, "GET", "/", NULL, NULL));
    cmp_ok(site_number(&site, "in_flight"), "==", 0, "none afterwards");
    cmp_ok(site_number(&site, "peak"), "==", 5, "five at the most");
    cmp_ok(site_number(&site, "requests"), "==", 6, "six in all");
    cmp_ok(site_number(&site, "connections"), "==", 6, "over six connections");
    stats = site_stats(&site);
    like(stats, "\"/\":\\{\"requests\":1,\"start_ms\":\\[[0-9]+\\],\"seq\":\\[6\\]\\}",
         "with start and order");
    free(stats);
    site_reset(&site);
    stats = site_stats(&site);
    like(stats,
         "^\\{\"requests\":0,\"in_flight\":0,\"peak\":0,\"connections\":0,.*\"urls\":\\{\\}\\}\n$",
         "reset forgets all of it");
    free(stats);
    stats = site_talk(&site, "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\n\r\n"
                             "GET /p1.html HTTP/1.1\r\nConnection: close\r\n\r\n", &len);
    cmp_ok(site_number(&site, "connections"), "==", 1, "four requests at once on one connection");
    cmp_ok(site_number(&site, "requests"), "==", 4, "are four requests");
    char *second = strstr(stats + 1, "HTTP/1.1 404");
    char *third = second ? strstr(second + 1, "HTTP/1.1 200") : NULL;
    char *fourth = third ? strstr(third + 1, "\r\n\r\nHTTP/1.1 200") : NULL;
    ok(second && third && fourth, "answered in order, HEAD without a body");
    free(stats);
    site_stop(&site);
}

/* ---- HTTP ---- */

static void answer_is(struct site *site, const char *method, const char *path, const char *headers,
                      const char *want, const char *what)
{
    char *text = site_ask(site, method, path, headers, NULL);
    like(text, want, "%s", what);
    free(text);
}

static void http(void)
{
    struct site site;
    static char long_head[80000];
    char *text;
    size_t len;
    site_start(&site, "--shape=chain", "--pages=15", NULL);
    answer_is(&site, "HEAD", "/p1.html", NULL, "^HTTP/1.1 200 .*Content-Length: [0-9]{4,}\r\n\r\n$",
              "HEAD");
    answer_is(&site, "GET", "/p1.html", "Range: bytes=0-14\r\n",
              "^HTTP/1.1 206 .*Content-Range: bytes 0-14/[0-9]+\r\n.*Content-Length: "
              "15\r\n\r\n<!DOCTYPE html>$",
              "a range");
    answer_is(&site, "GET", "/p1.html", "Range: bytes=-8\r\n", "^HTTP/1.1 206 .*\r\n\r\n</html>\n$",
              "a range from the end");
    answer_is(&site, "GET", "/p1.html", "Range: bytes=10000000-\r\n",
              "^HTTP/1.1 416 .*bytes \\*/[0-9]+\r\n", "a range outside");
    answer_is(&site, "GET", "/p1.html", "Range: bytes=0-1\r\nIf-Range: \"old\"\r\n",
              "^HTTP/1.1 200 ", "a range of something older");
    answer_is(&site, "GET", "/p1.html", "If-None-Match: \"x\", \"1-1-0\"\r\n",
              "^HTTP/1.1 304 .*\r\n\r\n$", "not modified, by ETag");
    answer_is(&site, "GET", "/p1.html", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\n",
              "^HTTP/1.1 304 ", "not modified, by date");
    answer_is(&site, "GET", "/p1.html", "If-Modified-Since: Wed, 31 Dec 2025 23:59:59 GMT\r\n",
              "^HTTP/1.1 200 ", "modified, by date");
    answer_is(&site, "POST", "/.revise", "Content-Length: 0\r\n", "^HTTP/1.1 200 ", "revise");
    answer_is(&site, "GET", "/p7.html", "If-None-Match: \"1-7-0\"\r\n", "^HTTP/1.1 200 ",
              "changes every seventh page");
    answer_is(&site, "GET", "/p1.html", "If-None-Match: \"1-1-0\"\r\n", "^HTTP/1.1 304 ",
              "and no other");
    text = site_talk(&site, "POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n"
                            "Connection: close\r\n\r\nabc", &len);
    like(text, "^HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 405 ", "a body that waits is invited");
    free(text);
    text = site_talk(&site, "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
                            "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", &len);
    like(text, "^HTTP/1.1 405 .*Allow: GET, HEAD\r\n.*HTTP/1.1 200 ", "POST is refused, politely");
    free(text);
    text = site_talk(&site, "GET / HTTP/1.0\r\n\r\n", &len);
    like(text, "^HTTP/1.1 200 .*Connection: close\r\n", "HTTP/1.0 ends the connection");
    free(text);
    text = site_talk(&site, "GET http://elsewhere/p1.html HTTP/1.1\r\nConnection: close\r\n\r\n",
                     &len);
    like(text, "^HTTP/1.1 200 ", "a whole URL as target");
    free(text);
    text = site_talk(&site, "garbage\r\n\r\n", &len);
    like(text, "^HTTP/1.1 400 ", "what is no request");
    free(text);
    memset(long_head, 'x', sizeof long_head - 1);
    memcpy(long_head, "GET / HTTP/1.1\r\nX: ", 19);
    text = site_talk(&site, long_head, &len);
    like(text, "^HTTP/1.1 431 ", "a head too long");
    free(text);
    text =
        site_talk(&site, "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", &len);
    like(text, "^HTTP/1.1 413 ", "a body too long");
    free(text);
    site_stop(&site);
}

/* ---- limits and trouble ---- */

static void limits(void)
{
    struct site site;
    int a, b, c;
    char byte;
    site_start(&site, "--max-connections=2", NULL);
    a = site_connect(&site);
    b = site_connect(&site);
    usleep(100000);
    c = site_connect(&site);
    ok(c < 0 || (recv(c, &byte, 1, 0) < 0 && errno == ECONNRESET),
       "C17 a third connection of two is reset");
    close(a), close(b), close(c);
    usleep(100000);
    cmp_ok(site_number(&site, "refused"), "==", 1, "C17 and counted");
    site_stop(&site);
}

static void vanishing(void)
{
    struct site site;
    site_start(&site, NULL);
    for (int i = 0; i < 50; i++) {
        static const char *const paths[] = {"/fault/huge", "/fault/hang", "/fault/drip", "/",
                                            "/fault/gzip-bomb"};
        char request[128];
        int fd = site_connect(&site), n;
        n = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n\r\n", paths[i % 5]);
        if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n)
            BAIL_OUT("send failed");
        if (i % 2) {
            struct linger now = {.l_onoff = 1};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
        close(fd);
    }
    for (int i = 0; i < 100 && site_number(&site, "in_flight"); i++)
        usleep(20000);
    cmp_ok(site_number(&site, "in_flight"), "==", 0, "clients that vanish leave nothing in flight");
    cmp_ok(site_number(&site, "open_connections"), "==", 1, "and no connection open");
    ok(site_stop(&site), "and the server lives to end well");
}

static void options(void)
{
    struct site site;
    int failed;
    int64_t start;
    site_start(&site, "--shape=star", "--pages=200", "--errors=20", "--bytes=100", NULL);
    failed = walk(&site);
    ok(failed > 20 && failed < 60, "--errors=20: %d of 200 pages fail", failed);
    cmp_ok(walk(&site), "==", failed, "the same ones again");
    site_stop(&site);
    site_start(&site, "--shape=chain", "--latency=80", "--slow=/p1.html:250", NULL);
    start = site_now_ms();
    free(site_ask(&site, "GET", "/", NULL, NULL));
    ok(site_now_ms() - start >= 78 && site_now_ms() - start < 240, "--latency=80");
    start = site_now_ms();
    free(site_ask(&site, "GET", "/p1.html", NULL, NULL));
    cmp_ok(site_now_ms() - start, ">=", 248, "--slow=/p1.html:250");
    site_stop(&site);
}

static void robots_is(const char *option, const char *want)
{
    struct site site;
    char *text;
    site_start(&site, option, NULL);
    text = site_ask(&site, "GET", "/robots.txt", NULL, NULL);
    like(text, want, "%s", option);
    free(text);
    site_stop(&site);
}

static void robots(void)
{
    char path[] = "/tmp/cos-robots-XXXXXX", option[64];
    int fd = mkstemp(path);
    if (write(fd, "User-agent: f\n", 14) != 14)
        BAIL_OUT("write failed");
    close(fd);
    snprintf(option, sizeof option, "--robots=%s", path);
    robots_is(option, "\r\n\r\nUser-agent: f\n$");
    unlink(path);
    robots_is("--plain", "\r\n\r\nUser-agent: \\*\nAllow: /\n$");
    robots_is("--rich", "Disallow: /private/\nSitemap: http://127.0.0.1:[0-9]+/sitemap.xml\n$");
    robots_is("--robots=User-agent: *\\nCrawl-delay: 2\\n",
              "\r\n\r\nUser-agent: \\*\nCrawl-delay: 2\n$");
    robots_is("--robots=delay", "Crawl-delay: 1\n");
    robots_is("--robots=404", "^HTTP/1.1 404 ");
    robots_is("--robots=503", "^HTTP/1.1 503 ");
    robots_is("--robots=redirect", "^HTTP/1.1 302 .*Location: /fault/robots/part\r\n");
    robots_is("--robots=slow", "^HTTP/1.1 200 .*\r\n1\r\nU\r\n");
}

static void demo(void)
{
    struct site site;
    char *text, *body;
    size_t len;
    Bytef plain[65536];
    z_stream z = {.next_out = plain, .avail_out = sizeof plain};
    site_start(&site, "--pages=30", NULL);
    answer_is(&site, "GET", "/p4.html", NULL, "<link rel=\"stylesheet\" href=\"/style.css\">",
              "a style sheet");
    answer_is(&site, "GET", "/style.css", NULL, "^HTTP/1.1 200 .*Content-Type: text/css\r\n",
              "is there");
    answer_is(&site, "GET", "/img/logo.svg", NULL, "Content-Type: image/svg.xml\r\n", "a logo");
    text = site_ask(&site, "GET", "/img/plate3.png", NULL, &len);
    ok(!memcmp(strstr(text, "\r\n\r\n") + 4, "\x89PNG\r\n\x1a\n", 8), "an image");
    free(text);
    answer_is(&site, "GET", "/img/plate8.png", NULL, "^HTTP/1.1 404 ", "and not one more");
    answer_is(&site, "GET", "/sitemap.xml", NULL, "<loc>http://127.0.0.1:[0-9]+/p28.html</loc>",
              "a sitemap");
    answer_is(&site, "GET", "/sitemap-index.xml", NULL, "<loc>http://[^<]*/sitemap-0.xml</loc>",
              "an index");
    text = site_ask(&site, "GET", "/sitemap.xml.gz", NULL, &len);
    body = strstr(text, "\r\n\r\n") + 4;
    z.next_in = (Bytef *)body;
    z.avail_in = (uInt)(len - (size_t)(body - text));
    cmp_ok(inflateInit2(&z, 15 + 16) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END, "==", 1,
           "and packed with gzip");
    inflateEnd(&z);
    free(text);
    walk(&site);
    ok(nseen >= 31, "the demo's pages are all reached");
    site_stop(&site);
}

int main(void)
{
    plan(NO_PLAN);
    life();
    orphan();
    usage();
    shapes();
    same_bytes();
    counts();
    http();
    limits();
    vanishing();
    options();
    robots();
    demo();
    forget();
    done_testing();
}
