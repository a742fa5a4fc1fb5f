/* url.c - the WHATWG URL parser for http and https.
 *
 * May call base only. The parser writes the serialisation at once, with offsets
 * of the parts: no list of segments, no copy per part. A relative reference is
 * a memcpy of the base's prefix and one pass over the reference; ".." moves the
 * end of the output back.
 *
 * The standard's state machine walks code point by code point; here each state
 * is a function over a run of bytes, because the states of http(s) only ever
 * move forward. Other schemes are refused with COS_ESCHEME before anything else
 * is looked at: a data: URL may be megabytes long.
 *
 * Rejected: curl's URL API (resolves "#x" wrongly in 7.88 and passes half of the
 * public cases), and a generic splitter followed by normalisation (two passes,
 * and the standard's corner cases fall between them).
 *
 * Parts: url_text.c writes path, query and fragment, url_host.c and url_ip.c
 * the host, url_idn.c one international label, url_query.c a query in another
 * character set, url_canon.c the options. */
#include "config.h"

#include "web/url.h"

#include "base/err.h"
#include "web/url_int.h"

#include <string.h>

/* Bytes beyond three for each byte of input that a parse may write: scheme,
 * port, brackets, a short number that becomes a dotted address. */
enum { SLACK = 64, PLAIN_MAX = 512 };

enum scheme { SCHEME_NONE, SCHEME_HTTP, SCHEME_HTTPS, SCHEME_OTHER };

struct parse {
    struct cos_url *out;
    const struct cos_url *base;
    const char *charset;
    const char *p;
    const char *end;
};

void cos_url_init(struct cos_url *url)
{
    memset(url, 0, sizeof *url);
    /* The worst case is reserved before it is known how long the result is;
     * finish() holds it to COS_URL_MAX. */
    cos_buf_init(&url->href, 8 * (size_t)COS_URL_MAX);
    cos_buf_init(&url->scratch, COS_URL_MAX);
}

void cos_url_release(struct cos_url *url)
{
    cos_buf_release(&url->href);
    cos_buf_release(&url->scratch);
}

/* No URL at all: every part empty, every offset inside the empty string. */
static void make_empty(struct cos_url *url)
{
    cos_buf_clear(&url->href);
    memset(&url->scheme_end, 0, sizeof *url - offsetof(struct cos_url, scheme_end));
}

static void copy_parts(struct cos_url *dst, const struct cos_url *src)
{
    memcpy(&dst->scheme_end, &src->scheme_end, sizeof *dst - offsetof(struct cos_url, scheme_end));
}

int cos_url_copy(struct cos_url *dst, const struct cos_url *src)
{
    int err;
    cos_buf_clear(&dst->href);
    err = cos_buf_add(&dst->href, src->href.data, src->href.len);
    if (err)
        make_empty(dst);
    else
        copy_parts(dst, src);
    return err;
}

void cos_url_drop_fragment(struct cos_url *url)
{
    if (url->fragment >= url->href.len)
        return;
    url->href.len = url->fragment;
    url->href.data[url->fragment] = 0;
}

int cos_url_same_host(const struct cos_url *a, const struct cos_url *b)
{
    size_t len = a->host_end - a->host;
    return len && len == b->host_end - b->host &&
           !memcmp(a->href.data + a->host, b->href.data + b->host, len);
}

static int finish(struct cos_url *out, const char *o)
{
    out->href.len = (size_t)(o - out->href.data);
    if (out->href.len > COS_URL_MAX)
        return COS_ETOOBIG;
    out->href.data[out->href.len] = 0;
    return 0;
}

/* Writes "#…", from the '#' at p->p on. */
static char *put_fragment(struct parse *p, char *o)
{
    p->out->fragment = (uint32_t)(o - p->out->href.data);
    if (p->p == p->end)
        return o;
    *o++ = '#';
    return cos__url_put(o, p->p + 1, (size_t)(p->end - p->p - 1), COS__URL_FRAGMENT);
}

