/* bundle.c - bundles: coroutines that are waited for and cancelled together.
 * A bundle is a list of its live members and a list of those who wait for it
 * to become empty. Closing it wakes every blocked member with ECANCELED; one
 * that is ready finishes the call it is in and learns at the next one. */
#include "hot.h"

#include <stdlib.h>

_Static_assert(sizeof(struct dill_bundle) <= sizeof(struct dill_bundle_storage),
               "a bundle fits its storage");

const int dill__bundle_type;

void *dill__bundle_query(struct dill_hvfs *vfs, const void *type)
{
    if (type == &dill__bundle_type)
        return vfs;
    errno = ENOTSUP;
    return NULL;
}

static void wake_waiters(struct dill_ctx *c, struct dill_bundle *b, int err)
{
    while (b->waiters)
        dill__wake(c, b->waiters, err);
}

static void cancel_member(struct dill_ctx *c, struct dill_cr *cr)
{
    cr->stop |= DILL_STOP_CANCEL;
    if (cr->wait != DILL_WAIT_NOT && cr->wait != DILL_WAIT_CLOSE)
        dill__wake(c, cr, ECANCELED);
}

static void join_waiters(struct dill_bundle *b, struct dill_cr *cr)
{
    cr->awaited = b;
    cr->next = b->waiters;
    b->waiters = cr;
}

static void bundle_close(struct dill_hvfs *vfs)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_bundle *b = (struct dill_bundle *)vfs;
    wake_waiters(c, b, ECANCELED);
    if (b->members) {
        for (struct dill_cr *cr = b->members; cr; cr = cr->member)
            cancel_member(c, cr);
        join_waiters(b, c->running);
        dill__wait(c, DILL_WAIT_CLOSE, -1);
    }
    if (!b->mem)
        free(b);
}

/* Free it with its members never to run again; false: it is no bundle. */
bool dill__bundle_discard(struct dill_hvfs *vfs)
{
    if (vfs->query != dill__bundle_query)
        return false;
    if (!((struct dill_bundle *)vfs)->mem)
        free(vfs);
    return true;
}

bool dill__bundle_runs(const struct dill_hvfs *vfs, const struct dill_cr *cr)
{
    return cr->bundle && vfs == &cr->bundle->vfs;
}

/* Returns the handle; *out is the bundle, in "mem" unless that is NULL. */
int dill__bundle_make(struct dill_ctx *c, struct dill_bundle *mem, struct dill_bundle **out)
{
    struct dill_bundle *b = mem ? mem : malloc(sizeof *b);
    if (!b)
        return dill__fail(ENOMEM);
    *b = (struct dill_bundle){.vfs = {dill__bundle_query, bundle_close}, .mem = mem != NULL};
    int h = dill__handle_make(c, &b->vfs);
    if (h < 0 && !mem)
        free(b);
    else
        *out = b;
    return h;
}

/* The last member has ended. */
void dill__bundle_empty(struct dill_ctx *c, struct dill_bundle *b)
{
    wake_waiters(c, b, 0);
}

/* The waiter leaves the list of the bundle it waits for. */
void dill__bundle_forget(struct dill_cr *cr)
{
    struct dill_cr **p = &cr->awaited->waiters;
    while (*p != cr)
        p = &(*p)->next;
    *p = cr->next;
}

int dill_bundle_mem(struct dill_bundle_storage *mem)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_bundle *b;
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    return mem ? dill__bundle_make(c, (struct dill_bundle *)mem, &b) : dill__fail(EINVAL);
}

int dill_bundle(void)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_bundle *b;
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    return dill__bundle_make(c, NULL, &b);
}

int dill_bundle_wait(int h, int64_t deadline)
{
    struct dill_ctx *c = dill__ctx();
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    struct dill_bundle *b = dill__bundle_get(c, h);
    if (!b)
        return -1;
    if (!b->members)
        return 0;
    if (dill__past(c, deadline))
        return dill__fail(ETIMEDOUT);
    join_waiters(b, c->running);
    int err = dill__wait(c, DILL_WAIT_BUNDLE, deadline);
    return err ? dill__fail(err) : 0;
}
