/* queue.h - the bounded, channel-based task queue of the coroutine face.
 *
 * concurrency workers, each a coroutine, take items from the backlog, first in,
 * first out, and run work() on them; push wakes one that stands idle through a
 * channel. The backlog is bounded: a producer that finds it full parks until
 * there is room. A push from inside a task must not park (all workers
 * might, and nobody would be left to make room): it goes into the backlog's
 * overflow, which has a ceiling of its own, and beyond it is COS_EFULL. So that
 * this holds for all that a task does, in coroutines of its own too, work() is
 * given the queue from its inside: what is pushed through that pointer never
 * parks. It is good as long as the queue is.
 *
 * An item's error is reported for that item and never stops the queue. */
#ifndef COS_FLOW_QUEUE_H
#define COS_FLOW_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct cos_flow_queue;

enum cos_flow_event {
    COS_FLOW_EMPTY,       /* nothing waits and nothing runs; once per busy period; not
                             after a kill */
    COS_FLOW_LAST_OUT,    /* the last waiting item was handed to a worker */
    COS_FLOW_SATURATED,   /* every worker is busy */
    COS_FLOW_UNSATURATED, /* running fell to concurrency - buffer */
    COS_FLOW_ERROR,       /* an item failed: item and err say which and how */
};

/* Zero fields are the defaults. */
struct cos_flow_queue_opts {
    int concurrency;    /* workers; 1 … COS_FLOW_MAX; 0 and below is COS_EINVAL */
    size_t capacity;    /* waiting items before a producer parks; 1,024 */
    size_t overflow;    /* further items pushed from inside; 1,048,576 */
    int by_priority;    /* lowest priority first, equal ones in order of pushing */
    size_t cargo;       /* hand out up to so many items at once (run_cargo); 1 */
    int buffer;         /* for UNSATURATED; concurrency / 4; -1: none */
    /* Runs one item; may suspend; its result goes to done() and the events. queue
     * is its inside, see above. */
    int (*work)(struct cos_flow_queue *queue, void *item, void *arg);
    /* Instead of work, with cargo: runs a batch. One result for all of them. */
    int (*run_cargo)(struct cos_flow_queue *queue, void **items, size_t count, void *arg);
    /* Each item once, after its work, or with COS_ECANCELED when killed. May be
     * NULL. Neither this nor event() may suspend. */
    void (*done)(void *item, int err, void *arg);
    void (*event)(enum cos_flow_event event, void *item, int err, void *arg);
    void *arg;
};

/* A new queue into *out (cos_flow_queue_free). 0, COS_EINVAL, COS_ENOMEM. Suspends. */
int cos_flow_queue_new(const struct cos_flow_queue_opts *opts, struct cos_flow_queue **out);
/* Ends it: cancels the workers and waits for them; waiting items are reported to done()
 * with COS_ECANCELED; who drains or waits for room gets COS_ECLOSED. NULL is fine.
 * From inside a task it ends the process with a message. Suspends. */
void cos_flow_queue_free(struct cos_flow_queue *queue);
/* Adds an item; the queue does not look into it. Parks while the backlog is
 * full, unless called from inside a task. Any error: the item stays with the
 * caller. COS_ETIMEDOUT, COS_ECANCELED, COS_EFULL, COS_ECLOSED after a kill. */
int cos_flow_queue_push(struct cos_flow_queue *queue, void *item, int64_t deadline);
int cos_flow_queue_push_priority(struct cos_flow_queue *queue, void *item, int priority,
                                 int64_t deadline);
/* The same and never parks: the overflow takes what the queue has no room for. */
int cos_flow_queue_add(struct cos_flow_queue *queue, void *item, int priority);
/* Parks until the queue is empty (0 at once if it is). COS_ECONTEXT from inside a
 * task, which would wait for itself; COS_ETIMEDOUT, COS_ECANCELED, COS_ECLOSED. */
int cos_flow_queue_drain(struct cos_flow_queue *queue, int64_t deadline);
/* No item is handed out until resume; what runs goes on. */
void cos_flow_queue_pause(struct cos_flow_queue *queue);
void cos_flow_queue_resume(struct cos_flow_queue *queue);
/* Drops what waits (done() hears COS_ECANCELED) and takes no more. */
void cos_flow_queue_kill(struct cos_flow_queue *queue);
/* More workers start now, surplus ones end after their item. COS_EINVAL. Suspends. */
int cos_flow_queue_concurrency(struct cos_flow_queue *queue, int concurrency);
/* How many items wait, and how many run. */
size_t cos_flow_queue_waiting(const struct cos_flow_queue *queue);
size_t cos_flow_queue_running(const struct cos_flow_queue *queue);

#endif
