/* offload.h - work that must not run on the loop thread: files, scanning,
 * hashing, SQLite, getaddrinfo. A job is an operation (op.h) whose work()
 * runs on an offload thread; what it owns passes to the thread and back.
 *
 * How to write one:
 *   struct my_op { struct cos__job job; ... };                    // job first
 *   static const struct cos__op_type my_type = {
 *       .name = "my", .kind = COS__OP_MY, .size = sizeof(struct my_op),
 *       .start = cos__job_start, .cancel = cos__job_cancel, .release = my_release };
 *   my->job.work = my_work;                     // set when the operation is made
 * Cancelled while it waits for a thread, a job never runs. Cancelled while it
 * runs, it is left to end by itself: the waiter is told at once, and release()
 * comes when the thread is through. */
#ifndef COS_BASE_OFFLOAD_H
#define COS_BASE_OFFLOAD_H

#include "base/op.h"

#include <stddef.h>
#include <stdint.h>

struct cos__lane;
struct cos__offload;

struct cos__job {
    struct cos_op op;
    int (*work)(struct cos__job *job); /* on the thread; its value completes the operation */
    struct cos__lane *lane;            /* NULL: any offload thread */
    int brief; /* some microseconds of work: waking a thread for it costs as much */
    /* offload.c's */
    struct cos__offload *home;
    struct cos__job *prev, *next;
    int batched; /* the loop thread's: not handed over yet */
    int queued;  /* guarded by the lane's lock */
    int result;
};

void cos__job_start(struct cos_op *op);
int cos__job_cancel(struct cos_op *op);

/* Most jobs that wait for a thread; beyond it a job completes with COS_EFULL. */
enum { COS__OFFLOAD_QUEUE_MAX = 65536 };

/* How many threads to start: cores when n is 0, at least 1. Takes effect when
 * the threads are started next (the first job does it). */
void cos__offload_threads(int n);

/* A lane is one thread of its own that runs its jobs one by one in the order
 * they were started: what owns a thing that is not to be shared (SQLite). The
 * idle function (may be NULL) runs on that thread each time it has run out of
 * jobs, and after work only: the place to commit a batch. NULL when no thread
 * could be started. */
struct cos__lane *cos__offload_lane(void (*idle)(void *arg), void *arg);
/* Runs what is queued, ends the thread and frees the lane. Blocks. Nobody may
 * wait for a job of the lane any more; NULL is fine. */
void cos__offload_lane_free(struct cos__lane *lane);

/* Any function as an operation. data belongs to the job from here on: it comes
 * back through cos__offload_take() once the operation is done and mine
 * (cos__op_mine); else drop(data) is called when the job is through. drop may
 * be NULL. NULL when out of memory; data is still the caller's then. */
struct cos_op *cos__offload_op(int (*work)(void *data), void *data, void (*drop)(void *data),
                               struct cos__lane *lane);
void *cos__offload_take(struct cos_op *op);

struct cos__offload_stats {
    uint64_t jobs, flushes, posts; /* hand-overs in batches: jobs per flush and per post */
};
/* Of the calling thread's loop. */
struct cos__offload_stats cos__offload_stats(void);

#endif
