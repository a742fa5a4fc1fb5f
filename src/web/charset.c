/* charset.c - bytes of a known encoding to UTF-8, as the Encoding standard has it.
 *
 * UTF-16 is decoded here and encodings of one byte a character by a table
 * (charset_table.c), both into memory that was counted before: a page that becomes
 * three times as long needs three times its size, not four because a buffer doubled.
 * The others are charset_multi.c's and charset_jis.c's. */
#include "web/charset_int.h"

#include "base/err.h"
#include "web/entity.h"

#include <stdint.h>
#include <string.h>

size_t cos__charset_ascii(const char *data, size_t len)
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

int cos__charset_put(struct cos_buf *out, unsigned long code)
{
    char utf8[4];
    return cos_buf_add(out, utf8, cos_entity_utf8(code, utf8));
}

static size_t utf8_size(unsigned long code)
{
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* One byte a character: counted, then written into room that fits exactly. */
static int decode_single(const char *data, size_t len, const struct cos_encoding *encoding,
                         struct cos_buf *out)
{
    uint16_t table[128];
    size_t size = len;
    char *o;
    int err = cos__charset_table(encoding, table);
    if (err)
        return err;
    for (size_t i = 0; i < len; i++)
        if (data[i] & 0x80)
            size += utf8_size(table[data[i] & 0x7f]) - 1;
    out->max = size;
    err = cos_buf_reserve(out, size);
    if (err)
        return err;
    o = out->data;
    for (size_t i = 0; i < len; i++) {
        if (data[i] & 0x80)
            o += cos_entity_utf8(table[data[i] & 0x7f], o);
        else
            *o++ = data[i];
    }
    out->len = size;
    out->data[size] = 0;
    return 0;
}

static unsigned long unit_at(const char *data, size_t at, int big)
{
    unsigned long a = (unsigned char)data[at], b = (unsigned char)data[at + 1];
    return big ? a << 8 | b : b << 8 | a;
}

/* The character at *at, which is moved behind it. A half at the end takes along
 * the odd byte that follows it. */
static unsigned long utf16_next(const char *data, size_t len, int big, size_t *at)
{
    unsigned long unit, low;
    size_t left = len - *at;
    unit = left < 2 ? 0xdc00 : unit_at(data, *at, big);
    *at += left < 2 ? left : 2;
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    if (unit > 0xdbff || left == 2)
        return 0xfffd;
    if (left == 3) {
        *at = len;
        return 0xfffd;
    }
    low = unit_at(data, *at, big);
    if (low < 0xdc00 || low > 0xdfff)
        return 0xfffd;
    *at += 2;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static int decode_utf16(const char *data, size_t len, int big, struct cos_buf *out)
{
    size_t size = 0;
    char *o;
    int err;
    for (size_t at = 0; at < len;)
        size += utf8_size(utf16_next(data, len, big, &at));
    out->max = size;
    err = cos_buf_reserve(out, size);
    if (err)
        return err;
    o = out->data;
    for (size_t at = 0; at < len;)
        o += cos_entity_utf8(utf16_next(data, len, big, &at), o);
    out->len = size;
    out->data[size] = 0;
    return 0;
}

/* Two bytes become three at most. Only broken text and half-width letters need
 * more, and the buffer grows for them. */
static int decode_multi(const char *data, size_t len, const struct cos_encoding *encoding,
                        struct cos_buf *out)
{
    int err = cos_buf_reserve(out, len + len / 2);
    if (err)
        return err;
    if (encoding->codec == CODEC_ISO_2022_JP)
        return cos__charset_jis(data, len, out);
    return cos__charset_multi(data, len, encoding, out);
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
    case CODEC_SINGLE:
        return decode_single(data, len, encoding, own);
    case CODEC_REPLACEMENT:
        return cos__charset_put(own, 0xfffd);
    default:
        return decode_multi(data, len, encoding, own);
    }
}

static int is_as_it_is(const char *data, size_t len, const struct cos_encoding *encoding)
{
    switch (encoding->codec) {
    case CODEC_UTF8:
        return 1;
    case CODEC_UTF16LE:
    case CODEC_UTF16BE:
    case CODEC_ISO_2022_JP:
    case CODEC_REPLACEMENT:
        return len == 0;
    default:
        return cos__charset_ascii(data, len) == len;
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
