/* sitemap.t - every form of sitemap, its ceilings, and what broken ones give. */
#include "tap.h"

#include "base/buf.h"
#include "base/err.h"
#include "web/sitemap.h"

#include <stdint.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

static struct cos_buf seen;
static struct cos_sitemap_result res;
static size_t stop_after;

static int collect(void *arg, const struct cos_sitemap_item *item)
{
    (void)arg;
    cos_buf_addf(&seen, "%.*s|%s\n", (int)item->loc_len, item->loc, item->lastmod);
    return stop_after && --stop_after == 0 ? COS_ESTOP : 0;
}

static int count_only(void *arg, const struct cos_sitemap_item *item)
{
    (void)item;
    ++*(size_t *)arg;
    return 0;
}

static int parse_n(const char *data, size_t len, int level, const struct cos_sitemap_limits *limits)
{
    cos_buf_clear(&seen);
    cos_buf_add(&seen, "", 0);
    return cos_sitemap_parse(data, len, level, limits, collect, NULL, &res);
}

static int parse(const char *text)
{
    return parse_n(text, strlen(text), 0, NULL);
}

static size_t gzip(char *out, size_t room, const char *data, size_t len)
{
    z_stream z = {0};
    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        BAIL_OUT("deflateInit2");
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        BAIL_OUT("deflate");
    deflateEnd(&z);
    return room - z.avail_out;
}

