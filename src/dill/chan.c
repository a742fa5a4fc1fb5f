/* chan.c - channels and choose.
 *
 * A channel is two halves; each half owns the queue of its outgoing direction.
 * Whoever comes first queues there, so a queue holds either senders or
 * receivers, never both; whoever comes second copies the message, wakes the
 * first, and goes on without a switch. A waiting coroutine has one clause on
 * its stack per channel it chooses from. */
#include "hot.h"

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

static inline void unqueue(struct dill_clause *cl)
{
    struct dill_half *d = cl->dir;
    *(cl->prev ? &cl->prev->next : &d->first) = cl->next;
    *(cl->next ? &cl->next->prev : &d->last) = cl->prev;
}

static inline void enqueue(struct dill_clause *cl)
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

/* End the wait this clause is part of. */
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

static void free_if_closed(struct dill_half *h)
{
    if (h->closed && h->peer->closed && !h->mem)
        free(h < h->peer ? h : h->peer);
}

static void half_close(struct dill_hvfs *vfs)
{
    struct dill_half *h = (struct dill_half *)vfs;
    h->closed = true;
    if (h->peer->closed) {
        fail_all(dill__ctx(), h);
        fail_all(dill__ctx(), h->peer);
    }
    free_if_closed(h);
}

/* The same when the thread ends and nobody is left to wake. */
void dill__chan_discard(struct dill_hvfs *vfs)
{
    struct dill_half *h = (struct dill_half *)vfs;
    if (vfs->query != half_query)
        return;
    h->closed = true;
    free_if_closed(h);
}

static inline struct dill_half *half_get(struct dill_ctx *c, int h)
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

/* The queue an operation belongs to; NULL and *err when there is none. */
static inline struct dill_half *direction(struct dill_ctx *c, int op, int ch, const void *val,
                                          size_t len, int *err)
{
    struct dill_half *dir = half_get(c, ch);
    if (dill_slow(!dir)) {
        int why = errno;
        *err = why > 0 ? why : ENOTSUP; /* a foreign query may forget it */
        return NULL;
    }
    *err = dill_slow(!val && len) ? EINVAL : 0;
    if (op == DILL_CHRECV)
        dir = dir->peer;
    if (dill_slow(dir->done) && !*err)
        *err = EPIPE;
    return *err ? NULL : dir;
}

/* Exchange the message with the one who was there first. */
static int meet(struct dill_ctx *c, struct dill_clause *other, void *val, size_t len)
{
    int err = other->len == len ? 0 : EMSGSIZE;
    if (!err && len) {
        bool sends = other->op == DILL_CHSEND;
        memcpy(sends ? val : other->val, sends ? other->val : val, len);
    }
    finish(c, other, err);
    return err;
}

/* Wait in the queues of these clauses. Returns 0 or an errno; which clause it
 * was is in the coroutine's index, -1 for none. */
static int await(struct dill_ctx *c, struct dill_clause *cls, int n, int64_t deadline)
{
    struct dill_cr *self = c->running;
    self->clauses = cls;
    self->nclauses = n;
    self->index = -1;
    return dill__wait(c, DILL_WAIT_CHAN, deadline);
}

/* One send or receive, whatever may be odd about it. */
static __attribute__((noinline)) int transfer_slowly(int op, int ch, void *val, size_t len,
                                                     int64_t deadline)
{
    struct dill_ctx *c = dill__ctx();
    int err = 0;
    if (c->running->stop)
        return dill__fail(ECANCELED);
    struct dill_half *dir = direction(c, op, ch, val, len, &err);
    if (!dir)
        return dill__fail(err);
    if (dir->first && dir->first->op != op) {
        err = meet(c, dir->first, val, len);
    } else if (dill__past(c, deadline)) {
        err = ETIMEDOUT;
    } else {
        struct dill_clause cl = {.dir = dir, .cr = c->running, .val = val, .len = len, .op = op};
        enqueue(&cl);
        err = await(c, &cl, 1, deadline);
    }
    return err ? dill__fail(err) : 0;
}

