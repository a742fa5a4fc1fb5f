/* links.t - the links of a page: resolved, without fragment, once each. */
#include "config.h"

#include "tap.h"

#include "base/err.h"
#include "web/links.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

static struct cos_links_ctx *ctx;

static struct cos_page *page_of(const char *url, const char *mime, const char *body, size_t len)
{
    struct cos_page *page = cos_page_new(url);
    if (mime)
        page->mime = strdup(mime);
    cos_buf_init(&page->body, len + 1);
    cos_buf_add(&page->body, body, len);
    return page;
}

/* "kind:url kind:url …", '!' for nofollow, '*' for a requisite */
static const char *links_of(const struct cos_page *page)
{
    static const char *const kinds[] = {"?",       "a",    "link",      "img",      "script",
                                        "frame",   "media", "css",      "refresh",  "form",
                                        "canonical", "hreflang", "sitemap", "redirect"};
    static char out[65536];
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < page->nlinks && n < sizeof out - 1000; i++) {
        struct cos_link *link = &page->links[i];
        const char *url = page->link_text.data + link->text;
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s%s%s:%s%s", i ? " " : "",
                              link->flags & COS_LINK_NOFOLLOW ? "!" : "",
                              link->flags & COS_LINK_REQUISITE ? "*" : "", kinds[link->kind], url,
                              strlen(url) == link->len ? "" : "(length)");
    }
    return out;
}

#define HERE "http://h.example/d/p.html"

struct row {
    const char *body, *want;
};

/* "H/" in want stands for the page's own host. */
static const char *widen(const char *want)
{
    static char out[8192];
    size_t n = 0;
    for (; *want && n < sizeof out - 32; want++) {
        if (want[0] == 'H' && want[1] == '/')
            n += (size_t)snprintf(out + n, 32, "http://h.example");
        else
            out[n++] = *want;
    }
    out[n] = 0;
    return out;
}

static void check_rows(const struct row *rows, size_t count, const char *mime, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        struct cos_page *page = page_of(HERE, mime, rows[i].body, strlen(rows[i].body));
        int err = cos_links_extract(ctx, page);
        is(err ? cos_errname(err) : links_of(page), widen(rows[i].want), "%s: %s", what,
           rows[i].body);
        cos_page_free(page);
    }
}

#define CHECK(rows, mime) check_rows(rows, sizeof rows / sizeof *rows, mime, #rows)

/* What a spider follows: a link to the same host. */
static void check_c7(void)
{
    static const struct {
        const char *href, *want; /* NULL: no link of a crawler's */
        int same;
    } rows[] = {
        {"x.html", "http://h.example/d/x.html", 1},
        {"./x.html", "http://h.example/d/x.html", 1},
        {"../x.html", "http://h.example/x.html", 1},
        {"../../../x.html", "http://h.example/x.html", 1},
        {"/x", "http://h.example/x", 1},
        {"x.html#part", "http://h.example/d/x.html", 1},
        {"#part", "http://h.example/d/p.html", 1},
        {"", "http://h.example/d/p.html", 1},
        {"?q", "http://h.example/d/p.html?q", 1},
        {"?q#f", "http://h.example/d/p.html?q", 1},
        {"//h.example/x", "http://h.example/x", 1},
        {"//h/", "http://h/", 0},
        {"http:x", "http://h.example/d/x", 1},
        {"http://h.example", "http://h.example/", 1},
        {"http://H.EXAMPLE/X", "http://h.example/X", 1},
        {"HTTP://h.example/x", "http://h.example/x", 1},
        {"http://h.example:80/x", "http://h.example/x", 1},
        {"http://h.example:8080/x", "http://h.example:8080/x", 1},
        {"https://h.example/x", "https://h.example/x", 1},
        {"http://www.h.example/", "http://www.h.example/", 0},
        {"http://h.example.org/", "http://h.example.org/", 0},
        {"http://h.example@evil.example/", "http://h.example@evil.example/", 0},
        {"  x y\n.html  ", "http://h.example/d/x%20y.html", 1},
        {"\\x", "http://h.example/x", 1},
        {"caf\xc3\xa9", "http://h.example/d/caf%C3%A9", 1},
        {"mailto:a@h.example", NULL, 0},
        {"javascript:void(0)", NULL, 0},
        {"JavaScript:alert(1)", NULL, 0},
        {"tel:123", NULL, 0},
        {"data:text/html,x", NULL, 0},
        {"ftp://h.example/x", NULL, 0},
        {"file:///etc/passwd", NULL, 0},
        {"about:blank", NULL, 0},
        {"http://", NULL, 0},
        {"http://h example/", NULL, 0},
        {"http://h.example:99999/", NULL, 0},
    };
    struct cos_url here, there;
    cos_url_init(&here);
    cos_url_init(&there);
    cos_url_parse(&here, HERE, strlen(HERE), NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[256];
        struct cos_page *page;
        const char *got;
        snprintf(body, sizeof body, "<a href=\"%s\">", rows[i].href);
        page = page_of(HERE, "text/html", body, strlen(body));
        cos_links_extract(ctx, page);
        got = page->nlinks == 1 ? page->link_text.data : page->nlinks ? "several" : NULL;
        is(got, rows[i].want, "C7 a link \"%.*s\"", (int)strcspn(rows[i].href, "\n"), rows[i].href);
        if (got && !cos_url_parse(&there, got, strlen(got), NULL))
            cmp_ok(cos_url_same_host(&here, &there), "==", rows[i].same, "C7 %s: same host or not",
                   got);
        cos_page_free(page);
    }
    cos_url_release(&here);
    cos_url_release(&there);
}

