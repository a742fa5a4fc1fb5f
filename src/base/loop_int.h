/* loop_int.h - the inside of struct cos__loop, for loop.c, timer.c and op.c. */
#ifndef COS_BASE_LOOP_INT_H
#define COS_BASE_LOOP_INT_H

#include "base/loop.h"
#include "base/op.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

struct cos__queue {
    struct cos__task *head, *tail;
};

struct cos__loop_part {
    void *data;
    void (*release)(void *data);
};

struct cos__waiter;

struct cos__loop {
    /* the set */
    int epfd, eventfd;
    struct cos__watch wake;
    struct epoll_event events[128];
    int ev_at, ev_n;        /* the batch being dispatched */
    /* time */
    int64_t now;
    struct cos__timer **timers; /* heap, slots count from 1 */
    size_t ntimers, timers_cap;
    /* work */
    struct cos__queue deferred, immediate;
    pthread_mutex_t lock;   /* guards posted */
    struct cos__queue posted;
    atomic_int has_posts;   /* posted is not empty */
    atomic_int asleep;      /* the driver waits: only the eventfd reaches it */
    /* drivers */
    int bundle, aside[2];
    int entered;            /* a cps_run() drives */
    int64_t parked_until;   /* while parked: when the driver looks again */
    uint8_t parked, slept, kicked, turning, woke, pumping, is_aside, in_callback;
    /* operations */
    struct cos__waiter *waiters;
    struct cos_op *free_ops[COS__OP_COUNT];
    size_t nfree[COS__OP_COUNT], nops;
    struct cos__loop_part parts[COS__PARTS];
    struct cos__loop_stats stats;
};

/* The earliest timer, or -1. */
int64_t cos__timer_next(const struct cos__loop *loop);
/* Fires what is due at loop->now. */
void cos__timer_run(struct cos__loop *loop);
/* Wakes a driver that would sleep past at. */
void cos__loop_kick_before(struct cos__loop *loop, int64_t at);
void cos__loop_forget(struct cos__loop *loop, struct cos__watch *watch);

#endif
