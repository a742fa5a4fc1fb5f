/* tidy.t - HTML Tidy in a worker: repair, findings, the same links as the
 * scanner; hostile pages are reported, and the pool has its workers back. */
#include "tap.h"

#include "base/loop.h"
#include "coscrawl-cps.h"
#include "web/tidy.h"

#include <libdill.h>
#include <stdlib.h>
#include <string.h>

static struct cos_pool *pool;

static int run(const char *html, unsigned what, struct cos_tidied *out)
{
    cos_tidied_release(out);
    return cos_tidy(pool, html, strlen(html), what, out, -1);
}

static const char broken[] =
    "<title>T</title><p>one<b>two<a href=x?a&amp;b>l</a>\n<li>item\n"
    "<img src=\"i.png\" src=\"j.png\" alt=\"\"><my-tag>z</my-tag><unknown>q";

static void repairs(void)
{
    struct cos_tidied t = {0};
    cmp_ok(run(broken, COS_TIDY_REPAIR, &t), "==", 0, "repair");
    like(t.html.data, "^<!DOCTYPE html>", "a whole document comes back");
    like(t.html.data, "</b>.*</body>", "what was open is closed");
    like(t.html.data, "href=\"x\\?a&amp;b\"", "attributes stay as they were");
    like(t.html.data, "src=\"i.png\"", "of two attributes the first stays");
    unlike(t.html.data, "j\\.png", "and the second goes");
    like(t.html.data, "<my-tag>", "custom elements stay");
    unlike(t.html.data, "generator", "tidy leaves no mark");
    cmp_ok(t.nmessages, "==", 0, "no findings unless asked for");
    cmp_ok(t.warnings, ">", 0, "but they are counted");
    cmp_ok(run("", COS_TIDY_REPAIR, &t), "==", 0, "nothing is a page, too");
    cmp_ok(run("<p>\xc3\xa4\xff\x01&nbsp;&auml;", COS_TIDY_REPAIR, &t), "==", 0,
           "bytes that are no UTF-8");
    like(t.html.data, "\xc3\xa4.*&nbsp;&auml;", "text and entities stay as written");
    cos_tidied_release(&t);
}

static const struct cos_tidy_message *find(const struct cos_tidied *t, const char *text)
{
    for (size_t i = 0; i < t->nmessages; i++)
        if (strstr(t->messages[i].text, text))
            return &t->messages[i];
    return NULL;
}

static void lints(void)
{
    struct cos_tidied t = {0};
    const struct cos_tidy_message *m;
    struct cos_buf many;
    cmp_ok(run(broken, COS_TIDY_LINT, &t), "==", 0, "lint");
    m = find(&t, "<unknown> is not recognized");
    ok(m && m->level == COS_TIDY_ERROR && m->line == 3 && m->column == 55,
       "an error with its place (%u:%u)", m ? m->line : 0, m ? m->column : 0);
    m = find(&t, "inserting implicit");
    ok(m && m->level == COS_TIDY_WARNING, "a warning");
    cmp_ok(t.errors, "==", 1, "errors are counted");
    cmp_ok(t.errors + t.warnings, "==", t.nmessages, "and warnings");
    cmp_ok(t.html.len, "==", 0, "no page unless asked for");
    cos_buf_init(&many, 1 << 20);
    for (int i = 0; i < 2000; i++)
        cos_buf_adds(&many, "<nope></nope>");
    run(many.data, COS_TIDY_LINT, &t);
    cmp_ok(t.nmessages, "==", COS_TIDY_MESSAGES, "findings have a ceiling");
    cmp_ok(t.errors + t.warnings, ">", COS_TIDY_MESSAGES, "the count goes on");
    cos_buf_release(&many);
    cos_tidied_release(&t);
}

/* --- links --- */

static int add_link(const struct cos_scan_item *item, const struct cos_url *url, void *arg)
{
    return cos_buf_addf(arg, "%s.%s %s\n", item->element, item->attribute, url->href.data);
}

