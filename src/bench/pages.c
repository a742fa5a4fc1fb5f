/* pages.c - six sorts of pages that stress a scanner differently: much text, many
 * attributes, code with references, dense links, scripts and data, old markup.
 * What they have in common with real pages is the mix: how long tags, values and
 * text runs are, how often a value needs decoding, how often links repeat. */
#include "bench/pages.h"

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *const bench_page_names[PAGE_COUNT] = {
    [PAGE_ARTICLE] = "article", [PAGE_SHOP] = "shop", [PAGE_DOCS] = "docs",
    [PAGE_WIKI] = "wiki",       [PAGE_APP] = "app",   [PAGE_OLD] = "old",
};

struct maker {
    struct cos_buf *out;
    uint64_t state;
    int err;
};

static unsigned pick(struct maker *m, unsigned below)
{
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(m->state >> 33) % below;
}

static void put(struct maker *m, const char *text)
{
    if (!m->err)
        m->err = cos_buf_adds(m->out, text);
}

#define putf(m, ...) ((m)->err = (m)->err ? (m)->err : cos_buf_addf((m)->out, __VA_ARGS__))

static void words(struct maker *m, unsigned count)
{
    static const char *const list[] = {
        "the",    "of",      "harbour", "was",   "river",     "market", "and",   "people",
        "window", "through", "a",       "in",    "yesterday", "light",  "stone", "number",
        "paper",  "when",    "before",  "under", "company",   "garden", "to",    "their",
        "caf\xc3\xa9", "na\xc3\xafve", "measure", "between", "is", "for", "which", "early",
    };
    for (unsigned i = 0; i < count; i++) {
        put(m, list[pick(m, sizeof list / sizeof *list)]);
        put(m, pick(m, 12) ? " " : pick(m, 8) ? ", " : " &amp; ");
    }
}

static void menu(struct maker *m, unsigned count)
{
    put(m, "<nav class=\"site-nav\" aria-label=\"Main\"><ul class=\"nav-list nav-list--wide\">\n");
    for (unsigned i = 0; i < count; i++)
        putf(m,
             "  <li class=\"nav-item\"><a class=\"nav-link\" href=\"/section-%u/\">"
             "Section %u</a></li>\n",
             i, i);
    put(m, "</ul></nav>\n");
}

static void head(struct maker *m, const char *title)
{
    putf(m,
         "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>%s</title>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta property=\"og:image\" content=\"https://cdn.example.com/social/card.png\">\n"
         "<link rel=\"canonical\" href=\"https://www.example.com/page-%u\">\n"
         "<link rel=\"stylesheet\" href=\"/static/main.%08x.css\">\n"
         "<link rel=\"icon\" href=\"/favicon.ico\" sizes=\"any\">\n"
         "<script src=\"/static/vendor.%08x.js\" defer></script>\n</head>\n<body class=\"page\">\n",
         title, pick(m, 1000), pick(m, 1u << 30), pick(m, 1u << 30));
    menu(m, 12);
}

static void foot(struct maker *m)
{
    put(m, "<footer class=\"site-footer\">");
    menu(m, 12);
    put(m, "</footer>\n<script>window.dataLayer=window.dataLayer||[];"
           "function t(a){if(a<3&&a>1){dataLayer.push(a)}}t(2);</script>\n</body></html>\n");
}

static void article(struct maker *m)
{
    put(m, "<h2 id=\"s\">");
    words(m, 6);
    put(m, "</h2>\n");
    for (int i = 0; i < 4; i++) {
        put(m, "<p>");
        words(m, 70);
        putf(m, "<a href=\"/archive/2024/%02u/story-%u.html\">", 1 + pick(m, 12), pick(m, 5000));
        words(m, 3);
        put(m, "</a> ");
        words(m, 30);
        put(m, "</p>\n");
    }
    putf(m,
         "<figure class=\"wide\"><img src=\"/img/%u-800.jpg\" srcset=\"/img/%u-400.jpg 400w, "
         "/img/%u-800.jpg 800w\" alt=\"\" width=\"800\" height=\"450\" loading=\"lazy\">"
         "</figure>\n",
         pick(m, 900), pick(m, 900), pick(m, 900));
}

