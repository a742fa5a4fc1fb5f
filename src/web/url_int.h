/* url_int.h - what the files of url.c share: the table of byte classes, and the
 * writers. A writer gets the place in the output where it goes on, and gives
 * back where it stopped; the caller has reserved three bytes for each byte of
 * input, so no writer checks for room. */
#ifndef COS_WEB_URL_INT_H
#define COS_WEB_URL_INT_H

#include "web/url.h"

/* Classes of a byte: the percent-encode sets of the standard, what a path
 * cannot copy as it is, and what a host cannot. */
enum {
    COS__URL_PATH = 1,  /* encoded in a path */
    COS__URL_QUERY = 2, /* … in the query of http and https */
    COS__URL_FRAGMENT = 4,
    COS__URL_USERINFO = 8,
    COS__URL_PATH_STOP = 16, /* encoded, or / \ ? #: the path loop must look */
    COS__URL_HOST_STOP = 32, /* upper case, %, not ASCII, forbidden: the host loop must look */
    COS__URL_FORBIDDEN = 64, /* forbidden domain code point */
    COS__URL_AUTH_END = 128, /* / \ ? # end an authority */
};

extern const uint8_t cos__url_class[256];

static inline unsigned cos__url_is(char c, unsigned classes)
{
    return cos__url_class[(uint8_t)c] & classes;
}

static inline char *cos__url_put_percent(char *o, uint8_t c)
{
    static const char hex[] = "0123456789ABCDEF";
    o[0] = '%';
    o[1] = hex[c >> 4];
    o[2] = hex[c & 15];
    return o + 3;
}

static inline int cos__url_is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* The value of a hexadecimal digit, or -1. */
int cos__url_hex(char c);

/* How many dots, plain or %2e, the segment [seg, end) consists of: 1, 2, or 0
 * when it is an ordinary name. */
int cos__url_dots(const char *seg, const char *end);

/* Copies in[0..len), percent-encoding the bytes of that class. */
char *cos__url_put(char *o, const char *in, size_t len, unsigned class);
/* The path state: root is where the path's first '/' stands, o the byte after
 * the last '/' written. Reads from *in up to a '?', a '#' or end. */
char *cos__url_put_path(char *root, char *o, const char **in, const char *end);

/* The host parser: appends the serialised host to *href, with room for extra
 * more bytes after it. 0, COS_EURL, COS_ETOOBIG or COS_ENOMEM. */
int cos__url_put_host(struct cos_buf *href, const char *in, size_t len, size_t extra);
/* "[…]" without the brackets. */
int cos__url_put_ipv6(struct cos_buf *href, const char *in, size_t len);
/* 1 when the domain's last label is a number, so that it must be an address. */
int cos__url_ends_in_number(const char *in, size_t len);
int cos__url_put_ipv4(struct cos_buf *href, const char *in, size_t len);
/* One label that is not ASCII, as xn--…; in is UTF-8 without forbidden bytes. */
int cos__url_put_label(struct cos_buf *href, const char *in, size_t len);

/* The query in[0..len) encoded in a character set, appended to *href. 1 when
 * that set means UTF-8 after all and nothing was done. */
int cos__url_put_query_as(struct cos_buf *href, const char *in, size_t len, const char *charset);

#endif