static char *links(int (*each)(const struct cos_links_in *, cos_links_fn, void *), const char *html,
                   int *err)
{
    struct cos_links_in in = {
        .data = html, .len = strlen(html), .type = COS_LINKS_HTML, .base = "http://h/d/"};
    struct cos_buf out;
    cos_buf_init(&out, 1 << 20);
    cos_buf_adds(&out, "");
    *err = each(&in, add_link, &out);
    return cos_buf_take(&out, NULL);
}

static const struct {
    const char *html, *what;
    int same;
    const char *tidy; /* where they differ: what tidy's tree gives, and why that is so */
} pages[] = {
    {"<!DOCTYPE html><html><head><title>t</title><link rel=stylesheet href=s.css><base href=/b/>"
     "<style>p{background:url(p.png)} @import 'i.css';</style><script src=x.js></script></head>"
     "<body style='background:url(\"bg.png\")'><a href=\"a?x&amp;y#f\">a</a><img src=i.png "
     "srcset='1x.png 1x, 2x.png 2x'><form action=go></form><iframe src=f></iframe>"
     "<video poster=v.png><source src=v.mp4><track src=t.vtt></video><object data=o></object>"
     "<embed src=e><input type=image src=in.png><map><area href=ar></map></body></html>",
     "a page with everything", 1, NULL},
    {"<p><a href=1>a</a><p><a href=2>b</a><ul><li><a href=3>c</a><li><a href=4>d",
     "end tags left out", 1, NULL},
    {"<a href=1>x<table><tr><td><a href=2>y</table><a href=3>",
     "tidy lets no anchor stand inside another, not even in a cell; for the scanner each tag "
     "counts",
     0, "a.href http://h/d/1\na.href http://h/d/3\n"},
    {"<a href=1><!-- <a href=2> --><script>'<a href=3>'</script><textarea><a href=4></textarea>"
     "<a href=5>",
     "no links in comments, scripts and text areas", 1, NULL},
    {"<svg><a xlink:href=s1><image href=s2></a></svg><a href=3>", "links in an image", 1, NULL},
    {"<my-el><a href=1></my-el><x-y href=no><a HREF=2>", "custom elements", 1, NULL},
    {"<a href='1' href='2'>", "a second href is none", 1, NULL},
    {"<meta http-equiv=refresh content='3; url=r'><a href=\"x\ny\">",
     "refresh, a line break in a URL", 1, NULL},
    {"<unknown><a href=1></unknown><a href=2>",
     "an unknown element: tidy drops the tag, not its links", 1, NULL},
    {"<select><option><a href=1>x</a></select><a href=2>",
     "tidy throws elements out of a select; the scanner takes each tag as it comes", 0,
     "a.href http://h/d/2\n"},
};

static void same_links(void)
{
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        int err1, err2;
        char *scan = links(cos_links_each, pages[i].html, &err1);
        char *tidy = links(cos_tidy_links, pages[i].html, &err2);
        ok(!err1 && !err2, "links of: %s", pages[i].what);
        is(tidy ? tidy : "", pages[i].same ? (scan ? scan : "") : pages[i].tidy, "%s: %s",
           pages[i].same ? "same links" : "a known difference", pages[i].what);
        free(scan);
        free(tidy);
    }
}

static size_t last_offset;
static int ascending, found;

static int check_place(const struct cos_scan_item *item, const struct cos_url *url, void *arg)
{
    const char *html = arg;
    (void)url;
    ascending &= item->offset >= last_offset;
    last_offset = item->offset;
    found += html[item->offset] == '<';
    return 0;
}

static void places(void)
{
    const char *html =
        "<!DOCTYPE html>\n<title>t</title>\n<p>\xc3\xa4\xc3\xb6<a href=1>x</a>\n  <a href=2>";
    struct cos_links_in in = {
        .data = html, .len = strlen(html), .type = COS_LINKS_HTML, .base = "http://h/"};
    ascending = 1;
    cos_tidy_links(&in, check_place, (void *)(uintptr_t)html);
    cmp_ok(found, "==", 2, "a link from tidy's tree knows where its tag begins");
    ok(ascending, "in ascending order");
}

/* --- hostile --- */

