/* lane.h - one thread that does one kind of blocking work in order, for one
 * loop. The crawl database lives on such a lane: SQLite is then used by one
 * thread only, and the loop never waits for a disk. */
#ifndef COS_STORE_LANE_H
#define COS_STORE_LANE_H

#include "base/loop.h"

struct cos__lane;

/* A piece of work, embedded in its owner and owned by the lane from push until
 * landed.run is entered on the loop thread. */
struct cos__lane_job {
    struct cos__lane_job *next;
    void (*run)(struct cos__lane_job *job); /* on the lane's thread */
    struct cos__task landed;                /* on the loop's thread, after run */
};

/* Starts the thread for the calling thread's loop. 0, COS_ENOMEM, COS_EMFILE. */
int cos__lane_start(struct cos__lane **out, const char *name);
/* Waits until every job has run, ends the thread and frees the lane. Jobs that
 * ran may still land in a later turn of the loop. NULL is fine. Blocks. */
void cos__lane_stop(struct cos__lane *lane);
/* Never fails; jobs run first in, first out. */
void cos__lane_push(struct cos__lane *lane, struct cos__lane_job *job);
/* Runs fn(arg) on the lane and returns its result. Suspends; a coroutine that
 * is being closed waits without suspending, since fn works on its memory. */
int cos__lane_call(struct cos__lane *lane, int (*fn)(void *arg), void *arg);

#endif
