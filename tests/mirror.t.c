/* mirror.t - what makes a copy of a site: page requisites from wherever they
 * are, names that fit the content, links that fit the files, validators. What the server's logs and the files show. */
#include "config.h"

#include "crawl_run.h"

#define TYPE(x) .head = "Content-Type: " x "\r\n"

static int asked_other(const char *path)
{
    return http_count(&other, path);
}

static int file(const char *path)
{
    return shell("test -f '%s'", path) == 0;
}

/* The start page needs pictures from two hosts; what is needed needs more. */
static char start[1024];
static const struct http_page needs[] = {
    {.path = "/", .body = start},
    {.path = "/next.html", .body = "<link rel=stylesheet href=/s.css>" A("/far.html")},
    {.path = "/far.html", .body = "<img src=/far.png>"},
    {.path = "/s.css", TYPE("text/css"), .body = "@import '/t.css'; a { background: url(/bg.png) }"},
    {.path = "/t.css", TYPE("text/css"), .body = "b { background: url(/deep.png) }"},
    {.path = "/frame.html", .body = A("/not-me.html") "<img src=/of-frame.png>"
                                    "<style>p{background:url(/by-style.png)}</style>"},
    {.path = "/moved.png", .status = 302, .head = "Location: /target.png\r\n"},
    {.path = "*", TYPE("image/png"), .body = "png"},
    {0},
};

static void check_requisites(void)
{
    snprintf(start, sizeof start,
             A("http://127.0.0.1:%d/elsewhere.html") A("/next.html") "<img src=/here.png>"
             "<img src='http://127.0.0.1:%d/there.png'><img src='http://127.0.0.1:%d/moved.png'>"
             "<link rel=stylesheet href='http://127.0.0.1:%d/s.css'>"
             "<iframe src='http://127.0.0.1:%d/frame.html'></iframe>",
             other.port, other.port, other.port, other.port, other.port);
    run(needs, "-l 1 $U/");
    check(asked("/here.png") == 1 && asked("/s.css") == 0 && other.nhits == 0,
          "without -p nothing is fetched from other hosts, or below the last level");
    cmp_ok(run(needs, "-p -l 1 $U/"), "==", 0, "-p ends well");
    check(asked_other("/there.png") == 1, "-p: pictures of other hosts");
    check(asked_other("/elsewhere.html") == 0, "-p: not their pages");
    check(asked_other("/moved.png") == 1 && asked_other("/target.png") == 1,
          "-p: what a picture redirects to");
    check(asked_other("/s.css") == 1 && asked_other("/t.css") == 1 && asked_other("/deep.png") == 1,
          "-p: what style sheets need, through @import");
    check(asked_other("/frame.html") == 1 && asked_other("/not-me.html") == 0,
          "-p: a frame, and no link of it");
    check(asked_other("/of-frame.png") == 0 && asked_other("/by-style.png") == 1,
          "-p: one level; beyond it only what style sheets name");
    check(asked("/s.css") == 1 && asked("/t.css") == 1 && asked("/deep.png") == 1,
          "-p: the last level has its requisites");
    check(asked("/far.html") == 0 && asked("/far.png") == 0, "-p: and no further pages");
    again("-p -l 1 $U/");
    check(strstr(err, "nothing to do"), "-p: the crawl is finished");
    again("-l 1 $U/");
    check(strstr(err, "--page-requisites was on"), "-p belongs to the crawl");
    run(needs, "-p -l 1 --follow=a $U/");
    check(asked("/here.png") == 1 && asked_other("/there.png") == 1, "-p: whatever --follow says");
    run(needs, "-p -l 1 --exclude-domains=127.0.0.1 -R png $U/");
    check(asked("/here.png") == 0, "-p: not what -R forbids");
}

