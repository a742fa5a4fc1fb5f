/* page.h - the one object that travels: frontier → robots → fetch → scan →
 * resolve → store. It has one owner at a time; handing it on hands everything
 * in it on. Fields are grouped by the step that fills them. */
#ifndef COS_BASE_PAGE_H
#define COS_BASE_PAGE_H

#include "base/buf.h"

#include <stdint.h>

/* Where a link was found: decides whether it is followed, counted as a page
 * requisite, or only recorded. */
enum cos_link_kind {
    COS_LINK_A = 1,   /* a, area */
    COS_LINK_LINK,    /* link href: stylesheet, icon, alternate … */
    COS_LINK_IMG,     /* img, srcset, poster, input src */
    COS_LINK_SCRIPT,
    COS_LINK_FRAME,   /* iframe, frame */
    COS_LINK_MEDIA,   /* source, video, audio, track, embed, object */
    COS_LINK_CSS,     /* url() and @import in css */
    COS_LINK_REFRESH, /* meta refresh */
    COS_LINK_FORM,    /* form action: recorded, never followed */
    COS_LINK_CANONICAL,
    COS_LINK_HREFLANG,
    COS_LINK_SITEMAP,
    COS_LINK_REDIRECT,
};

enum { COS_LINK_NOFOLLOW = 1, COS_LINK_REQUISITE = 2 };

struct cos_link {
    uint32_t text;  /* offset of the resolved URL (no fragment, NUL-terminated) in link_text */
    uint32_t len;
    uint8_t kind;   /* enum cos_link_kind */
    uint8_t flags;  /* COS_LINK_NOFOLLOW, COS_LINK_REQUISITE */
};

/* Microseconds; -1 where a phase did not happen. */
struct cos_timing {
    int64_t started_at;  /* wall clock, microseconds since the epoch */
    int64_t queue;       /* in the frontier, ready to go */
    int64_t wait;        /* held back by politeness */
    int64_t name;
    int64_t connect;
    int64_t tls;
    int64_t first_byte;
    int64_t transfer;
    int64_t scan;
    int64_t store;
    int64_t total;       /* request sent to last byte */
    /* of the monotonic clock, when a crawl was asked for phases; else 0 */
    int64_t began;       /* the fetch began */
    int64_t fetched;     /* it ended */
    int64_t digested;    /* scanned and stored */
};

enum { COS_PAGE_NOINDEX = 1, COS_PAGE_NOFOLLOW = 2, COS_PAGE_NOARCHIVE = 4 };

struct cos_wire;

struct cos_page {
    /* set by the frontier */
    char *url;           /* key: WHATWG serialisation without fragment */
    int64_t id;          /* row in the crawl database, 0 when there is none */
    int64_t referrer;    /* id of the page it was first found on, 0 for a seed */
    int depth;
    int tries;
    /* set by fetch */
    int err;             /* 0, or why there is no complete answer */
    char *why;           /* detail for err in plain words, NULL if none */
    int status;          /* HTTP status, 0 when there was no answer */
    struct cos_buf head; /* header lines of the last answer, "Name: value\r\n" each */
    struct cos_buf body; /* decoded; empty when spilled */
    char *spill;         /* file that holds a body too large for memory, or NULL */
    int64_t body_len;    /* decoded bytes, in memory or spilled */
    int64_t wire_len;    /* bytes on the wire, head and body */
    char *mime;          /* lower case, without parameters; NULL when not sent */
    char *charset;       /* as sent in Content-Type; NULL when not sent */
    char *location;      /* redirect target, resolved; NULL when none */
    char *etag;
    char *modified;      /* Last-Modified as sent */
    char remote[64];     /* address that answered */
    int sets_cookie;     /* some answer on the way had Set-Cookie */
    const char *protocol; /* "HTTP/1.1", "h2"; static */
    struct cos_timing timing;
    struct cos_wire *wire; /* the bytes of the exchange, when asked for; else NULL */
    /* set by scan */
    struct cos_link *links;
    size_t nlinks;
    struct cos_buf link_text;
    char *title;
    char *canonical;
    int directives;      /* COS_PAGE_NOINDEX … from meta robots and X-Robots-Tag */
    int lint_errors, lint_warnings; /* what tidy found, plus one; 0: it was not asked */
    /* set by store */
    uint64_t hash[2];    /* content hash of the decoded body */
    char *path;          /* file below the crawl directory, NULL when not saved */
};

/* A page for this URL (copied); NULL when out of memory. cos_page_free ends it. */
struct cos_page *cos_page_new(const char *url);
/* Frees the page and all it holds, and removes its spill file. NULL is fine. */
void cos_page_free(struct cos_page *page);
/* Moves all that page holds into a new page and leaves page empty, but valid;
 * NULL (and nothing moved) when out of memory. */
struct cos_page *cos_page_take(struct cos_page *page);
/* Forgets everything from fetch on, for another try. Keeps url, id, depth, tries,
 * and the memory of the buffers. */
void cos_page_reset(struct cos_page *page);
/* The value of the last header of that name (case-insensitive), trimmed, copied
 * into out; 0, COS_ENOENT, or what cos_buf_add says. */
int cos_page_header(const struct cos_page *page, const char *name, struct cos_buf *out);
/* The URL of link i of page->nlinks, lent as long as the page keeps its links. */
const char *cos_page_link(const struct cos_page *page, size_t i);
/* Appends a link; url (len bytes) is copied. kind and flags as in struct cos_link.
 * 0, COS_ETOOBIG or COS_ENOMEM. */
int cos_page_add_link(struct cos_page *page, const char *url, size_t len, int kind, int flags);

#endif
