/* pool_op.h - the pool's operations (op.h), for the two faces. Makers copy their
 * inputs; NULL when out of memory. */
#ifndef COS_BASE_POOL_OP_H
#define COS_BASE_POOL_OP_H

#include "base/op.h"
#include "base/pool.h"

struct cos_op *cos__pool_acquire_op(struct cos_pool *pool);
/* The worker, which is the caller's from here on. One that nobody takes goes
 * back to the pool with the operation. */
struct cos_worker *cos__pool_acquire_take(struct cos_op *op);
struct cos_op *cos__worker_send_op(struct cos_worker *worker, const char *event, const void *data,
                                   size_t len);
struct cos_op *cos__worker_recv_op(struct cos_worker *worker);
struct cos_op *cos__pool_job_op(struct cos_pool *pool, const char *event, const void *data,
                                size_t len, cos_message_fn *each, void *each_arg);
/* The message of recv and job, theirs until the operation is freed. */
struct cos_message *cos__pool_message(struct cos_op *op);

#endif