/* First met as a link out of scope, then as a picture: also after a resume. */
static void check_found_twice(void)
{
    static char body[256], late[256];
    static struct http_page pages[] = {
        {.path = "/", .body = body},
        {.path = "/late.html", .body = late},
        {.path = "*", TYPE("image/png"), .body = "png"},
        {0},
    };
    snprintf(body, sizeof body, A("http://127.0.0.1:%d/pic.png") A("/late.html"), other.port);
    snprintf(late, sizeof late, "<img src='http://127.0.0.1:%d/pic.png'>", other.port);
    run(pages, "-p $U/");
    check(asked_other("/pic.png") == 1, "-p: a link that turns out to be a picture");
    run(pages, "-p --max-pages=1 $U/");
    check(asked_other("/pic.png") == 0, "-p: interrupted before that");
    again("-p $U/");
    check(asked_other("/pic.png") == 1, "-p: and found out after a resume");
}

static const struct http_page names[] = {
    {.path = "/", .body = A("a.php?x=1") A("b") A("c.htm") A("d.html") A("page.css?v=2")
                          A("img.svg?v=1") A("js?1") A("data.json") A("dir/")},
    {.path = "/page.css?v=2", TYPE("text/css; charset=utf-8"), .body = "a{}"},
    {.path = "/img.svg?v=1", TYPE("image/svg+xml"), .body = "<svg/>"},
    {.path = "/js?1", TYPE("text/javascript"), .body = "1"},
    {.path = "/data.json", TYPE("application/json"), .body = "1"},
    {.path = "*", .body = "page"},
    {0},
};

static void check_names(void)
{
    run(names, "-nH $U/");
    check(file(",_index.html") && file("d.html") && file("dir/,_index.html"), "-nH: no host");
    check(file("a.php,@x=1") && file("b,"), "without -E names are those of the URLs");
    run(names, "-nH -E $U/");
    check(file("a.php,@x=1,.html") && file("b,.html"), "-E: pages are .html");
    check(file("c.htm") && file("d.html") && file(",_index.html") && file("dir/,_index.html"),
          "-E: unless their names say so already");
    check(file("page.css,@v=2,.css") && file("img.svg,@v=1,.svg") && file("js,@1,.js"),
          "-E: style sheets, images, scripts");
    check(file("data.json"), "-E: other types keep their names");
    again("-nH $U/");
    check(strstr(err, "--adjust-extension was on"), "-E belongs to the crawl");
    run(needs, "-nH -p -l 0 $U/");
    check(file(",_index.html") && shell("test -f 127.0.0.1,http%d/there.png", other.port) == 0,
          "-nH: requisites of other hosts keep their directory");
}

/* --- links and validators, seen by the server ----------------------------------------- */

static char home[1024];
static const struct http_page site1[] = {
    {.path = "/", .head = "Content-Type: text/html\r\nETag: \"h1\"\r\n", .body = home},
    {.path = "/a.html", .head = "Content-Type: text/html\r\nLast-Modified: Thu, 01 Jan 2026 "
                                "00:00:00 GMT\r\n", .body = A("/old") A("/no.html")},
    {.path = "/old", .status = 301, .head = "Location: /new?x=1\r\n"},
    {.path = "/new?x=1", .head = "Content-Type: text/html\r\nETag: \"n1\"\r\n", .body = A("/")},
    {.path = "/plain.html", .body = A("/a.html")},
    {.path = "/s.css", .head = "Content-Type: text/css\r\nETag: \"s1\"\r\n",
     .body = "a{b:url('/pic%20(1).png')}"},
    {.path = "/pic%20(1).png", .head = "Content-Type: image/png\r\nETag: \"p1\"\r\n",
     .body = "png"},
    {.path = "/no.html", .status = 404, .head = "ETag: \"no\"\r\n", .body = "no"},
    {.path = "/robots.txt", .head = "Content-Type: text/plain\r\nETag: \"r1\"\r\n",
     .body = "User-agent: *\nDisallow: /not/\n"},
    {0},
};
static const struct http_page site304[] = {
    {.path = "/old", .status = 301, .head = "Location: /new?x=1\r\n"},
    {.path = "/no.html", .status = 404, .body = "no"},
    {.path = "/?no=1", .status = 404, .body = "no"},
    {.path = "/plain.html", .body = A("/a.html")},
    {.path = "*", .status = 304},
    {0},
};

