/* pool_int.h - the pool below its operations: pool.c is the state machine of
 * workers, pool_op.c makes operations and the coroutine face of it. */
#ifndef COS_BASE_POOL_INT_H
#define COS_BASE_POOL_INT_H

#include "base/loop.h"
#include "base/op.h"
#include "base/pool.h"

/* One who waits for a worker. got() is called once: with a worker, or with NULL
 * and why there is none. Not before cos__pool_wait() has returned. */
struct cos__wait {
    struct cos__wait *prev, *next;
    int listed;
    void (*got)(struct cos__wait *wait, struct cos_worker *worker, int err);
};
int cos__pool_wait(struct cos_pool *pool, struct cos__wait *wait);
/* Gives up; fine when it is not waiting any more. */
void cos__pool_unwait(struct cos_pool *pool, struct cos__wait *wait);

/* One who listens to a worker: got a message, or it is gone (err, and why in
 * words). Called once, then it must be set anew. Data is lent. */
struct cos__ear {
    void (*heard)(struct cos__ear *ear, int err, const char *event, const char *data, size_t len);
};
/* 0, or COS_EBUSY when somebody listens already. heard() may come at once. */
int cos__worker_listen(struct cos_worker *worker, struct cos__ear *ear);
void cos__worker_unlisten(struct cos_worker *worker, struct cos__ear *ear);

/* Queues a message; it is on its way when this returns 0. COS_ETOOBIG past the
 * ceiling, the worker's error when it is gone. */
int cos__worker_post(struct cos_worker *worker, const char *event, const void *data, size_t len);
/* Who wants to know when all that was posted is written. */
struct cos__flushed {
    void (*flushed)(struct cos__flushed *flushed, int err);
};
int cos__worker_flush(struct cos_worker *worker, struct cos__flushed *flushed);
void cos__worker_unflush(struct cos_worker *worker, struct cos__flushed *flushed);

size_t cos__pool_message_max(const struct cos_pool *pool);
int cos__pool_retries(const struct cos_pool *pool);
struct cos_pool *cos__worker_pool(const struct cos_worker *worker);

#endif
