/* future_int.h - how the faces listen to a future. */
#ifndef COS_FLOW_FUTURE_INT_H
#define COS_FLOW_FUTURE_INT_H

#include "flow/future.h"

struct cos_op;

/* An operation that completes with the future's error once it is set. */
struct cos_op *cos__future_op(struct cos_future *future);
/* Its value, valid when the operation completed without error. */
void *cos__future_op_value(const struct cos_op *op);

#endif