static int has(const char *path, const char *text)
{
    return shell("grep -qF -- \"%s\" '%s'", text, path) == 0;
}

static int sent(const char *path, const char *name, const char *value)
{
    const struct http_hit *hit = http_find(&web, path);
    char got[256];
    return hit && !strcmp(http_header(hit, name, got, sizeof got), value);
}

static int untouched(void)
{
    return shell("find . -name .coscrawl -prune -o -type f -newer ../mark -print | grep -q .") != 0;
}

static int rows(const char *sql, const char *want)
{
    return shell("test \"$(sqlite3 .coscrawl/crawl.db \"%s\")\" = '%s'", sql, want) == 0;
}

static void check_convert(void)
{
    snprintf(home, sizeof home, A("/not/me.html") A("a.html#frag") A("plain.html") A("?no=1") "<link rel=stylesheet "
             "href=s.css><img srcset='/pic%%20(1).png 2x'>" A("http://127.0.0.1:%d/abroad"),
             other.port);
    cmp_ok(run(site1, "-m -nH $U/"), "==", 8, "-m: 404 is told");
    check(has(",_index.html", "./a.html#frag"), "saved: relative, with its fragment");
    check(has(",_index.html", "http://127.0.0.1:") && has(",_index.html", "/abroad"),
          "not saved: absolute");
    check(has(",_index.html", "./pic%2520%281%29.png 2x"), "srcset");
    check(has("s.css", "url('./pic%2520%281%29.png')"), "style sheets");
    check(has("a.html", "./new,@x=1,.html"), "a redirect: the file it leads to");
    check(shell("grep -qF \"$U/no.html\" a.html") == 0, "a page that failed: absolute");
    check(!file(",_index.html,.orig"), "no originals beside the files");
    again("-m -nH -K $U/");
    check(has(",_index.html,.orig", "href='a.html#frag'"), "-K: originals beside the files");
    again("--convert-links -K -l inf -p -E -nH $U/");
    check(strstr(err, "nothing to do"), "the same without -N has nothing to do");
    check(strstr(err, "-N asks for what changed"), "and says what there is");
}

static void check_conditional(void)
{
    run(site1, "-m -nH $U/");
    shell("sleep 0.02; touch ../mark; sleep 0.02");
    http_serve(&web, site304);
    cmp_ok(again("-m -nH $U/"), "==", 8, "-N on a site that did not change");
    check(sent("/", "If-None-Match", "\"h1\"") && sent("/new?x=1", "If-None-Match", "\"n1\""),
          "If-None-Match is what the server gave");
    check(sent("/a.html", "If-Modified-Since", "Thu, 01 Jan 2026 00:00:00 GMT"),
          "so is If-Modified-Since");
    check(sent("/plain.html", "If-None-Match", ""), "nothing is made up");
    check(sent("/no.html", "If-None-Match", ""), "nor is what an error page said a validator");
    check(sent("/robots.txt", "If-None-Match", "\"r1\"") && asked("/not/me.html") == 0,
          "robots.txt is asked for in the same way, and holds");
    check(asked("/old") == 1 && asked("/no.html") == 1 && asked("/s.css") == 1, "all are asked");
    check(untouched(), "no file is touched: not by a 304, nor by the same content again");
    check(strstr(err, "unchanged 5 pages"), "the summary counts them");
    check(strstr(err, "  failed    2 with 404"), "and counts no failure twice");
    shell("rm a.html");
    http_serve(&web, site1);
    again("-m -nH $U/");
    check(sent("/a.html", "If-Modified-Since", "") && has("a.html", "./new,@x=1,.html"),
          "a file that is missing is fetched, whatever was known of it");
}

/* One run into the list of a later one, in which every page is 304. */
static void check_listing(const char *format, const char *drop)
{
    char words[64];
    snprintf(words, sizeof words, "-m -nH --format=%s $U/", format);
    run(site1, words);
    shell("%s ../out | LC_ALL=C sort >../fresh", drop);
    http_serve(&web, site304);
    again(words);
    check(shell("%s ../out | LC_ALL=C sort >../later; test -s ../later && cmp -s ../fresh ../later",
                drop) == 0, "%s: the list of -N is that of a fresh crawl", format);
    if (shell("cmp -s ../fresh ../later"))
        shell("diff ../fresh ../later | sed 's/^/# /' >&2");
}

