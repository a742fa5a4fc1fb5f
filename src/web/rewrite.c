/* rewrite.c - editing at offsets. The scanner says what is between which quotes;
 * a new reference is escaped for the place it stands in: CSS first, then the
 * attribute around it.
 *
 * Rejected: printing a parsed tree, which changes all that a parser does not keep;
 * and patching the bytes of a text that is not UTF-8, since offsets count in the
 * decoded one, and a trail byte of Shift_JIS can look like a quote. */
#include "config.h"

#include "web/rewrite.h"

#include "base/err.h"
#include "web/links.h"
#include "web/rewrite_tag.h"

#include <string.h>

enum { FILE_HERE = 2 };

struct edit {
    const struct cos_text *text;
    struct cos_url self;
    cos_rewrite_fn fn;
    void *arg;
    struct cos_buf *out;
    struct cos_buf ref, css; /* the new reference; the same escaped for CSS */
    size_t at;               /* copied up to here */
    struct cos__cut cuts[COS__CUTS]; /* to be left out, from at on */
    size_t ncuts;
    int changed;
};

/* --- escaping ------------------------------------------------------------------- */

static int needs_reference(char c, char quote)
{
    if (c == '&' || c == quote)
        return 1;
    return !quote && (strchr("\"'<>`", c) || (unsigned char)c <= ' ');
}

static int put_attribute(struct cos_buf *out, const char *text, size_t len, char quote)
{
    int err = 0;
    for (size_t i = 0; i < len && !err; i++)
        err = text[i] == '&'                     ? cos_buf_adds(out, "&amp;")
              : needs_reference(text[i], quote) ? cos_buf_addf(out, "&#%d;", text[i])
                                                : cos_buf_addc(out, text[i]);
    return err;
}

static int put_css(struct cos_buf *out, const char *text, size_t len, char quote)
{
    int err = 0;
    for (size_t i = 0; i < len && !err; i++) {
        char c = text[i];
        if (c == '\\' || (quote ? c == quote : strchr("()'\" ", c) != NULL))
            err = cos_buf_addc(out, '\\');
        if (!err)
            err = cos_buf_addc(out, c);
    }
    return err;
}

static int put_ref(struct edit *e, const struct cos_scan_item *item)
{
    const struct cos_buf *ref = &e->ref;
    int err = 0;
    if (item->flags & COS_SCAN_IN_CSS) {
        cos_buf_clear(&e->css);
        err = put_css(&e->css, ref->data, ref->len, item->css_quote);
        ref = &e->css;
    }
    if (err)
        return err;
    return item->flags & COS_SCAN_IN_ATTR
               ? put_attribute(e->out, ref->data, ref->len, item->quote)
               : cos_buf_add(e->out, ref->data, ref->len);
}

/* In srcset a comma at the end separates; an empty fragment changes no URL. */
static int end_candidate(struct edit *e, const struct cos_scan_item *item)
{
    int in_set = !strcmp(item->attribute, "srcset") || !strcmp(item->attribute, "imagesrcset");
    return in_set && e->ref.data[e->ref.len - 1] == ',' ? cos_buf_addc(&e->ref, '#') : 0;
}

/* --- one reference ---------------------------------------------------------------- */

static int is_alnum(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26 || (unsigned)(c - '0') < 10;
}

/* A character reference without its ';' may end right before: what follows must
 * not make it a longer one (scan.h). */
static int would_join(const struct edit *e, const struct cos_scan_item *item)
{
    return item->offset && (item->flags & COS_SCAN_IN_ATTR) && is_alnum(e->ref.data[0]) &&
           is_alnum(e->text->data[item->offset - 1]);
}

static int copy_plain(struct edit *e, size_t to)
{
    int err = to > e->at ? cos_buf_add(e->out, e->text->data + e->at, to - e->at) : 0;
    if (to > e->at)
        e->at = to;
    return err;
}

static int copy_to(struct edit *e, size_t to)
{
    size_t n = 0;
    int err = 0;
    for (; n < e->ncuts && e->cuts[n].to <= to && !err; n++) {
        err = copy_plain(e, e->cuts[n].from);
        if (e->at < e->cuts[n].to)
            e->at = e->cuts[n].to;
        e->changed = 1;
    }
    e->ncuts -= n;
    memmove(e->cuts, e->cuts + n, e->ncuts * sizeof *e->cuts);
    return err ? err : copy_plain(e, to);
}

/* A second reference of the same tag finds the same; what lies behind was done. */
static void cut_guards(struct edit *e, const struct cos_scan_item *item)
{
    struct cos__cut cuts[COS__CUTS];
    size_t n;
    if ((item->flags & COS_SCAN_IN_CSS) || !(item->flags & COS_SCAN_IN_ATTR))
        return;
    n = cos__tag_guards(e->text->data, e->text->len, item->tag, strlen(item->element), cuts);
    e->ncuts = 0;
    for (size_t i = 0; i < n; i++)
        if (cuts[i].from >= e->at)
            e->cuts[e->ncuts++] = cuts[i];
}

