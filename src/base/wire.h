/* wire.h - what went over the wire for one answer, byte for byte: the request's
 * head, the answer's head, and its body with every coding still on it. Filled by
 * fetch when the request asks for it (keep_wire), carried by the page, written to
 * archives. May call base/buf.h only. */
#ifndef COS_BASE_WIRE_H
#define COS_BASE_WIRE_H

#include "base/buf.h"

/* A body without a file to spill to is kept up to this many bytes. */
enum { COS_WIRE_BODY_MAX = 64 << 20, COS_WIRE_HEAD_MAX = 512 << 10 };

struct cos_wire {
    struct cos_buf request; /* its head, as sent */
    struct cos_buf head;    /* from the status line to the empty line */
    struct cos_buf body;    /* empty when spilled */
    char *spill;            /* file that holds a body too large for memory, or NULL */
    int cut;                /* 1: the body is longer than what was kept */
};

/* Empty, with its ceilings; NULL when out of memory. */
struct cos_wire *cos_wire_new(void);
/* Frees it and removes its file. NULL is fine. */
void cos_wire_free(struct cos_wire *wire);
/* Empties it for another answer, or with request for another request, too. */
void cos_wire_clear(struct cos_wire *wire, int request);

#endif