static void check_lists(void)
{
    check_listing("text", "cat");
    check_listing("dot", "cat");
    /* Times differ, and so does 304. */
    check_listing("csv", "sed -E 's/,done,(200|304),/,done,,/; s/,[0-9]+,([^,]*)$/,,\\1/'");
    check_listing("jsonl", "sed 's/\"status\":304/\"status\":200/; s/,\"ms\":.*//'");
}

/* A shorter way goes, and the longer one is the only one. */
static void check_ways(void)
{
    static const struct http_page before[] = {
        {.path = "/", .body = A("a.html") A("b.html") A("c.html")},
        {.path = "/a.html", .body = A("b.html")},
        {.path = "/b.html", .body = A("c.html")},
        {.path = "/c.html", .body = "c"},
        {0},
    };
    static const struct http_page after[] = {
        {.path = "/", .body = A("a.html")},
        {.path = "/a.html", .body = A("b.html")},
        {.path = "/b.html", .body = "b"},
        {.path = "/c.html", .body = "c"},
        {0},
    };
    static const char depths[] = "SELECT group_concat(p.depth || ifnull(substr(r.url, -7), '-'))"
                                 " FROM pages p LEFT JOIN pages r ON r.id = p.referrer";
    run(before, "-m -nH $U/");
    check(rows("SELECT group_concat(depth) FROM pages", "0,1,1,1"), "depths of a crawl");
    http_serve(&web, after);
    again("-m -nH $U/");
    check(rows("SELECT group_concat(depth) FROM (SELECT depth FROM pages ORDER BY url)", "0,1,2,1"),
          "-N: depths from the links that are there; without a way the old one");
    check(shell("sqlite3 .coscrawl/crawl.db \"%s\" | grep -qF 2/a.html", depths) == 0,
          "-N: referrers too");
    check(shell("sqlite3 .coscrawl/crawl.db 'SELECT url FROM orphans' | grep -q c.html") == 0,
          "-N: a page that nothing links to is an orphan");
}

static void check_gone(void)
{
    static const struct http_page less[] = {
        {.path = "/", .head = "Content-Type: text/html\r\nETag: \"h1\"\r\n", .body = home},
        {.path = "/a.html", .status = 404, .head = "ETag: \"e\"\r\n", .body = "no"},
        {.path = "/s.css", .status = 403, .body = "no"},
        {.path = "/plain.html", .status = 429, .body = "later"},
        {.path = "*", .status = 304},
        {0},
    };
    run(site1, "-m -nH $U/");
    http_serve(&web, less);
    cmp_ok(again("-m -nH -t 1 $U/"), "==", 8, "-N, and a page is gone");
    check(file("a.html") && file("s.css") && file("plain.html"), "files stay");
    check(rows("SELECT group_concat(status || path) FROM (SELECT * FROM gone ORDER BY url)",
               "404a.html,403s.css"), "the database knows what is gone, and its file");
    check(rows("SELECT state FROM pages WHERE url LIKE '%%plain.html'", "done"),
          "what cannot be had now stays what it was");
    check(strstr(err, "a.html: 404 Not Found: gone; the file of an earlier run stays") &&
              strstr(err, "  gone      1 page; the file of an earlier run stays"),
          "messages and summary say so");
    again("-m -nH -t 1 $U/");
    check(sent("/a.html", "If-None-Match", ""), "its error page is not what is asked for");
    check(rows("SELECT count(*) FROM gone", "2"), "and it is still gone");
    http_serve(&web, site1);
    again("-m -nH $U/");
    check(rows("SELECT count(*) FROM gone", "0") && has("s.css", "url('./pic%2520%281%29.png')"),
          "until it comes back");
}

