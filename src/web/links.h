/* links.h - from a fetched page to its links: charset → scan → resolve.
 *
 * Pure apart from reading a spilled body; reentrant: a context belongs to one
 * thread at a time and only saves memory from page to page. */
#ifndef COS_WEB_LINKS_H
#define COS_WEB_LINKS_H

#include "base/page.h"
#include "web/charset.h"
#include "web/scan.h"
#include "web/url.h"

struct cos_links_ctx; /* buffers that are used again for the next page */

/* NULL when out of memory. */
struct cos_links_ctx *cos_links_ctx_new(void);
void cos_links_ctx_free(struct cos_links_ctx *ctx);

/* Fills links, title, canonical and directives of a page that has been fetched.
 * HTML, XHTML and CSS by mime; without a mime the body's first bytes decide;
 * anything else has no links, which is no error.
 *
 * Links are absolute, without fragment, http and https only, in document order;
 * the same URL of the same kind comes once, with nofollow only if every one of
 * them had it. The first base href holds for the whole page, also for links
 * before it. Form actions are there with COS_LINK_FORM. directives also gets
 * what X-Robots-Tag in page->head says.
 *
 * 0; COS_ETOOBIG (more links than a page may have) or COS_ECHARSET (unknown to
 * iconv; ASCII links are there): the page then has what was found; COS_EURL when
 * page->url is none; COS_ENOMEM; for a spilled body the error of reading it. */
int cos_links_extract(struct cos_links_ctx *ctx, struct cos_page *page);

/* cos_links_extract() in two halves, for a parser that runs elsewhere and gives
 * back an outline that the scanner can read (tidy.h). Decode: *text is the page
 * in UTF-8, lent by ctx and page; 1 when it is HTML and has no error, 0 when it
 * is anything else: then it has been read already. COS_ETOOBIG for a spilled
 * body, and the errors of cos_links_extract(). Read: the links of the outline,
 * resolved as those of the page. */
int cos_links_decode(struct cos_links_ctx *ctx, struct cos_page *page, struct cos_text *text);
int cos_links_read(struct cos_links_ctx *ctx, struct cos_page *page, const char *outline,
                   size_t len);

enum cos_links_type { COS_LINKS_NONE, COS_LINKS_HTML, COS_LINKS_XHTML, COS_LINKS_CSS };

/* What links can be expected in: mime (lower case, no parameters) or, when it is
 * NULL, the first bytes. */
enum cos_links_type cos_links_type(const char *mime, const char *data, size_t len);

/* Every finding of a text in document order with the URL it resolves to,
 * fragment kept; findings that are no http or https URL are left out. Duplicates
 * come as often as they are there. This is `coscrawl links`. */
struct cos_links_in {
    const char *data; /* UTF-8: cos_charset_decode */
    size_t len;
    enum cos_links_type type;
    const char *base;                    /* URL of the page, or NULL */
    const struct cos_encoding *encoding; /* for queries; NULL: UTF-8 */
    int bases;                           /* 1: fn is called for every base href, too, url NULL */
};
typedef int (*cos_links_fn)(const struct cos_scan_item *item, const struct cos_url *url, void *arg);
/* 0, what fn returned, COS_EURL when base is no URL, or COS_ENOMEM. */
int cos_links_each(const struct cos_links_in *in, cos_links_fn fn, void *arg);

/* COS_PAGE_NOINDEX … in the content of meta robots ("noindex, follow"). */
int cos_links_directives(const char *value, size_t len);
/* The same in the value of an X-Robots-Tag, where "name:" in front means that
 * only the crawler of that name is meant. */
int cos_links_robots_tag(const char *value, size_t len, const char *agent);

#endif