static int has_high_byte(const char *in, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (in[i] & 0x80)
            return 1;
    return 0;
}

/* The query in the page's character set. Its length is not known beforehand, so
 * this one goes through the checked buffer. */
static int put_query_as(struct parse *p, char **o, const char *in, size_t len)
{
    struct cos_buf *href = &p->out->href;
    int err;
    href->len = (size_t)(*o - href->data);
    err = cos__url_put_query_as(href, in, len, p->charset);
    if (err)
        return err;
    err = cos_buf_reserve(href, 3 * (size_t)(p->end - in) + SLACK);
    *o = href->data + href->len;
    return err;
}

static int put_query(struct parse *p, char **o)
{
    const char *in, *hash;
    size_t len;
    int err = 1;
    p->out->query = (uint32_t)(*o - p->out->href.data);
    if (p->p == p->end || *p->p != '?')
        return 0;
    in = p->p + 1;
    hash = memchr(in, '#', (size_t)(p->end - in));
    len = (size_t)((hash ? hash : p->end) - in);
    *(*o)++ = '?';
    if (p->charset && *p->charset && has_high_byte(in, len))
        err = put_query_as(p, o, in, len);
    if (err == 1) {
        *o = cos__url_put(*o, in, len, COS__URL_QUERY);
        err = 0;
    }
    p->p = in + len;
    return err;
}

/* Query and fragment, then the end. */
static int put_tail(struct parse *p, char *o)
{
    int err = put_query(p, &o);
    return err ? err : finish(p->out, put_fragment(p, o));
}

/* The path from p->p on; o is the byte after a '/' that is already written. */
static int put_path(struct parse *p, char *o)
{
    char *root = p->out->href.data + p->out->path;
    return put_tail(p, cos__url_put_path(root, o, &p->p, p->end));
}

/* "user:pw@" for in[0..len), which ends before the '@'. */
static char *put_credentials(struct cos_url *out, char *o, const char *in, size_t len)
{
    const char *colon = memchr(in, ':', len);
    size_t user_len = colon ? (size_t)(colon - in) : len;
    const char *start = o;
    out->user = (uint32_t)(o - out->href.data);
    o = cos__url_put(o, in, user_len, COS__URL_USERINFO);
    out->user_end = (uint32_t)(o - out->href.data);
    if (user_len + 1 < len) {
        *o++ = ':';
        out->pass = (uint32_t)(o - out->href.data);
        o = cos__url_put(o, colon + 1, len - user_len - 1, COS__URL_USERINFO);
    } else {
        out->pass = out->user_end;
    }
    out->pass_end = (uint32_t)(o - out->href.data);
    if (o != start)
        *o++ = '@';
    return o;
}

/* The digits after the host's ':'. */
static int read_port(struct cos_url *out, const char *in, const char *end)
{
    uint32_t port = 0;
    uint16_t standard = out->is_https ? 443 : 80;
    out->port = standard;
    out->has_port = 0;
    if (in == end)
        return 0;
    for (; in < end; in++) {
        if (*in < '0' || *in > '9')
            return COS_EURL;
        port = port * 10 + (uint32_t)(*in - '0');
        if (port > 65535)
            return COS_EURL;
    }
    out->port = (uint16_t)port;
    out->has_port = port != standard;
    return 0;
}

static char *put_port(char *o, uint16_t port)
{
    char digits[5];
    int n = 0;
    do
        digits[n++] = (char)('0' + port % 10);
    while (port /= 10);
    *o++ = ':';
    while (n)
        *o++ = digits[--n];
    return o;
}

/* The end of the host in [in, end): a ':' outside of brackets, or end. */
static const char *host_end(const char *in, const char *end)
{
    int bracket = 0;
    for (; in < end; in++) {
        if (*in == '[')
            bracket = 1;
        else if (*in == ']')
            bracket = 0;
        else if (*in == ':' && !bracket)
            break;
    }
    return in;
}