static void check_sitemaps(void)
{
    static char list[400];
    static const struct http_page pages[] = {
        {.path = "/sitemap.xml", .head = "Content-Type: application/xml\r\nETag: \"m1\"\r\n",
         .body = list},
        {.path = "*", .head = "Content-Type: text/html\r\nETag: \"x\"\r\n", .body = "page"},
        {0},
    };
    static const struct http_page same[] = {{.path = "*", .status = 304}, {0}};
    snprintf(list, sizeof list, "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
             "<url><loc>http://127.0.0.1:%d/only.html</loc></url></urlset>", web.port);
    run(pages, "-N --sitemap $U/");
    check(asked("/only.html") == 1, "a sitemap names a page");
    http_serve(&web, same);
    cmp_ok(again("-N --sitemap $U/"), "==", 0, "-N with a sitemap");
    check(sent("/sitemap.xml", "If-None-Match", "\"m1\"") && asked("/only.html") == 1,
          "is conditional for the sitemap, too, and follows it");
    again("-N --sitemap $U/");
    check(sent("/sitemap.xml", "If-None-Match", "\"m1\"") &&
              rows("SELECT count(*) FROM pages WHERE state <> 'done'", "0"),
          "also the third time");
}

static void check_changes(void)
{
    static const struct http_page trouble[] = {{.path = "*", .status = 503}, {0}};
    static struct http_page changed[] = {
        {.path = "/", .head = "Content-Type: text/html\r\nETag: \"h2\"\r\n",
         .body = A("a.html") A("b.html")},
        {.path = "/a.html", .status = 301, .head = "Location: /b.html\r\n"},
        {.path = "/old", .body = "a page now"},
        {.path = "/b.html", .body = A("/old") A("/new?x=1")},
        {.path = "/new?x=1", .status = 410},
        {.path = "*", .status = 304},
        {0},
    };
    run(site1, "-m -nH $U/");
    shell("sleep 0.02; touch ../mark; sleep 0.02");
    http_serve(&web, trouble);
    cmp_ok(again("-m -nH -t 1 $U/"), "==", 8, "-N, and the server is in trouble");
    check(untouched() && has("a.html", "./new,@x=1,.html"), "what is here stays");
    http_serve(&web, changed);
    again("-m -nH $U/");
    check(has(",_index.html", "./b.html") && file("b.html"), "a new link is followed");
    check(has("b.html", "./old,.html") && file("old,.html"), "a redirect that became a page");
    check(shell("sqlite3 .coscrawl/crawl.db \"SELECT count(*) FROM redirects r JOIN pages p ON "
                "p.id = r.src WHERE p.url LIKE '%%/old'\" | grep -qx 0") == 0,
          "is none in the database either");
    check(!has(",_index.html", "./a.html"), "a page that became a redirect leads on");
    check(shell("grep -qF \"$U/new?x=1\" b.html") == 0 && file("new,@x=1,.html"),
          "a page that is gone: links lead to the web, its file stays");
}

static const struct http_page copies[] = {
    {.path = "/", .body = A("a.html") A("d/b.html") A("c.png") A("d/c.png") A("e.png") A("f.png")},
    {.path = "/a.html", .body = A("/c.png") "same"},
    {.path = "/d/b.html", .body = A("/c.png") "same"},
    {.path = "/c.png", TYPE("image/png"), .body = "a picture"},
    {.path = "/d/c.png", TYPE("image/png"), .body = "a picture"},
    {.path = "/e.png", TYPE("image/png"), .body = ""},
    {.path = "/f.png", TYPE("image/png"), .body = ""},
    {0},
};

