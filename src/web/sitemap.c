/* sitemap.c - sitemaps in all their forms, over the lexer of xml.h and zlib.
 * The element stack holds one byte a level: only who the parent is matters, and
 * image:loc inside url must not be taken for the page's own loc. An entry is
 * reported when it closes, since lastmod may follow loc; one cut off by the end
 * of the file is still reported when its loc was complete.
 * Decompression goes to memory up to the ceiling rather than in a stream: the
 * ceiling is what the protocol allows for the file anyway. */
#include "web/sitemap.h"

#include "base/buf.h"
#include "base/err.h"
#include "web/url.h"
#include "web/xml.h"

#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { MAX_URLS = 50000, MAX_BYTES = 50 * 1024 * 1024, MAX_DEPTH = 5, MAX_NESTING = 64 };
enum { LASTMOD_MAX = 128, REL_MAX = 256 };

enum tag { OTHER, ROOT, ENTRY, LOC, LASTMOD };

struct parse {
    struct cos_sitemap_limits limits;
    struct cos_sitemap_result res;
    cos_sitemap_cb *cb;
    void *arg;
    int level;
    struct cos_buf loc, lastmod, attr;
    int has_loc, loc_closed, oversized;
    unsigned char stack[MAX_NESTING];
    int nested;
};

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void trim(const char **s, size_t *len)
{
    while (*len && is_space((*s)[*len - 1]))
        --*len;
    while (*len && is_space(**s))
        ++*s, --*len;
}

static int report(struct parse *p, const char *loc, size_t len)
{
    struct cos_sitemap_item item = {.kind = p->res.kind, .loc = loc, .loc_len = len};
    item.lastmod = p->lastmod.len ? p->lastmod.data : "";
    if (p->res.urls >= p->limits.urls)
        return COS_ETOOBIG;
    p->res.urls++;
    return p->cb(p->arg, &item);
}

static int end_entry(struct parse *p)
{
    const char *loc = p->loc.data ? p->loc.data : "";
    size_t len = p->loc.len;
    int err = 0;
    trim(&loc, &len);
    if (len && !p->oversized)
        err = report(p, loc, len);
    else
        p->res.bad++;
    cos_buf_clear(&p->loc);
    cos_buf_clear(&p->lastmod);
    p->has_loc = p->loc_closed = p->oversized = 0;
    return err;
}

static enum tag parent_of(const struct parse *p)
{
    return p->nested ? p->stack[p->nested - 1] : OTHER;
}

static enum cos_sitemap_kind kind_of_root(const struct cos__xml *xml)
{
    static const struct {
        const char *name;
        enum cos_sitemap_kind kind;
    } roots[] = {
        {"urlset", COS_SITEMAP_URLSET}, {"sitemapindex", COS_SITEMAP_INDEX},
        {"rss", COS_SITEMAP_RSS},       {"RDF", COS_SITEMAP_RSS},
        {"feed", COS_SITEMAP_ATOM},
    };
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++)
        if (cos__xml_named(xml, roots[i].name))
            return roots[i].kind;
    return COS_SITEMAP_NONE;
}

static const char *entry_name(enum cos_sitemap_kind kind)
{
    static const char *const names[] = {
        [COS_SITEMAP_NONE] = "",     [COS_SITEMAP_URLSET] = "url", [COS_SITEMAP_INDEX] = "sitemap",
        [COS_SITEMAP_TEXT] = "",     [COS_SITEMAP_RSS] = "item",   [COS_SITEMAP_ATOM] = "entry",
    };
    return names[kind];
}

static int is_lastmod(const struct cos__xml *xml)
{
    return cos__xml_named(xml, "lastmod") || cos__xml_named(xml, "pubDate") ||
           cos__xml_named(xml, "updated") || cos__xml_named(xml, "date");
}

static int is_feed(const struct parse *p)
{
    return p->res.kind == COS_SITEMAP_RSS || p->res.kind == COS_SITEMAP_ATOM;
}

static enum tag classify(const struct parse *p, const struct cos__xml *xml)
{
    if (!p->nested)
        return ROOT;
    if (parent_of(p) != ENTRY)
        return cos__xml_named(xml, entry_name(p->res.kind)) ? ENTRY : OTHER;
    if (cos__xml_named(xml, is_feed(p) ? "link" : "loc") && !p->loc_closed)
        return LOC;
    return is_lastmod(xml) ? LASTMOD : OTHER;
}

