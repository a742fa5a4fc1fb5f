/* cr.c - coroutines: launching, switching, waiting, ending.
 *
 * Every switch goes from one coroutine straight to the next; whoever finds
 * the ready queue empty polls, on its own stack, until it is not. The clock and
 * the poller are looked at when the queue is empty and every "quota" switches,
 * so that a coroutine that only yields cannot starve timers and descriptors.
 * The quota follows the time between two looks: cheap turns look seldom,
 * coroutines that compute for long look every time. */
#include "hot.h"

enum {
    QUOTA_IDLE = 64,    /* nobody waits for a deadline or a descriptor */
    QUOTA_MAX = 8,      /* somebody does: that many long turns may pass unseen */
    LOOK_SOON_US = 50,  /* looks closer than this: look less often */
    LOOK_LATE_US = 250, /* further apart than this: more often */
    POLL_US = 20,       /* a busy loop asks the kernel no more often */
};

void dill__wake(struct dill_ctx *c, struct dill_cr *cr, int err)
{
    switch (cr->wait) {
    case DILL_WAIT_CHAN:
    case DILL_WAIT_MESSAGE:
        dill__chan_forget(cr);
        break;
    case DILL_WAIT_FD:
        dill__fd_forget(c, cr);
        break;
    case DILL_WAIT_BUNDLE:
    case DILL_WAIT_CLOSE:
        dill__bundle_forget(cr);
        break;
    default:
        break;
    }
    if (cr->timer)
        dill__timer_remove(c, cr);
    /* It runs soon: fetch the frames that lie below its block. */
    for (size_t i = 2; i < 7; i++)
        __builtin_prefetch((char *)cr - i * 64);
    cr->wait = DILL_WAIT_NOT;
    cr->err = err;
    dill__ready(c, cr);
}

static void tune_quota(struct dill_ctx *c, int64_t us)
{
    int64_t gap = us - c->looked;
    if (gap > LOOK_LATE_US && c->quota > 1)
        c->quota /= 2;
    else if (gap < LOOK_SOON_US && c->quota < QUOTA_MAX)
        c->quota *= 2;
}

/* Expire timers and collect events; with "block", do so until a coroutine is
 * ready. */
void dill__look(struct dill_ctx *c, bool block)
{
    int64_t us = dill__clock_us();
    if (!block)
        tune_quota(c, us);
    for (;;) {
        c->looked = us;
        c->now = us / 1000;
        dill__timers_expire(c);
        bool idle = block && !c->ready;
        if (idle || (c->poller.nwaiting && us - c->polled >= POLL_US)) {
            c->polled = us;
            dill__poll(c, !idle ? 0 : c->ntimers ? c->timers[1].deadline : -1);
        }
        if (!idle || c->ready)
            break;
        us = dill__clock_us();
    }
    c->budget = c->ntimers || c->poller.nwaiting ? c->quota : QUOTA_IDLE;
}

int dill__wait(struct dill_ctx *c, enum dill_wait kind, int64_t deadline)
{
    c->running->wait = (uint8_t)kind;
    if (deadline >= 0)
        dill__timer_add(c, c->running, deadline);
    if (c->budget > c->quota && (deadline >= 0 || kind == DILL_WAIT_FD))
        c->budget = c->quota;
    dill__suspend(c);
    return dill__tls.running->err;
}

/* Out of line: the look that is due, or the thread's first call. */
static __attribute__((noinline)) int yield_slowly(void)
{
    struct dill_ctx *c = dill__ctx();
    if (c->running->stop)
        return dill__fail(ECANCELED);
    c->budget = 1;
    dill__ready(c, c->running);
    dill__suspend(c);
    return 0;
}

/* The queue is not empty here, so appending to it and taking its head need no
 * further questions. */
