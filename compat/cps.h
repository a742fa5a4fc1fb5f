/* cps.h - the inside of the callback face, for compat/cps_*.c.
 *
 * How a function is written, whatever its leaf:
 *   static void deliver(struct cos_op *op)
 *   {
 *       ((cps_my_cb *)op->cb)(op->err, op->err ? NULL : result_of(op), op->arg);
 *   }
 *   int64_t cps_my(struct cps_rt *rt, const char *input, int64_t deadline, cps_my_cb *cb, void *arg)
 *   {
 *       return cps__begin(rt, cos__my_op(input), deadline, deliver, (cps__fn *)cb, arg);
 *   }
 * deliver() may read more of op than struct cos_op only when op->err is 0: out
 * of memory is delivered with a bare struct cos_op. What it passes is lent: the
 * operation is freed when deliver() returns. */
#ifndef COS_COMPAT_CPS_H
#define COS_COMPAT_CPS_H

#include "base/op.h"
#include "coscrawl-cps.h"

typedef void cps__fn(void);

/* Starts op for rt and returns its ticket (> 0), see coscrawl-cps.h. op NULL
 * means out of memory: the callback is told so. deliver runs once, from
 * cps_run(), never before this returns. COS_ENOMEM (and no callback) only when
 * not even that can be remembered. */
int64_t cps__begin(struct cps_rt *rt, struct cos_op *op, int64_t deadline,
                   void (*deliver)(struct cos_op *op), cps__fn *cb, void *arg);
/* For objects that hold rt's cps_run() open without an operation (a queue with
 * work in it): +1, later -1. */
void cps__pend(struct cps_rt *rt, int by);
struct cos__loop *cps__loop(struct cps_rt *rt);

#endif
