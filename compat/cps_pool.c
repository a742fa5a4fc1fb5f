/* cps_pool.c - the callback twins of the pool's operations. */
#include "cps.h"

#include "base/pool_op.h"

static void deliver_plain(struct cos_op *op)
{
    ((cps_cb *)op->cb)(op->err, op->arg);
}

static void deliver_worker(struct cos_op *op)
{
    struct cos_worker *worker = op->err ? NULL : cos__pool_acquire_take(op);
    ((cps_pool_acquire_cb *)op->cb)(op->err, worker, op->arg);
}

/* After an error the message says why, if the operation got that far. */
static void deliver_message(struct cos_op *op)
{
    struct cos_message *message = op->type->kind == COS__OP_POOL ? cos__pool_message(op) : NULL;
    ((cps_message_cb *)op->cb)(op->err, message, op->arg);
}

int64_t cps_pool_acquire(struct cps_rt *rt, struct cos_pool *pool, int64_t deadline,
                         cps_pool_acquire_cb *cb, void *arg)
{
    return cps__begin(rt, cos__pool_acquire_op(pool), deadline, deliver_worker, (cps__fn *)cb,
                      arg);
}

int64_t cps_worker_send(struct cps_rt *rt, struct cos_worker *worker, const char *event,
                        const void *data, size_t len, int64_t deadline, cps_cb *cb, void *arg)
{
    return cps__begin(rt, cos__worker_send_op(worker, event, data, len), deadline, deliver_plain,
                      (cps__fn *)cb, arg);
}

int64_t cps_worker_recv(struct cps_rt *rt, struct cos_worker *worker, int64_t deadline,
                        cps_message_cb *cb, void *arg)
{
    return cps__begin(rt, cos__worker_recv_op(worker), deadline, deliver_message, (cps__fn *)cb,
                      arg);
}

int64_t cps_pool_job(struct cps_rt *rt, struct cos_pool *pool, const char *event, const void *data,
                     size_t len, cos_message_fn *each, void *each_arg, int64_t deadline,
                     cps_message_cb *cb, void *arg)
{
    return cps__begin(rt, cos__pool_job_op(pool, event, data, len, each, each_arg), deadline,
                      deliver_message, (cps__fn *)cb, arg);
}
