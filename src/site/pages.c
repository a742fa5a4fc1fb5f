/* pages.c - HTML for a page number. The text is one long run of paragraphs made
 * once from the seed; a page copies a stretch of it, so that a page costs little
 * more than the copy. May call base.
 * Plain pages hold the links of the shape and no others: tests count them. Rich
 * pages, those of the demo, have navigation, a style sheet and images too. */
#include "site/site.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

enum { FILLER = 256 * 1024, PARAGRAPHS = 2000 };

static const char *const words[] = {
    "a",       "the",     "of",      "and",     "to",       "in",      "which",   "that",
    "crawler", "page",    "link",    "queue",   "host",     "answer",  "request", "header",
    "small",   "quiet",   "patient", "bounded", "parallel", "simple",  "early",   "second",
    "waits",   "reads",   "follows", "returns", "keeps",    "finds",   "writes",  "shares",
    "river",   "library", "harbour", "winter",  "garden",   "letter",  "bridge",  "signal",
    "between", "before",  "without", "beside",  "after",    "towards", "because", "while",
};
static const char *const nouns[] = {
    "Queues",  "Links",   "Headers", "Robots",  "Timeouts",  "Cookies", "Frames",  "Anchors",
    "Retries", "Charsets", "Redirects", "Sitemaps", "Sockets", "Parsers", "Caches",  "Ceilings",
};
static const char *const manners[] = {
    "Notes on", "A Tour of", "Measuring", "Understanding", "The Limits of", "In Praise of",
    "Debugging", "Questions about",
};

static const char *pick(uint64_t random)
{
    return words[random % (sizeof words / sizeof *words)];
}

static int add_sentence(struct cos__site *site, uint64_t *at)
{
    struct cos_buf *out = &site->filler;
    size_t start = out->len;
    int n = 6 + (int)(cos__site_random(site, (int64_t)*at, 11) % 12), err = 0;
    for (int i = 0; i < n && !err; i++)
        err = cos_buf_addf(out, "%s%s", i ? " " : "",
                           pick(cos__site_random(site, (int64_t)++ * at, 13)));
    if (err)
        return err;
    out->data[start] = (char)(out->data[start] - 'a' + 'A');
    return cos_buf_adds(out, ". ");
}

int cos__site_pages_init(struct cos__site *site)
{
    uint64_t at = 0;
    int err = 0;
    cos_buf_init(&site->filler, (size_t)2 * FILLER);
    site->paragraphs = calloc(PARAGRAPHS, sizeof *site->paragraphs);
    if (!site->paragraphs)
        return COS_ENOMEM;
    while (!err && site->filler.len < FILLER && site->nparagraphs < PARAGRAPHS) {
        int n = 2 + (int)(cos__site_random(site, (int64_t)at, 17) % 4);
        site->paragraphs[site->nparagraphs++] = (uint32_t)site->filler.len;
        err = cos_buf_adds(&site->filler, "<p>");
        for (int i = 0; i < n && !err; i++)
            err = add_sentence(site, &at);
        if (!err)
            err = cos_buf_adds(&site->filler, "</p>\n");
    }
    return err;
}

void cos__site_pages_release(struct cos__site *site)
{
    cos_buf_release(&site->filler);
    free(site->paragraphs);
    site->paragraphs = NULL;
}

int cos__site_fill(const struct cos__site *site, uint64_t from, size_t len, struct cos_buf *out)
{
    uint32_t at = (uint32_t)(from % site->nparagraphs);
    while (out->len < len) {
        size_t start = site->paragraphs[at];
        size_t end = at + 1 < site->nparagraphs ? site->paragraphs[at + 1] : site->filler.len;
        /* Whole paragraphs in one copy, up to the end of the text. */
        while (end < site->filler.len && out->len + (end - start) < len)
            end = ++at + 1 < site->nparagraphs ? site->paragraphs[at + 1] : site->filler.len;
        int err = cos_buf_add(out, site->filler.data + start, end - start);
        if (err)
            return err;
        at = 0;
    }
    return 0;
}

int cos__site_add_title(const struct cos__site *site, int64_t page, struct cos_buf *out)
{
    uint64_t r = cos__site_random(site, page, 3);
    if (page == 0)
        return cos_buf_adds(out, "The Patient Crawler");
    return cos_buf_addf(out, "%s %s, part %lld", manners[r % 8], nouns[r / 8 % 16],
                        (long long)page);
}