static int put_host_port(struct parse *p, char *o, const char *in, const char *end)
{
    struct cos_url *out = p->out;
    const char *stop = host_end(in, end);
    int err;
    if (stop == in)
        return COS_EURL;
    out->host = (uint32_t)(o - out->href.data);
    out->href.len = out->host;
    err =
        cos__url_put_host(&out->href, in, (size_t)(stop - in), 3 * (size_t)(p->end - stop) + SLACK);
    if (err)
        return err;
    out->host_end = (uint32_t)out->href.len;
    err = read_port(out, stop < end ? stop + 1 : end, end);
    if (err)
        return err;
    o = out->href.data + out->host_end;
    if (out->has_port)
        o = put_port(o, out->port);
    out->path = (uint32_t)(o - out->href.data);
    *o++ = '/';
    p->p = end < p->end && cos__url_is_slash(*end) ? end + 1 : end;
    return put_path(p, o);
}

/* Everything from the authority on; the slashes before it are skipped here. */
static int put_authority(struct parse *p, int is_https)
{
    struct cos_url *out = p->out;
    char *o = out->href.data;
    const char *end, *at = NULL;
    while (p->p < p->end && cos__url_is_slash(*p->p))
        p->p++;
    for (end = p->p; end < p->end && !cos__url_is(*end, COS__URL_AUTH_END); end++)
        if (*end == '@')
            at = end;
    out->is_https = (uint8_t)is_https;
    out->scheme_end = is_https ? 5 : 4;
    o = (char *)mempcpy(o, is_https ? "https://" : "http://", out->scheme_end + 3);
    if (!at) {
        out->user = out->user_end = out->pass = out->pass_end = (uint32_t)(o - out->href.data);
        return put_host_port(p, o, p->p, end);
    }
    o = put_credentials(out, o, p->p, (size_t)(at - p->p));
    return put_host_port(p, o, at + 1, end);
}

/* The base's first len bytes and the parts in them. */
static char *put_base(struct parse *p, uint32_t len)
{
    copy_parts(p->out, p->base);
    memcpy(p->out->href.data, p->base->href.data, len);
    return p->out->href.data + len;
}

/* How much of the base stays in front of a relative path. */
static uint32_t base_directory(const struct cos_url *base)
{
    const char *path = base->href.data + base->path;
    const char *slash = memrchr(path, '/', base->query - base->path);
    return (uint32_t)(slash - base->href.data) + 1;
}

static int put_relative(struct parse *p)
{
    size_t left = (size_t)(p->end - p->p);
    if (!left || *p->p == '#') {
        char *o = put_base(p, p->base->fragment);
        return finish(p->out, put_fragment(p, o));
    }
    if (*p->p == '?')
        return put_tail(p, put_base(p, p->base->query));
    if (!cos__url_is_slash(*p->p))
        return put_path(p, put_base(p, base_directory(p->base)));
    if (left > 1 && cos__url_is_slash(p->p[1]))
        return put_authority(p, p->base->is_https);
    p->p++;
    return put_path(p, put_base(p, p->base->path + 1));
}

static int is_alpha(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26;
}

static int is_scheme_char(char c)
{
    return is_alpha(c) || (unsigned)(c - '0') < 10 || c == '+' || c == '-' || c == '.';
}

/* Reads "scheme:" and leaves *in after it, or reads nothing. */
static enum scheme read_scheme(const char **in, const char *end)
{
    const char *s = *in, *colon = s;
    if (s == end || !is_alpha(*s))
        return SCHEME_NONE;
    while (colon < end && is_scheme_char(*colon))
        colon++;
    if (colon == end || *colon != ':')
        return SCHEME_NONE;
    *in = colon + 1;
    if (colon - s < 4 || (s[0] | 0x20) != 'h' || (s[1] | 0x20) != 't' || (s[2] | 0x20) != 't' ||
        (s[3] | 0x20) != 'p')
        return SCHEME_OTHER;
    if (colon - s == 4)
        return SCHEME_HTTP;
    return colon - s == 5 && (s[4] | 0x20) == 's' ? SCHEME_HTTPS : SCHEME_OTHER;
}