/* <link href="…" rel="alternate"/> of Atom, also when it stands in RSS. The
 * first link that names the entry itself counts. */
static int take_href(struct parse *p, const struct cos__xml *xml)
{
    int err = cos__xml_attr(xml, "rel", &p->attr);
    if (err == COS_ETOOBIG || (!err && p->attr.len && strcmp(p->attr.data, "alternate")))
        return 0;
    err = cos__xml_attr(xml, "href", &p->loc);
    if (!err && p->loc.len)
        p->has_loc = p->loc_closed = 1;
    return err == COS_ENOENT ? 0 : err;
}

static int open_tag(struct parse *p, const struct cos__xml *xml)
{
    enum tag tag = classify(p, xml);
    int err = 0;
    if (tag == ROOT) {
        p->res.kind = kind_of_root(xml);
        if (p->res.kind == COS_SITEMAP_NONE)
            return COS_EPARSE;
        if (p->res.kind == COS_SITEMAP_INDEX && p->level >= p->limits.depth)
            return COS_ETOOBIG;
    }
    if (tag == LOC && is_feed(p))
        err = take_href(p, xml);
    if (err == COS_ETOOBIG) {
        p->oversized = 1;
        err = 0;
    }
    if (err || (xml->empty && tag != ENTRY))
        return err;
    if (xml->empty)
        return end_entry(p);
    if (p->nested == MAX_NESTING)
        return COS_ETOOBIG;
    p->stack[p->nested++] = (unsigned char)(tag == LOC && p->loc_closed ? OTHER : tag);
    return 0;
}

static int close_tag(struct parse *p)
{
    enum tag tag;
    if (!p->nested)
        return 0;
    tag = p->stack[--p->nested];
    if (tag == LOC && p->has_loc)
        p->loc_closed = 1;
    return tag == ENTRY ? end_entry(p) : 0;
}

static int text(struct parse *p, const struct cos__xml *xml)
{
    enum tag tag = parent_of(p);
    struct cos_buf *out = tag == LOC ? &p->loc : &p->lastmod;
    int err;
    if (tag != LOC && tag != LASTMOD)
        return 0;
    err = xml->is_cdata ? cos_buf_add(out, xml->text, xml->text_len)
                        : cos__xml_decode(out, xml->text, xml->text_len);
    if (tag == LOC)
        p->has_loc |= xml->text_len > 0;
    if (err != COS_ETOOBIG)
        return err;
    /* One absurd entry must not cost the others. */
    p->oversized |= tag == LOC;
    return 0;
}

static int token(struct parse *p, const struct cos__xml *xml)
{
    if (xml->kind == COS__XML_OPEN)
        return open_tag(p, xml);
    if (xml->kind == COS__XML_CLOSE)
        return close_tag(p);
    return text(p, xml);
}

static int parse_xml(struct parse *p, const char *data, size_t len)
{
    struct cos__xml xml;
    int err, late;
    cos__xml_init(&xml, data, len);
    do {
        const char *from = xml.at;
        err = cos__xml_next(&xml);
        if (!err && xml.kind != COS__XML_END_OF_INPUT)
            err = token(p, &xml);
        if (err == COS_EPARSE)
            p->res.err_at += (size_t)(from - data);
    } while (!err && xml.kind != COS__XML_END_OF_INPUT);
    if (!err && (p->nested || p->res.kind == COS_SITEMAP_NONE)) {
        p->res.err_at += len;
        err = COS_EPARSE;
    }
    if (!err)
        p->res.err_at = 0;
    if (err == COS_EPARSE && p->loc_closed) {
        late = end_entry(p);
        return late ? late : err;
    }
    return err;
}

static int is_web(const char *s, size_t len)
{
    return (len > 7 && !strncasecmp(s, "http://", 7)) ||
           (len > 8 && !strncasecmp(s, "https://", 8));
}

static int parse_text(struct parse *p, const char *data, size_t len)
{
    const char *end = data + len;
    int err = 0;
    p->res.kind = COS_SITEMAP_TEXT;
    while (!err && data < end) {
        const char *eol = memchr(data, '\n', (size_t)(end - data));
        const char *line = data;
        size_t n = (size_t)((eol ? eol : end) - data);
        data += n + (eol ? 1 : 0);
        trim(&line, &n);
        if (is_web(line, n) && n <= COS_URL_MAX)
            err = report(p, line, n);
        else if (n)
            p->res.bad++;
    }
    if (!err && !p->res.urls && p->res.bad) {
        p->res.kind = COS_SITEMAP_NONE;
        err = COS_EPARSE;
    }
    return err;
}