static void check_dedup(void)
{
    run(copies, "-nH $U/");
    check(shell("test c.png -ef d/c.png") != 0, "files are files of their own");
    run(copies, "-nH --dedup $U/");
    check(shell("test c.png -ef d/c.png && test a.html -ef d/b.html") == 0,
          "--dedup: equal files are one");
    check(shell("test e.png -ef f.png") != 0, "--dedup: empty ones need not be");
    check(strstr(err, "  shared    2 files, "), "--dedup: the summary counts");
    again("-nH --dedup $U/");
    check(!strstr(err, "  shared "), "--dedup: once");
    run(copies, "-nH --dedup --convert-links $U/");
    check(shell("test c.png -ef d/c.png") == 0 && shell("test a.html -ef d/b.html") != 0,
          "--dedup: links of one directory are not those of another");
    check(has("a.html", "./c.png") && has("d/b.html", "../c.png"), "--dedup: and stay right");
    shell("printf other >.coscrawl/x; mv .coscrawl/x c.png");
    again("-nH --dedup --convert-links $U/");
    check(has("d/c.png", "a picture") && has("c.png", "other"),
          "--dedup: what somebody changed is another file");
    check(run(copies, "-nH --dedup=reflink $U/") ? strstr(err, "this file system shares no blocks")
                                                 : strstr(err, "  shared    2 files, "),
          "--dedup=reflink: done, or refused with the reason");
    check(has("d/c.png", "a picture") && shell("test c.png -ef d/c.png") != 0,
          "--dedup=reflink: the files are there, each its own");
}

/* --- markup ------------------------------------------------------------------------------ */

static const struct http_page sloppy[] = {
    {.path = "/", .body = "<html><body><p><a href=a.html>A</a><b>bold</p><li>x<a href='ok.html'>y</a>"},
    {.path = "/a.html", .head = "Content-Type: text/html; charset=iso-8859-1\r\n",
     .body = "<title>x</title><p>caf\xe9<a href=/><strange-tag>"},
    {.path = "/ok.html", .body = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<title>ok</title>\n"
                                 "</head>\n<body>\n<p>ok</p>\n</body>\n</html>\n"},
    {0},
};

static void check_markup(void)
{
    static char deep[20000];
    static struct http_page pages[] = {{.path = "/", .body = deep}, {0}};
    cmp_ok(run(sloppy, "-nH --lint $U/"), "==", 0, "--lint ends well");
    check(strstr(err, "  markup    ") && strstr(err, " in 2 pages"), "--lint: the summary counts");
    check(rows("SELECT count(*) FROM pages WHERE lint_errors + lint_warnings > 0", "2") &&
              rows("SELECT lint_errors + lint_warnings FROM pages WHERE url LIKE '%%ok.html'", "0"),
          "--lint: counts in the database");
    check(rows("SELECT count(*) > 2 FROM markup WHERE level IN ('error', 'warning') AND line > 0",
               "1"), "--lint: findings in the database");
    check(has(",_index.html", "<a href=a.html>A</a><b>bold</p>"), "--lint: files are as they came");
    again("-nH --lint -N $U/");
    check(rows("SELECT count(*) = count(DISTINCT page * 10000 + n) FROM lint", "1") &&
              rows("SELECT count(DISTINCT page) FROM lint", "2"),
          "--lint: findings of an earlier run are replaced");
    run(sloppy, "-nH --lint --list --format=jsonl $U/");
    check(strstr(out, "\"lint_errors\":"), "--lint: counts in lists");
    run(sloppy, "-nH --tidy --convert-links $U/");
    check(has(",_index.html", "</b></p>"), "--tidy: repaired");
    check(has(",_index.html", "./a.html"), "--tidy: and converted");
    check(has("a.html", "caf\xc3\xa9") && has("a.html", "\xef\xbb\xbf"), "--tidy: in UTF-8");
    run(sloppy, "-nH --parser=tidy $U/");
    check(asked("/a.html") == 1 && asked("/ok.html") == 1, "--parser=tidy finds the links");
    check(has(",_index.html", "<a href=a.html>A</a><b>bold</p>"), "--parser=tidy: files as they came");
    check(shell("sqlite3 .coscrawl/crawl.db 'SELECT title FROM pages' | grep -qx x") == 0,
          "--parser=tidy finds titles");
    for (int i = 0; i < 1000; i++)
        strcat(deep, "<div>");
    strcat(deep, A("/deep.html"));
    cmp_ok(run(pages, "--tidy --lint --parser=tidy $U/"), "==", 8, "too deep for tidy");
    check(strstr(err, "not for tidy: ") && asked("/deep.html") == 1,
          "is said, and the scanner reads it");
}

