/* chan.c - channels and choose.
 *
 * A channel is two halves; each half owns the queue of its outgoing direction.
 * Whoever comes first queues there, so a queue holds either senders or
 * receivers, never both; whoever comes second copies the message, wakes the
 * first, and goes on without a switch. A waiting coroutine has one clause on
 * its stack per channel it chooses from. */
#include "ctx.h"

#include <stdlib.h>
#include <string.h>

enum { CLAUSES_ON_STACK = 16 };

struct dill_half {
    struct dill_hvfs vfs;
    struct dill_clause *first, *last;
    struct dill_half *peer;
    bool done;
    bool closed;
    bool mem;
};

struct channel {
    struct dill_half half[2];
};

_Static_assert(sizeof(struct channel) <= sizeof(struct dill_chstorage),
               "a channel fits its storage");

static const int half_type;

static void unqueue(struct dill_clause *cl)
{
    struct dill_half *d = cl->dir;
    *(cl->prev ? &cl->prev->next : &d->first) = cl->next;
    *(cl->next ? &cl->next->prev : &d->last) = cl->prev;
}

static void enqueue(struct dill_clause *cl)
{
    struct dill_half *d = cl->dir;
    cl->next = NULL;
    cl->prev = d->last;
    *(d->last ? &d->last->next : &d->first) = cl;
    d->last = cl;
}

void dill__chan_forget(struct dill_cr *cr)
{
    for (int i = 0; i < cr->nclauses; i++)
        unqueue(&cr->clauses[i]);
}

static void finish(struct dill_ctx *c, struct dill_clause *cl, int err)
{
    cl->cr->index = cl->index;
    dill__wake(c, cl->cr, err);
}

static void fail_all(struct dill_ctx *c, struct dill_half *dir)
{
    while (dir->first)
        finish(c, dir->first, EPIPE);
}

static void *half_query(struct dill_hvfs *vfs, const void *type)
{
    if (type == &half_type)
        return vfs;
    errno = ENOTSUP;
    return NULL;
}

static void half_close(struct dill_hvfs *vfs)
{
    struct dill_half *h = (struct dill_half *)vfs;
    struct dill_half *first = h < h->peer ? h : h->peer;
    h->closed = true;
    if (!h->peer->closed)
        return;
    fail_all(dill__ctx(), h);
    fail_all(dill__ctx(), h->peer);
    if (!h->mem)
        free(first);
}

static struct dill_half *half_get(struct dill_ctx *c, int h)
{
    struct dill_hvfs *vfs = dill__handle_get(c, h);
    if (!vfs)
        return NULL;
    if (dill_fast(vfs->query == half_query))
        return (struct dill_half *)vfs;
    return vfs->query(vfs, &half_type);
}

static int make(struct dill_ctx *c, struct channel *ch, bool mem, int chv[2])
{
    int h[2];
    memset(ch, 0, sizeof *ch);
    for (int i = 0; i < 2; i++) {
        ch->half[i].vfs = (struct dill_hvfs){half_query, half_close};
        ch->half[i].peer = &ch->half[1 - i];
        ch->half[i].mem = mem;
    }
    h[0] = dill__handle_make(c, &ch->half[0].vfs);
    if (h[0] < 0)
        return -1;
    h[1] = dill__handle_make(c, &ch->half[1].vfs);
    if (h[1] < 0) {
        dill__handle_free(c, h[0]);
        return dill__fail(ENOMEM);
    }
    memcpy(chv, h, sizeof h);
    return 0;
}

int dill_chmake_mem(struct dill_chstorage *mem, int chv[2])
{
    struct dill_ctx *c = dill__ctx();
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    if (!mem || !chv)
        return dill__fail(EINVAL);
    return make(c, (struct channel *)mem, true, chv);
}

int dill_chmake(int chv[2])
{
    struct dill_ctx *c = dill__ctx();
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    if (!chv)
        return dill__fail(EINVAL);
    struct channel *ch = malloc(sizeof *ch);
    if (!ch)
        return dill__fail(ENOMEM);
    int rc = make(c, ch, false, chv);
    if (rc < 0)
        free(ch);
    return rc;
}

