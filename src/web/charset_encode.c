/* charset_encode.c - one character in an encoding, for the query of a URL. Called
 * by url_query.c; calls charset_table.c, charset_multi.c and iconv.
 *
 * A character is in an encoding when the bytes that iconv gives are read back as
 * that character. iconv also gives bytes for what only looks alike, and browsers
 * then write a number instead; reading back finds these out without a list. */
#include "web/charset_int.h"

#include "base/err.h"
#include "web/entity.h"

#include <errno.h>
#include <string.h>

int cos__charset_encoder_open(struct cos__encoder *encoder, const struct cos_encoding *encoding)
{
    *encoder = (struct cos__encoder){.encoding = encoding, .cd = (iconv_t)-1};
    cos_buf_init(&encoder->back, 64);
    if (encoding->codec < CODEC_SHIFT_JIS)
        return cos__charset_table(encoding, encoder->table);
    encoder->cd = iconv_open(encoding->iconv, "UTF-8");
    if (encoder->cd == (iconv_t)-1)
        return errno == ENOMEM ? COS_ENOMEM : COS_ECHARSET;
    return 0;
}

void cos__charset_encoder_close(struct cos__encoder *encoder)
{
    if (encoder->cd != (iconv_t)-1)
        iconv_close(encoder->cd);
    cos_buf_release(&encoder->back);
}

static size_t ask(struct cos__encoder *encoder, uint32_t code, uint8_t out[8])
{
    char utf8[4], *from = utf8, *to = (char *)out;
    size_t left = cos_entity_utf8(code, utf8), room = 8;
    if (iconv(encoder->cd, &from, &left, &to, &room) == (size_t)-1) {
        iconv(encoder->cd, NULL, NULL, NULL, NULL);
        return 0;
    }
    return 8 - room;
}

static unsigned place(unsigned lead, unsigned trail)
{
    return lead * 188 + trail - (trail > 0x7f ? 0x41 : 0x40);
}

/* IBM's kanji stand twice in Shift_JIS, in the same order; EUC-JP has only NEC's
 * place for them. */
static void to_nec(uint8_t pair[2])
{
    unsigned at = place(pair[0], pair[1]), ibm = place(0xfa, 0x5c), trail;
    if (at < ibm)
        return;
    at += place(0xed, 0x40) - ibm;
    trail = at % 188 + 0x40;
    pair[0] = (uint8_t)(at / 188);
    pair[1] = (uint8_t)(trail < 0x7f ? trail : trail + 1);
}

/* Shift_JIS to EUC-JP; 0 when it has no place there. */
static size_t to_euc_jp(uint8_t bytes[8], size_t len)
{
    unsigned lead, trail;
    if (len == 1 && bytes[0] < 0x80)
        return 1;
    if (len == 1) {
        bytes[1] = bytes[0];
        bytes[0] = 0x8e;
        return 2;
    }
    to_nec(bytes);
    if (len != 2 || bytes[0] > 0xef)
        return 0;
    lead = (bytes[0] - (bytes[0] > 0x9f ? 0xc1u : 0x81u)) * 2;
    trail = place(0, bytes[1]);
    bytes[0] = (uint8_t)(0xa1 + lead + trail / 94);
    bytes[1] = (uint8_t)(0xa1 + trail % 94);
    return 2;
}

/* What the standard says beside its tables; 0: not in the encoding. */
static size_t limit(const struct cos__encoder *encoder, uint8_t bytes[8], size_t len)
{
    switch (encoder->encoding->codec) {
    case CODEC_SHIFT_JIS: /* F040 … F9FC are read as private characters, but not written */
        return len == 2 && bytes[0] >= 0xf0 && bytes[0] <= 0xf9 ? 0 : len;
    case CODEC_EUC_JP:
    case CODEC_ISO_2022_JP:
        return to_euc_jp(bytes, len);
    case CODEC_BIG5:
        return bytes[0] < 0xa1 ? 0 : len;
    default: /* GBK has no characters of four bytes */
        return len == 4 && strcmp(encoder->encoding->name, "GBK") == 0 ? 0 : len;
    }
}

static int reads_back(struct cos__encoder *encoder, uint32_t code, const uint8_t *bytes, size_t len)
{
    const struct cos_encoding *encoding = encoder->encoding;
    char utf8[4];
    size_t size = cos_entity_utf8(code, utf8);
    if (encoding->codec == CODEC_ISO_2022_JP)
        encoding = cos_charset_find("euc-jp", 6);
    cos_buf_clear(&encoder->back);
    return !cos__charset_multi((const char *)bytes, len, encoding, &encoder->back) &&
           encoder->back.len == size && !memcmp(encoder->back.data, utf8, size);
}

static size_t encode_single(const struct cos__encoder *encoder, uint32_t code, uint8_t out[8])
{
    for (unsigned i = 0; i < 128 && code != 0xfffd; i++)
        if (encoder->table[i] == code) {
            out[0] = (uint8_t)(128 + i);
            return 1;
        }
    return 0;
}

/* The yen sign and the overline have the places of '\' and '~' in Japan; the
 * minus sign is written as the wide hyphen. */
static uint32_t in_japan(enum cos__codec codec, uint32_t code)
{
    if (codec != CODEC_SHIFT_JIS && codec != CODEC_EUC_JP && codec != CODEC_ISO_2022_JP)
        return code;
    if (code == 0x2212)
        return 0xff0d;
    if (codec == CODEC_ISO_2022_JP)
        return code;
    return code == 0xa5 ? '\\' : code == 0x203e ? '~' : code;
}

size_t cos__charset_encode(struct cos__encoder *encoder, uint32_t code, uint8_t out[8])
{
    size_t len;
    if (encoder->encoding->codec < CODEC_SHIFT_JIS)
        return encode_single(encoder, code, out);
    if (code == 0x20ac && strcmp(encoder->encoding->name, "GBK") == 0) {
        out[0] = 0x80;
        return 1;
    }
    code = in_japan(encoder->encoding->codec, code);
    if (code < 0x80 || (code == 0x80 && encoder->encoding->codec == CODEC_SHIFT_JIS)) {
        out[0] = (uint8_t)code;
        return 1;
    }
    len = ask(encoder, code, out);
    if (len)
        len = limit(encoder, out, len);
    if (len && reads_back(encoder, code, out, len))
        return len;
    return cos__charset_fixed(encoder->encoding, code, out);
}
