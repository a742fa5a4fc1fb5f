/* handle.c - handles: small numbers for objects.
 * A table per thread, free entries chained. The upper bits of a handle carry
 * the thread's tag, so that one from another thread is EBADF and not some
 * other object; the first thread's tag is 0 and its handles count from 0. */
#include "hot.h"

#include <stdlib.h>

enum {
    INDEX_BITS = 22, /* four million handles; 9 bits remain for the tag */
    FIRST_HANDLES = 64,
    NO_HANDLE = 1 << INDEX_BITS,
};

static int grow(struct dill_ctx *c)
{
    uint32_t n = c->nhandles ? c->nhandles * 2 : FIRST_HANDLES;
    if (n > NO_HANDLE)
        return dill__fail(ENOMEM);
    struct dill_handle *t = realloc(c->handles, n * sizeof *t);
    if (!t)
        return dill__fail(ENOMEM);
    for (uint32_t i = c->nhandles; i < n; i++)
        t[i] = (struct dill_handle){NULL, i + 1 < n ? i + 1 : NO_HANDLE};
    c->free_handle = c->nhandles;
    c->nhandles = n;
    c->handles = t;
    return 0;
}

int dill__handle_make(struct dill_ctx *c, struct dill_hvfs *vfs)
{
    if (c->free_handle >= c->nhandles && grow(c) < 0)
        return -1;
    uint32_t i = c->free_handle;
    c->free_handle = c->handles[i].next_free;
    c->handles[i].vfs = vfs;
    return (int)(i | c->tag);
}

void dill__handle_free(struct dill_ctx *c, int h)
{
    uint32_t i = (uint32_t)h ^ c->tag;
    c->handles[i] = (struct dill_handle){NULL, c->free_handle};
    c->free_handle = i;
}

/* The thread ends. Objects of other kinds are their makers' to free. */
void dill__handles_release(struct dill_ctx *c)
{
    for (uint32_t i = 0; i < c->nhandles; i++) {
        struct dill_hvfs *vfs = c->handles[i].vfs;
        if (vfs && !dill__bundle_discard(vfs))
            dill__chan_discard(vfs);
    }
    free(c->handles);
    c->handles = NULL;
    c->nhandles = 0;
}

int dill_hmake(struct dill_hvfs *vfs)
{
    if (!vfs || !vfs->query || !vfs->close)
        return dill__fail(EINVAL);
    return dill__handle_make(dill__ctx(), vfs);
}

void *dill_hquery(int h, const void *type)
{
    struct dill_hvfs *vfs = dill__handle_get(dill__ctx(), h);
    return vfs ? vfs->query(vfs, type) : NULL;
}

int dill_hown(int h)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_hvfs *vfs = dill__handle_get(c, h);
    if (!vfs)
        return -1;
    int fresh = dill__handle_make(c, vfs);
    if (fresh >= 0)
        dill__handle_free(c, h);
    return fresh;
}

/* The number is void before the object goes: nobody can join a bundle that
 * is being closed, or close it twice. */
int dill_hclose(int h)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_cr *self = c->running;
    struct dill_hvfs *vfs = dill__handle_get(c, h);
    if (!vfs)
        return -1;
    if (dill__bundle_runs(vfs, self))
        return dill__fail(EDEADLK);
    dill__handle_free(c, h);
    uint8_t before = self->stop;
    self->stop |= DILL_STOP_CLOSING;
    vfs->close(vfs);
    if (!(before & DILL_STOP_CLOSING))
        self->stop &= (uint8_t)~DILL_STOP_CLOSING;
    return 0;
}
