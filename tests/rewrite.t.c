/* rewrite.t - a reference is replaced where it stands, escaped for that place,
 * and nothing else changes: what the scanner then finds is what was meant. */
#include "config.h"

#include "tap.h"

#include "base/err.h"
#include "web/links.h"
#include "web/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* http://h/s… is saved; the name has what paths can have. */
static int choose(void *arg, const struct cos_url *url, struct cos_buf *out)
{
    (void)arg;
    if (!strncmp(url->href.data, "http://h/s", 10))
        return cos_buf_adds(out, "./s,@a=1.html") ? COS_ENOMEM : 2;
    return cos_buf_add(out, url->href.data, url->fragment) ? COS_ENOMEM : 1;
}

static struct cos_buf out;

static int rewrite(const char *data, size_t len, const char *mime, const char *charset)
{
    struct cos_rewrite in = {.data = data, .len = len, .mime = mime, .charset = charset,
                             .url = "http://h/dir/page.html"};
    return cos_rewrite(&in, choose, NULL, &out);
}

static void same(const char *text, const char *mime, const char *want, const char *what)
{
    int got = rewrite(text, strlen(text), mime, "utf-8");
    if (want) {
        cmp_ok(got, "==", 1, "%s: changed", what);
        is(out.data ? out.data : "", want, "%s", what);
    } else {
        ok(got == 0 && out.len == 0, "%s: stays as it is", what);
    }
}

#define HTML(a, b, what) same(a, "text/html", b, what)
#define CSS(a, b, what) same(a, "text/css", b, what)
#define S "./s,@a=1.html"

static void check_attributes(void)
{
    HTML("<a href=\"/s\">", "<a href=\"" S "\">", "double quotes");
    HTML("<a href='../s?x=1&amp;y'>", "<a href='" S "'>", "single quotes");
    HTML("<a href=/s>", "<a href=" S ">", "no quotes");
    HTML("<a href=/s/><b>", "<a href=" S "><b>", "no quotes, a slash at the end");
    HTML("<A HREF = '/s#here'>", "<A HREF = '" S "#here'>", "the fragment stays");
    HTML("<a href='/s#a\"&b'>", "<a href='" S "#a%22&amp;b'>", "and is escaped");
    HTML("<a href=\"x?a=1&b=2\">", "<a href=\"http://h/dir/x?a=1&amp;b=2\">", "what is not saved");
    HTML("<a href=x?a=1&b='>", "<a href=http://h/dir/x?a=1&amp;b=%27>",
         "what is not saved, no quotes");
    HTML("<a href='it%27s'>", "<a href='http://h/dir/it%27s'>", "a quote in a name");
    HTML("<img src=/s srcset='/s 1x,/n/a.png 2x, /s 3x'>",
         "<img src=" S " srcset='" S " 1x,http://h/n/a.png 2x, " S " 3x'>", "srcset");
    HTML("<img srcset='/n/a,\1 1x,/n/b, /s 2x'>",
         "<img srcset='http://h/n/a,# 1x,http://h/n/b, " S " 2x'>",
         "srcset: a comma that belongs to the URL");
    HTML("<meta http-equiv=refresh content='5;url=/s'>",
         "<meta http-equiv=refresh content='5;url=" S "'>", "meta refresh");
    HTML("<form action='/s'>", "<form action='" S "'>", "forms");
    HTML("<p style='background:url(/s)'>", "<p style='background:url(" S ")'>", "style attribute");
    HTML("<p style=\"background:url('/s?a=(1)')\">", "<p style=\"background:url('" S "')\">",
         "style attribute, quotes in quotes");
    HTML("<p style='@import \"/s\"; b: url(/s)'>", "<p style='@import \"/s\"; b: url(" S ")'>",
         "style attribute: no place for @import");
    HTML("<style>@import \"/s\"; a{b:url( /x(y )}</style>",
         "<style>@import \"" S "\"; a{b:url( /x(y )}</style>", "style element");
    HTML("<a href='/s'\n\tx=\"&lt;y&gt;\" ><!-- <a href='/s'> --><script>'<a href=\"/s\">'</script>",
         "<a href='" S "'\n\tx=\"&lt;y&gt;\" ><!-- <a href='/s'> --><script>'<a href=\"/s\">'</script>",
         "only references change");
}

