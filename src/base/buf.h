/* buf.h - a byte buffer that grows up to a ceiling set when it is made.
 * data is always NUL-terminated once anything was added, so it serves as a
 * string too. A failed add leaves the buffer as it was. */
#ifndef COS_BASE_BUF_H
#define COS_BASE_BUF_H

#include <stddef.h>

struct cos_buf {
    char *data;  /* NULL until the first add */
    size_t len;  /* bytes in use, the NUL not counted */
    size_t cap;  /* bytes allocated */
    size_t max;  /* len never exceeds this */
};

/* Makes it an empty buffer with this ceiling. Nothing is allocated; a zeroed
 * struct is an empty buffer with ceiling 0. */
void cos_buf_init(struct cos_buf *buf, size_t max);
/* Frees the memory; the ceiling stays, so the buffer can be used again. */
void cos_buf_release(struct cos_buf *buf);
/* Empties it and keeps the memory. */
void cos_buf_clear(struct cos_buf *buf);
/* Makes room for extra more bytes. 0, COS_ETOOBIG or COS_ENOMEM. */
int cos_buf_reserve(struct cos_buf *buf, size_t extra);
/* Appends bytes, a character, a string, or what printf would make of it. Errors as
 * cos_buf_reserve. */
int cos_buf_add(struct cos_buf *buf, const void *data, size_t len);
int cos_buf_addc(struct cos_buf *buf, char c);
int cos_buf_adds(struct cos_buf *buf, const char *s);
int cos_buf_addf(struct cos_buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Hands the bytes to the caller (free) and leaves the buffer empty. NULL only
 * when nothing was ever added. *len may be NULL. */
char *cos_buf_take(struct cos_buf *buf, size_t *len);

#endif
