/* gate.c - the pre-initialised queue (gate.h). A call that waits is an operation
 * in a line; both faces wait for it with the means they have. May call base.
 *
 * Opening is not one step: those let through run only when the initialiser
 * suspends, and a call made by one of them must not overtake the rest. So the
 * gate stays in REPLAY, where calls are still kept, until a round lets nobody
 * through. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/gate.h"

#include "base/err.h"
#include "base/loop.h"
#include "flow/waits.h"

#include <libdill.h>
#include <stdlib.h>

enum { MAX = 10000 };
enum state { CLOSED, STARTING, REPLAY, OPEN, FAILED };

struct call {
    struct cos__wait wait;
    struct cos_flow_gate *gate;
};

struct cos_flow_gate {
    enum state state;
    int err;
    struct cos__waits kept;
    size_t max;
    uint8_t held;  /* an initialiser is at work */
    uint8_t freed; /* and then it goes */
};

struct cos_flow_gate *cos_flow_gate_new(size_t max)
{
    struct cos_flow_gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        return NULL;
    cos__waits_init(&gate->kept);
    gate->max = max ? max : MAX;
    return gate;
}

static void let_through(struct cos_flow_gate *gate, size_t count, int err)
{
    struct cos__wait *wait;
    for (; count && (wait = cos__waits_take(&gate->kept)); count--)
        cos__op_complete(&wait->op, err);
}

void cos_flow_gate_free(struct cos_flow_gate *gate)
{
    if (!gate)
        return;
    let_through(gate, gate->kept.count, COS_ECLOSED);
    if (gate->held)
        gate->freed = 1;
    else
        free(gate);
}

int cos_flow_gate_is_open(const struct cos_flow_gate *gate)
{
    return gate->state == OPEN;
}

/* --- a call at the gate ----------------------------------------------------------- */

static void call_start(struct cos_op *op)
{
    struct call *call = (struct call *)op;
    struct cos_flow_gate *gate = call->gate;
    if (gate->state == OPEN || gate->state == FAILED)
        cos__op_complete(op, gate->state == OPEN ? 0 : gate->err);
    else if (gate->freed || gate->kept.count >= gate->max)
        cos__op_complete(op, gate->freed ? COS_ECLOSED : COS_EFULL);
    else
        cos__waits_add(&gate->kept, &call->wait);
}

static int call_cancel(struct cos_op *op)
{
    struct call *call = (struct call *)op;
    cos__waits_remove(&call->gate->kept, &call->wait);
    return 0;
}

static const struct cos__op_type call_type = {.name = "gate call", .hook = COS_HOOK_CPS_REQUEST,
                                              .kind = COS__OP_GATE, .size = sizeof(struct call),
                                              .start = call_start, .cancel = call_cancel};

struct cos_op *cos__gate_op(struct cos_flow_gate *gate)
{
    struct call *call = (struct call *)cos__op_new(&call_type);
    if (!call)
        return NULL;
    call->gate = gate;
    return &call->wait.op;
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

/* --- the initialiser -------------------------------------------------------------- */

int cos__gate_begin(struct cos_flow_gate *gate)
{
    if (gate->state != CLOSED)
        return COS_ESTATE;
    gate->state = STARTING;
    gate->held = 1;
    return 0;
}

void cos__gate_end(struct cos_flow_gate *gate, int err)
{
    gate->state = err ? FAILED : REPLAY;
    gate->err = err;
}

size_t cos__gate_release(struct cos_flow_gate *gate)
{
    size_t due = gate->kept.count;
    let_through(gate, due, gate->err);
    if (!due && gate->state == REPLAY)
        gate->state = OPEN;
    return due;
}

void cos__gate_leave(struct cos_flow_gate *gate)
{
    gate->held = 0;
    if (gate->freed)
        free(gate);
}

int cos_flow_gate_init(struct cos_flow_gate *gate, const struct cos_flow_task *task,
                       int64_t deadline)
{
    int err;
    if (cos__in_callback())
        return COS_ECONTEXT;
    err = cos__gate_begin(gate);
    if (err)
        return err;
    err = cos_flow_series(task, 1, NULL, 0, deadline);
    cos__gate_end(gate, err);
    /* Those let through stand before us in the ready queue: one yield, and each
     * has run up to its next wait. A cancelled initialiser only skips the order. */
    while (cos__gate_release(gate))
        (void)COS_WAIT(dill_yield());
    cos__gate_leave(gate);
    return err;
}