/* --- lists and configuration ------------------------------------------------------------ */

static const struct http_page strange[] = {
    {.path = "/", .body = "<title>=cmd|' /C calc'!A0</title>" A("/two.html") A("/q?a=\\\"b")
                          A("/gone.html")},
    {.path = "/two.html", .body = "<title>\x1b[31mred, \"quoted\"\x07</title>"},
    {.path = "/gone.html", .status = 404, .body = "no"},
    {.path = "*", .body = "<title> @SUM(1)</title>"},
    {0},
};

static int clean(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' && *text != '\n')
            return 0;
    return 1;
}

static void check_formats(void)
{
    run(strange, "--list --format=csv $U/");
    check(!strncmp(out, "url,state,status,reason,", 24), "csv: the first line has the names");
    check(strstr(out, ",\"'=cmd|' /C calc'!A0\","), "csv: a formula is none any more");
    check(strstr(out, ",\"'@SUM(1)\",") && !strstr(out, ",@SUM"), "csv: nor is a function");
    check(strstr(out, "[31mred, \"\"quoted\"\"") && clean(out), "csv: quotes and control characters");
    check(strstr(out, "/gone.html,failed,404,EHTTP,"), "csv: what failed");
    check(shell("awk -F, 'NR > 1 && !/cmd|red/ && NF != 15 {exit 1}' ../out") == 0,
          "csv: every row has every cell");
    run(strange, "--list --format=dot $U/");
    check(!strncmp(out, "strict digraph ", 15) && strstr(out, "\n}\n"), "dot: a whole graph");
    check(strstr(out, "/\" -> \"http") && strstr(out, "/two.html\";\n"), "dot: edges");
    check(strstr(out, "/gone.html\" [color=red];"), "dot: what failed is red");
    check(strstr(out, "q?a=\\\\%22b\"") && clean(out), "dot: names are escaped");
    run(strange, "--dry-run -X /x --format=csv $U/");
    check(strstr(out, "/two.html,would,,,,1,"), "csv: a dry run");
    run(strange, "--format=jsonl -v $U/");
    check(clean(out) && clean(err), "jsonl, and messages: no control characters");
}

/* Titles that begin with all sorts of blanks, or with what is none. */
static void check_formulas(void)
{
    static const char *const starts[] = {
        "=", "+", "-", "@", "\t=", "&#9;=", "&#13;=", "\r\n=", " =", "\xc2\xa0=", "\xe2\x80\x8b=",
        "\xef\xbb\xbf=", "\xe3\x80\x80=", "\xe2\x80\xae=", "\xe2\x80\xa8=", "\x01=", "\x0b=",
        "\x1f=", "\xef\xbc\x9d", "\xef\xbb\xbf\xc2\xa0 \xef\xbc\x8b", "\xe2\x81\xa0@"};
    static struct http_page pages[32];
    static char paths[32][16], bodies[32][80], home_page[1024];
    size_t n = sizeof starts / sizeof *starts, bad = 0, found = 0;
    pages[0] = (struct http_page){.path = "/", .body = home_page};
    for (size_t i = 1; i <= n; i++) {
        snprintf(paths[i], sizeof paths[i], "/%zu", i);
        snprintf(bodies[i], sizeof bodies[i], "<meta charset=utf-8><title>%s1+1</title>",
                 starts[i - 1]);
        snprintf(home_page + strlen(home_page), 32, "<a href=%s>x</a>", paths[i]);
        pages[i] = (struct http_page){.path = paths[i], .body = bodies[i]};
    }
    run(pages, "--list --format=csv $U/");
    for (char *s = out; (s = strstr(s, "1+1")); s++) {
        const char *cell = s;
        while (cell > out && cell[-1] != ',')
            cell--;
        found++;
        bad += strncmp(cell, "\"'", 2) != 0;
    }
    check(found == n && bad == 0, "csv: %zu titles that could be formulas, %zu without apostrophe",
          found, bad);
    check(clean(out), "csv: and no control character");
}

