/* gate.h - the pre-initialised queue: calls that come before something is ready
 * are kept, and let through in their order once it is.
 *
 * The order is strict: kept calls first in, first out; calls made while they are
 * let through come after them; then the initialiser returns. When initialising
 * fails every kept call fails with its error, and so does every later one. */
#ifndef COS_FLOW_GATE_H
#define COS_FLOW_GATE_H

#include "flow/flow.h"

struct cos_flow_gate;

/* A closed gate, or NULL when out of memory. max: calls kept before it is open;
 * 0: 10,000. */
struct cos_flow_gate *cos_flow_gate_new(size_t max);
/* Ends it: calls that are kept get COS_ECLOSED. NULL is fine. */
void cos_flow_gate_free(struct cos_flow_gate *gate);
/* Runs the task, then opens the gate (or fails it) and lets the kept calls
 * through. The task's error; COS_ETIMEDOUT or COS_ECANCELED, which fail the gate
 * too; COS_ESTATE when it was initialised before or is being so. Suspends. */
int cos_flow_gate_init(struct cos_flow_gate *gate, const struct cos_flow_task *task,
                       int64_t deadline);
/* Goes through the gate: 0 at once when it is open, else parks until it is. The
 * initialiser's error; COS_EFULL, COS_ECLOSED, COS_ETIMEDOUT, COS_ECANCELED. Suspends. */
int cos_flow_gate_pass(struct cos_flow_gate *gate, int64_t deadline);
/* 1 when it is open, 0 when not yet or for good. */
int cos_flow_gate_is_open(const struct cos_flow_gate *gate);

/* --- between the faces ------------------------------------------------------------ */

struct cos_op;
/* An operation that completes when its call may go through. */
struct cos_op *cos__gate_op(struct cos_flow_gate *gate);
/* The initialiser's steps around its task: 0 or COS_ESTATE; then the outcome.
 * cos__gate_release lets the calls kept so far through and says how many; once
 * that is 0, cos__gate_leave, after which the gate may be gone. */
int cos__gate_begin(struct cos_flow_gate *gate);
void cos__gate_end(struct cos_flow_gate *gate, int err);
size_t cos__gate_release(struct cos_flow_gate *gate);
void cos__gate_leave(struct cos_flow_gate *gate);

#endif
