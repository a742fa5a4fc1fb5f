/* charset.h - from a page's bytes to UTF-8: which encoding, then the text.
 *
 * The encoding comes, in this order, from a byte order mark, the HTTP header,
 * the page itself (meta or an XML declaration in the first 1024 bytes, or a meta
 * in the rest of its head; @charset for CSS), else UTF-8. Labels are those of the WHATWG Encoding standard, so
 * "latin1" and "us-ascii" mean windows-1252 and "gb2312" means GBK.
 *
 * Offsets. UTF-8 and pure ASCII pages are not copied: the text is the input, and
 * an offset in it is an offset in the file. Otherwise text.transcoded is set and
 * offsets count in the UTF-8 text, not in the file. Who edits such a page writes
 * the edited UTF-8 text with a byte order mark (EF BB BF) in front: it wins over
 * any meta or header, so the page's own declaration may stay as it is. */
#ifndef COS_WEB_CHARSET_H
#define COS_WEB_CHARSET_H

#include "base/buf.h"

struct cos_encoding; /* one of about 40, static */

enum cos_charset_source {
    COS_CHARSET_DEFAULT,
    COS_CHARSET_BOM,
    COS_CHARSET_HTTP,
    COS_CHARSET_CONTENT,
};

enum cos_charset_of { COS_CHARSET_HTML, COS_CHARSET_CSS };

/* The encoding a label means (any case, blanks around it), or NULL. */
const struct cos_encoding *cos_charset_find(const char *label, size_t len);
/* The standard's name of it, as "UTF-8" or "Shift_JIS". */
const char *cos_charset_name(const struct cos_encoding *encoding);
/* The name to give to cos_url_parse_charset: queries are written in the page's own
 * encoding. "" for UTF-8 and where the standard says so. */
const char *cos_charset_query_name(const struct cos_encoding *encoding);

/* Which encoding the bytes are in; never NULL. http is the charset of the
 * Content-Type header or NULL. *source may be NULL. */
const struct cos_encoding *cos_charset_detect(const char *data, size_t len, const char *http,
                                              enum cos_charset_of of,
                                              enum cos_charset_source *source);

struct cos_text {
    const char *data; /* the input itself, or own's memory */
    size_t len;
    int transcoded; /* data is not the input */
};

/* Gives the bytes as UTF-8. Broken input becomes U+FFFD and is no error; UTF-8
 * is passed on as it is, broken or not. own holds the text if there is a new one;
 * its ceiling is set here, its memory reused. What that takes is the text itself:
 * up to 1.5 times the input for UTF-16 and double bytes, up to three times where
 * one byte becomes three, as in Thai pages and in broken ones. Less is not possible
 * while offsets count in one piece of text.
 * 0, COS_ENOMEM, or COS_ECHARSET when this system's iconv lacks the encoding:
 * then *out is the input as it is, in which ASCII links can still be found. */
int cos_charset_decode(const char *data, size_t len, const struct cos_encoding *encoding,
                       struct cos_buf *own, struct cos_text *out);

#endif