static const char urlset[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- <url><loc>http://no/</loc></url> -->\n"
    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
    "<url><loc> http://h/a?x=1&amp;y=2 </loc><lastmod>2026-01-01</lastmod></url>\n"
    "<url><lastmod>2026-02-02</lastmod><loc><![CDATA[http://h/b&c]]></loc>"
    "<image:image><image:loc>http://h/pic.png</image:loc></image:image></url>\n"
    "<url><priority>1</priority></url>\n"
    "<url><loc>http://h/&#x65;&#101;</loc></url></urlset>\n";

static void forms(void)
{
    cmp_ok(parse(urlset), "==", 0, "urlset parses");
    is(seen.data, "http://h/a?x=1&y=2|2026-01-01\nhttp://h/b&c|2026-02-02\nhttp://h/ee|\n",
       "urlset: entities, CDATA, lastmod on either side; comments and image:loc are not pages");
    cmp_ok(res.kind, "==", COS_SITEMAP_URLSET, "kind is urlset");
    cmp_ok(res.bad, "==", 1, "an entry without loc is counted as bad");

    cmp_ok(parse("<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>http://h/1.xml</s:loc></s:sitemap>"
                 "</s:sitemapindex>"),
           "==", 0, "index with a prefix parses");
    is(seen.data, "http://h/1.xml|\n", "index items");
    cmp_ok(res.kind, "==", COS_SITEMAP_INDEX, "kind is index");

    cmp_ok(parse("\xef\xbb\xbf\nhttp://h/1\r\n\r\nHTTPS://h/2  \nnot a url\nhttp://h/3"), "==", 0,
           "text parses, byte order mark and CRLF too");
    is(seen.data, "http://h/1|\nHTTPS://h/2|\nhttp://h/3|\n", "text lines");
    cmp_ok(res.bad, "==", 1, "a line that is no URL is counted");

    cmp_ok(
        parse("<rss><channel><link>http://h/</link><item><title>t</title><link>http://h/p1</link>"
              "<pubDate>Mon</pubDate></item><item><atom:link rel='self' href='http://h/x'/>"
              "<link>http://h/p2</link></item></channel></rss>"),
        "==", 0, "RSS parses");
    is(seen.data, "http://h/p1|Mon\nhttp://h/p2|\n",
       "RSS items; the channel's own link is not one");

    cmp_ok(
        parse(
            "<feed><link href='http://h/feed' rel='self'/><entry>"
            "<link rel='edit' href='http://h/e'/><link rel='alternate' href='http://h/1?a&amp;b'/>"
            "<updated>u</updated></entry><entry><link href='http://h/2'></link></entry></feed>"),
        "==", 0, "Atom parses");
    is(seen.data, "http://h/1?a&b|u\nhttp://h/2|\n", "Atom entries: alternate or no rel");
    cmp_ok(parse("<!DOCTYPE urlset [<!ENTITY x \"<>\">]><urlset/>"), "==", 0,
           "an empty urlset is fine");
    cmp_ok(res.urls, "==", 0, "and holds nothing");
}

static void compressed(void)
{
    static char gz[4096];
    size_t n = gzip(gz, sizeof gz, urlset, sizeof urlset - 1), m;
    cmp_ok(parse_n(gz, n, 0, NULL), "==", 0, "gzip parses");
    cmp_ok(res.urls, "==", 3, "gzip: all items");
    cmp_ok(res.bytes, "==", sizeof urlset - 1, "gzip: size after decompression");
    cmp_ok(parse_n(gz, n - 20, 0, NULL), "==", COS_EENCODING, "truncated gzip is an error");
    cmp_ok(res.urls, ">=", 1, "truncated gzip: what could be read is reported");
    m = gzip(gz, sizeof gz, "http://h/1\n", 11);
    m += gzip(gz + m, sizeof gz - m, "http://h/2\n", 11);
    cmp_ok(parse_n(gz, m, 0, NULL), "==", 0, "two gzip members");
    cmp_ok(res.urls, "==", 2, "both are read");
    cmp_ok(parse_n("\x1f\x8bgarbage", 9, 0, NULL), "==", COS_EENCODING, "garbage after the magic");
}

static void bomb(void)
{
    size_t len = 64 * 1024 * 1024, n;
    char *zeros = calloc(1, len), *gz = malloc(1 << 20);
    struct cos_sitemap_limits small = {.bytes = 1000000};
    memset(zeros, ' ', len);
    n = gzip(gz, 1 << 20, zeros, len);
    cmp_ok(parse_n(gz, n, 0, NULL), "==", COS_ETOOBIG, "a gzip bomb stops at the ceiling");
    cmp_ok(res.bytes, "<=", 50 * 1024 * 1024, "and no byte beyond it was kept");
    cmp_ok(parse_n(zeros, len, 0, NULL), "==", COS_ETOOBIG, "a plain file past the ceiling too");
    n = gzip(gz, 1 << 20, zeros, 1000000);
    cmp_ok(parse_n(gz, n, 0, &small), "==", COS_EPARSE, "exactly the ceiling is not too big");
    free(zeros);
    free(gz);
}

static void ceilings(void)
{
    struct cos_sitemap_limits two = {.urls = 2};
    struct cos_buf many;
    size_t count = 0;
    const char *index = "<sitemapindex><sitemap><loc>http://h/</loc></sitemap></sitemapindex>";
    cmp_ok(parse_n("http://h/1\nhttp://h/2\n", 22, 0, &two), "==", 0, "as many URLs as allowed");
    cmp_ok(parse_n("http://h/1\nhttp://h/2\nhttp://h/3\n", 33, 0, &two), "==", COS_ETOOBIG,
           "one URL too many");
    cmp_ok(res.urls, "==", 2, "those before it were reported");
    cos_buf_init(&many, 10 << 20);
    for (int i = 0; i <= 50000; i++)
        cos_buf_addf(&many, "http://h/%d\n", i);
    cmp_ok(cos_sitemap_parse(many.data, many.len, 0, NULL, count_only, &count, &res),
           "==", COS_ETOOBIG, "50,001 URLs are too many");
    cmp_ok(count, "==", 50000, "50,000 are reported");
    cmp_ok(parse_n(index, strlen(index), 4, NULL), "==", 0, "an index below four others");
    cmp_ok(parse_n(index, strlen(index), 5, NULL), "==", COS_ETOOBIG, "below five: too deep");
    cmp_ok(res.urls, "==", 0, "and nothing of it is reported");
    cos_buf_clear(&many);
    cos_buf_adds(&many, "<urlset>");
    for (int i = 0; i < 100; i++)
        cos_buf_adds(&many, "<x>");
    cmp_ok(parse(many.data), "==", COS_ETOOBIG, "nesting has a ceiling");
    cos_buf_clear(&many);
    cos_buf_adds(&many, "<urlset><url><loc>http://h/");
    for (int i = 0; i < 70000; i++)
        cos_buf_addc(&many, 'x');
    cos_buf_adds(&many, "</loc></url><url><loc>http://h/ok</loc></url></urlset>");
    cmp_ok(parse(many.data), "==", 0, "an absurd loc does not end the file");
    is(seen.data, "http://h/ok|\n", "the next entry is read");
    cmp_ok(res.bad, "==", 1, "and the absurd one counted");
    cos_buf_release(&many);
}

static void broken(void)
{
    cmp_ok(parse("<html><body>404</body></html>"), "==", COS_EPARSE, "a page is no sitemap");
    cmp_ok(parse(""), "==", COS_EPARSE, "nothing is no sitemap");
    cmp_ok(parse("just words\nand more"), "==", COS_EPARSE, "text without one URL is no sitemap");
    cmp_ok(parse_n("\xff\xfe<\0u\0", 6, 0, NULL), "==", COS_ECHARSET, "UTF-16 is named as such");
    cmp_ok(parse("<urlset><url><loc>http://h/1</loc></url><url><loc>http://h/2</loc><last"),
           "==", COS_EPARSE, "cut off in a tag");
    is(seen.data, "http://h/1|\nhttp://h/2|\n", "complete locations are reported all the same");
    cmp_ok(parse("<urlset><url><loc>http://h/1</loc></url><url><loc>http://h/2"), "==", COS_EPARSE,
           "cut off in a loc");
    is(seen.data, "http://h/1|\n", "a cut location is not reported");
    cmp_ok(parse("<urlset><!-- x"), "==", COS_EPARSE, "unclosed comment");
    cmp_ok(res.err_at, "==", 8, "the error says where");
    for (size_t i = 0; i < sizeof urlset; i++)
        if (parse_n(urlset, i, 0, NULL) > 0)
            fail("truncated at %zu", i);
    stop_after = 2;
    cmp_ok(parse(urlset), "==", COS_ESTOP, "the callback can stop the parse");
    cmp_ok(res.urls, "==", 2, "at once");
}

static double seconds(const char *unit, size_t n)
{
    struct timespec a, b;
    struct cos_buf big;
    size_t count = 0;
    cos_buf_init(&big, 64 << 20);
    cos_buf_adds(&big, "<urlset><url>");
    while (big.len < n)
        cos_buf_adds(&big, unit);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    cos_sitemap_parse(big.data, big.len, 0, NULL, count_only, &count, &res);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    cos_buf_release(&big);
    return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

static void linear(void)
{
    static const char *const units[] = {"<!--",    "<a ",  "<![CDATA[", "&amp",        "<loc>",
                                        "<a b='>", "<!a[", "</loc>",    "<a href=' >", "&#x41"};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double t = seconds(units[i], 8 << 20);
        cmp_ok(t < 2, "==", 1, "8 MB of %s take %.3f s", units[i], t);
    }
}

int main(void)
{
    plan(NO_PLAN);
    cos_buf_init(&seen, 1 << 20);
    forms();
    compressed();
    bomb();
    ceilings();
    broken();
    linear();
    cos_buf_release(&seen);
    done_testing();
}