static const struct row kinds[] = {
    {"<a href=1><area href=2>", "a:H/d/1 a:H/d/2"},
    {"<link rel=stylesheet href=1><link rel=next href=2>", "*link:H/d/1 link:H/d/2"},
    {"<link rel=canonical href=1>", "canonical:H/d/1"},
    {"<link rel=alternate hreflang=de href=1>", "hreflang:H/d/1"},
    {"<link rel=alternate type=application/rss+xml href=1>", "link:H/d/1"},
    {"<link rel=preconnect href=//cdn.example><link rel=dns-prefetch href=//d.example>", ""},
    {"<img src=1 srcset='2 2x'><input src=3><video poster=4>",
     "*img:H/d/1 *img:H/d/2 *img:H/d/3 *img:H/d/4"},
    {"<script src=1></script><iframe src=2></iframe><frame src=3>",
     "*script:H/d/1 *frame:H/d/2 *frame:H/d/3"},
    {"<source src=1><audio src=2><track src=3><embed src=4><object data=5>",
     "*media:H/d/1 *media:H/d/2 *media:H/d/3 *media:H/d/4 *media:H/d/5"},
    {"<style>@import '1';a{b:url(2)}</style><p style='b:url(3)'>",
     "*css:H/d/1 *css:H/d/2 *css:H/d/3"},
    {"<meta http-equiv=refresh content='0;url=1'>", "refresh:H/d/1"},
    {"<form action=1>", "form:H/d/1"},
};

static const struct row once[] = {
    {"<a href=1><a href=1><a href=./1><a href=1#f><a href=/d/1>", "a:H/d/1"},
    {"<a href=1><img src=1>", "a:H/d/1 *img:H/d/1"},
    {"<a href=1 rel=nofollow><a href=1>", "a:H/d/1"},
    {"<a href=1><a href=1 rel=nofollow>", "a:H/d/1"},
    {"<a href=1 rel=nofollow><a href=./1 rel=nofollow>", "!a:H/d/1"},
    {"<link rel=next href=1><link rel=icon href=1>", "*link:H/d/1"},
    {"<a href=1><a href=2><a href=1><a href=3><a href=2>", "a:H/d/1 a:H/d/2 a:H/d/3"},
};

static const struct row bases[] = {
    {"<base href=/b/><a href=1>", "a:H/b/1"},
    {"<a href=1><base href=/b/><a href=2>", "a:H/b/1 a:H/b/2"},
    {"<base href=/b/><base href=/c/><a href=1>", "a:H/b/1"},
    {"<base><base href=/c/><a href=1>", "a:H/c/1"},
    {"<base href=b/><a href=1>", "a:H/d/b/1"},
    {"<base href=//o.example><a href=1>", "a:http://o.example/1"},
    {"<base href='data:,x'><base href=/c/><a href=1>", "a:H/d/1"},
    {"<base href='http://:'><base href=/c/><a href=1>", "a:H/d/1"},
    {"<base href=/b/x.html?q#f><a href='#g'><a href='?r'>", "a:H/b/x.html?q a:H/b/x.html?r"},
    {"<a href=1><base href=/b/><a href=/d/1>", "a:H/b/1 a:H/d/1"},
    {"<!--<base href=/c/>--><script>'<base href=/c/>'</script><a href=1>", "a:H/d/1"},
};

