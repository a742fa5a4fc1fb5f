/* rules.t - what the crawl does about nofollow, canonical, redirects of a seed,
 * kinds of links, names that are not kept, robots.txt that cannot be had, and
 * sitemaps; and what `why` says afterwards. A small server of our own says
 * exactly what each case needs. */
#include "tap.h"

#include "crawl.h"

#include "base/buf.h"
#include "store/why.h"

#include <sys/mman.h>

struct answer {
    const char *path;
    const char *head; /* status line and headers */
    const char *body;
};

#define HTML "200 OK\r\nContent-Type: text/html"

static const struct answer answers[] = {
    {"/robots.txt", "404 Not Found", ""},
    {"/nofollow/", HTML,
     "<a href=a.html>a</a><a rel=nofollow href=b.html>b</a><a rel=nofollow href=c.html>c</a>"
     "<form action=/form></form>"},
    {"/nofollow/a.html", HTML, "<a href=c.html>c, followed here</a>"},
    {"/nofollow/b.html", HTML, ""},
    {"/nofollow/c.html", HTML, "<meta name=robots content=nofollow><a href=d.html>d</a>"},
    {"/nofollow/d.html", HTML, ""},
    {"/tagged/", HTML "\r\nX-Robots-Tag: nofollow", "<a href=x.html>x</a>"},
    {"/kinds/", HTML, "<a href=a.html>a</a><img src=i.png><script src=s.js></script>"},
    {"/kinds/a.html", HTML, ""},
    {"/kinds/i.png", "200 OK\r\nContent-Type: image/png", "png"},
    {"/kinds/s.js", "200 OK\r\nContent-Type: text/javascript", "1"},
    {"/names/", HTML, "<a href=a.html>a</a><a href=b.txt>b</a><a href=c.exe>c</a>"},
    {"/names/a.html", HTML, "<a href=d.txt>d</a>"},
    {"/names/b.txt", "200 OK\r\nContent-Type: text/plain", "b"},
    {"/names/d.txt", "200 OK\r\nContent-Type: text/plain", "d"},
    {"/moved", "301 Moved\r\nLocation: /new/home.html#part", ""},
    {"/new/home.html", HTML, "<a href=more.html>more</a><a href=/moved>back</a>"},
    {"/new/more.html", HTML, ""},
    {"/canonical/", HTML, "<link rel=canonical href=/canonical/real.html>"},
    {"/canonical/real.html", HTML, ""},
    {"/map/", HTML, "<a href=linked.html>l</a>"},
    {"/map/linked.html", HTML, ""},
    {"/map/orphan.html", HTML, ""},
    {"/map/index.xml", "200 OK\r\nContent-Type: application/xml",
     "<?xml version=\"1.0\"?><sitemapindex><sitemap><loc>/map/pages.xml</loc></sitemap>"
     "</sitemapindex>"},
    {"/map/pages.xml", "200 OK\r\nContent-Type: application/xml",
     "<?xml version=\"1.0\"?><urlset><url><loc>/map/linked.html</loc></url><url>"
     "<loc>/map/orphan.html</loc></url><url><loc>http://elsewhere.invalid/</loc></url></urlset>"},
    {"/same/", HTML, "<a href=1.html>1</a><a href=2.html>2</a>"},
    {"/same/1.html", HTML, "the same"},
    {"/same/2.html", HTML, "the same"},
};

static struct site site;
static long *asked; /* by index of answers; shared with the server */

static void serve_one(int fd)
{
    char request[8192], path[1024] = "", reply[8192];
    ssize_t n = recv(fd, request, sizeof request - 1, 0);
    const struct answer *a = NULL;
    if (n <= 0)
        return;
    request[n] = 0;
    sscanf(request, "GET %1023s", path);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (!strcmp(answers[i].path, path)) {
            a = &answers[i];
            __atomic_add_fetch(&asked[i], 1, __ATOMIC_SEQ_CST);
        }
    n = snprintf(reply, sizeof reply,
                 "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
                 a ? a->head : "404 Not Found", a ? strlen(a->body) : 0, a ? a->body : "");
    if (send(fd, reply, (size_t)n, MSG_NOSIGNAL) != n)
        return;
}

static void start_server(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    socklen_t len = sizeof addr;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    asked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (bind(fd, (struct sockaddr *)&addr, sizeof addr) || listen(fd, 64) ||
        getsockname(fd, (struct sockaddr *)&addr, &len))
        BAIL_OUT("no server");
    site.port = ntohs(addr.sin_port);
    snprintf(site.url, sizeof site.url, "http://127.0.0.1:%d/", site.port);
    fflush(NULL);
    site.pid = fork();
    if (site.pid == 0) {
        alarm(120);
        for (;;) {
            int one = accept(fd, NULL, NULL);
            serve_one(one);
            close(one);
        }
    }
    close(fd);
}

static long times(const char *path)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (!strcmp(answers[i].path, path))
            return asked[i];
    return -1;
}

