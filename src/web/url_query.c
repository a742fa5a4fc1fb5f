/* url_query.c - a query in the character set of its page, as the standard asks:
 * each character becomes its bytes in that set, percent-encoded where needed,
 * and what the set does not have becomes "&#number;", encoded.
 *
 * Only a query with a byte that is not ASCII comes here, so the encoder is opened
 * per call: keeping it would need a cache with an owner, for one link in a thousand. */
#include "config.h"

#include "base/err.h"
#include "web/charset_int.h"
#include "web/url_int.h"

#include <string.h>

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

/* ISO-2022-JP, the only one with a state: kanji between escape sequences. */
static int put_shift(struct cos_buf *href, int *kanji, int want)
{
    if (*kanji == want)
        return 0;
    *kanji = want;
    return put_bytes(href, want ? "\x1b$B" : "\x1b(B", 3);
}

static int put_jis(struct cos_buf *href, const uint8_t *euc, size_t len, int *kanji)
{
    char pair[2];
    int err = put_shift(href, kanji, len == 2 && euc[0] != 0x8e);
    if (err)
        return err;
    if (len != 2)
        return put_bytes(href, (const char *)euc, len);
    pair[0] = (char)(euc[0] & 0x7f);
    pair[1] = (char)(euc[1] & 0x7f);
    return put_bytes(href, pair, 2);
}

static int put_char(struct cos_buf *href, struct cos__encoder *encoder, uint32_t c, int *kanji)
{
    int shifted = encoder->encoding->codec == CODEC_ISO_2022_JP, err;
    uint8_t bytes[8] = {(uint8_t)c};
    size_t len = c < 0x80 ? 1 : cos__charset_encode(encoder, c, bytes);
    if (shifted && len == 2 && bytes[0] == 0x8e)
        len = 0;
    if (len && shifted)
        return put_jis(href, bytes, len, kanji);
    if (len)
        return put_bytes(href, (const char *)bytes, len);
    err = put_shift(href, kanji, 0);
    return err ? err : cos_buf_addf(href, "%%26%%23%u%%3B", (unsigned)c);
}

int cos__url_put_query_as(struct cos_buf *href, const char *in, size_t len, const char *charset)
{
    const struct cos_encoding *encoding = cos_charset_find(charset, strlen(charset));
    struct cos__encoder encoder;
    int err, kanji = 0;
    if (!encoding || !*cos_charset_query_name(encoding))
        return 1;
    err = cos__charset_encoder_open(&encoder, encoding);
    if (err == COS_ECHARSET)
        err = 1;
    while (len && !err) {
        uint32_t c;
        size_t size = read_char((const uint8_t *)in, len, &c);
        in += size;
        len -= size;
        err = put_char(href, &encoder, c, &kanji);
    }
    if (!err)
        err = put_shift(href, &kanji, 0);
    cos__charset_encoder_close(&encoder);
    return err;
}