static const struct row sheets[] = {
    {"@import 'a.css'; b{c:url(../d.png)}", "*css:H/d/a.css *css:H/d.png"},
    {"<a href=1>", ""},
};

static const struct row sniffed[] = {
    {"<!DOCTYPE html><a href=1>", "a:H/d/1"},
    {"\n <html><a href=1>", "a:H/d/1"},
    {"\xef\xbb\xbf<p><a href=1>", "a:H/d/1"},
    {"<!-- c --><a href=1>", "a:H/d/1"},
    {"<?xml version='1.0'?><html><title/><a href=1>", "a:H/d/1"},
    {"<?xml version='1.0'?><rss><a href=1>", ""},
    {"text <a href=1>", ""},
    {"<abc><a href=1>", ""},
    {"", ""},
};

static const struct row xhtml[] = {
    {"<title/><script src='1'/><a href='2'/>", "*script:H/d/1 a:H/d/2"},
};

static const struct row xml[] = {
    {"<html xmlns='http://www.w3.org/1999/xhtml'><a href='2'/></html>", "a:H/d/2"},
    {"<feed><link href='1'/></feed>", ""},
};

static const struct row others[] = {
    {"<a href=1>", ""},
};

static void check_text(const char *body, const char *title, int directives)
{
    struct cos_page *page = page_of(HERE, "text/html", body, strlen(body));
    cmp_ok(cos_links_extract(ctx, page), "==", 0, "extract %s", body);
    is(page->title, title, "title of %s", body);
    cmp_ok(page->directives, "==", directives, "directives of %s", body);
    cos_page_free(page);
}

static void check_texts(void)
{
    check_text("<p>", NULL, 0);
    check_text("<title> a \n\t b &amp; c </title>", "a b & c", 0);
    check_text("<title></title>", "", 0);
    check_text("<title>one</title><title>two</title>", "one", 0);
    check_text("<svg><title>no</title></svg><title>yes</title>", "yes", 0);
    check_text("<a href=1><title>t</title><base href=/b/><meta name=robots content=noindex>", "t",
               COS_PAGE_NOINDEX);
    check_text("<meta name=robots content='NoIndex,NOFOLLOW'>", NULL,
               COS_PAGE_NOINDEX | COS_PAGE_NOFOLLOW);
    check_text("<meta name=robots content=none><meta name=robots content=noarchive>", NULL,
               COS_PAGE_NOINDEX | COS_PAGE_NOFOLLOW | COS_PAGE_NOARCHIVE);
    check_text("<meta name=robots content='index, follow, noindexes'>", NULL, 0);
    check_text("<meta name=CosCrawl content=nofollow>", NULL, COS_PAGE_NOFOLLOW);
    check_text("<meta name=googlebot content=none>", NULL, 0);
}

static void check_long_title(void)
{
    static char body[20000];
    struct cos_page *page;
    size_t n = (size_t)snprintf(body, 20, "<title>x");
    while (n < 12000)
        n += (size_t)snprintf(body + n, 4, "\xe2\x82\xac");
    page = page_of(HERE, "text/html", body, n);
    cos_links_extract(ctx, page);
    ok(page->title && strlen(page->title) <= 4096, "a long title is cut");
    ok(page->title && (strlen(page->title) - 1) % 3 == 0, "between characters");
    cos_page_free(page);
}

static void check_robots_tag(const char *value, int want)
{
    cmp_ok(cos_links_robots_tag(value, strlen(value), "coscrawl"), "==", want, "X-Robots-Tag: %s",
           value);
}

