/* rewrite.h - a page or style sheet with other references: a copy with edits at
 * the offsets that the scanner reports. Everything else stays as it was written,
 * byte for byte. Pure; for offload threads. */
#ifndef COS_WEB_REWRITE_H
#define COS_WEB_REWRITE_H

#include "base/buf.h"
#include "web/url.h"

struct cos_rewrite {
    const char *data; /* as it was fetched */
    size_t len;
    const char *mime;    /* lower case, no parameters; NULL: the first bytes decide */
    const char *charset; /* as sent with it, or NULL */
    const char *url;     /* of the page */
};

/* What to write for a reference that means url (its fragment is kept, and not to
 * be written): 1 and the text in *out, which is empty; 2 when this is the name of a
 * file, so that crossorigin and integrity go from the tag; 0 to leave it as it is;
 * or an error, which ends the work. */
typedef int (*cos_rewrite_fn)(void *arg, const struct cos_url *url, struct cos_buf *out);

/* Replaces *out by the edited page. References that are no http or https URL, and
 * those to a place in the page itself ("#x"), stay; a base href is emptied, since
 * the new references count from the file. A text that was not UTF-8, or whose
 * character set only the server told, is written as UTF-8 with a byte order mark.
 *
 * 1: *out differs from the input; 0: it would not, and *out is empty; COS_ECHARSET
 * when the text cannot be decoded, COS_EURL, COS_ETOOBIG, COS_ENOMEM, or what fn
 * returned. */
int cos_rewrite(const struct cos_rewrite *in, cos_rewrite_fn fn, void *arg, struct cos_buf *out);

#endif