static void start(struct crawl *c, const char *path)
{
    static const char *const never[] = {"invalid"};
    memset(asked, 0, 4096);
    crawl_init(c, &site, path);
    c->options.scope = COS_SCOPE_ANY;
    c->options.exclude_domains = (struct cos_strings){never, 1};
}

static const char *state_of(const struct crawl *c, const char *name)
{
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT state, reason FROM pages WHERE url LIKE '%%%s'", name);
    return crawl_sql(c, sql);
}

static void check_nofollow(void)
{
    struct crawl c;
    start(&c, "/nofollow/");
    cmp_ok(crawl_run(&c), "==", 0, "nofollow");
    is(state_of(&c, "/b.html"), "skipped|nofollow", "a link with nofollow is not followed");
    is(state_of(&c, "/c.html"), "done|NULL", "unless another one leads there");
    is(crawl_sql(&c, "SELECT depth FROM pages WHERE url LIKE '%/c.html'"), "2",
       "whose length counts");
    is(state_of(&c, "/d.html"), "skipped|nofollow", "meta robots holds for all links of its page");
    is(state_of(&c, "/form"), "skipped|follow", "forms are recorded, never followed");
    cmp_ok(times("/nofollow/b.html") + times("/nofollow/d.html"), "==", 0, "none was asked for");
    crawl_remove(&c);
    start(&c, "/nofollow/");
    c.options.robots = COS_SWITCH_OFF;
    crawl_run(&c);
    is(state_of(&c, "/d.html"), "done|NULL", "--no-robots follows them all");
    crawl_remove(&c);
    start(&c, "/tagged/");
    crawl_run(&c);
    is(state_of(&c, "/x.html"), "skipped|nofollow", "X-Robots-Tag does the same");
    crawl_remove(&c);
}

static void check_kinds(void)
{
    struct crawl c;
    start(&c, "/kinds/");
    c.options.follow = 1u << COS_LINK_A | 1u << COS_LINK_SCRIPT;
    crawl_run(&c);
    is(state_of(&c, "/i.png"), "skipped|follow", "--follow leaves other kinds out");
    ok(times("/kinds/a.html") == 1 && times("/kinds/s.js") == 1 && times("/kinds/i.png") == 0,
       "and follows those it names");
    crawl_remove(&c);
}

static void check_names(void)
{
    struct crawl c;
    start(&c, "/names/");
    c.options.accept = (struct cos_strings){(const char *const[]){"txt"}, 1};
    cmp_ok(crawl_run(&c), "==", 0, "-A");
    is(state_of(&c, "/c.exe"), "skipped|pattern: -A", "another name is not fetched");
    is(state_of(&c, "/a.html"), "skipped|type", "a page is fetched for its links and not kept");
    is(state_of(&c, "/d.txt"), "done|NULL", "and what it links to is");
    cmp_ok(crawl_files(&c), "==", 2, "only what was asked for is on the disk");
    memset(asked, 0, 4096);
    cmp_ok(crawl_run(&c), "==", 0, "again");
    cmp_ok(times("/names/a.html"), "==", 0, "nothing is fetched twice for it");
    crawl_remove(&c);
}

static void check_moved(void)
{
    struct crawl c;
    start(&c, "/moved");
    c.options.scope = COS_SCOPE_PREFIX;
    c.options.level = 1;
    cmp_ok(crawl_run(&c), "==", 0, "a seed that redirects");
    is(crawl_sql(&c, "SELECT p.depth, p.state, r.status FROM redirects r JOIN pages p "
                     "ON p.id = r.dst"),
       "0|done|301", "leads to a page as near as itself, without the fragment");
    is(state_of(&c, "/more.html"), "done|NULL", "and that is where the crawl goes on");
    is(crawl_sql(&c, "SELECT path FROM pages WHERE url LIKE '%/moved'"), "NULL",
       "the redirect itself is no file");
    cmp_ok(times("/moved"), "==", 1, "and not asked for again when a page links to it");
    crawl_remove(&c);
    start(&c, "/moved");
    c.options.scope = COS_SCOPE_PREFIX;
    c.options.max_pages = 2;
    cmp_ok(crawl_run(&c), "==", 14, "stopped after the redirect");
    c.options.max_pages = 0;
    cmp_ok(crawl_run(&c), "==", 0, "and resumed");
    is(state_of(&c, "/more.html"), "done|NULL", "it still knows where the seed led");
    crawl_remove(&c);
    start(&c, "/moved");
    c.options.max_redirect = COS_OPT_ZERO;
    cmp_ok(crawl_run(&c), "==", 8, "--max-redirect=0");
    like(state_of(&c, "/moved"), "failed.*more than --max-redirect", "says so");
    crawl_remove(&c);
}