static void check_headers(void)
{
    static const char head[] = "Content-Type: text/html\r\nX-Robots-Tag: noindex\r\n"
                               "x-robots-tag: otherbot: nofollow\r\nX-ROBOTS-TAG: noarchive";
    struct cos_page *page = page_of(HERE, "image/png", "", 0);
    check_robots_tag("noindex", COS_PAGE_NOINDEX);
    check_robots_tag(" none", COS_PAGE_NOINDEX | COS_PAGE_NOFOLLOW);
    check_robots_tag("googlebot: noindex", 0);
    check_robots_tag("CosCrawl: nofollow", COS_PAGE_NOFOLLOW);
    check_robots_tag("noarchive, unavailable_after: 25 Jun 2010", COS_PAGE_NOARCHIVE);
    check_robots_tag("max-snippet:5, noindex", COS_PAGE_NOINDEX);
    check_robots_tag("", 0);
    cos_buf_add(&page->head, head, sizeof head - 1);
    cmp_ok(cos_links_extract(ctx, page), "==", 0, "headers of an image");
    cmp_ok(page->directives, "==", COS_PAGE_NOINDEX | COS_PAGE_NOARCHIVE,
           "every X-Robots-Tag counts, for any type, but not another crawler's");
    cos_page_free(page);
}

static void check_canonical(void)
{
    static const char body[] = "<link rel=canonical href=1#f><link rel=canonical href=2>";
    struct cos_page *page = page_of(HERE, "text/html", body, sizeof body - 1);
    cos_links_extract(ctx, page);
    is(page->canonical, "http://h.example/d/1", "the first canonical link, resolved");
    cos_page_free(page);
}

static void check_charset(const char *body, size_t len, const char *charset, const char *want,
                          const char *what)
{
    struct cos_page *page = page_of(HERE, "text/html", body, len);
    if (charset)
        page->charset = strdup(charset);
    cmp_ok(cos_links_extract(ctx, page), "==", 0, "%s: no error", what);
    is(links_of(page), widen(want), "%s", what);
    cos_page_free(page);
}

#define B(s) s, sizeof(s) - 1

static void check_charsets(void)
{
    check_charset(B("<a href='\xe9?\xe9'>"), "latin1", "a:H/d/%C3%A9?%E9",
                  "the path in UTF-8, the query in the page's encoding");
    check_charset(B("<a href='\xcf?\xcf'>"), "windows-1251", "a:H/d/%D0%9F?%CF", "windows-1251");
    check_charset(B("<meta charset=shift_jis><a href='\x95\x5c?\x95\x5c'>"), NULL,
                  "a:H/d/%E8%A1%A8?%95\\", "a trail byte that is a backslash");
    check_charset(B("\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0x\0?\0\xe9\0>\0"), NULL, "a:H/d/x?%C3%A9",
                  "UTF-16 by its mark; its queries in UTF-8");
    check_charset(B("<a href='?&eacute;&#8364;'>"), "iso-8859-2", "a:H/d/p.html?%E9%26%238364%3B",
                  "what the encoding lacks becomes a reference");
    check_charset(B("<a href=x>"), "no-such-set", "a:H/d/x", "an unknown label");
}

static void check_spilled(void)
{
    static const char body[] = "<title>big</title><a href=1>";
    char name[] = "spill-XXXXXX";
    struct cos_page *page = page_of(HERE, "text/html", "", 0);
    int fd = mkstemp(name);
    if (fd < 0 || write(fd, body, sizeof body - 1) != sizeof body - 1)
        BAIL_OUT("cannot write %s", name);
    close(fd);
    page->spill = strdup(name);
    cmp_ok(cos_links_extract(ctx, page), "==", 0, "a spilled body");
    is(links_of(page), "a:http://h.example/d/1", "links of a spilled body");
    is(page->title, "big", "title of a spilled body");
    unlink(name);
    cmp_ok(cos_links_extract(ctx, page), "==", COS_ENOENT, "a spilled body that is gone");
    cmp_ok(page->nlinks, "==", 0, "then there are no links");
    cos_page_free(page);
}

static void check_errors(void)
{
    struct cos_page *page = page_of("nonsense", "text/html", B("<a href=1>"));
    cmp_ok(cos_links_extract(ctx, page), "==", COS_EURL, "a page without a URL");
    cos_page_free(page);
    page = page_of(HERE, "text/html", B("<a href=1>"));
    cos_links_extract(ctx, page);
    cos_links_extract(ctx, page);
    is(links_of(page), "a:http://h.example/d/1", "extracting again starts anew");
    cos_page_free(page);
}