static void check_guards(void)
{
    HTML("<script crossorigin src='/s' integrity=\"sha384-a=\" async></script>",
         "<script src='" S "' async></script>", "crossorigin and integrity go with a file");
    HTML("<link href=/s CrossOrigin='anonymous' rel=stylesheet><p integrity=x>",
         "<link href=" S " rel=stylesheet><p integrity=x>", "in any spelling, from that tag only");
    HTML("<img alt=\"a > crossorigin b\" src=/s srcset='/s 2x' crossorigin>",
         "<img alt=\"a > crossorigin b\" src=" S " srcset='" S " 2x'>", "two references in a tag");
    HTML("<script src=http://x.example/ crossorigin=a integrity=b></script>", NULL,
         "they stay with what is not saved");
    HTML("<a crossorigin href='/s'", NULL, "a tag that does not end is none");
    HTML("<link crossorigin\n=\n'a'\nhref=/s>", "<link\nhref=" S ">", "blanks around '='");
    HTML("<script src=/s integrity='x'async></script>", "<script src=" S " async></script>",
         "what follows at once stays apart");
    HTML("<img alt=\"a <img b\" srcset='/s 1x' integrity='x' src=/s>",
         "<img alt=\"a <img b\" srcset='" S " 1x' src=" S ">", "a tag inside a value is none");
    HTML("<img srcset='/n/<img 1x, /s integrity=' c='>'>",
         "<img srcset='http://h/n/%3Cimg 1x, " S " integrity=' c='>'>", "nor is one in a reference");
    HTML("<link href=/s a integrity='x' ='y'>", "<link href=" S " a integrity='x' ='y'>",
         "what would change another attribute stays");
    HTML("<link href=/s crossorigin/>", "<link href=" S " />", "a slash, too");
    HTML("<link href=/s data-integrity=x crossoriginx>", "<link href=" S
         " data-integrity=x crossoriginx>", "other names stay");
}

static void check_css(void)
{
    CSS("a{b:url(/s)}", "a{b:url(" S ")}", "url()");
    CSS("a{b:url( '/s' )}", "a{b:url( '" S "' )}", "url() with quotes");
    CSS("@import '/s' print;", "@import '" S "' print;", "@import");
    CSS("a{b:url(x\\(1\\).png)}", "a{b:url(http://h/dir/x\\(1\\).png)}", "brackets in a name");
    CSS("a{b:url(\"x'(1).png\")}", "a{b:url(\"http://h/dir/x'(1).png\")}", "quotes in a name");
    CSS("/* url(/s) */ a{b:url(#g)}", NULL, "comments, and what is in the page");
    CSS("a{b:url(data:image/png;base64,AAAA)}", NULL, "data");
}

static void check_bases(void)
{
    HTML("<a href='#x'><a href=''><a href='mailto:s'><a href='javascript:s()'>", NULL,
         "what does not leave the page");
    HTML("<base href='http://o/'><a href='s'><a href='#x'>",
         "<base href=''><a href='http://o/s'><a href='http://o/#x'>", "a base elsewhere");
    HTML("<base href=/><a href=s><a href=#x>", "<base href=\"\"><a href=" S "><a href=http://h/#x>",
         "a base without quotes");
    HTML("<a href='s'><base href='/'>", "<a href='" S "'><base href=''>", "a base behind a link");
    HTML("<base href='/dir/page.html'><a href='#x'>", "<base href=''><a href='#x'>",
         "a base that is the page");
    HTML("<base target=_top><a href='s'>", "<base target=_top><a href='http://h/dir/s'>",
         "a base without href");
}

