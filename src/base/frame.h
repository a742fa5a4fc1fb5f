/* frame.h - the worker protocol: messages {event, data} on a byte stream, one
 * after another, each "EVENT LENGTH\n" followed by LENGTH bytes. Easy to speak
 * in any language, and data may be anything. EVENT is 1 to 32 printable
 * characters without space, LENGTH decimal.
 *   job 11\nhello world
 * A worker ends each job with the event "end" (data: the result) or "error"
 * (data: why, in words; a negative cos_err as a number may stand before them). */
#ifndef COS_BASE_FRAME_H
#define COS_BASE_FRAME_H

#include "base/buf.h"

#include <stddef.h>

enum { COS_EVENT_MAX = 32, COS__FRAME_HEAD_MAX = 64 };

struct cos__frame {
    char event[COS_EVENT_MAX + 1];
    size_t head; /* bytes before the data */
    size_t len;  /* bytes of data */
};

/* Reads the head of a message from data[0..len). 1: there, *out is set, data may
 * still be incomplete (head + len bytes make the message). 0: more bytes are
 * needed. COS_EPROTO: this is no message. COS_ETOOBIG: data over max. */
int cos__frame_head(const char *data, size_t len, size_t max, struct cos__frame *out);
/* Appends a message. COS_EINVAL for a bad event, or what cos_buf_add says. */
int cos__frame_add(struct cos_buf *out, const char *event, const void *data, size_t len);

#endif
