/* charset_int.h - what the files of charset share, and url_query.c; no one else
 * includes it. */
#ifndef COS_WEB_CHARSET_INT_H
#define COS_WEB_CHARSET_INT_H

#include "web/charset.h"

#include <iconv.h>
#include <stdint.h>

enum cos__codec {
    CODEC_UTF8,
    CODEC_UTF16LE,
    CODEC_UTF16BE,
    CODEC_WINDOWS_1252, /* the most common one needs no iconv */
    CODEC_USER_DEFINED,
    CODEC_REPLACEMENT, /* unsafe ones: the whole page is one U+FFFD */
    CODEC_SINGLE,      /* iconv, one byte a character */
    CODEC_SHIFT_JIS,   /* these five: charset_multi.c and iconv, ASCII is ASCII */
    CODEC_EUC_JP,
    CODEC_EUC_KR,
    CODEC_BIG5,
    CODEC_GB18030,
    CODEC_ISO_2022_JP, /* escape sequences change the meaning of ASCII */
};

struct cos_encoding {
    const char *name;
    enum cos__codec codec;
    const char *iconv;  /* NULL when ours */
    const char *query;  /* for cos_url_parse_charset */
    const char *labels; /* separated by one blank */
};

const struct cos_encoding *cos__charset_utf8(void);
/* charset.c: one character in UTF-8, and how many bytes from the start are ASCII. */
int cos__charset_put(struct cos_buf *out, unsigned long code);
size_t cos__charset_ascii(const char *data, size_t len);
/* charset_table.c: the upper half of an encoding of one byte a character; U+FFFD
 * where there is none. 0, COS_ENOMEM or COS_ECHARSET. */
int cos__charset_table(const struct cos_encoding *encoding, uint16_t table[128]);
/* charset_multi.c: bytes to UTF-8, appended. Errors as above. */
int cos__charset_multi(const char *data, size_t len, const struct cos_encoding *encoding,
                       struct cos_buf *out);
/* The bytes of a character for which charset_multi.c does not ask iconv; 2, or 0. */
size_t cos__charset_fixed(const struct cos_encoding *encoding, uint32_t code, uint8_t out[8]);
/* charset_encode.c: from characters to bytes. Closing is right after a failed open. */
struct cos__encoder {
    const struct cos_encoding *encoding;
    uint16_t table[128]; /* one byte a character */
    iconv_t cd;          /* else */
    struct cos_buf back; /* what was read back */
};
int cos__charset_encoder_open(struct cos__encoder *encoder, const struct cos_encoding *encoding);
void cos__charset_encoder_close(struct cos__encoder *encoder);
/* The bytes of a character that is not ASCII: how many, or 0 when the encoding has
 * none for it. ISO-2022-JP gives those of EUC-JP. */
size_t cos__charset_encode(struct cos__encoder *encoder, uint32_t code, uint8_t out[8]);
/* charset_jis.c: ISO-2022-JP to UTF-8, appended. */
int cos__charset_jis(const char *data, size_t len, struct cos_buf *out);
/* charset_sniff.c: the encoding the content names, or NULL. */
const struct cos_encoding *cos__charset_meta(const char *data, size_t len);
const struct cos_encoding *cos__charset_css(const char *data, size_t len);

#endif
