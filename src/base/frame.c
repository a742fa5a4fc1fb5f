/* frame.c - reading and writing the messages of frame.h. */
#include "base/frame.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

static int is_event_char(char c)
{
    return c > ' ' && c < 127;
}

static size_t event_len(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && is_event_char(s[n]))
        n++;
    return n;
}

static int read_length(const char *p, const char *end, size_t max, size_t *out)
{
    size_t n = 0;
    if (p == end)
        return COS_EPROTO;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return COS_EPROTO;
        n = n * 10 + (size_t)(*p - '0');
        if (n > max)
            return COS_ETOOBIG;
    }
    *out = n;
    return 1;
}

int cos__frame_head(const char *data, size_t len, size_t max, struct cos__frame *out)
{
    const char *eol = memchr(data, '\n', len < COS__FRAME_HEAD_MAX ? len : COS__FRAME_HEAD_MAX);
    size_t n = event_len(data, len);
    if (n > COS_EVENT_MAX || (n < len && (!n || data[n] != ' ')))
        return COS_EPROTO;
    if (!eol)
        return len >= COS__FRAME_HEAD_MAX ? COS_EPROTO : 0;
    memcpy(out->event, data, n);
    out->event[n] = 0;
    out->head = (size_t)(eol + 1 - data);
    return read_length(data + n + 1, eol, max, &out->len);
}

int cos__frame_add(struct cos_buf *out, const char *event, const void *data, size_t len)
{
    char head[COS__FRAME_HEAD_MAX];
    size_t n = strlen(event);
    int err, head_len;
    if (!n || n > COS_EVENT_MAX || event_len(event, n) != n)
        return COS_EINVAL;
    head_len = snprintf(head, sizeof head, "%s %zu\n", event, len);
    err = cos_buf_reserve(out, (size_t)head_len + len);
    if (err)
        return err;
    cos_buf_add(out, head, (size_t)head_len);
    return cos_buf_add(out, data, len);
}
