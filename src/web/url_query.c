/* url_query.c - a query in the character set of its page, as the standard asks:
 * each character becomes its bytes in that set, percent-encoded where needed,
 * and what the set does not have becomes "&#number;", encoded.
 *
 * Only a query with a byte that is not ASCII comes here, so iconv is opened per
 * call: keeping it would need a cache with an owner, for one link in a thousand. */
#include "config.h"

#include "web/charset.h"
#include "web/url_int.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>

/* iconv's name for the set, "" for UTF-8: the standard writes no other Unicode
 * form into a URL. A name that is no label may still be iconv's own. */
static const char *iconv_name(const char *charset)
{
    const struct cos_encoding *encoding = cos_charset_find(charset, strlen(charset));
    return encoding ? cos_charset_query_name(encoding) : charset;
}

static int put_bytes(struct cos_buf *href, const char *in, size_t len)
{
    int err = cos_buf_reserve(href, 3 * len);
    if (err)
        return err;
    href->len =
        (size_t)(cos__url_put(href->data + href->len, in, len, COS__URL_QUERY) - href->data);
    return 0;
}

/* Bytes of the character at u, at most left; *c its code point. Broken UTF-8
 * gives one byte and U+FFFD. */
static size_t read_char(const uint8_t *u, size_t left, uint32_t *c)
{
    size_t n = u[0] < 0x80 ? 1 : u[0] < 0xC2 ? 0 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    *c = 0xFFFD;
    if (!n || n > left || u[0] > 0xF4)
        return 1;
    if (n == 1) {
        *c = u[0];
        return 1;
    }
    uint32_t value = u[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (u[i] & 0x3F);
    }
    *c = value;
    return n;
}

/* Writes what iconv would, to leave a shifted state before plain ASCII. */
static int put_reset(struct cos_buf *href, iconv_t cd)
{
    char bytes[16], *out = bytes;
    size_t left = sizeof bytes;
    if (iconv(cd, NULL, NULL, &out, &left) == (size_t)-1)
        return 0;
    return put_bytes(href, bytes, (size_t)(out - bytes));
}

static int put_unknown(struct cos_buf *href, iconv_t cd, uint32_t c)
{
    int err = put_reset(href, cd);
    return err ? err : cos_buf_addf(href, "%%26%%23%u%%3B", (unsigned)c);
}

/* Converts up to the first character that the set does not have; moves *in. */
static int put_known(struct cos_buf *href, iconv_t cd, char **in, size_t *left)
{
    while (*left) {
        char bytes[256], *out = bytes;
        size_t room = sizeof bytes;
        size_t rc = iconv(cd, in, left, &out, &room);
        int why = errno;
        int err = put_bytes(href, bytes, (size_t)(out - bytes));
        if (err)
            return err;
        if (rc == (size_t)-1 && why != E2BIG)
            break;
    }
    return 0;
}

int cos__url_put_query_as(struct cos_buf *href, const char *in, size_t len, const char *charset)
{
    const char *name = iconv_name(charset);
    char *p = (char *)(uintptr_t)in;
    iconv_t cd;
    int err = 0;
    if (!*name)
        return 1;
    cd = iconv_open(name, "UTF-8");
    if (cd == (iconv_t)-1)
        return 1;
    while (len && !err) {
        uint32_t c;
        size_t size;
        err = put_known(href, cd, &p, &len);
        if (err || !len)
            break;
        size = read_char((const uint8_t *)p, len, &c);
        p += size;
        len -= size;
        err = put_unknown(href, cd, c);
    }
    if (!err)
        err = put_reset(href, cd);
    iconv_close(cd);
    return err;
}
