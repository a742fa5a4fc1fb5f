/* gate.c - the pre-initialised queue (gate.h). A call that waits is an operation
 * in a list; both faces wait for it with the means they have. May call base.
 *
 * Opening is not one step: those let through run only when the initialiser
 * suspends, and a call made by one of them must not overtake the rest. So the
 * gate stays in REPLAY, where calls are still kept, until a round lets nobody
 * through. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/gate.h"

#include "base/err.h"
#include "base/op.h"

#include <libdill.h>
#include <stdlib.h>

enum { MAX = 10000 };
enum state { CLOSED, STARTING, REPLAY, OPEN, FAILED };

struct call {
    struct cos_op op;
    struct call *next;
    struct cos_flow_gate *gate;
    uint8_t listed;
};

struct cos_flow_gate {
    enum state state;
    int err;
    struct call *first, **last;
    size_t kept, max;
};

struct cos_flow_gate *cos_flow_gate_new(size_t max)
{
    struct cos_flow_gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        return NULL;
    gate->last = &gate->first;
    gate->max = max ? max : MAX;
    return gate;
}

void cos_flow_gate_free(struct cos_flow_gate *gate)
{
    free(gate);
}

int cos_flow_gate_is_open(const struct cos_flow_gate *gate)
{
    return gate->state == OPEN;
}

/* --- a call at the gate ---------------------------------------------------------- */

static void call_start(struct cos_op *op)
{
    struct call *call = (struct call *)op;
    struct cos_flow_gate *gate = call->gate;
    if (gate->state == OPEN || gate->state == FAILED) {
        cos__op_complete(op, gate->state == OPEN ? 0 : gate->err);
    } else if (gate->kept >= gate->max) {
        cos__op_complete(op, COS_EFULL);
    } else {
        call->listed = 1;
        *gate->last = call;
        gate->last = &call->next;
        gate->kept++;
    }
}

static int call_cancel(struct cos_op *op)
{
    struct call *call = (struct call *)op, **at;
    struct cos_flow_gate *gate = call->gate;
    if (!call->listed)
        return 0;
    for (at = &gate->first; *at != call; at = &(*at)->next)
        ;
    *at = call->next;
    if (!call->next)
        gate->last = at;
    gate->kept--;
    call->listed = 0;
    return 0;
}

static const struct cos__op_type call_type = {.name = "gate call", .kind = COS__OP_CALL,
                                              .size = sizeof(struct call), .start = call_start,
                                              .cancel = call_cancel};

struct cos_op *cos__gate_op(struct cos_flow_gate *gate)
{
    struct call *call = (struct call *)cos__op_new(&call_type);
    if (!call)
        return NULL;
    call->gate = gate;
    return &call->op;
}

int cos_flow_gate_pass(struct cos_flow_gate *gate, int64_t deadline)
{
    struct cos_op *op;
    int err;
    if (gate->state == OPEN)
        return 0;
    op = cos__gate_op(gate);
    err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    cos__op_free(op);
    return err;
}

/* --- the initialiser --------------------------------------------------------------- */

int cos__gate_begin(struct cos_flow_gate *gate)
{
    if (gate->state != CLOSED)
        return COS_ESTATE;
    gate->state = STARTING;
    return 0;
}

void cos__gate_end(struct cos_flow_gate *gate, int err)
{
    gate->state = err ? FAILED : REPLAY;
    gate->err = err;
}

size_t cos__gate_release(struct cos_flow_gate *gate)
{
    size_t due = gate->kept;
    for (size_t i = 0; i < due && gate->first; i++) {
        struct call *call = gate->first;
        gate->first = call->next;
        if (!gate->first)
            gate->last = &gate->first;
        gate->kept--;
        call->listed = 0;
        cos__op_complete(&call->op, gate->err);
    }
    if (!due && gate->state == REPLAY)
        gate->state = OPEN;
    return due;
}

int cos_flow_gate_init(struct cos_flow_gate *gate, const struct cos_flow_task *task,
                       int64_t deadline)
{
    int err = cos__gate_begin(gate);
    if (err)
        return err;
    err = cos_flow_series(task, 1, NULL, 0, deadline);
    cos__gate_end(gate, err);
    /* Those let through stand before us in the ready queue: one yield, and each
     * has run up to its next wait. A cancelled initialiser only skips the order. */
    while (cos__gate_release(gate))
        (void)dill_yield();
    return err;
}