static int inflate_some(z_stream *z, struct cos_buf *out)
{
    enum { STEP = 64 * 1024 };
    size_t left = out->max - out->len;
    size_t want = left < STEP ? left : STEP;
    int err = cos_buf_reserve(out, want), zerr;
    if (err)
        return err;
    z->next_out = (Bytef *)out->data + out->len;
    z->avail_out = (uInt)want;
    zerr = inflate(z, Z_NO_FLUSH);
    out->len += want - z->avail_out;
    out->data[out->len] = 0;
    if (zerr == Z_STREAM_END)
        return 1;
    if (zerr == Z_MEM_ERROR)
        return COS_ENOMEM;
    if (zerr != Z_OK && zerr != Z_BUF_ERROR)
        return COS_EENCODING;
    if (z->avail_out)
        return COS_EENCODING; /* input is used up before the stream's end */
    return want ? 0 : COS_ETOOBIG;
}

/* A gzip file may be several members one after another. */
static int gunzip(struct cos_buf *out, const char *data, size_t len)
{
    z_stream z = {0};
    int err = 0;
    if (len > out->max)
        return COS_ETOOBIG;
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return COS_ENOMEM;
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)len;
    do {
        err = inflate_some(&z, out);
        if (err == 1 && z.avail_in > 1 && z.next_in[0] == 0x1f && z.next_in[1] == 0x8b)
            err = inflateReset(&z) == Z_OK ? 0 : COS_EENCODING;
    } while (!err);
    inflateEnd(&z);
    return err == 1 ? 0 : err;
}

static int starts(const char *data, size_t len, const char *mark, size_t n)
{
    return len >= n && !memcmp(data, mark, n);
}

static int parse_plain(struct parse *p, const char *data, size_t len)
{
    size_t lead = starts(data, len, "\xef\xbb\xbf", 3) ? 3 : 0;
    p->res.bytes = len;
    if (len > p->limits.bytes)
        return COS_ETOOBIG;
    if (starts(data, len, "\xff\xfe", 2) || starts(data, len, "\xfe\xff", 2) ||
        starts(data, len, "<\0", 2) || starts(data, len, "\0<", 2))
        return COS_ECHARSET;
    while (lead < len && is_space(data[lead]))
        lead++;
    if (lead == len)
        return COS_EPARSE;
    if (data[lead] != '<')
        return parse_text(p, data + lead, len - lead);
    p->res.err_at = lead;
    return parse_xml(p, data + lead, len - lead);
}

static void set_limits(struct parse *p, const struct cos_sitemap_limits *limits)
{
    if (limits)
        p->limits = *limits;
    if (!p->limits.urls)
        p->limits.urls = MAX_URLS;
    if (!p->limits.bytes)
        p->limits.bytes = MAX_BYTES;
    if (!p->limits.depth)
        p->limits.depth = MAX_DEPTH;
    cos_buf_init(&p->loc, COS_URL_MAX);
    cos_buf_init(&p->lastmod, LASTMOD_MAX);
    cos_buf_init(&p->attr, REL_MAX);
}

int cos_sitemap_parse(const char *data, size_t len, int level,
                      const struct cos_sitemap_limits *limits, cos_sitemap_cb *cb, void *arg,
                      struct cos_sitemap_result *result)
{
    struct parse p = {.cb = cb, .arg = arg, .level = level};
    struct cos_buf plain = {0};
    int err, gz_err = 0;
    set_limits(&p, limits);
    plain.max = p.limits.bytes;
    /* What could be unpacked before an error counts: it is reported first. */
    if (starts(data, len, "\x1f\x8b", 2)) {
        gz_err = gunzip(&plain, data, len);
        data = plain.data ? plain.data : "";
        len = plain.len;
    }
    err = parse_plain(&p, data, len);
    if (gz_err && (!err || err == COS_EPARSE))
        err = gz_err;
    if (result)
        *result = p.res;
    cos_buf_release(&plain);
    cos_buf_release(&p.loc);
    cos_buf_release(&p.lastmod);
    cos_buf_release(&p.attr);
    return err;
}
