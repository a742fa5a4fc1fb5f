/* crawl_options.t - options of a crawl have an effect that the server's log or
 * the files show: modes, input, scope, HTTP, output. What takes time is in
 * crawl_timing.t, TLS in tls_options.t. */
#include "config.h"

#include "crawl_run.h"

#include <pthread.h>

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
                 "\xab\xb2\xd1\x4f\xb4\x03\x00\x55\xbe\x23\x83\x0f\x00\x00\x00",
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
    check(asked("/z") == 1, "what comes compressed is read");
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
    cmp_ok(run(locked, "http://me:p%77@127.0.0.1:$PORT/"), "==", 0, "a password in the URL logs in");
    check(asked("/in") >= 1 && shell("grep -rq 'me:p' . || find . | grep me") != 0 &&
          !strstr(err, "me:p"), "on the pages behind too, and is in no file, name or message");
    run(locked, "-t 1 --no-robots http://me:no@127.0.0.1:$PORT/");
    check(strstr(err, "http://127.0.0.1:") && !strstr(err, "me:"), "nor when it is wrong");
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
    cmp_ok(run(pages, "--save-cookies=no/where $U/"), "==", 3, "nowhere to save cookies: exit 3");
    check(http_requests(&web) == 0 && strstr(err, "cannot write cookies to no/where: no such file"),
          "noticed before the first request");
    cmp_ok(run(pages, "--max-pages=1 $U/"), "==", 14, "a crawl that got a cookie stops");
    check(shell("test \"$(stat -c %%a .coscrawl/cookies)\" = 600") == 0,
          "its cookies are kept, for nobody else to read");
    again("$U/");
    like(header("/next", "Cookie"), "fresh=2", "a resumed crawl sends the cookies it got before");
    run(pages, "--max-pages=1 $U/");
    shell("true");
    again("--fresh --max-pages=1 $U/");
    {
        char value[128];
        size_t last = web.nhits - 1;
        check(!*http_header(&web.hits[last], "Cookie", value, sizeof value), "--fresh forgets them");
    }
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
    run(small, "--color=always $U/");
    check(strchr(err, '\033'), "--color=always");
    run(small, "$U/");
    check(!strchr(err, '\033'), "no colours without a terminal");
    cmp_ok(run(small, "--max-memory=1M -l inf $U/"), "==", 0, "--max-memory=1M crawls");
    cmp_ok(run(small, "-P /proc/nowhere $U/"), "==", 3, "-P that cannot be made: exit 3");
}

int main(void)
{
    static const struct group groups[] = {
        {"modes", check_modes},
        {"input", check_input},
        {"scope", check_scope},
        {"patterns", check_patterns},
        {"headers", check_headers},
        {"login", check_login},
        {"cookies", check_cookies},
        {"names", check_names},
        {"proxy", check_proxy},
        {"output", check_output},
        {NULL, NULL},
    };
    setenv("TAP_TIMEOUT", "300", 0);
    plan(NO_PLAN);
    run_groups(groups);
    done_testing();
}
