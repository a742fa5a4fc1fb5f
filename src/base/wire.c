/* wire.c - the life of struct cos_wire. */
#include "base/wire.h"

#include <stdlib.h>
#include <unistd.h>

struct cos_wire *cos_wire_new(void)
{
    struct cos_wire *wire = calloc(1, sizeof *wire);
    if (!wire)
        return NULL;
    cos_buf_init(&wire->request, COS_WIRE_HEAD_MAX);
    cos_buf_init(&wire->head, COS_WIRE_HEAD_MAX);
    cos_buf_init(&wire->body, COS_WIRE_BODY_MAX);
    return wire;
}

static void drop_file(struct cos_wire *wire)
{
    if (wire->spill)
        unlink(wire->spill);
    free(wire->spill);
    wire->spill = NULL;
}

void cos_wire_clear(struct cos_wire *wire, int request)
{
    drop_file(wire);
    if (request)
        cos_buf_clear(&wire->request);
    cos_buf_clear(&wire->head);
    cos_buf_clear(&wire->body);
    wire->cut = 0;
}

void cos_wire_free(struct cos_wire *wire)
{
    if (!wire)
        return;
    drop_file(wire);
    cos_buf_release(&wire->request);
    cos_buf_release(&wire->head);
    cos_buf_release(&wire->body);
    free(wire);
}
