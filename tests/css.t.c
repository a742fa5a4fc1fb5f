/* css.t - URLs in style sheets: what the tokens of CSS make of them. */
#include "tap.h"

#include "scan_show.h"

static const struct {
    const char *css;
    const char *want;
} rows[] = {
    {"", ""},
    {"a{color:red}", ""},
    {"a{b:url(x)}", "*css.url()=x"},
    {"a{b:url( x )}", "*css.url()=x"},
    {"a{b:url(\n'x'\t)}", "*css.url()=x"},
    {"a{b:url(\"x\")}", "*css.url()=x"},
    {"a{b:URL(x)}", "*css.url()=x"},
    {"a{b:uRl(\"x y\")}", "*css.url()=x y"},
    {"a{b:url(x) url(y),url(z)}", "*css.url()=x *css.url()=y *css.url()=z"},
    {"a{b:url(x;y)}", "*css.url()=x;y"},
    {"a{b:url(data:image/png;base64,AA==)}", "*css.url()=data:image/png;base64,AA=="},
    {"a{b:url(x{y}z)}", "*css.url()=x{y}z"},
    {"a{b:url(/*x*/)}", "*css.url()=/*x*/"},
    /* escapes */
    {"a{b:url(\\66oo)}", "*css.url()=foo"},
    {"a{b:url(\\66 oo)}", "*css.url()=foo"},
    {"a{b:url(\\000066oo)}", "*css.url()=foo"},
    {"a{b:url(\\0000666)}", "*css.url()=f6"},
    {"a{b:url(a\\)b\\(c\\'d\\ e)}", "*css.url()=a)b(c'd e"},
    {"a{b:url('a\\'b\\\nc')}", "*css.url()=a'bc"},
    {"a{b:url(\\0 \\d800 \\110000 )}", "*css.url()=\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"a{b:u\\72l(x)}", "*css.url()=x"},
    {"a{b:\\75 \\52 l(x)}", "*css.url()=x"},
    {"@\\69mport 'x';", "*css.@import=x"},
    /* no URLs */
    {"/* url(x) */", ""},
    {"/* url(x)", ""},
    {"/*/ url(x) */", ""},
    {"/**/a{b:url(x)}", "*css.url()=x"},
    {"/***/a{b:url(x)}", "*css.url()=x"},
    {"a{b:'url(x)'}", ""},
    {"a{b:\"\\\" url(x)\"}", ""},
    {"a{b:myurl(x)}", ""},
    {"a{b:url-prefix(x)}", ""},
    {"a{b:-url(x)}", ""},
    {"a{b:\xc3\xa9url(x)}", ""},
    {"a{b:1url(x)}", ""},
    {"a{b:#url(x)}", ""},
    {"@url(x)", ""},
    {"a{b:url (x)}", ""},
    {"a{b:url()}", ""},
    {"a{b:url('')}", ""},
    {"a{b:url(#x)}", ""},
    {"a{b:url('#x')}", ""},
    {"a{b:url(x y)}", ""},
    {"a{b:url(x'y)} c{d:url(z)}", "*css.url()=z"},
    {"a{b:url(x(y)} c{d:url(z)}", "*css.url()=z"},
    {"a{b:url(x\\\ny)} c{d:url(z)}", "*css.url()=z"},
    {"a{b:url(x y\\) url(n)} c{d:url(z)}", "*css.url()=z"},
    {"a{b:url('x\ny')} c{d:url(z)}", ""}, /* the second quote opens a string */
    {"a{b:url('x\n)} c{d:url(z)}", "*css.url()=z"},
    {"<!--url(x)-->url(y)", "*css.url()=x *css.url()=y"},
    {"a{b:'x\n} c{d:url(z)}", "*css.url()=z"},
    {"@namespace url(x); a{b:url(y)}", "*css.url()=y"},
    {"@namespace p url(x);", ""},
    {"@-moz-document url(x){a{b:url(y)}}", "*css.url()=y"},
    {"@charset \"utf-8\";@font-face{src:url(x)}", "*css.url()=x"},
    /* ends in the middle */
    {"a{b:url(x", "*css.url()=x"},
    {"a{b:url('x", "*css.url()=x"},
    {"a{b:url(", ""},
    {"a{b:url(x\\", "*css.url()=x\xef\xbf\xbd"},
    {"a{b:url('x\\", "*css.url()=x"},
    {"a{b:url(x ", "*css.url()=x"},
    {"a{b:url", ""},
    {"@import", ""},
    {"\xef\xbb\xbfurl(x)", "*css.url()=x"}, /* a byte order mark is no letter */
    {"\xef\xbb\xbf\xef\xbb\xbfurl(x)", ""},
    {"\\", ""},
    {"#", ""},
    {"@", ""},
    /* @import */
    {"@import 'x';", "*css.@import=x"},
    {"@import \"x\" screen;", "*css.@import=x"},
    {"@import url(x);", "*css.@import=x"},
    {"@import url('x') layer(a) supports(b:c);", "*css.@import=x"},
    {"@IMPORT'x';@import/**/url(y)print;", "*css.@import=x *css.@import=y"},
    {"@import x 'y';", "*css.@import=y"},
    {"@import; a{b:'c'}", ""},
    {"@imports 'x';", ""},
    {"@import 'x' 'y';", "*css.@import=x"},
    {"<!-- @import 'x'; -->", "*css.@import=x"},
    /* image-set */
    {"a{b:image-set('x' 1x, \"y\" 2x)}", "*css.url()=x *css.url()=y"},
    {"a{b:-webkit-image-set(url(x) 1x, 'y' 2x)}", "*css.url()=x *css.url()=y"},
    {"a{b:image-set('x' type('image/png'))} c{d:'e'}", "*css.url()=x"},
    {"a{b:image-set('x'} c{d:'e'}", "*css.url()=x"},
    {"a{b:linear-gradient(red,url(x)),'y'}", "*css.url()=x"},
};

static void check_rows(void)
{
    static struct show show;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        show = (struct show){.data = rows[i].css, .len = strlen(rows[i].css)};
        cos_scan_css(show.data, show.len, show_item, &show);
        is(show.out, rows[i].want, "css: %s", shown(rows[i].css));
        if (show.astray)
            fail("an offset in %s is wrong", shown(rows[i].css));
    }
}

/* Each prefix in a block of its own, so that a byte too far is seen. */
static void check_truncated(void)
{
    static const char css[] = "@import url('a\\62') x; /* c */ #d{e:url(f\\)g) image-set(\"h\" 1x)}"
                              "\\75rl(i) url( 'j' ) url(k l) @\\69mport\"m\\\nn\"";
    static struct show show;
    int bad = 0;
    for (size_t len = 0; len < sizeof css; len++) {
        char *copy = malloc(len ? len : 1);
        memcpy(copy, css, len);
        show = (struct show){.data = copy, .len = len};
        cos_scan_css(copy, len, show_item, &show);
        bad += show.astray;
        free(copy);
    }
    cmp_ok(bad, "==", 0, "truncated at every byte");
}

int main(void)
{
    plan(NO_PLAN);
    check_rows();
    check_truncated();
    done_testing();
}