/* The usual wait: one message, no deadline. */
static __attribute__((noinline)) int await_message(struct dill_half *dir, int op, void *val,
                                                   size_t len)
{
    struct dill_ctx *c = dill__here();
    struct dill_cr *self = c->running;
    struct dill_clause cl = {.dir = dir, .cr = self, .val = val, .len = len, .op = op};
    enqueue(&cl);
    self->clauses = &cl;
    self->nclauses = 1;
    self->wait = DILL_WAIT_MESSAGE;
    dill__suspend(c);
    int err = dill__tls.running->err;
    return dill_fast(!err) ? 0 : dill__fail(err);
}

/* The usual meeting: the other side waits for this one message, and it is a
 * pointer or a number. */
DILL_INLINE void meet_quickly(struct dill_ctx *c, int op, struct dill_clause *other, void *val)
{
    struct dill_cr *cr = other->cr;
    struct dill_half *dir = other->dir;
    if (op == DILL_CHSEND)
        memcpy(other->val, val, sizeof(void *));
    else
        memcpy(val, other->val, sizeof(void *));
    dir->first = other->next;
    *(other->next ? &other->next->prev : &dir->last) = NULL;
    cr->wait = DILL_WAIT_NOT;
    cr->err = 0;
    dill__ready(c, cr);
}

/* Everything usual goes straight through, without a call that returns here;
 * anything else is transfer_slowly's. */
DILL_INLINE int transfer(int op, int ch, void *val, size_t len, int64_t deadline)
{
    struct dill_ctx *c = dill__here();
    uint32_t i = (uint32_t)ch ^ c->tag;
    if (dill_slow(i >= c->nhandles || c->running->stop || !val))
        return transfer_slowly(op, ch, val, len, deadline);
    struct dill_half *dir = (struct dill_half *)c->handles[i].vfs;
    if (dill_slow(!dir || dir->vfs.query != half_query))
        return transfer_slowly(op, ch, val, len, deadline);
    if (op == DILL_CHRECV)
        dir = dir->peer;
    struct dill_clause *other = dir->first;
    if (other && other->op != op) {
        bool usual = len == sizeof(void *) && other->len == len && !dir->done &&
                     other->cr->wait == DILL_WAIT_MESSAGE;
        if (dill_slow(!usual))
            return transfer_slowly(op, ch, val, len, deadline);
        meet_quickly(c, op, other, val);
        return 0;
    }
    if (dill_slow(deadline >= 0 || dir->done))
        return transfer_slowly(op, ch, val, len, deadline);
    return await_message(dir, op, val, len);
}

int dill_chsend(int ch, const void *val, size_t len, int64_t deadline)
{
    return transfer(DILL_CHSEND, ch, (void *)(uintptr_t)val, len, deadline);
}

int dill_chrecv(int ch, void *val, size_t len, int64_t deadline)
{
    return transfer(DILL_CHRECV, ch, val, len, deadline);
}

/* Perform clause i if that needs no waiting, with *err as its result; false:
 * nobody is there yet, and *cl is ready to be queued. */
static bool attempt(struct dill_ctx *c, struct dill_clause *cl, const struct dill_chclause *u,
                    int i, int *err)
{
    *err = EINVAL;
    if (u->op != DILL_CHSEND && u->op != DILL_CHRECV)
        return true;
    struct dill_half *dir = direction(c, u->op, u->ch, u->val, u->len, err);
    if (!dir)
        return true;
    if (dir->first && dir->first->op != u->op) {
        *err = meet(c, dir->first, u->val, u->len);
        return true;
    }
    cl->dir = dir;
    cl->cr = c->running;
    cl->val = u->val;
    cl->len = u->len;
    cl->op = u->op;
    cl->index = i;
    return false;
}

static int choose_with(struct dill_ctx *c, struct dill_clause *cls,
                       const struct dill_chclause *clauses, int n, int64_t deadline)
{
    for (int i = 0; i < n; i++) {
        int err;
        if (attempt(c, &cls[i], &clauses[i], i, &err)) {
            errno = err;
            return i;
        }
    }
    if (dill__past(c, deadline))
        return dill__fail(ETIMEDOUT);
    for (int i = 0; i < n; i++)
        enqueue(&cls[i]);
    errno = await(c, cls, n, deadline);
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