static int parse_clean(struct parse *p, enum scheme scheme)
{
    size_t base_len = p->base ? p->base->href.len : 0;
    int is_https = scheme == SCHEME_HTTPS;
    int err = cos_buf_reserve(&p->out->href, base_len + 3 * (size_t)(p->end - p->p) + SLACK);
    if (err)
        return err;
    if (scheme == SCHEME_NONE)
        return p->base ? put_relative(p) : COS_EURL;
    if (p->base && p->base->is_https == is_https &&
        !(p->end - p->p >= 2 && p->p[0] == '/' && p->p[1] == '/'))
        return put_relative(p);
    return put_authority(p, is_https);
}

/* 1 when [in, end) holds a byte below 0x20, eight at a time. */
static int has_control(const char *in, const char *end)
{
    const uint64_t ones = ~(uint64_t)0 / 255;
    uint64_t word;
    for (; end - in >= 8; in += 8) {
        memcpy(&word, in, 8);
        if ((word - ones * 0x20) & ~word & (ones * 0x80))
            return 1;
    }
    for (; in < end; in++)
        if ((uint8_t)*in < 0x20)
            return 1;
    return 0;
}

/* The input without tabs and newlines, in the scratch buffer. */
static int strip_newlines(struct parse *p)
{
    struct cos_buf *scratch = &p->out->scratch;
    char *o;
    int err;
    cos_buf_clear(scratch);
    err = cos_buf_reserve(scratch, (size_t)(p->end - p->p));
    if (err)
        return err;
    o = scratch->data;
    for (const char *in = p->p; in < p->end; in++)
        if (*in != '\t' && *in != '\n' && *in != '\r')
            *o++ = *in;
    p->p = scratch->data;
    p->end = o;
    return 0;
}

static int parse_trimmed(struct parse *p)
{
    enum scheme scheme = read_scheme(&p->p, p->end);
    const char *after = p->p;
    int err;
    if (scheme == SCHEME_OTHER)
        return COS_ESCHEME;
    if (p->end - p->p > COS_URL_MAX)
        return COS_ETOOBIG;
    if (!has_control(after, p->end))
        return parse_clean(p, scheme);
    err = strip_newlines(p);
    if (err)
        return err;
    /* A newline may have hidden the scheme. */
    if (scheme == SCHEME_NONE)
        scheme = read_scheme(&p->p, p->end);
    return scheme == SCHEME_OTHER ? COS_ESCHEME : parse_clean(p, scheme);
}

/* --- the usual reference ------------------------------------------------------- */

#define WORD(c) (((c) >= '0' && (c) <= '9') || ((c) >= 'A' && (c) <= 'Z') ||                       \
                 ((c) >= 'a' && (c) <= 'z') || (c) == '-' || (c) == '_' || (c) == '~' ||           \
                 (c) == '+' || (c) == ',' || (c) == '=' || (c) == '/')
#define WORD4(c)  WORD(c), WORD((c) + 1), WORD((c) + 2), WORD((c) + 3)
#define WORD16(c) WORD4(c), WORD4((c) + 4), WORD4((c) + 8), WORD4((c) + 12)
#define WORD64(c) WORD16(c), WORD16((c) + 16), WORD16((c) + 32), WORD16((c) + 48)

/* What is copied as it is in a path, whatever stands beside it. */
static const uint8_t in_words[256] = {WORD64(0), WORD64(64)};

/* The end of the part of [in, end) that is copied as it is: words, and dots
 * inside of them. */
static const char *words_end(const char *in, const char *end)
{
    const char *start = in;
    while (in < end &&
           (in_words[(uint8_t)*in] || (*in == '.' && in > start && in[-1] != '/')))
        in++;
    return in;
}

