/* url_host.c - the host parser: domain, IPv4 or IPv6. Calls url_ip.c, url_idn.c.
 *
 * Almost every host is lower-case ASCII: one pass copies it and looks for
 * anything else. The slow way percent-decodes into a buffer of its own and goes
 * label by label, so that ASCII labels never meet libidn2, whose rules for
 * hyphens and lengths are stricter than the standard's; xn-- labels that came
 * as ASCII stay as written, as browsers do. */
#include "config.h"

#include "base/err.h"
#include "web/url_int.h"

#include <string.h>

/* Copies in[0..len) lower-cased. 1 when a byte needs the slow way. */
static int put_plain(char *o, const char *in, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = in[i];
        if (cos__url_is(c, COS__URL_HOST_STOP)) {
            if ((unsigned)(c - 'A') >= 26)
                return 1;
            c |= 0x20;
        }
        o[i] = c;
    }
    return 0;
}

/* Appends in[0..len) percent-decoded. */
static int decode(struct cos_buf *out, const char *in, size_t len)
{
    int err = cos_buf_reserve(out, len);
    if (err)
        return err;
    for (size_t i = 0; i < len; i++) {
        char c = in[i];
        int high, low;
        if (c == '%' && len - i > 2 && (high = cos__url_hex(in[i + 1])) >= 0 &&
            (low = cos__url_hex(in[i + 2])) >= 0) {
            c = (char)(high * 16 + low);
            i += 2;
        }
        out->data[out->len++] = c;
    }
    out->data[out->len] = 0;
    return 0;
}

static int has_forbidden(const char *in, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (cos__url_is(in[i], COS__URL_FORBIDDEN))
            return 1;
    return 0;
}

/* Bytes of a full stop at s: '.', or the three that UTS 46 maps to it. */
static size_t stop_at(const char *s, const char *end)
{
    if (*s == '.')
        return 1;
    if (end - s < 3)
        return 0;
    return !memcmp(s, "\xE3\x80\x82", 3) || !memcmp(s, "\xEF\xBC\x8E", 3) ||
                   !memcmp(s, "\xEF\xBD\xA1", 3)
               ? 3
               : 0;
}

static int put_label(struct cos_buf *href, const char *in, size_t len)
{
    int err = cos_buf_reserve(href, len);
    if (err)
        return err;
    if (put_plain(href->data + href->len, in, len))
        return cos__url_put_label(href, in, len);
    href->len += len;
    return 0;
}

/* Each label of the decoded domain, in ASCII. */
static int put_labels(struct cos_buf *href, const char *in, size_t len)
{
    const char *end = in + len, *label = in;
    int err = 0;
    for (const char *s = in; s < end && !err; s++) {
        size_t stop = stop_at(s, end);
        if (!stop)
            continue;
        err = put_label(href, label, (size_t)(s - label));
        if (!err)
            err = cos_buf_addc(href, '.');
        label = s + stop;
        s = label - 1;
    }
    return err ? err : put_label(href, label, (size_t)(end - label));
}

static int put_slow(struct cos_buf *href, const char *in, size_t len)
{
    struct cos_buf domain;
    size_t start = href->len;
    int err;
    cos_buf_init(&domain, COS_URL_MAX);
    err = decode(&domain, in, len);
    if (!err && has_forbidden(domain.data, domain.len))
        err = COS_EURL;
    if (!err)
        err = put_labels(href, domain.data, domain.len);
    /* Mapping can make a forbidden character, as in U+FF05 to %, or nothing. */
    if (!err && (href->len == start || has_forbidden(href->data + start, href->len - start)))
        err = COS_EURL;
    cos_buf_release(&domain);
    return err;
}

/* The domain at [start, href->len) may be an address after all. */
static int as_address(struct cos_buf *href, size_t start)
{
    char *host = href->data + start;
    size_t len = href->len - start;
    if (!cos__url_ends_in_number(host, len))
        return 0;
    href->len = start;
    return cos__url_put_ipv4(href, host, len);
}

int cos__url_put_host(struct cos_buf *href, const char *in, size_t len, size_t extra)
{
    size_t start = href->len;
    int err;
    if (in[0] == '[') {
        if (in[len - 1] != ']')
            return COS_EURL;
        return cos__url_put_ipv6(href, in + 1, len - 2);
    }
    if (put_plain(href->data + start, in, len)) {
        err = put_slow(href, in, len);
        if (!err)
            err = cos_buf_reserve(href, extra);
        if (err)
            return err;
    } else {
        href->len += len;
    }
    return as_address(href, start);
}