/* Growth of the set of seen links, and its reuse for the next page. */
static void check_many(void)
{
    struct cos_buf body;
    struct cos_page *page;
    int wrong = 0;
    cos_buf_init(&body, 10 << 20);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20000; i++)
            cos_buf_addf(&body, "<a href=page-%d.html>", i);
    page = page_of(HERE, "text/html", body.data, body.len);
    cmp_ok(cos_links_extract(ctx, page), "==", 0, "40,000 links");
    cmp_ok(page->nlinks, "==", 20000, "each of them once");
    for (size_t i = 0; i < page->nlinks; i++) {
        char want[64];
        snprintf(want, sizeof want, "http://h.example/d/page-%zu.html", i);
        wrong += strcmp(page->link_text.data + page->links[i].text, want) != 0;
    }
    cmp_ok(wrong, "==", 0, "in document order");
    cos_page_free(page);
    cos_buf_release(&body);
}

static void *extract_often(void *arg)
{
    struct cos_links_ctx *own = cos_links_ctx_new();
    size_t *bad = arg;
    for (int i = 0; i < 2000; i++) {
        char body[128];
        struct cos_page *page;
        snprintf(body, sizeof body, "<a href=%d?&amp;><base href=/b%d/><title>%d", i, i, i);
        page = page_of(HERE, "text/html", body, strlen(body));
        snprintf(body, sizeof body, "http://h.example/b%d/%d?&", i, i);
        *bad += cos_links_extract(own, page) || page->nlinks != 1 ||
                strcmp(page->link_text.data, body) || atoi(page->title) != i;
        cos_page_free(page);
    }
    cos_links_ctx_free(own);
    return NULL;
}

static void check_threads(void)
{
    pthread_t threads[4];
    size_t bad[4] = {0};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, extract_often, &bad[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cmp_ok(bad[0] + bad[1] + bad[2] + bad[3], "==", 0, "four threads, a context each");
}

static int collect(const struct cos_scan_item *item, const struct cos_url *url, void *arg)
{
    struct cos_buf *out = arg;
    return cos_buf_addf(out, "%s.%s=%s\n", item->element, item->attribute, url->href.data);
}

static void check_each(void)
{
    static const char body[] = "<a href=1#f><a href=1#f><form action=2><base href=/b/><a href=m:x>"
                               "<link rel=preconnect href=//c>";
    struct cos_links_in in = {.data = body, .len = sizeof body - 1, .type = COS_LINKS_HTML,
                              .base = HERE};
    struct cos_buf out;
    cos_buf_init(&out, 4096);
    cmp_ok(cos_links_each(&in, collect, &out), "==", 0, "each");
    is(out.data,
       "a.href=http://h.example/b/1#f\na.href=http://h.example/b/1#f\n"
       "form.action=http://h.example/b/2\nlink.href=http://c/\n",
       "each: every finding, fragment kept, duplicates too");
    cos_buf_clear(&out);
    in.base = NULL;
    cmp_ok(cos_links_each(&in, collect, &out), "==", 0, "each without a base");
    is(out.data, "", "each: only absolute references then");
    in.base = "nonsense";
    cmp_ok(cos_links_each(&in, collect, &out), "==", COS_EURL, "each with a bad base");
    cos_buf_release(&out);
}

int main(void)
{
    plan(NO_PLAN);
    ctx = cos_links_ctx_new();
    check_c7();
    CHECK(kinds, "text/html");
    CHECK(once, "text/html");
    CHECK(bases, "text/html");
    CHECK(sheets, "text/css");
    CHECK(sniffed, NULL);
    CHECK(xhtml, "application/xhtml+xml");
    CHECK(xml, "application/xml");
    CHECK(others, "text/plain");
    CHECK(others, "application/json");
    check_texts();
    check_long_title();
    check_headers();
    check_canonical();
    check_charsets();
    check_spilled();
    check_errors();
    check_many();
    check_threads();
    check_each();
    cos_links_ctx_free(ctx);
    cos_links_ctx_free(NULL);
    done_testing();
}
