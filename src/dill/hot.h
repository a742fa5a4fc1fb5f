/* hot.h - the short paths that are worth having inline in every file.
 * Anything rare is a call into the file that owns it. */
#ifndef DILL_HOT_H_INCLUDED
#define DILL_HOT_H_INCLUDED

#include "ctx.h"

#include <stdatomic.h>

static inline struct dill_ctx *dill__ctx(void)
{
    struct dill_ctx *c = dill__here();
    if (dill_slow(!c->running))
        dill__ctx_init(c);
    return c;
}

static inline int dill__fail(int err)
{
    errno = err;
    return -1;
}

/* True when there is nothing to wait for; the clock may be a batch old, which
 * only means that the timer tells a moment later. */
static inline bool dill__past(const struct dill_ctx *c, int64_t deadline)
{
    return deadline >= 0 && deadline <= c->now;
}

static inline void dill__ready(struct dill_ctx *c, struct dill_cr *cr)
{
    cr->next = NULL;
    if (c->ready)
        c->ready_last->next = cr;
    else
        c->ready = cr;
    c->ready_last = cr;
}

DILL_INLINE struct dill_cr *dill__next(struct dill_ctx *c)
{
    if (dill_slow(--c->budget <= 0))
        dill__look(c, false);
    if (dill_slow(!c->ready))
        dill__look(c, true);
    struct dill_cr *cr = c->ready;
    c->ready = cr->next;
    return cr;
}

DILL_INLINE void dill__switch(struct dill_ctx *c, struct dill_cr *to)
{
    struct dill_cr *self = c->running;
    c->running = to;
    dill__san_leave(&self->san, NULL, &to->san, 1);
    dill__jump(&self->jmp, &to->jmp);
    dill__san_arrive(&dill__tls.running->san, NULL);
}

/* Go on with whoever is ready next; the caller is parked or queued already. */
DILL_INLINE void dill__suspend(struct dill_ctx *c)
{
    struct dill_cr *to = dill__next(c);
    if (dill_fast(to != c->running))
        dill__switch(c, to);
}

/* NULL with EBADF when there is no such handle. */
static inline struct dill_hvfs *dill__handle_get(struct dill_ctx *c, int h)
{
    uint32_t i = (uint32_t)h ^ c->tag;
    if (dill_fast(i < c->nhandles && c->handles[i].vfs))
        return c->handles[i].vfs;
    errno = EBADF;
    return NULL;
}

static inline struct dill_bundle *dill__bundle_get(struct dill_ctx *c, int h)
{
    struct dill_hvfs *vfs = dill__handle_get(c, h);
    if (dill_slow(!vfs))
        return NULL;
    if (dill_fast(vfs->query == dill__bundle_query))
        return (struct dill_bundle *)vfs;
    return vfs->query(vfs, &dill__bundle_type);
}

static inline void dill__bundle_add(struct dill_bundle *b, struct dill_cr *cr)
{
    cr->bundle = b;
    cr->member = b->members;
    cr->memberp = &b->members;
    if (b->members)
        b->members->memberp = &cr->member;
    b->members = cr;
}

static inline void dill__bundle_remove(struct dill_ctx *c, struct dill_cr *cr)
{
    struct dill_bundle *b = cr->bundle;
    *cr->memberp = cr->member;
    if (cr->member)
        cr->member->memberp = cr->memberp;
    if (dill_slow(b->waiters && !b->members))
        dill__bundle_empty(c, b);
}

/* Room for every coroutine's deadline, one more coroutine's, the thread's own
 * and the unused first entry. */
static inline int dill__timers_reserve(struct dill_ctx *c)
{
    return dill_fast(c->ncr + 3 <= c->captimers) ? 0 : dill__timers_grow(c);
}

/* A stack with a blank control block; NULL with ENOMEM. */
static inline struct dill_cr *dill__stack_take(struct dill_ctx *c)
{
    size_t size = atomic_load_explicit(&dill__stack_bytes, memory_order_relaxed);
    struct dill_cr *cr = c->stacks;
    if (dill_slow(!cr || c->stack_size != size))
        return dill__stack_find(c, size);
    c->stacks = cr->next;
    c->nstacks--;
    /* Whoever had it may have launched others, and a launch borrows the field. */
    cr->jmp.start = (char *)cr - DILL_HEADROOM;
    return cr;
}

/* The coroutine is done with its stack, though it may still stand on it: what
 * cools down in its stead when the cache is full is another one. */
static inline void dill__stack_give(struct dill_ctx *c, struct dill_cr *cr)
{
    if (dill_slow(!cr->slab)) {
        dill__stack_return(cr);
        return;
    }
    if (dill_slow(c->nstacks >= DILL_WARM_STACKS))
        dill__stack_cool(c);
    cr->stop = 0;
    cr->next = c->stacks;
    c->stacks = cr;
    c->nstacks++;
}

#endif