int dill_chdone(int h)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_half *half = half_get(c, h);
    if (!half)
        return -1;
    if (half->done)
        return dill__fail(EPIPE);
    half->done = true;
    fail_all(c, half);
    return 0;
}

/* Fill in *cl and perform it if that needs no waiting. Returns 0 or the errno
 * it ended with; EAGAIN: nobody there yet. */
static inline int attempt(struct dill_ctx *c, struct dill_clause *cl, int ch)
{
    if (cl->op != DILL_CHSEND && cl->op != DILL_CHRECV)
        return EINVAL;
    struct dill_half *half = half_get(c, ch);
    if (dill_slow(!half))
        return errno;
    if (dill_slow(!cl->val && cl->len))
        return EINVAL;
    struct dill_half *dir = cl->op == DILL_CHSEND ? half : half->peer;
    if (dill_slow(dir->done))
        return EPIPE;
    cl->dir = dir;
    struct dill_clause *other = dir->first;
    if (!other || other->op == cl->op)
        return EAGAIN;
    int err = other->len == cl->len ? 0 : EMSGSIZE;
    if (dill_fast(!err) && cl->len) {
        bool sending = cl->op == DILL_CHSEND;
        memcpy(sending ? other->val : cl->val, sending ? cl->val : other->val, cl->len);
    }
    finish(c, other, err);
    return err;
}

/* Queue the clauses and wait. Returns 0 or an errno; which clause it was is
 * in the coroutine's index, -1 for none. */
static int await(struct dill_ctx *c, struct dill_clause *cls, int n, int64_t deadline)
{
    struct dill_cr *self = c->running;
    for (int i = 0; i < n; i++)
        enqueue(&cls[i]);
    self->clauses = cls;
    self->nclauses = n;
    self->index = -1;
    return dill__wait(c, DILL_WAIT_CHAN, deadline);
}

static int transfer(int op, int ch, void *val, size_t len, int64_t deadline)
{
    struct dill_ctx *c = dill__ctx();
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    struct dill_clause cl = {.cr = c->running, .val = val, .len = len, .op = op};
    int err = attempt(c, &cl, ch);
    if (err == EAGAIN)
        err = dill__past(c, deadline) ? ETIMEDOUT : await(c, &cl, 1, deadline);
    return dill_fast(!err) ? 0 : dill__fail(err);
}

int dill_chsend(int ch, const void *val, size_t len, int64_t deadline)
{
    return transfer(DILL_CHSEND, ch, (void *)(uintptr_t)val, len, deadline);
}

int dill_chrecv(int ch, void *val, size_t len, int64_t deadline)
{
    return transfer(DILL_CHRECV, ch, val, len, deadline);
}

static int choose_with(struct dill_ctx *c, struct dill_clause *cls,
                       const struct dill_chclause *clauses, int n, int64_t deadline)
{
    for (int i = 0; i < n; i++) {
        const struct dill_chclause *u = &clauses[i];
        cls[i] = (struct dill_clause){
            .cr = c->running, .val = u->val, .len = u->len, .op = u->op, .index = i};
        int err = attempt(c, &cls[i], u->ch);
        if (err != EAGAIN) {
            errno = err;
            return i;
        }
    }
    if (dill__past(c, deadline))
        return dill__fail(ETIMEDOUT);
    int err = await(c, cls, n, deadline);
    errno = err;
    return c->running->index;
}

int dill_choose(struct dill_chclause *clauses, int nclauses, int64_t deadline)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_clause few[CLAUSES_ON_STACK];
    if (dill_slow(c->running->stop))
        return dill__fail(ECANCELED);
    if (nclauses < 0 || (nclauses > 0 && !clauses))
        return dill__fail(EINVAL);
    if (nclauses <= CLAUSES_ON_STACK)
        return choose_with(c, few, clauses, nclauses, deadline);
    struct dill_clause *many = calloc((size_t)nclauses, sizeof *many);
    if (!many)
        return dill__fail(ENOMEM);
    int rc = choose_with(c, many, clauses, nclauses, deadline);
    int err = errno;
    free(many);
    errno = err;
    return rc;
}
