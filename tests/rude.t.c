/* rude.t - servers that break rules, or mean harm: what comes is bounded, told in
 * one line with an exit code, and never kept as if it were a page. */
#include "config.h"

#include "crawl_run.h"
#include "raw.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"

static const struct {
    const char *what, *words; /* words: on stderr */
    int code, kept;           /* kept: the page is saved */
    struct raw_answer answer;
} cases[] = {
    {"headers without end", "the headers are too long", 1, 0,
     {.bytes = "X-A: 0123456789012345678901234567890123456789\r\n", .times = 100000,
      .head = OK}},
    {"interim answers without end", "server broke the protocol", 7, 0,
     {.bytes = "HTTP/1.1 100 Continue\r\n\r\n", .times = 100000}},
    {"early hints before the answer", "1 page", 0, 1,
     {.bytes = "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n" OK "\r\nbody"}},
    {"204", "1 page", 0, 1, {.bytes = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"}},
    {"206 that nobody asked for", "206: a part of the page, and nobody asked for a part", 8, 0,
     {.bytes = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-2/10\r\n"
               "Content-Length: 3\r\nConnection: close\r\n\r\nabc"}},
    {"300 with a body", ": 300", 8, 0,
     {.bytes = "HTTP/1.1 300 Multiple Choices\r\nLocation: /x\r\nContent-Length: 1\r\n\r\nx"}},
    {"304 that nobody asked for", ": 304", 8, 0, {.bytes = "HTTP/1.1 304 Not Modified\r\n\r\n"}},
    {"a status that is none", "server broke the protocol", 7, 0,
     {.bytes = "HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n"}},
    {"a redirect to a file", "a redirect to 'file:///etc/passwd', which is no http", 8, 0,
     {.bytes = "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"}},
    {"a redirect to data:", "a redirect to 'data:text/html,x', which is no http", 8, 0,
     {.bytes = "HTTP/1.1 302 Found\r\nLocation: data:text/html,x\r\nContent-Length: 0\r\n\r\n"}},
    {"a redirect to itself with a cookie", "a redirect loop: a loop", 8, 0,
     {.bytes = "HTTP/1.1 302 Found\r\nLocation: /\r\nSet-Cookie: a=1\r\n"
               "Content-Length: 0\r\n\r\n"}},
    {"a length below zero", "Invalid Content-Length", 7, 0,
     {.bytes = OK "Content-Length: -5\r\n\r\nabc"}},
    {"a length too large to be true", "body ended before its announced length", 4, 0,
     {.bytes = OK "Content-Length: 9223372036854775807\r\n\r\nabc"}},
    {"a chunk too large to be true", "", 7, 0,
     {.bytes = OK "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nabc"}},
    {"Retry-After beyond all numbers", "left for another run", 8, 0,
     {.bytes = "HTTP/1.1 503 x\r\nRetry-After: 999999999999999999999999\r\n"
               "Content-Length: 0\r\n\r\n"}},
    {"Retry-After in the past", "503 Service Unavailable", 8, 0,
     {.bytes = "HTTP/1.1 503 x\r\nRetry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
               "Content-Length: 0\r\n\r\n"}},
    {"a NUL in the head", "server broke the protocol", 7, 0,
     {.bytes = OK "X: a\0b\r\n\r\nx", .len = sizeof OK "X: a\0b\r\n\r\nx" - 1}},
};

static void check_answers(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct raw_server s;
        char words[128];
        if (raw_start(&s))
            BAIL_OUT("no server");
        s.answer = &cases[i].answer;
        snprintf(words, sizeof words, "-t 2 --waitretry=0.1 -T 5 http://127.0.0.1:%d/", s.port);
        cmp_ok(run(small, words), "==", cases[i].code, "%s: exit %d", cases[i].what,
               cases[i].code);
        check(strstr(err, cases[i].words), "%s: says '%s'", cases[i].what, cases[i].words);
        check((shell("find . -path './127*' -type f | grep -q .") == 0) == cases[i].kept, "%s: %s",
              cases[i].what, cases[i].kept ? "a page" : "nothing is kept");
        check(took < 8000, "%s: soon over (%lld ms)", cases[i].what, (long long)took);
        raw_stop(&s);
    }
}

/* A name is a name, whatever it looks like. */
static void check_names(void)
{
    static const struct http_page pages[] = {
        {.path = "/", .body = A("/%2e%2e/%2e%2e/up") A("/..%2f..%2fup") A("/a%00b")
                              A("/a%5c..%5cb")
                              A("/dot.") A("/space%20") A("/CASE") A("/case")
                              A("/.coscrawl/crawl.db") A("/.coscrawl") A("/-rf") A("/*")
                              A("/file") A("/file/under")
                              A("/file/") A("/a//b") A("/%ff%fe")},
        {.path = "*", .body = "x"},
        {0},
    };
    cmp_ok(run(pages, "$U/"), "==", 0, "strange names: exit 0");
    check(shell("test \"$(find .. -type f -newer .coscrawl -not -path '*/d/*' | grep -vc "
                "'/\\(out\\|err\\|list\\)$')\" = 0") == 0, "nothing outside the directory");
    check(shell("test \"$(find . -type f -path './127*' | wc -l)\" = "
                "\"$(sqlite3 .coscrawl/crawl.db \"SELECT count(*) FROM pages "
                "WHERE state = 'done'\")\"") == 0,
          "every page has a file of its own");
    check(shell("sqlite3 .coscrawl/crawl.db 'PRAGMA integrity_check' | grep -q ok") == 0,
          "and the database is a database");
}

/* An index that names ever new indexes. */
static void check_sitemaps(void)
{
    static const struct http_page pages[] = {
        {.path = "/", .body = "home"},
        {.path = "*", .head = "Content-Type: text/xml\r\n",
         .body = "<sitemapindex><sitemap><loc>a/</loc></sitemap><sitemap><loc>b/</loc></sitemap>"
                 "<sitemap><loc>c/</loc></sitemap></sitemapindex>"},
        {0},
    };
    run(pages, "--sitemap=$U/map/ $U/");
    check(http_requests(&web) == 1 + 1 + 3 + 9, "sitemaps of sitemaps end (%d requests)",
          http_requests(&web));
    check(strstr(err, "are not followed deeper than this") &&
          !strstr(strstr(err, "deeper than this") + 1, "deeper than this"), "and it is said once");
}

/* Somebody else's: a home that may not be looked into, a crawl that may only be
 * read. For root that takes another user; where there is none, nothing is shown. */
static void check_others(void)
{
    const char *who = getuid() ? "" : "setpriv --reuid=65534 --clear-groups";
    run(small, "-l 1 $U/");
    if (shell("chmod 755 ..; chmod -R a-w .; %s \"$COSCRAWL\" --version >../out 2>&1", who)) {
        note("nobody cannot run the program here");
        return;
    }
    cmp_ok(shell("mkdir -p ../home; chmod 0 ../home; HOME=$PWD/../home %s \"$COSCRAWL\" why . $U/ "
                 ">../out 2>../err", who), "==", 0, "why reads a crawl that may only be read");
    slurp("out", out, sizeof out);
    check(strstr(out, "state     done"), "and answers");
    cmp_ok(shell("HOME=$PWD/../home %s \"$COSCRAWL\" $U/ 2>../err", who), "==", 3,
           "a crawl there: exit 3");
    slurp("err", err, sizeof err);
    check(strstr(err, "permission denied") && !strstr(err, "config"),
          "for the directory; a hidden home has no settings");
    shell("chmod -R u+w . ../home; rmdir ../home");
    cmp_ok(shell("echo garbage >.coscrawl/crawl.db; \"$COSCRAWL\" -l 1 $U/ 2>../err"), "==", 3,
           "a broken database: exit 3");
    slurp("err", err, sizeof err);
    check(strstr(err, "file is not a database; --fresh starts from nothing"), "and what to do");
}

int main(void)
{
    static const struct group groups[] = {{"answers", check_answers},
                                          {"names", check_names},
                                          {"sitemaps", check_sitemaps},
                                          {"others", check_others},
                                          {NULL, NULL}};
    plan(NO_PLAN);
    run_groups(groups);
    done_testing();
}