static char *repeat(const char *a, int n, const char *b, int m)
{
    struct cos_buf buf;
    cos_buf_init(&buf, 256 << 20);
    for (int i = 0; i < n; i++)
        cos_buf_adds(&buf, a);
    for (int i = 0; i < m; i++)
        cos_buf_adds(&buf, b);
    return cos_buf_take(&buf, NULL);
}

static void refuse(char *html, const char *why, const char *what)
{
    struct cos_tidied t = {0};
    cmp_ok(run(html, COS_TIDY_REPAIR, &t), "==", COS_ETOOBIG, "%s: refused", what);
    like(t.why ? t.why : "", why, "%s: said in words", what);
    cos_tidied_release(&t);
    free(html);
}

static void accept(char *html, const char *what)
{
    struct cos_tidied t = {0};
    cmp_ok(run(html, COS_TIDY_REPAIR | COS_TIDY_OUTLINE, &t), "==", 0, "%s: taken", what);
    cos_tidied_release(&t);
    free(html);
}

static void guards(void)
{
    refuse(repeat("<div>", 501, "", 0), "500", "501 open elements");
    accept(repeat("<div>", 480, "</div>", 480), "480 open elements");
    accept(repeat("<ul><li>x", 1, "<li>x", 3000), "a list of 3,000 without end tags");
    accept(repeat("<p>x", 3000, "", 0), "3,000 paragraphs without end tags");
    refuse(repeat("<i>", 1000000, "", 0), "500", "10^6 nested tags");
    refuse(repeat("<a x", 1, " y=1", 1001), "1000", "1,001 attributes");
    refuse(repeat("<a ", 1, "y ", 1000000), "1000", "10^6 attributes");
    refuse(repeat("<a href=\"", 1, "0123456789abcdef", 1100000), "larger", "an attribute of 17 MB");
    accept(repeat("<p title=\"", 1, "<b>", 2000), "tags in an attribute that never ends");
    accept(repeat("<!-- ", 1, "<b>", 2000), "a comment that never ends");
    accept(repeat("<script>", 1, "<b>", 2000), "a script that never ends");
}

/* Tidy repeats open font elements in every block: 400 times 20,000. */
static void runs_away(void)
{
    struct cos_pool_setup setup = {.run = cos__tidy_work, .max = 1, .job_ms = 800};
    struct cos_pool *old = pool;
    struct cos_tidied t = {0};
    struct cos_pool_stats stats;
    char *html = repeat("<font color=red>", 400, "<p>x", 20000);
    int err;
    cos_pool_open(&pool, &setup);
    err = run(html, COS_TIDY_REPAIR, &t);
    ok(err == COS_EHUNG || err == COS_ECRASHED || err == COS_ENOMEM,
       "a page that runs away is stopped (%s)", cos_errname(err));
    ok(t.why != NULL, "and reported: %s", t.why ? t.why : "");
    cmp_ok(run("<p>fine", COS_TIDY_REPAIR, &t), "==", 0, "the next page gets a worker");
    cos_pool_stats(pool, &stats);
    cmp_ok(stats.workers, "==", 1, "the pool has its worker back");
    free(html);
    cos_tidied_release(&t);
    cos_pool_close(pool);
    pool = old;
}

/* --- the callback face --- */

static void tidied(int err, struct cos_tidied *t, void *arg)
{
    *(int *)arg += !err && t->html.len && strstr(t->html.data, "<p>x</p>") && !t->nmessages;
}

static void refused(int err, struct cos_tidied *t, void *arg)
{
    *(int *)arg += err == COS_ETOOBIG && t->why;
}

static void callbacks(void)
{
    struct cps_rt *rt;
    char *deep = repeat("<div>", 501, "", 0);
    int good = 0;
    cps_open(&rt);
    cps_tidy(rt, pool, "<p>x", 4, COS_TIDY_REPAIR, -1, tidied, &good);
    cps_tidy(rt, pool, deep, strlen(deep), COS_TIDY_REPAIR, -1, refused, &good);
    cmp_ok(good, "==", 0, "cps: nothing inside the call");
    cps_run(rt);
    cmp_ok(good, "==", 2, "cps: the same outcomes");
    cps_close(rt);
    free(deep);
}

