/* url.h - URLs after the WHATWG URL standard, for http and https.
 * Pure functions: no I/O, no globals, bounded by COS_URL_MAX. */
#ifndef COS_WEB_URL_H
#define COS_WEB_URL_H

#include "base/buf.h"

#include <stdint.h>

/* Longest reference taken and longest URL given, in bytes. */
enum { COS_URL_MAX = 65536 };

/* A parsed URL: its serialisation and where the parts are in it. Reuse one
 * struct for many parses: its memory stays, and a parse into a warm struct
 * allocates nothing. Offsets index href.data.
 *   https://user:pw@host:8080/path?query#frag
 *   scheme ends at ':' (scheme_end); an absent part is empty. */
struct cos_url {
    struct cos_buf href;
    struct cos_buf scratch; /* private: the input without tabs and newlines */
    uint32_t scheme_end;    /* offset of ':' */
    uint32_t user, user_end;
    uint32_t pass, pass_end;
    uint32_t host, host_end;
    uint32_t path;     /* offset of the first '/' */
    uint32_t query;    /* offset of '?', or = fragment when there is none */
    uint32_t fragment; /* offset of '#', or href.len when there is none */
    uint16_t port;     /* effective: 80 or 443 when not written */
    uint8_t has_port;  /* a non-default port is written */
    uint8_t is_https;
};

void cos_url_init(struct cos_url *url);
void cos_url_release(struct cos_url *url);

/* Parses in[0..len) against base (NULL: none) into *out. 0; COS_EURL when the
 * standard says failure; COS_ESCHEME when the result is neither http nor https;
 * COS_ETOOBIG, COS_ENOMEM. out may not be base. On failure *out is empty. Bytes
 * that are not UTF-8 are percent-encoded as they are, and refused in a host. */
int cos_url_parse(struct cos_url *out, const char *in, size_t len, const struct cos_url *base);
/* The same with the page's character set for the query ("" or NULL: UTF-8). The
 * reference itself is UTF-8. A label that is none counts as UTF-8. */
int cos_url_parse_charset(struct cos_url *out, const char *in, size_t len,
                          const struct cos_url *base, const char *charset);
/* Parses the absolute URL in[0..len) into *url, quickly when it has the origin of
 * the one that is there: a crawl parses thousands of one host. Errors as above. */
int cos_url_parse_near(struct cos_url *url, const char *in, size_t len);
/* Copies src to dst, which keeps its memory. dst may not be src. */
int cos_url_copy(struct cos_url *dst, const struct cos_url *src);
/* Cuts the fragment off: what remains is the key of the URL. */
void cos_url_drop_fragment(struct cos_url *url);
/* 1 when both name the same host, whatever the scheme and the port. */
int cos_url_same_host(const struct cos_url *a, const struct cos_url *b);

/* Optional canonicalisers, off by default; flags are or-ed.
 *   SORT_QUERY     parameters by their bytes, equal ones in their old order
 *   DROP_TRACKING  utm_*, click and session ids in the query, ;jsessionid= in the path
 *   STRIP_WWW      www.example.org becomes example.org (never www.org)
 * 0, or COS_ENOMEM and the URL is as it was. */
enum { COS_CANON_SORT_QUERY = 1, COS_CANON_DROP_TRACKING = 2, COS_CANON_STRIP_WWW = 4 };
int cos_url_canonicalise(struct cos_url *url, unsigned flags);

#endif
