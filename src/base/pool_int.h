/* pool_int.h - the pool below its operations: pool.c says who gets which worker,
 * pool_io.c moves messages, pool_open.c begins and ends pools, pool_op.c makes
 * operations and the coroutine face of it. */
#ifndef COS_BASE_POOL_INT_H
#define COS_BASE_POOL_INT_H

#include "base/loop.h"
#include "base/op.h"
#include "base/pool.h"
#include "base/zygote.h"

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

enum { COS__GRACE_MS = 1000, COS__READ_STEP = 64 * 1024 };
enum cos__worker_state { COS__STARTING, COS__IDLE, COS__HELD, COS__DEAD };

struct cos_worker {
    struct cos_pool *pool;
    struct cos_worker *prev, *next;        /* all of the pool */
    struct cos_worker *below;              /* the idle stack */
    enum cos__worker_state state;
    int held;                              /* somebody has the pointer */
    int pinned;                            /* so have we, further up the stack */
    int reaped;                            /* the process is gone, or never was */
    uint32_t id;
    pid_t pid;
    int err;                               /* once DEAD: why */
    char why[128];
    int owed;                              /* messages sent that await "end" or "error" */
    struct cos__watch watch;
    struct cos__timer timer;               /* of the job while held, of idleness while idle */
    struct cos_buf in, out;
    size_t in_at, out_at;                  /* up to here it is dealt with */
    int handing;                           /* messages are being handed over, further up */
    struct cos__ear *ear;
    struct cos__flushed *flushed;
};

struct cos_pool {
    struct cos__loop *loop;
    struct cos_pool **list;                 /* of this loop's pools */
    struct cos_pool *prev_pool, *next_pool;
    struct cos_pool_setup setup;
    struct cos__order order;                /* template of SPAWN */
    struct cos__watch news;
    struct cos_worker *workers, *idle;
    int nworkers, nstarting;
    struct cos__wait *first, *last;
    struct cos__task serve;
    uint32_t next_id;
    int closed;
    struct cos_pool_stats stats;
};

/* --- pool.c for the others ---------------------------------------------------------- */

/* No more use of this worker: who listens is told err. Its holder, if any, keeps
 * the pointer. */
void cos__worker_dies(struct cos_worker *worker, int err);
/* Tells the zygote to kill the process after a while. */
void cos__worker_kill(struct cos_worker *worker, int grace_ms);
/* Frees it when its holder, its process and the stack above are through with it. */
void cos__worker_check_end(struct cos_worker *worker);
void cos__pool_check_end(struct cos_pool *pool);
/* One that died in the idle list, where nobody listens. */
void cos__worker_idle_died(struct cos_worker *worker);
void cos__worker_timer(struct cos__timer *timer);
void cos__pool_news(struct cos__watch *watch, unsigned events);
void cos__pool_serve(struct cos__task *task);
/* The first who waits is told err. */
void cos__pool_fail_first(struct cos_pool *pool, int err);

/* --- pool_io.c for the others -------------------------------------------------------- */

void cos__worker_ready(struct cos__watch *watch, unsigned events);
/* Watches for what it needs to know now. */
void cos__worker_rearm(struct cos_worker *worker);
void cos__worker_close_socket(struct cos_worker *worker);
void cos__worker_tell_ear(struct cos_worker *worker, int err, const char *event, const char *data,
                          size_t len);
void cos__worker_tell_flushed(struct cos_worker *worker, int err);

#endif