static void shop(struct maker *m)
{
    unsigned id = pick(m, 100000);
    putf(m,
         "<div class=\"product-card js-card\" data-sku=\"%u\" data-position=\"%u\" "
         "data-track='{\"a\":1}'>"
         "<a class=\"product-card__link\" href=\"/p/%u?ref=grid&amp;pos=%u\" title=\"Item %u\">"
         "<img class=\"product-card__image\" src=\"https://img.example.com/i/%u/300.webp\" "
         "alt=\"Item\">"
         "</a><div class=\"product-card__body\"><span class=\"price\">%u.99</span>"
         "<span class=\"rating\" style=\"width:%u%%\"></span>"
         "<button type=\"button\" class=\"btn btn--primary\" data-id=\"%u\" aria-label=\"Add\">"
         "<svg class=\"icon\" viewBox=\"0 0 24 24\"><path d=\"M4 4h16v2H4zM6 10h12v2H6z\"/></svg>"
         "</button>"
         "</div></div>\n",
         id, pick(m, 99), id, pick(m, 99), id, id, pick(m, 200), pick(m, 100), id);
}

static void docs(struct maker *m)
{
    unsigned n = pick(m, 300);
    putf(m, "<section id=\"method.f%u\" class=\"method\"><h4 class=\"code-header\">"
            "<a href=\"#method.f%u\" class=\"fn\">f%u</a>(<a class=\"struct\" "
            "href=\"struct.S%u.html\" title=\"struct S\">S</a>) -&gt; "
            "<span class=\"prim\">bool</span></h4></section>\n<p>",
         n, n, n, pick(m, 40));
    words(m, 40);
    put(m, "</p>\n<pre class=\"rust\"><code>");
    for (int i = 0; i < 8; i++)
        put(m, "<span class=\"kw\">let</span> x: <span class=\"ty\">Vec</span>&lt;u8&gt; = "
               "<span class=\"number\">0</span>;\n");
    put(m, "</code></pre>\n");
}

static void wiki(struct maker *m)
{
    put(m, "<p>");
    for (int i = 0; i < 10; i++) {
        words(m, 8);
        putf(m, "<a href=\"/wiki/Topic_%u\" title=\"Topic %u\">", pick(m, 400), pick(m, 400));
        words(m, 2);
        putf(m, "</a><sup id=\"cite_ref-%u\" class=\"reference\"><a href=\"#cite_note-%u\">"
                "&#91;%u&#93;</a></sup> ",
             pick(m, 900), pick(m, 900), pick(m, 90));
    }
    put(m, "</p>\n");
}

static void app(struct maker *m)
{
    put(m, "<style>.a{color:#123;background:url(/i/a.png) no-repeat}.b>.c{margin:0 auto}</style>\n"
           "<script>!function(e,t){for(var n=0;n<t.length;n++)"
           "{e[n]=t[n]&&\"<div>\"+t[n]+\"</div>\"}}(window,[1,2,3]);");
    for (int i = 0; i < 20; i++)
        putf(m, "self.__next.push([1,\"%u:{\\\"id\\\":%u,\\\"name\\\":\\\"item-%u\\\"}\"]);", i,
             pick(m, 99999), pick(m, 99999));
    put(m, "</script>\n<img alt=\"\" src=\"data:image/png;base64,");
    for (int i = 0; i < 40; i++)
        put(m, "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB");
    put(m, "\">\n<div id=\"root\"><div class=\"css-1x2y3z css-4a5b6c\">"
           "<a href=\"/app/home\">Home</a></div></div>\n");
}

static void old(struct maker *m)
{
    putf(m,
         "<TABLE BORDER=0 CELLPADDING=2 WIDTH=100%% BGCOLOR=#FFFFFF><TR><TD ALIGN=LEFT>"
         "<FONT FACE=Arial SIZE=2><A HREF=page%u.htm>", pick(m, 200));
    words(m, 4);
    putf(m, "</A><BR>\n<IMG SRC=images/b%u.gif WIDTH=10 HEIGHT=10>&nbsp;&nbsp;", pick(m, 20));
    words(m, 20);
    put(m, "</FONT></TD></TR></TABLE>\n<!-- end of row -->\n");
}

int bench_page(struct cos_buf *out, enum bench_page sort, size_t bytes, unsigned seed)
{
    static void (*const parts[PAGE_COUNT])(struct maker *) = {
        [PAGE_ARTICLE] = article, [PAGE_SHOP] = shop, [PAGE_DOCS] = docs,
        [PAGE_WIKI] = wiki,       [PAGE_APP] = app,   [PAGE_OLD] = old,
    };
    struct maker m = {.out = out, .state = seed * 2654435761u + 1};
    size_t from = out->len;
    head(&m, bench_page_names[sort]);
    while (!m.err && out->len - from + 2500 < bytes)
        parts[sort](&m);
    foot(&m);
    return m.err;
}