static void check_canonical(void)
{
    struct crawl c;
    start(&c, "/canonical/");
    crawl_run(&c);
    is(crawl_sql(&c, "SELECT d.url LIKE '%/canonical/real.html', d.state, l.kind FROM links l "
                     "JOIN pages d ON d.id = l.dst"),
       "1|done|canonical", "a canonical link is recorded and followed");
    crawl_remove(&c);
}

static int stop_at_once(void *arg, const struct cos_crawl_stats *stats)
{
    (void)arg, (void)stats;
    return COS_CRAWL_DRAIN;
}

static void check_sitemaps(void)
{
    struct crawl c;
    char map[128];
    snprintf(map, sizeof map, "%smap/index.xml", site.url);
    start(&c, "/map/");
    c.options.sitemaps = (struct cos_strings){(const char *const[]){map}, 1};
    c.events.tick = stop_at_once;
    cmp_ok(crawl_run(&c), "==", 11, "stopped before the sitemap was read");
    c.events.tick = NULL;
    cmp_ok(crawl_run(&c), "==", 0, "--sitemap=URL");
    is(state_of(&c, "/map/orphan.html"), "done|NULL", "a page only the sitemap names is fetched");
    is(crawl_sql(&c, "SELECT substr(url, -12) FROM orphans"), "/orphan.html",
       "and is the one orphan");
    is(crawl_sql(&c, "SELECT state, reason FROM pages WHERE url LIKE '%elsewhere%'"),
       "skipped|domain: --exclude-domains invalid", "the scope holds for sitemaps, too");
    is(crawl_sql(&c, "SELECT count(*) FROM links WHERE kind = 'sitemap'"), "4",
       "its links are links of a kind");
    memset(asked, 0, 4096);
    cmp_ok(crawl_run(&c), "==", 0, "again");
    cmp_ok(times("/map/index.xml"), "==", 0, "sitemaps are not fetched again");
    crawl_remove(&c);
}

static void check_duplicates(void)
{
    struct crawl c;
    start(&c, "/same/");
    crawl_run(&c);
    cmp_ok(c.result.stats.duplicates, "==", 1, "content seen before is counted");
    is(crawl_sql(&c, "SELECT count(*), max(copies) FROM duplicates"), "2|2", "and shown");
    crawl_remove(&c);
}

static void check_why(void)
{
    struct crawl c;
    struct cos_buf out;
    char url[128];
    start(&c, "/nofollow/");
    crawl_run(&c);
    cos_buf_init(&out, 4096);
    snprintf(url, sizeof url, "%snofollow/b.html", site.url);
    cmp_ok(cos_why(c.dir, url, &out), "==", 0, "why");
    like(out.data, "state +skipped\n +because +nofollow\n", "says what happened and by which rule");
    like(out.data, "found on +http://127.0.0.1:[0-9]+/nofollow/\n", "and where it was found");
    cos_buf_clear(&out);
    snprintf(url, sizeof url, "%snofollow/", site.url);
    cos_why(c.dir, url, &out);
    like(out.data, "state +done, answered 200.*saved as.*given to the crawl", "a seed");
    cos_buf_clear(&out);
    cmp_ok(cos_why(c.dir, "http://never.seen/", &out), "==", COS_ENOENT, "a URL never seen");
    like(out.data, "was never seen", "says so");
    cos_buf_clear(&out);
    cmp_ok(cos_why("/nonexistent", url, &out), "==", COS_ENOENT, "no such crawl");
    cos_buf_release(&out);
    crawl_remove(&c);
}

static void check_robots_trouble(void)
{
    struct site other;
    struct crawl c;
    site_start(&other, "--shape=star", "--pages=3", "--robots=503", NULL);
    crawl_init(&c, &other, "/");
    c.options.waitretry = 50;
    cmp_ok(crawl_run(&c), "==", 8, "robots.txt answers 503: nothing may be fetched, no success");
    is(crawl_sql(&c, "SELECT state, reason FROM pages"), "skipped|robots: robots.txt answers 503",
       "the reason says so");
    cmp_ok(site_requests(&other, "/"), "==", 0, "and nothing was");
    crawl_remove(&c);
    site_stop(&other);
    site_start(&other, "--shape=star", "--pages=3", "--robots=404", NULL);
    crawl_init(&c, &other, "/");
    cmp_ok(crawl_run(&c), "==", 0, "no robots.txt: all may be fetched");
    crawl_remove(&c);
    site_stop(&other);
    site_start(&other, "--shape=star", "--pages=3", "--robots=redirect", NULL);
    crawl_init(&c, &other, "/");
    cmp_ok(crawl_run(&c), "==", 0, "a redirected robots.txt is followed");
    crawl_remove(&c);
    site_stop(&other);
}

int main(void)
{
    plan(NO_PLAN);
    start_server();
    check_nofollow();
    check_kinds();
    check_names();
    check_moved();
    check_canonical();
    check_sitemaps();
    check_duplicates();
    check_why();
    site_stop(&site);
    check_robots_trouble();
    done_testing();
}
