/* cr.c - coroutines: launching, switching, waiting, ending.
 *
 * Every switch goes from one coroutine straight to the next; whoever finds
 * the ready queue empty polls, on its own stack, until it is not. The clock and
 * the poller are looked at when the queue is empty and every "quota" switches,
 * so that a coroutine that only yields cannot starve timers and descriptors.
 * The quota follows the work done between two looks: cheap switches look
 * seldom, coroutines that compute for long look every time. */
#include "ctx.h"

enum {
    QUOTA_MAX = 64,
    LOOK_SOON_US = 50,  /* looks closer than this: look less often */
    LOOK_LATE_US = 250, /* further apart than this: more often */
    POLL_US = 20,       /* a busy loop asks the kernel no more often */
};

void dill__wake(struct dill_ctx *c, struct dill_cr *cr, int err)
{
    switch (cr->wait) {
    case DILL_WAIT_CHAN:
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
    c->budget = c->quota;
}

static inline struct dill_cr *next_ready(struct dill_ctx *c)
{
    if (dill_slow(--c->budget <= 0))
        dill__look(c, false);
    if (dill_slow(!c->ready))
        dill__look(c, true);
    struct dill_cr *cr = c->ready;
    c->ready = cr->next;
    return cr;
}

/* Go on with whoever is ready next; the caller is parked or queued already. */
void dill__suspend(struct dill_ctx *c)
{
    struct dill_cr *self = c->running;
    struct dill_cr *to = next_ready(c);
    if (to == self)
        return;
    c->running = to;
    dill__san_leave(&self->san, NULL, &to->san, 1);
    dill__jump(&self->jmp, &to->jmp);
    dill__san_arrive(&self->san, NULL);
}

int dill__wait(struct dill_ctx *c, enum dill_wait kind, int64_t deadline)
{
    struct dill_cr *self = c->running;
    self->wait = (uint8_t)kind;
    if (deadline >= 0)
        dill__timer_add(c, self, deadline);
    dill__suspend(c);
    return self->err;
}

int dill_yield(void)
{
    struct dill_ctx *c = dill__ctx();
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    dill__ready(c, c->running);
    dill__suspend(c);
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

/* Find the bundle, or make one, and the stack. Returns the child and leaves
 * the macro's result in *handle, or NULL with errno set. */
static struct dill_cr *prepare(struct dill_ctx *c, int kind, int bndl, void *ptr, size_t len,
                               int *handle)
{
    bool fresh = kind == DILL_GO_ || kind == DILL_GO_MEM_;
    bool mem = kind == DILL_GO_MEM_ || kind == DILL_BUNDLE_GO_MEM_;
    struct dill_bundle *b = fresh ? NULL : dill__bundle_get(c, bndl);
    if ((!fresh && !b) || dill__timers_reserve(c) < 0)
        return NULL;
    struct dill_bundle *room = NULL;
    struct dill_cr *cr = mem ? dill__stack_borrow(ptr, len, &room) : dill__stack_take(c);
    if (!cr)
        return NULL;
    *handle = fresh ? dill__bundle_make(c, room, &b) : 0;
    if (*handle < 0) {
        int err = errno;
        dill__stack_give(c, cr);
        errno = err;
        return NULL;
    }
    dill__bundle_add(b, cr);
    return cr;
}

struct dill_start_ dill_prologue_(int kind, int bndl, void *ptr, size_t len)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_cr *self = c->running;
    struct dill_start_ start = {.self = &self->jmp, .stack = NULL, .fiber = NULL, .handle = -1};
    if (dill_slow(self->stop)) {
        errno = ECANCELED;
        return start;
    }
    struct dill_cr *child = prepare(c, kind, bndl, ptr, len, &start.handle);
    if (!child)
        return start;
    dill__san_birth(&child->san);
    start.stack = self->jmp.start = child->jmp.start;
#if defined DILL_TSAN_
    start.fiber = child->san.fiber;
#endif
    c->ncr++;
    dill__ready(c, self);
    c->running = child;
    dill__san_leave(&self->san, NULL, &child->san, 0);
    return start;
}

/* The first instructions of a child, or of a parent that goes on. */
void dill_enter_(void)
{
    struct dill_ctx *c = &dill__tls;
    dill__san_arrive(&c->running->san, &c->main.san);
}

/* The child's call has returned. Its stack goes back to the cache while we
 * still stand on it; nobody takes it from there before we have left. */
void dill_epilogue_(void)
{
    struct dill_ctx *c = &dill__tls;
    struct dill_cr *self = c->running;
    dill__bundle_remove(c, self);
    c->ncr--;
    dill__stack_give(c, self);
    struct dill_cr *to = next_ready(c);
    c->running = to;
    dill__san_leave(NULL, &self->san, &to->san, 1);
    dill__jump(&self->jmp, &to->jmp);
    __builtin_unreachable();
}
