/* mirror.t - what makes a copy of a site: page requisites from wherever they
 * are, names that fit the content. What the server's logs and the files show. */
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

int main(void)
{
    static const struct group groups[] = {
        {"requisites", check_requisites},
        {"twice", check_found_twice},
        {"names", check_names},
        {NULL, NULL},
    };
    setenv("TAP_TIMEOUT", "300", 0);
    plan(NO_PLAN);
    run_groups(groups);
    done_testing();
}
