/* sitemap.h - the URLs of a sitemap: urlset, index, plain text, RSS and Atom,
 * each also compressed with gzip. Pure: no I/O, no globals; memory is bounded by
 * the ceilings, time is linear. */
#ifndef COS_WEB_SITEMAP_H
#define COS_WEB_SITEMAP_H

#include <stddef.h>

enum cos_sitemap_kind {
    COS_SITEMAP_NONE, /* nothing recognised */
    COS_SITEMAP_URLSET,
    COS_SITEMAP_INDEX, /* its items are sitemaps, not pages */
    COS_SITEMAP_TEXT,
    COS_SITEMAP_RSS,
    COS_SITEMAP_ATOM,
};

/* Zero means the default in brackets. */
struct cos_sitemap_limits {
    size_t urls;  /* most items reported from one file [50,000] */
    size_t bytes; /* most bytes, after decompression [50 MiB] */
    int depth;    /* most indexes above one another [5] */
};

struct cos_sitemap_item {
    enum cos_sitemap_kind kind;
    const char *loc; /* as written, decoded and trimmed; neither checked nor resolved */
    size_t loc_len;
    const char *lastmod; /* as written; "" when there is none */
};

/* What one file held, also when an error ended it early. */
struct cos_sitemap_result {
    enum cos_sitemap_kind kind;
    size_t urls;    /* items reported */
    size_t bad;     /* entries without a usable location */
    size_t bytes;   /* size after decompression */
    size_t err_at;  /* offset of the byte at which parsing stopped, on COS_EPARSE */
};

/* Called for each item in document order; its strings live until it returns.
 * Anything but 0 ends the parse, and cos_sitemap_parse returns it. */
typedef int cos_sitemap_cb(void *arg, const struct cos_sitemap_item *item);

/* Reads one sitemap. level: how many indexes lead to this file, 0 for one named
 * in robots.txt. limits and result may be NULL. Items found before an error have
 * been reported. Returns 0; COS_ETOOBIG past a ceiling (an index at the deepest
 * level reports none); COS_EPARSE for what is no sitemap or ends in mid-tag;
 * COS_EENCODING for broken gzip; COS_ECHARSET for UTF-16; COS_ENOMEM. */
int cos_sitemap_parse(const char *data, size_t len, int level,
                      const struct cos_sitemap_limits *limits, cos_sitemap_cb *cb, void *arg,
                      struct cos_sitemap_result *result);

#endif
