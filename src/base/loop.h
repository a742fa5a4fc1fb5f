/* loop.h - the leaf side of the event loop: one per thread.
 * Leaf descriptors (curl's sockets, c-ares' sockets, worker pipes, the wake-up
 * eventfd) live in an epoll set of our own; libdill only ever sees that one
 * descriptor. Who turns the loop is the driver: on the coroutine face one
 * "pump" coroutine, started on demand; on the callback face cps_run() on its
 * caller's stack. There is one driver at a time.
 *
 * Everything here belongs to the thread that owns the loop, except
 * cos__loop_post(). Nothing here suspends, except cos__loop_turn() and
 * cos__loop_drive(), which only drivers call. */
#ifndef COS_BASE_LOOP_H
#define COS_BASE_LOOP_H

#include <stddef.h>
#include <stdint.h>

struct cos__loop;

/* A piece of work, embedded in its owner; the owner keeps it alive until run()
 * is entered. run() may free or requeue it. A task sits in one queue at most. */
struct cos__task {
    struct cos__task *next;
    void (*run)(struct cos__task *task);
    uint8_t queued; /* the loop's: in a queue now */
};

/* A descriptor of interest. ready() gets COS__IN / COS__OUT; errors and hang-up
 * are reported as both, so that the owner's read or write finds them. */
enum { COS__IN = 1, COS__OUT = 2 };
struct cos__watch {
    int fd;
    unsigned events;                                          /* what is armed; 0: not in the set */
    void (*ready)(struct cos__watch *watch, unsigned events); /* on the loop thread */
};

/* A timer in the heap. Set it again to move it. */
struct cos__timer {
    int64_t at;                               /* absolute milliseconds of dill_now() */
    size_t slot;                              /* place in the heap, 0: not set */
    void (*fire)(struct cos__timer *timer);   /* unset when called; may free its owner */
};

/* The calling thread's loop, made on first use. NULL when out of memory or
 * descriptors (errno says which). */
struct cos__loop *cos__loop(void);
/* Ends the calling thread's loop: the pump is stopped, the parts are released
 * in reverse order. No operation may be pending (they are leaked otherwise, and
 * the return value is how many there are). */
int cos__loop_release(void);
/* Milliseconds of dill_now() as read at the latest turn: good for timeouts. */
int64_t cos__loop_now(struct cos__loop *loop);

/* Arms the watch for events (0 takes it out). Call with 0 before the fd is
 * closed: the number may be reused at once. 0 or COS_EMFILE/COS_ENOMEM/COS_ESTATE. */
int cos__watch_set(struct cos__loop *loop, struct cos__watch *watch, unsigned events);

/* 0 or COS_ENOMEM, then the timer is not set. */
int cos__timer_set(struct cos__loop *loop, struct cos__timer *timer, int64_t at);
/* Fine when it is not set. */
void cos__timer_unset(struct cos__loop *loop, struct cos__timer *timer);

/* Runs the task in the next turn before it polls; tasks deferred by such a task
 * run in the same round. Queued already: nothing happens. */
void cos__loop_defer(struct cos__loop *loop, struct cos__task *task);
/* Runs the task after one poll of the descriptors; tasks added by such a task
 * wait for the next poll. */
void cos__loop_immediate(struct cos__loop *loop, struct cos__task *task);
/* From ANY thread: runs the task on the loop's thread, in order of posting.
 * Never fails, never blocks for long. The loop must outlive the call. */
void cos__loop_post(struct cos__loop *loop, struct cos__task *task);

/* Per-loop singletons of other files (the curl multi handle, the resolver …). */
enum cos__part { COS__PART_FETCH, COS__PART_NAMES, COS__PART_POOL, COS__PART_FILE, COS__PART_FLOW,
                 COS__PARTS };
void *cos__loop_part(struct cos__loop *loop, enum cos__part part);
/* release(data) runs in cos__loop_release(). data NULL forgets the part. */
void cos__loop_set_part(struct cos__loop *loop, enum cos__part part, void *data,
                        void (*release)(void *data));

/* --- for drivers: op.c and compat/cps.c ---------------------------------- */

/* One turn: deferred, wait until something happens or deadline (dill's rules:
 * 0 do not wait, negative for ever), ready descriptors, posts, timers,
 * immediates. 0; COS_ECANCELED when the calling coroutine is being closed;
 * COS_EBUSY when another driver is inside a turn. Suspends. */
int cos__loop_turn(struct cos__loop *loop, int64_t deadline);
/* Makes sure that somebody turns the loop: starts or wakes the pump unless a
 * driver of the caller's kind is at work. 0, COS_ENOMEM, COS_ECANCELED. The
 * pump runs at once, so anything may have completed on return. */
int cos__loop_drive(struct cos__loop *loop);
/* The caller drives from now on; the pump steps aside. Pair it with
 * cos__loop_leave(). COS_EBUSY: somebody else has entered. Suspends
 * (COS_ECANCELED). */
int cos__loop_enter(struct cos__loop *loop);
void cos__loop_leave(struct cos__loop *loop);
/* Ends the driver's sleep, or keeps it from going to sleep in this turn. */
void cos__loop_kick(struct cos__loop *loop);
/* Tells the driver that woken coroutines should run before it waits again. */
void cos__loop_woke(struct cos__loop *loop);
/* True while a user's callback runs: suspending calls are refused then. */
int cos__loop_in_callback(const struct cos__loop *loop);
void cos__loop_set_in_callback(struct cos__loop *loop, int on);
/* The same for the calling thread, without making a loop for it. */
int cos__in_callback(void);
/* Counts for tests and the closing report. */
struct cos__loop_stats {
    uint64_t turns, waits, kicks, posts, pumps;
};
struct cos__loop_stats cos__loop_stats(const struct cos__loop *loop);

#endif
