/* charset.c - bytes of a known encoding to UTF-8.
 *
 * windows-1252 (which most labels of old pages mean) and UTF-16 are decoded
 * here: they are a few lines each, and a system may lack iconv's modules. The
 * rest is iconv's. After an error one byte is skipped, never more: the '<' that
 * follows a broken double-byte character must stay a '<'. */
#include "web/charset_int.h"

#include "base/err.h"
#include "web/entity.h"

#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <string.h>

/* 0x80 … 0x9f in windows-1252; the five holes are the C1 controls. */
static const uint16_t windows_1252[32] = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008d, 0x017d, 0x008f, 0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178,
};

/* How many bytes from the start are ASCII. */
static size_t ascii_run(const char *data, size_t len)
{
    size_t at = 0;
    uint64_t word;
    for (; at + 8 <= len; at += 8) {
        memcpy(&word, data + at, 8);
        if (word & 0x8080808080808080)
            break;
    }
    while (at < len && !(data[at] & 0x80))
        at++;
    return at;
}

static int put_code(struct cos_buf *out, unsigned long cp)
{
    char utf8[4];
    return cos_buf_add(out, utf8, cos_entity_utf8(cp, utf8));
}

static int decode_own_single(const char *data, size_t len, enum cos__codec codec,
                             struct cos_buf *out)
{
    size_t at = 0, run;
    int err = 0;
    while (at < len && !err) {
        unsigned byte;
        run = ascii_run(data + at, len - at);
        err = cos_buf_add(out, data + at, run);
        at += run;
        if (err || at == len)
            break;
        byte = (unsigned char)data[at++];
        if (codec == CODEC_USER_DEFINED)
            err = put_code(out, 0xf700 + byte);
        else
            err = put_code(out, byte < 0xa0 ? windows_1252[byte - 0x80] : byte);
    }
    return err;
}

static unsigned long unit_at(const char *data, size_t at, int big)
{
    unsigned long a = (unsigned char)data[at], b = (unsigned char)data[at + 1];
    return big ? a << 8 | b : b << 8 | a;
}

static int decode_utf16(const char *data, size_t len, int big, struct cos_buf *out)
{
    size_t at = 0;
    int err = 0;
    while (at + 2 <= len && !err) {
        unsigned long unit = unit_at(data, at, big), low;
        at += 2;
        if (unit >= 0xd800 && unit <= 0xdbff && at + 2 <= len) {
            low = unit_at(data, at, big);
            if (low >= 0xdc00 && low <= 0xdfff) {
                at += 2;
                unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        err = put_code(out, unit >= 0xd800 && unit <= 0xdfff ? 0xfffd : unit);
    }
    if (!err && at < len)
        err = put_code(out, 0xfffd);
    return err;
}

/* What the standard puts for a byte that iconv refuses. */
static unsigned long mend(const struct cos_encoding *encoding, unsigned char byte)
{
    int hole = encoding->codec == CODEC_SINGLE && byte >= 0x80 && byte <= 0x9f;
    return hole ? byte : 0xfffd;
}

/* Some single-byte codecs hold a letter back to join it with an accent. */
static int flush(iconv_t cd, struct cos_buf *out)
{
    char piece[16], *to = piece;
    size_t room = sizeof piece;
    iconv(cd, NULL, NULL, &to, &room);
    return cos_buf_add(out, piece, (size_t)(to - piece));
}

static int decode_iconv(const char *data, size_t len, const struct cos_encoding *encoding,
                        struct cos_buf *out)
{
    char *in = (char *)(uintptr_t)data;
    iconv_t cd = iconv_open("UTF-8", encoding->iconv);
    int err = 0;
    if (cd == (iconv_t)-1)
        return errno == ENOMEM ? COS_ENOMEM : COS_ECHARSET;
    while (len && !err) {
        char piece[4096], *to = piece;
        size_t room = sizeof piece, rc;
        int why;
        rc = iconv(cd, &in, &len, &to, &room);
        why = errno;
        err = cos_buf_add(out, piece, (size_t)(to - piece));
        if (err || rc != (size_t)-1 || why == E2BIG)
            continue;
        if (encoding->codec == CODEC_SINGLE)
            err = flush(cd, out);
        if (!err)
            err = put_code(out, mend(encoding, (unsigned char)*in));
        in++;
        len--;
    }
    if (!err)
        err = flush(cd, out);
    iconv_close(cd);
    return err;
}

static int decode(const char *data, size_t len, const struct cos_encoding *encoding,
                  struct cos_buf *own)
{
    switch (encoding->codec) {
    case CODEC_UTF16LE:
    case CODEC_UTF16BE:
        return decode_utf16(data, len, encoding->codec == CODEC_UTF16BE, own);
    case CODEC_WINDOWS_1252:
    case CODEC_USER_DEFINED:
        return decode_own_single(data, len, encoding->codec, own);
    case CODEC_REPLACEMENT:
        return put_code(own, 0xfffd);
    default:
        return decode_iconv(data, len, encoding, own);
    }
}

static int is_as_it_is(const char *data, size_t len, const struct cos_encoding *encoding)
{
    switch (encoding->codec) {
    case CODEC_UTF8:
        return 1;
    case CODEC_WINDOWS_1252:
    case CODEC_USER_DEFINED:
    case CODEC_SINGLE:
    case CODEC_MULTI:
        return ascii_run(data, len) == len;
    default:
        return len == 0;
    }
}

int cos_charset_decode(const char *data, size_t len, const struct cos_encoding *encoding,
                       struct cos_buf *own, struct cos_text *out)
{
    int err;
    *out = (struct cos_text){.data = data, .len = len};
    if (is_as_it_is(data, len, encoding))
        return 0;
    cos_buf_clear(own);
    own->max = 3 * len + 3;
    err = decode(data, len, encoding, own);
    if (err)
        return err;
    *out = (struct cos_text){.data = own->data ? own->data : "", .len = own->len, .transcoded = 1};
    return 0;
}