/* Commands that show what a page or a server said. */
static void check_commands(void)
{
    static const struct http_page pages[] = {
        {.path = "/", .body = A("/dis\x1b[31m\xc2\x9b") "<title>\x1b]0;x\x07</title>"},
        {.path = "/robots.txt", .head = "Content-Type: text/plain\r\n",
         .body = "User-agent: *\nDisallow: /dis\x1b[31m\n"},
        {.path = "*", .status = 404, .body = "no"},
        {0},
    };
    run(pages, "-v --lint $U/");
    check(clean(err), "messages: no control characters");
    shell("for u in $(sqlite3 .coscrawl/crawl.db 'SELECT url FROM pages'); do "
          "\"$COSCRAWL\" why . \"$u\"; done >../out 2>&1");
    slurp("out", out, sizeof out);
    check(strstr(out, "  state     ") && clean(out), "why: no control characters");
    shell("printf '<p a\\033[31m=\\302\\2332J>' >e.html; \"$COSCRAWL\" tidy --lint e.html >../out 2>&1");
    slurp("out", out, sizeof out);
    check(strstr(out, "\\x1b[31m") && clean(out), "tidy --lint: no control characters");
}

static int write_config(const char *path, const char *text)
{
    return shell("mkdir -p $(dirname %s) && printf '%s' >%s", path, text, path);
}

static void check_config(void)
{
    run(small, "--no-config -l 0 $U/");
    setenv("XDG_CONFIG_HOME", "", 1);
    write_config("$HOME/.config/coscrawl/config", "# mine\\n\\nlevel = 1\\n user-agent =  me too \\n");
    run(small, "$U/");
    check(asked("/1.html") && !asked("/2.html"), "~/.config/coscrawl/config is read");
    check(sent("/", "User-Agent", "me too"), "values are trimmed");
    run(small, "-l 2 $U/");
    check(asked("/2.html") && !asked("/3.html"), "the command line wins");
    run(small, "--no-config $U/");
    check(asked("/5.html"), "--no-config reads none");
    shell("mkdir -p ../xdg/coscrawl && echo 'level=0' >../xdg/coscrawl/config; printf 'mirror\\nno-host-directories\\n' >../c");
    run(small, "--config=../c $U/");
    check(asked("/7.html") && has("1.html", "./2.html"), "--config reads another");
    {
        char dir[64];
        snprintf(dir, sizeof dir, "%s/xdg", top);
        setenv("XDG_CONFIG_HOME", dir, 1);
    }
    run(small, "$U/");
    check(asked("/") && !asked("/1.html"), "$XDG_CONFIG_HOME/coscrawl/config is read");
    unsetenv("XDG_CONFIG_HOME");
    shell("printf 'level = 1\\n\\nlevl = 2\\n' >../c");
    cmp_ok(run(small, "--config=../c $U/"), "==", 2, "a mistake in a file: exit 2");
    check(strstr(err, "../c:3: unknown option --levl; did you mean --level?"), "and its place");
    shell("echo 'level 2' >../c");
    cmp_ok(run(small, "--config ../c $U/"), "==", 2, "a value without '='");
    shell("echo 'help' >../c");
    cmp_ok(run(small, "--config=../c $U/"), "==", 2, "what belongs on the command line");
    cmp_ok(run(small, "--config=../none $U/"), "==", 3, "a file that is not there: exit 3");
    shell("rm -f $HOME/.config/coscrawl/config");
}

int main(void)
{
    static const struct group groups[] = {
        {"requisites", check_requisites},
        {"twice", check_found_twice},
        {"names", check_names},
        {"convert", check_convert},
        {"conditional", check_conditional},
        {"changes", check_changes},
        {"lists", check_lists},
        {"ways", check_ways},
        {"gone", check_gone},
        {"sitemaps", check_sitemaps},
        {"dedup", check_dedup},
        {"markup", check_markup},
        {"formats", check_formats},
        {"formulas", check_formulas},
        {"commands", check_commands},
        {"config", check_config},
        {NULL, NULL},
    };
    setenv("TAP_TIMEOUT", "300", 0);
    plan(NO_PLAN);
    run_groups(groups);
    done_testing();
}