static const char *run_end(const char *in, const char *end, unsigned class)
{
    while (in < end && !cos__url_is(*in, class))
        in++;
    return in;
}

/* "name.html#part", "/d1/name.html", "../d2/?q": nothing to encode, no scheme, no
 * dots but in front. Most links are like that, and need only be copied. 0: not
 * this one; nothing was done then. */
static int put_plain(struct parse *p)
{
    const struct cos_url *base = p->base;
    const char *in = p->p, *end = p->end, *query, *fragment;
    uint32_t keep = base->path;
    struct cos_url *out = p->out;
    if (in == end || end - in > PLAIN_MAX || (*in == '/' && end - in > 1 && in[1] == '/'))
        return 0;
    if (*in != '/')
        keep = base_directory(base);
    for (; end - in > 3 && !memcmp(in, "../", 3); in += 3)
        if (keep > base->path + 1)
            keep = (uint32_t)((char *)memrchr(base->href.data + base->path, '/',
                                              keep - 1 - base->path) - base->href.data) + 1;
    query = words_end(in, end);
    if (query == in)
        return 0;
    fragment = query < end && *query == '?' ? run_end(query + 1, end, COS__URL_QUERY) : query;
    if (fragment < end && (*fragment != '#' ||
                           run_end(fragment + 1, end, COS__URL_FRAGMENT) < end))
        return 0;
    out->href.len = 0;
    if (keep > COS_URL_MAX - PLAIN_MAX || cos_buf_reserve(&out->href, keep + PLAIN_MAX))
        return 0;
    copy_parts(out, base);
    memcpy(out->href.data, base->href.data, keep);
    memcpy(out->href.data + keep, in, (size_t)(end - in));
    out->query = keep + (uint32_t)(query - in);
    out->fragment = keep + (uint32_t)(fragment - in);
    out->href.len = keep + (size_t)(end - in);
    out->href.data[out->href.len] = 0;
    return 1;
}

int cos_url_parse_charset(struct cos_url *out, const char *in, size_t len,
                          const struct cos_url *base, const char *charset)
{
    struct parse p = {.out = out, .base = base, .charset = charset, .p = in, .end = in + len};
    int err;
    if (base && base->href.len && put_plain(&p))
        return 0;
    while (p.p < p.end && (uint8_t)*p.p <= ' ')
        p.p++;
    while (p.p < p.end && (uint8_t)p.end[-1] <= ' ')
        p.end--;
    if (base && !base->href.len)
        p.base = NULL;
    out->href.len = 0;
    err = parse_trimmed(&p);
    if (err)
        make_empty(out);
    return err;
}

int cos_url_parse(struct cos_url *out, const char *in, size_t len, const struct cos_url *base)
{
    return cos_url_parse_charset(out, in, len, base, NULL);
}

/* Whether only path and query differ, and need no thought; *query is where the
 * path ends. */
static int is_near(const struct cos_url *url, const char *in, size_t len, const char **query)
{
    const char *end = in + len;
    if (!url->path || len <= url->path || len - url->path > PLAIN_MAX || len > COS_URL_MAX ||
        in[url->path] != '/' || memcmp(in, url->href.data, url->path) != 0)
        return 0;
    *query = words_end(in + url->path, end);
    if (*query == end)
        return 1;
    return **query == '?' && run_end(*query + 1, end, COS__URL_QUERY) == end;
}

int cos_url_parse_near(struct cos_url *url, const char *in, size_t len)
{
    const char *query;
    if (!is_near(url, in, len, &query) || cos_buf_reserve(&url->href, len))
        return cos_url_parse(url, in, len, NULL);
    memcpy(url->href.data + url->path, in + url->path, len - url->path);
    url->href.data[len] = 0;
    url->href.len = len;
    url->fragment = (uint32_t)len;
    url->query = (uint32_t)(query - in);
    return 0;
}
