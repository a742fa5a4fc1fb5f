/* timer.c - the loop's timers: a binary heap of pointers, each timer knowing
 * its own slot, so that moving and removing cost O(log n) without a search. */
#include "base/err.h"
#include "base/loop_int.h"

#include <stdlib.h>

enum { TIMERS_MAX = 1 << 20 };

static void put(struct cos__loop *loop, size_t slot, struct cos__timer *timer)
{
    loop->timers[slot] = timer;
    timer->slot = slot;
}

static void sift_up(struct cos__loop *loop, size_t slot, struct cos__timer *timer)
{
    for (; slot > 1 && loop->timers[slot / 2]->at > timer->at; slot /= 2)
        put(loop, slot, loop->timers[slot / 2]);
    put(loop, slot, timer);
}

static void sift_down(struct cos__loop *loop, size_t slot, struct cos__timer *timer)
{
    size_t child;
    while ((child = slot * 2) <= loop->ntimers) {
        if (child < loop->ntimers && loop->timers[child + 1]->at < loop->timers[child]->at)
            child++;
        if (loop->timers[child]->at >= timer->at)
            break;
        put(loop, slot, loop->timers[child]);
        slot = child;
    }
    put(loop, slot, timer);
}

static int grow(struct cos__loop *loop)
{
    size_t cap = loop->timers_cap ? loop->timers_cap * 2 : 64;
    struct cos__timer **more;
    if (loop->ntimers + 1 < loop->timers_cap)
        return 0;
    if (cap > TIMERS_MAX)
        return COS_ENOMEM;
    more = realloc(loop->timers, cap * sizeof *more);
    if (!more)
        return COS_ENOMEM;
    loop->timers = more;
    loop->timers_cap = cap;
    return 0;
}

int cos__timer_set(struct cos__loop *loop, struct cos__timer *timer, int64_t at)
{
    int64_t before = timer->at;
    if (!timer->slot) {
        if (grow(loop) < 0)
            return COS_ENOMEM;
        timer->at = at;
        sift_up(loop, ++loop->ntimers, timer);
    } else {
        timer->at = at;
        if (at < before)
            sift_up(loop, timer->slot, timer);
        else
            sift_down(loop, timer->slot, timer);
    }
    cos__loop_kick_before(loop, at);
    return 0;
}

void cos__timer_unset(struct cos__loop *loop, struct cos__timer *timer)
{
    size_t slot = timer->slot;
    struct cos__timer *last;
    if (!slot)
        return;
    last = loop->timers[loop->ntimers--];
    timer->slot = 0;
    if (last == timer)
        return;
    if (last->at < timer->at)
        sift_up(loop, slot, last);
    else
        sift_down(loop, slot, last);
}

int64_t cos__timer_next(const struct cos__loop *loop)
{
    return loop->ntimers ? loop->timers[1]->at : -1;
}

/* A timer set again to a time already past fires in the next turn, not in this
 * one: the count bounds the round. */
void cos__timer_run(struct cos__loop *loop)
{
    for (size_t n = loop->ntimers; n && loop->ntimers && loop->timers[1]->at <= loop->now; n--) {
        struct cos__timer *timer = loop->timers[1];
        cos__timer_unset(loop, timer);
        timer->fire(timer);
    }
}