int dill_yield(void)
{
    struct dill_ctx *c = dill__here();
    if (dill_slow(--c->budget <= 0))
        return yield_slowly();
    struct dill_cr *self = c->running;
    if (dill_slow(self->stop))
        return dill__fail(ECANCELED);
    struct dill_cr *to = c->ready;
    if (!to)
        return 0;
    self->next = NULL;
    c->ready_last->next = self;
    c->ready_last = self;
    c->ready = to->next;
    dill__switch(c, to);
    return 0;
}

int dill_msleep(int64_t deadline)
{
    struct dill_ctx *c = dill__ctx();
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    if (dill__past(c, deadline)) {
        c->budget = 1;
        dill__ready(c, c->running);
        dill__suspend(c);
        return 0;
    }
    int err = dill__wait(c, DILL_WAIT_SLEEP, deadline);
    return err == ETIMEDOUT ? 0 : dill__fail(err);
}

static const struct dill_start_ not_started = {.self = NULL, .handle = -1};

/* The parent is queued, the child runs from here on. */
DILL_INLINE struct dill_start_ launch(struct dill_ctx *c, struct dill_cr *child,
                                      struct dill_bundle *b, int handle)
{
    struct dill_cr *self = c->running;
    dill__bundle_add(b, child);
    dill__san_birth(&child->san);
    self->jmp.start = child->jmp.start;
    c->ncr++;
    dill__ready(c, self);
    c->running = child;
    dill__san_leave(&self->san, NULL, &child->san, 0);
    return (struct dill_start_){.self = &self->jmp, .handle = handle};
}

static bool may_start(struct dill_ctx *c)
{
    if (dill_fast(!c->running->stop))
        return dill__timers_reserve(c) == 0;
    errno = ECANCELED;
    return false;
}

struct dill_start_ dill_bundle_prologue_(int bndl)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_bundle *b = may_start(c) ? dill__bundle_get(c, bndl) : NULL;
    struct dill_cr *child = b ? dill__stack_take(c) : NULL;
    return dill_fast(child != NULL) ? launch(c, child, b, 0) : not_started;
}

/* A bundle of its own for a child that has its stack, in "room" if not NULL. */
static struct dill_start_ launch_alone(struct dill_ctx *c, struct dill_cr *child,
                                       struct dill_bundle *room)
{
    struct dill_bundle *b;
    int h = dill__bundle_make(c, room, &b);
    if (h >= 0)
        return launch(c, child, b, h);
    int err = errno;
    dill__stack_give(c, child);
    errno = err;
    return not_started;
}

struct dill_start_ dill_prologue_(int kind, int bndl, void *ptr, size_t len)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_bundle *b = NULL, *room = NULL;
    if (!may_start(c) || (kind == DILL_BUNDLE_GO_MEM_ && !(b = dill__bundle_get(c, bndl))))
        return not_started;
    struct dill_cr *child =
        kind == DILL_GO_ ? dill__stack_take(c) : dill__stack_borrow(ptr, len, &room);
    if (!child)
        return not_started;
    return b ? launch(c, child, b, 0) : launch_alone(c, child, room);
}

void *dill_stack_(void)
{
    return dill__tls.running->jmp.start;
}

void *dill_fiber_(void)
{
#if defined DILL_TSAN_
    return dill__tls.running->san.fiber;
#else
    return NULL;
#endif
}

/* The first instructions of a child, or of a parent that goes on. */
void dill_enter_(void)
{
    struct dill_ctx *c = dill__here();
    dill__san_arrive(&c->running->san, &c->main.san);
}

/* The child's call has returned. Its stack goes back to the cache while we
 * still stand on it; nobody takes it from there before we have left. */
void dill_epilogue_(void)
{
    struct dill_ctx *c = dill__here();
    struct dill_cr *self = c->running;
    dill__bundle_remove(c, self);
    c->ncr--;
    dill__stack_give(c, self);
    struct dill_cr *to = dill__next(c);
    c->running = to;
    dill__san_leave(NULL, &self->san, &to->san, 1);
    dill__jump_last(&to->jmp);
}