static void check_charsets(void)
{
    static const char latin[] = "<p>caf\xe9<a href='/s'>";
    cmp_ok(rewrite(latin, sizeof latin - 1, "text/html", "iso-8859-1"), "==", 1, "latin1");
    is(out.data, "\xef\xbb\xbf<p>caf\xc3\xa9<a href='" S "'>", "becomes UTF-8 with a mark");
    cmp_ok(rewrite("<p>caf\xc3\xa9", 8, "text/html", "utf-8"), "==", 1, "UTF-8 by header only");
    is(out.data, "\xef\xbb\xbf<p>caf\xc3\xa9", "gets a mark");
    HTML("<meta charset=utf-8><p>caf\xc3\xa9", NULL, "UTF-8 that says so");
    HTML("\xef\xbb\xbf<p>caf\xc3\xa9", NULL, "UTF-8 that has its mark");
    HTML("<p>cafe", NULL, "plain ASCII");
    HTML("<meta charset=koi8-r><a href='/s'>", "<meta charset=koi8-r><a href='" S "'>",
         "plain ASCII is the same in most encodings");
    HTML("<meta charset=iso-2022-kr><a href='/s'>",
         "\xef\xbb\xbf<meta charset=iso-2022-kr><a href='" S "'>",
         "but not in all that a page can claim to be in");
    cmp_ok(rewrite("<a href='/s'>", 13, "image/png", NULL), "==", 0, "a picture has no links");
    cmp_ok(rewrite("<html><a href='/s'>", 19, NULL, NULL), "==", 1, "no type: the content decides");
    cmp_ok(rewrite("", 0, "text/html", NULL), "==", 0, "nothing");
}

/* Whatever the page: what is found afterwards means what was chosen. */
struct found {
    char v[64][300];
    size_t n;
};

static int collect(const struct cos_scan_item *item, const struct cos_url *url, void *arg)
{
    struct found *found = arg;
    (void)item;
    if (found->n < 64)
        snprintf(found->v[found->n++], sizeof found->v[0], "%.*s", (int)url->fragment,
                 url->href.data);
    return 0;
}

static int absolute(void *arg, const struct cos_url *url, struct cos_buf *ref)
{
    (void)arg;
    return cos_buf_add(ref, url->href.data, url->fragment) ? COS_ENOMEM : 1;
}

static void check_meaning(void)
{
    static const char *const refs[] = {"a", "/b?c=1&d=(2)", "x'y", "x\"y", "//o/p,", "?q=%20&amp;",
                                       "z#f'\"&()", "a\\b", "\xc3\xa9", " spaced "};
    static const char *const forms[] = {"<a href=\"%s\">", "<a href='%s'>", "<img src=%s>",
                                        "<p style=\"x:url('%s')\">", "<p style='x:url(%s)'>",
                                        "<style>@import \"%s\";</style>", "<img srcset='%s 2x'>"};
    int good = 1;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t r = 0; r < sizeof refs / sizeof *refs; r++) {
            char text[256];
            struct found before = {.n = 0}, after = {.n = 0};
            struct cos_links_in in = {.data = text, .type = COS_LINKS_HTML,
                                      .base = "http://h/dir/page.html"};
            struct cos_rewrite job = {.data = text, .mime = "text/html", .charset = "utf-8",
                                      .url = "http://h/dir/page.html"};
            in.len = job.len = (size_t)sprintf(text, forms[f], refs[r]);
            cos_links_each(&in, collect, &before);
            if (cos_rewrite(&job, absolute, NULL, &out) < 0)
                good = 0;
            if (out.len) {
                in.data = out.data;
                in.len = out.len;
            }
            in.base = "http://elsewhere/";
            cos_links_each(&in, collect, &after);
            if (before.n != after.n || memcmp(before.v, after.v, sizeof before.v) != 0) {
                diag("%s: %s, then %s in %s", text, before.v[0], after.v[0],
                     out.data ? out.data : "");
                good = 0;
            }
        }
    ok(good, "in every place every reference means the same afterwards");
}

int main(void)
{
    plan(NO_PLAN);
    cos_buf_init(&out, 1 << 20);
    check_attributes();
    check_guards();
    check_css();
    check_bases();
    check_charsets();
    check_meaning();
    cos_buf_release(&out);
    done_testing();
}
