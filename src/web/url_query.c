/* url_query.c - a query in the character set of its page, as the standard asks:
 * each character becomes its bytes in that set, percent-encoded where needed,
 * and what the set does not have becomes "&#number;", encoded.
 *
 * Only a query with a byte that is not ASCII comes here, so iconv is opened per
 * call: keeping it would need a cache with an owner, for one link in a thousand. */
#include "config.h"

#include "base/err.h"
#include "web/url_int.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

/* The standard reads these labels as supersets, iconv does not. An empty name
 * stands for UTF-8: the standard writes no other Unicode form into a URL. */
static const char *iconv_name(const char *charset)
{
    static const char *const names[][2] = {
        {"utf-8", ""}, {"utf8", ""}, {"utf-16", ""}, {"utf-16le", ""}, {"utf-16be", ""},
        {"utf-7", ""}, {"replacement", ""}, {"iso-8859-1", "CP1252"}, {"latin1", "CP1252"},
        {"us-ascii", "CP1252"}, {"ascii", "CP1252"}, {"windows-1252", "CP1252"},
        {"iso-8859-9", "CP1254"}, {"latin5", "CP1254"}, {"iso-8859-11", "CP874"},
        {"tis-620", "CP874"}, {"shift_jis", "CP932"}, {"shift-jis", "CP932"}, {"sjis", "CP932"},
        {"x-sjis", "CP932"}, {"windows-31j", "CP932"}, {"euc-kr", "CP949"}, {"ks_c_5601-1987", "CP949"},
        {"ksc5601", "CP949"}, {"gb2312", "GBK"}, {"gb_2312-80", "GBK"}, {"x-gbk", "GBK"},
        {"big5", "BIG5-HKSCS"}, {"x-x-big5", "BIG5-HKSCS"}, {"iso-8859-8-i", "ISO-8859-8"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcasecmp(charset, names[i][0]))
            return names[i][1];
    return charset;
}

static int put_bytes(struct cos_buf *href, const char *in, size_t len)
{
    int err = cos_buf_reserve(href, 3 * len);
    if (err)
        return err;
    href->len = (size_t)(cos__url_put(href->data + href->len, in, len, COS__URL_QUERY) - href->data);
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