static int replace(struct edit *e, const struct cos_scan_item *item)
{
    size_t before;
    int err = copy_to(e, item->offset);
    before = e->out->len;
    if (!err)
        err = put_ref(e, item);
    e->at = item->offset + item->raw_len;
    if (!err && (e->out->len - before != item->raw_len ||
                 memcmp(e->out->data + before, item->raw, item->raw_len) != 0))
        e->changed = 1;
    return err;
}

/* "#x" with no base, or one that is the page: it never leaves the page. */
static int is_inside(const struct edit *e, const struct cos_scan_item *item,
                     const struct cos_url *url)
{
    size_t i = 0;
    while (i < item->len && (unsigned char)item->value[i] <= ' ')
        i++;
    if (i < item->len && item->value[i] != '#')
        return 0;
    return url->fragment == e->self.fragment &&
           !memcmp(url->href.data, e->self.href.data, url->fragment);
}

/* <base href=""> counts from the file itself, and so does "#x". */
static int empty_base(struct edit *e, const struct cos_scan_item *item)
{
    int err = copy_to(e, item->offset);
    if (!err && !item->quote)
        err = cos_buf_adds(e->out, "\"\"");
    e->at = item->offset + item->raw_len;
    e->changed = 1;
    return err;
}

static int on_item(const struct cos_scan_item *item, const struct cos_url *url, void *arg)
{
    struct edit *e = arg;
    int got, err = 0;
    if (!item->raw_len)
        return 0;
    if (!url)
        return empty_base(e, item);
    if (is_inside(e, item, url))
        return 0;
    cos_buf_clear(&e->ref);
    got = e->fn(e->arg, url, &e->ref);
    if (got <= 0)
        return got;
    if (url->fragment < url->href.len)
        err = cos_buf_add(&e->ref, url->href.data + url->fragment,
                          url->href.len - url->fragment);
    if (err || !e->ref.len || would_join(e, item))
        return err;
    err = end_candidate(e, item);
    if (!err && got == FILE_HERE)
        cut_guards(e, item);
    return err ? err : replace(e, item);
}

/* --- the whole --------------------------------------------------------------------- */

static int is_ascii(const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (data[i] & 0x80)
            return 0;
    return 1;
}

/* ASCII is the same in most encodings, but not in those of two bytes or shifts. */
static int is_as_it_is(const struct cos_rewrite *in, const struct cos_encoding *encoding)
{
    struct cos_buf own = {0};
    struct cos_text text;
    int err = cos_charset_decode(in->data, in->len, encoding, &own, &text);
    cos_buf_release(&own);
    return !err && !text.transcoded;
}

/* From a disk nobody tells the character set: does the text say it itself? */
static int needs_mark(const struct cos_rewrite *in, const struct cos_encoding *encoding,
                      enum cos_charset_of of, const struct cos_text *text)
{
    const struct cos_encoding *alone;
    enum cos_charset_source source;
    if (text->transcoded)
        return 1;
    alone = cos_charset_detect(in->data, in->len, NULL, of, &source);
    if (is_ascii(in->data, in->len))
        return alone != encoding && !is_as_it_is(in, alone);
    return alone != encoding || source == COS_CHARSET_DEFAULT;
}

static int edit_all(struct edit *e, const struct cos_links_in *links, int mark)
{
    int err = mark ? cos_buf_adds(e->out, "\xef\xbb\xbf") : 0;
    if (!err)
        err = cos_links_each(links, on_item, e);
    if (!err)
        err = copy_to(e, e->text->len);
    if (err || (!e->changed && !mark))
        cos_buf_clear(e->out);
    return err ? err : e->changed || mark;
}

int cos_rewrite(const struct cos_rewrite *in, cos_rewrite_fn fn, void *arg, struct cos_buf *out)
{
    enum cos_links_type type = cos_links_type(in->mime, in->data, in->len);
    enum cos_charset_of of = type == COS_LINKS_CSS ? COS_CHARSET_CSS : COS_CHARSET_HTML;
    const struct cos_encoding *encoding;
    struct cos_buf own = {0};
    struct cos_text text;
    struct edit e = {.text = &text, .fn = fn, .arg = arg, .out = out};
    int err;
    cos_buf_clear(out);
    if (type == COS_LINKS_NONE)
        return 0;
    encoding = cos_charset_detect(in->data, in->len, in->charset, of, NULL);
    cos_url_init(&e.self);
    cos_buf_init(&e.ref, COS_URL_MAX * 2);
    cos_buf_init(&e.css, COS_URL_MAX * 4);
    err = cos_url_parse(&e.self, in->url, strlen(in->url), NULL);
    if (!err)
        err = cos_charset_decode(in->data, in->len, encoding, &own, &text);
    if (!err) {
        struct cos_links_in links = {.data = text.data, .len = text.len, .type = type,
                                     .base = in->url, .encoding = encoding, .bases = 1};
        err = edit_all(&e, &links, needs_mark(in, encoding, of, &text));
    }
    cos_buf_release(&own);
    cos_buf_release(&e.ref);
    cos_buf_release(&e.css);
    cos_url_release(&e.self);
    return err;
}
