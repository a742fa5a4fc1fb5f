/* buf.c - the bounded buffer of buf.h: doubling growth, never past max. */
#include "base/buf.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cos_buf_init(struct cos_buf *buf, size_t max)
{
    *buf = (struct cos_buf){.max = max};
}

void cos_buf_release(struct cos_buf *buf)
{
    free(buf->data);
    buf->data = NULL;
    buf->len = buf->cap = 0;
}

void cos_buf_clear(struct cos_buf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = 0;
}

int cos_buf_reserve(struct cos_buf *buf, size_t extra)
{
    size_t need, cap;
    char *data;
    if (extra > buf->max || buf->len > buf->max - extra)
        return COS_ETOOBIG;
    need = buf->len + extra + 1;
    if (need <= buf->cap)
        return 0;
    cap = buf->cap ? buf->cap * 2 : 64;
    if (cap < need)
        cap = need;
    if (cap > buf->max + 1)
        cap = buf->max + 1;
    data = realloc(buf->data, cap);
    if (!data)
        return COS_ENOMEM;
    buf->data = data;
    buf->cap = cap;
    return 0;
}

int cos_buf_add(struct cos_buf *buf, const void *data, size_t len)
{
    int err = cos_buf_reserve(buf, len);
    if (err)
        return err;
    if (len)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = 0;
    return 0;
}

int cos_buf_addc(struct cos_buf *buf, char c)
{
    return cos_buf_add(buf, &c, 1);
}

int cos_buf_adds(struct cos_buf *buf, const char *s)
{
    return cos_buf_add(buf, s, strlen(s));
}

int cos_buf_addf(struct cos_buf *buf, const char *fmt, ...)
{
    va_list ap;
    int n, err;
    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return COS_EINVAL;
    err = cos_buf_reserve(buf, (size_t)n);
    if (err)
        return err;
    va_start(ap, fmt);
    vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    buf->len += (size_t)n;
    return 0;
}

char *cos_buf_take(struct cos_buf *buf, size_t *len)
{
    char *data = buf->data;
    if (len)
        *len = buf->len;
    buf->data = NULL;
    buf->len = buf->cap = 0;
    return data;
}