/* --- as the parser of cos_read_links --- */

static struct cos_page *page_of(const char *body, const char *charset)
{
    struct cos_page *page = cos_page_new("http://h/d/");
    page->charset = charset ? strdup(charset) : NULL;
    cos_buf_init(&page->body, 1 << 20);
    cos_buf_adds(&page->body, body);
    return page;
}

static void links_read(int err, void *arg)
{
    *(int *)arg = err;
}

/* The links of a body on one face, a line each; the caller's. */
static char *read_links(const char *body, const char *charset, int callbacks, int *err)
{
    struct cos_page *page = page_of(body, charset);
    struct cos_buf out = {.max = 1 << 16};
    struct cps_rt *rt;
    cos_buf_adds(&out, "");
    if (callbacks) {
        cps_open(&rt);
        cps_read_links(rt, page, -1, links_read, err);
        cps_run(rt);
        cps_close(rt);
    } else {
        *err = cos_read_links(page, -1);
    }
    for (size_t i = 0; i < page->nlinks; i++)
        cos_buf_addf(&out, "%s\n", page->link_text.data + page->links[i].text);
    cos_buf_addf(&out, "title %s, body %d", page->title ? page->title : "none",
                 page->body.data && !strcmp(page->body.data, body));
    cos_page_free(page);
    return cos_buf_take(&out, NULL);
}

static void reads(const char *body, const char *charset, const char *expected, const char *what)
{
    for (int callbacks = 0; callbacks < 2; callbacks++) {
        int err;
        char *got = read_links(body, charset, callbacks, &err);
        is(got, expected, "%s: %s", callbacks ? "cps_read_links" : "cos_read_links", what);
        cmp_ok(err, "==", 0, "and no error");
        free(got);
    }
}

static void parser(void)
{
    char *deep = repeat("<div>", 501, "<a href=1>", 1), *got;
    struct cos_page *page;
    struct cos_pool_stats before, after;
    int err;
    cos_pool_stats(pool, &before);
    cos_parser_setup(pool);
    reads("<title>t</title><select><option><a href=1>x</a></select><a href=2>y", NULL,
          "http://h/d/2\ntitle t, body 1", "what tidy's tree has");
    reads("<!DOCTYPE html><title>t</title><base href=/b/><a href='?\xe4'>", "iso-8859-1",
          "http://h/b/?%E4\ntitle t, body 1", "in the charset of the page");
    cos_pool_stats(pool, &after);
    cmp_ok(after.jobs - before.jobs, "==", 4, "each by a process of the pool");
    reads("@import 'i.css';", NULL, "title none, body 1", "what is no HTML does not go there");
    cos_pool_stats(pool, &after);
    cmp_ok(after.jobs - before.jobs, "==", 4, "to no process");
    got = read_links(deep, NULL, 0, &err);
    cmp_ok(err, "==", COS_ETOOBIG, "a page that tidy must not have is an error");
    like(got, "^title none, body 1$", "and keeps its body");
    free(got);
    free(deep);
    deep = repeat("<p>x", 30000, "", 0);
    page = page_of(deep, NULL);
    cmp_ok(cos_read_links(page, dill_now() + 1), "==", COS_ETIMEDOUT, "it can be given up");
    cos_page_free(page);
    free(deep);
    cos_parser_setup(NULL);
    reads("<!DOCTYPE html><select><option><a href=1>x</a></select>", NULL, "http://h/d/1\ntitle none, body 1",
          "the scanner again");
}

int main(void)
{
    plan(NO_PLAN);
    if (cos_pool_prepare() || cos_tidy_open(&pool, 2))
        BAIL_OUT("cos_tidy_open");
    repairs();
    lints();
    same_links();
    places();
    guards();
    runs_away();
    callbacks();
    parser();
    cos_pool_close(pool);
    cmp_ok(cos__loop_release(), "==", 0, "nothing is left over");
    done_testing();
}