static int add_anchor(const struct cos__site *site, int64_t page, struct cos_buf *out)
{
    int err = cos_buf_adds(out, "<a href=\"");
    if (!err)
        err = cos__site_add_path(site, out, page);
    if (!err)
        err = cos_buf_adds(out, "\">");
    if (!err)
        err = cos__site_add_title(site, page, out);
    return err ? err : cos_buf_adds(out, "</a>");
}

static int add_links(const struct cos__site *site, int64_t page, struct cos_buf *out)
{
    int64_t to;
    int err = 0;
    for (int64_t n = 0; !err && (to = cos__site_link(site, page, n)) >= 0; n++) {
        err = cos_buf_adds(out, n ? "<li>" : "<ul class=\"links\">\n<li>");
        if (!err)
            err = add_anchor(site, to, out);
        if (!err)
            err = cos_buf_adds(out, "</li>\n");
    }
    return err || cos__site_link(site, page, 0) < 0 ? err : cos_buf_adds(out, "</ul>\n");
}

static int add_navigation(const struct cos__site *site, int64_t page, struct cos_buf *out)
{
    int err = cos_buf_adds(out, "<header>\n<a class=\"logo\" href=\"/\"><img src=\"/img/logo.svg\" "
                                "alt=\"Home\" width=\"48\" height=\"48\"></a>\n<nav>\n");
    for (int64_t i = 1; i <= 5 && i < site->opt.pages && !err; i++)
        err = add_anchor(site, i, out);
    if (!err)
        err = cos_buf_adds(out, "\n</nav>\n</header>\n");
    if (err || page == 0)
        return err;
    err = cos_buf_adds(out, "<p class=\"crumbs\"><a href=\"/\">Home</a> › ");
    if (!err)
        err = add_anchor(site, (page - 1) / site->opt.links, out);
    return err ? err : cos_buf_adds(out, "</p>\n");
}

static int add_top(const struct cos__site *site, int64_t page, struct cos_buf *out)
{
    int err =
        cos_buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                          "<title>");
    if (!err)
        err = cos__site_add_title(site, page, out);
    if (!err)
        err = cos_buf_adds(out, "</title>\n");
    if (!err && site->opt.rich)
        err = cos_buf_adds(out, "<meta name=\"viewport\" content=\"width=device-width\">\n"
                                "<link rel=\"stylesheet\" href=\"/style.css\">\n"
                                "<link rel=\"icon\" href=\"/img/logo.svg\">\n");
    if (!err)
        err = cos_buf_adds(out, "</head>\n<body>\n");
    if (!err && site->opt.rich)
        err = add_navigation(site, page, out);
    if (!err)
        err = cos_buf_adds(out, "<main>\n<h1>");
    if (!err)
        err = cos__site_add_title(site, page, out);
    return err ? err : cos_buf_adds(out, "</h1>\n");
}

static int add_bottom(const struct cos__site *site, int64_t page, struct cos_buf *out)
{
    int err = cos_buf_adds(out, "</main>\n");
    if (!err && site->opt.rich)
        err = cos_buf_addf(out, "<footer>Page %lld of %lld%s</footer>\n", (long long)page,
                           (long long)site->opt.pages,
                           page ? "" : ". <a href=\"/private/diary.html\">Private</a>");
    return err ? err : cos_buf_adds(out, "</body>\n</html>\n");
}

int cos__site_render(const struct cos__site *site, int64_t page, struct cos_buf *out)
{
    uint64_t r = cos__site_random(site, page, 5 + (page % 7 ? 0 : (uint64_t)site->revision));
    size_t want = (size_t)site->opt.bytes;
    int err = add_top(site, page, out);
    if (!err && site->opt.rich)
        err = cos_buf_addf(out, "<img class=\"plate\" src=\"/img/plate%d.png\" alt=\"Plate %d\" "
                                "width=\"160\" height=\"100\">\n", (int)(r % 8), (int)(r % 8));
    if (!err)
        err =
            cos__site_fill(site, r, out->len + (want > out->len ? (want - out->len) / 3 : 0), out);
    if (!err)
        err = add_links(site, page, out);
    if (!err)
        err = cos__site_fill(site, r / 7, want > 40 ? want - 40 : 0, out);
    return err ? err : add_bottom(site, page, out);
}
