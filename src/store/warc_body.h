/* warc_body.h - the body of an HTTP answer as archives keep it, byte for byte,
 * and the way back to what a reader of the page sees: chunks off, compression
 * off. Works on pieces of any size, so a body need not be in memory. May call
 * base and zlib. */
#ifndef COS_STORE_WARC_BODY_H
#define COS_STORE_WARC_BODY_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Takes the bytes; not 0 stops, and is what the feeding call returns. */
typedef int (*cos_body_sink)(void *arg, const void *data, size_t len);

struct cos_body;

/* What to take off. */
enum { COS_BODY_CHUNKS = 1, COS_BODY_CODING = 2 };

/* For an answer with this head (from the status line on). flags says what to
 * take off if the head speaks of it. COS_EENCODING: a coding that cannot be
 * taken off, its name in *why; COS_ENOMEM. */
int cos_body_new(struct cos_body **out, const char *head, size_t head_len, int flags,
                 cos_body_sink sink, void *arg, struct cos_buf *why);
/* The next bytes of it. 0, COS_EENCODING when they cannot be decoded, or what
 * the sink returned. */
int cos_body_feed(struct cos_body *body, const void *data, size_t len);
/* Bytes after the chunks were taken off, and whether compression was. */
int64_t cos_body_wire(const struct cos_body *body);
int cos_body_coded(const struct cos_body *body);
/* No more will come: what was held back to look at goes out. */
int cos_body_end(struct cos_body *body);
void cos_body_free(struct cos_body *body);

/* Length of the head with its empty line; 0 when it does not end. */
size_t cos_body_head_len(const char *block, size_t len);
/* The value of the last header line of that name, trimmed: its length, and *at
 * is where it begins; -1 when there is none. */
int cos_body_header(const char *head, size_t len, const char *name, const char **at);

#endif
