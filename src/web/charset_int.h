/* charset_int.h - what the files of charset share; no one else includes it. */
#ifndef COS_WEB_CHARSET_INT_H
#define COS_WEB_CHARSET_INT_H

#include "web/charset.h"

enum cos__codec {
    CODEC_UTF8,
    CODEC_UTF16LE,
    CODEC_UTF16BE,
    CODEC_WINDOWS_1252, /* ours: the most common one needs no iconv */
    CODEC_USER_DEFINED,
    CODEC_REPLACEMENT, /* unsafe ones: the whole page is one U+FFFD */
    CODEC_SINGLE,      /* iconv, one byte a character */
    CODEC_MULTI,       /* iconv, ASCII is ASCII */
    CODEC_SHIFTED,     /* iconv, escape sequences change the meaning of ASCII */
};

struct cos_encoding {
    const char *name;
    enum cos__codec codec;
    const char *iconv;  /* NULL when ours */
    const char *query;  /* for cos_url_parse_charset */
    const char *labels; /* separated by one blank */
};

const struct cos_encoding *cos__charset_utf8(void);
/* charset_sniff.c: the encoding the content names, or NULL. */
const struct cos_encoding *cos__charset_meta(const char *data, size_t len);
const struct cos_encoding *cos__charset_css(const char *data, size_t len);

#endif
