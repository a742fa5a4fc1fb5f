/* scan.h - what a page refers to, found without building a tree.
 *
 * bytes → (element, attribute, value, offsets): an HTML tokenizer after the
 * states of the WHATWG standard, a CSS scanner, and the small languages inside
 * attribute values (srcset, meta refresh, style). Pure functions: no I/O, no
 * globals, time linear in the input, memory at most the longest attribute
 * value. They never fail on any bytes; they expect UTF-8 (charset.h makes it)
 * and do no harm with anything else.
 *
 * Nothing is resolved here and no scheme is judged: "mailto:x" is reported as
 * written. links.h turns the findings into the links of a page. */
#ifndef COS_WEB_SCAN_H
#define COS_WEB_SCAN_H

#include "base/buf.h"
#include "base/page.h"

enum cos_scan_kind {
    COS_SCAN_URL = 1, /* item.link says where: COS_LINK_A, COS_LINK_CSS … */
    COS_SCAN_BASE,    /* base href; every one is reported, the first one counts */
    COS_SCAN_TITLE,   /* the text of a title element, white space as written */
    COS_SCAN_ROBOTS,  /* the content of meta name=robots, or name=coscrawl */
    COS_SCAN_ID,      /* a fragment's target: id of any element, name of an a */
};

/* item.flags */
enum {
    COS_SCAN_NOFOLLOW = 1,  /* rel=nofollow (= COS_LINK_NOFOLLOW) */
    COS_SCAN_REQUISITE = 2, /* needed to show the page (= COS_LINK_REQUISITE) */
    COS_SCAN_IN_ATTR = 4,   /* raw sits in an attribute value */
    COS_SCAN_IN_CSS = 8,    /* raw sits in CSS, perhaps inside an attribute */
    COS_SCAN_HINT = 16,     /* names an origin, not a document: rel=preconnect, dns-prefetch */
    COS_SCAN_TRUNCATED = 32 /* value is cut at COS_SCAN_VALUE_MAX: no URL is that long */
};

enum { COS_SCAN_VALUE_MAX = 1 << 20 };

/* One finding. Everything is lent until the callback returns, except raw,
 * which points into the input. */
struct cos_scan_item {
    enum cos_scan_kind kind;
    enum cos_link_kind link; /* for COS_SCAN_URL, else 0 */
    unsigned flags;
    const char *element;   /* lower case; "css" for a CSS file */
    const char *attribute; /* lower case; "url()" or "@import" in a CSS text, "" in a title */
    size_t offset;         /* of raw in the input */
    size_t tag;            /* of the name of its tag, for the value of an attribute; else 0 */
    const char *raw;       /* as written: what an editor replaces */
    size_t raw_len;
    const char *value; /* character references and CSS escapes resolved; not NUL-terminated */
    size_t len;
    char quote;     /* round the attribute value: '"', '\'', or 0 (unquoted, or no attribute) */
    char css_quote; /* round the URL inside CSS, or 0 */
};

/* 0 goes on; anything else ends the scan and is its result. */
typedef int (*cos_scan_fn)(const struct cos_scan_item *item, void *arg);

/* for cos_scan_html */
enum {
    COS_SCAN_XHTML = 1, /* an XML page: <title/> is empty, <![CDATA[ is text everywhere */
    COS_SCAN_IDS = 2,   /* report COS_SCAN_ID too */
};

/* Calls fn for each finding in document order: offsets ascend, and raw texts do
 * not overlap. Replacing raw by another URL, encoded for where it stands, gives
 * a page with the same findings. Two cautions: an empty raw cannot be replaced,
 * since the attribute may have been written without '='; and where a letter or
 * digit stands right before raw it may end a reference that lacks its ';', so
 * what replaces raw must not begin with one ("./x" does not). 0, what fn returned, or
 * COS_ENOMEM. A tag that the input ends in is no tag, as the standard says. */
int cos_scan_html(const char *data, size_t len, unsigned options, cos_scan_fn fn, void *arg);
/* The same for a style sheet. */
int cos_scan_css(const char *data, size_t len, cos_scan_fn fn, void *arg);

/* The candidates of a srcset value, left to right: gives 1 and the URL's place
 * in value, or 0 at the end. *at starts at 0. Descriptors are not judged: a
 * browser drops a candidate with a bad one, a mirror had better have it. */
int cos_scan_srcset(const char *value, size_t len, size_t *at, size_t *url, size_t *url_len);
/* The URL of a meta refresh ("5; url=x"): 1 and its place, 0 when the value is
 * no refresh or names no URL. */
int cos_scan_refresh(const char *value, size_t len, size_t *url, size_t *url_len);
/* Whether the space-separated words of list hold word, in any letter case. */
int cos_scan_has_word(const char *list, size_t len, const char *word);

#endif
