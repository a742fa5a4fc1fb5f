/* cps.c - the runtime of the callback face: where every callback comes from.
 *
 * The laws of cps are kept here and nowhere else. A completed operation goes
 * into a queue, and only cps_run() empties the queue; so a callback never runs
 * before the call that started it has returned and never inside another one,
 * and its stack is cps_run()'s caller's, however long the chain. The operation
 * core (base/op.c) guarantees "once". While a callback runs the loop is marked,
 * and a suspending cos_ call is refused with COS_ECONTEXT.
 *
 * Plain deferred callbacks are pairs in a ring, not operations: no allocation a
 * step. Rejected: running a callback at once when the stack is empty ("sometimes
 * synchronous"): half of the callers would then be tested in one order only. */
#define DILL_DISABLE_RAW_NAMES
#include "cps.h"

#include "base/die.h"

#include <libdill.h>
#include <stdlib.h>
#include <string.h>

enum { RING_MAX = 1 << 22, SLOTS_MAX = 1 << 20, RESERVE = 64 };

struct pair {
    cps_cb *cb;
    void *arg;
};

/* A FIFO of pairs; capacity is a power of two, positions count on for ever. */
struct ring {
    struct pair *at;
    size_t cap, head, tail;
};

/* Where an operation in flight is found by its ticket. */
struct slot {
    struct cos_op *op;
    uint32_t turn; /* times the slot was used: a stale ticket finds nothing */
    uint32_t next; /* free list */
};

struct cps_rt {
    struct cos__loop *loop;
    struct ring deferred, immediate;
    struct cos_op *done, **done_end; /* completed, waiting for their callback */
    struct slot *slots;
    uint32_t nslots, free_slot;
    size_t pending;   /* operations begun and not delivered */
    size_t held;      /* cps__pend */
    struct cos_op reserve[RESERVE]; /* to report "out of memory" with */
    struct cos_op *reserve_free;
    uint8_t running, turning, stop;
};

static const struct cos__op_type reserve_type = {.name = "out of memory", .kind = COS__OP_OTHER,
                                                 .size = sizeof(struct cos_op)};

/* --- rings ------------------------------------------------------------------ */

static int ring_grow(struct ring *ring)
{
    size_t cap = ring->cap ? ring->cap * 2 : 64, n = ring->tail - ring->head;
    struct pair *at;
    if (cap > RING_MAX)
        return COS_EFULL;
    at = malloc(cap * sizeof *at);
    if (!at)
        return COS_ENOMEM;
    for (size_t i = 0; i < n; i++)
        at[i] = ring->at[(ring->head + i) & (ring->cap - 1)];
    free(ring->at);
    *ring = (struct ring){.at = at, .cap = cap, .tail = n};
    return 0;
}

static inline int ring_add(struct ring *ring, cps_cb *cb, void *arg)
{
    if (__builtin_expect(ring->tail - ring->head == ring->cap, 0)) {
        int err = ring_grow(ring);
        if (err)
            return err;
    }
    ring->at[ring->tail++ & (ring->cap - 1)] = (struct pair){cb, arg};
    return 0;
}

static inline void ring_run(struct ring *ring)
{
    struct pair next = ring->at[ring->head++ & (ring->cap - 1)];
    next.cb(0, next.arg);
}

/* cps_run() may sleep in a turn while another coroutine adds work. */
static inline void nudge(struct cps_rt *rt)
{
    if (__builtin_expect(rt->turning, 0))
        cos__loop_kick(rt->loop);
}

/* A deferred callback that the hooks see. */
struct seen {
    cps_cb *cb;
    void *arg;
    struct cos__hook *hook;
};

static void run_seen(int err, void *arg)
{
    struct seen seen = *(struct seen *)arg;
    free(arg);
    cos__hook_before(seen.hook, 1);
    seen.cb(err, seen.arg);
    cos__hook_after(seen.hook, 0);
    cos__hook_destroy(&seen.hook);
}

static int add_seen(struct ring *ring, const char *name, cps_cb *cb, void *arg)
{
    struct seen *seen;
    struct cos__hook *hook;
    int err = COS_ENOMEM;
    COS_HOOK(init, &hook, COS_HOOK_CPS_REQUEST, NULL, name);
    if (!hook)
        return ring_add(ring, cb, arg);
    seen = malloc(sizeof *seen);
    if (seen) {
        *seen = (struct seen){cb, arg, hook};
        err = ring_add(ring, run_seen, seen);
    }
    if (err) {
        free(seen);
        cos__hook_moment(&hook, 1);
    }
    return err;
}

int cps_defer(struct cps_rt *rt, cps_cb *cb, void *arg)
{
    nudge(rt);
    if (COS__HOOKS_ON())
        return add_seen(&rt->deferred, "defer", cb, arg);
    return ring_add(&rt->deferred, cb, arg);
}

int cps_immediate(struct cps_rt *rt, cps_cb *cb, void *arg)
{
    nudge(rt);
    if (COS__HOOKS_ON())
        return add_seen(&rt->immediate, "immediate", cb, arg);
    return ring_add(&rt->immediate, cb, arg);
}

/* --- tickets ---------------------------------------------------------------- */

static int slots_grow(struct cps_rt *rt)
{
    uint32_t n = rt->nslots ? rt->nslots * 2 : 64;
    struct slot *more;
    if (n > SLOTS_MAX)
        return COS_EFULL;
    more = realloc(rt->slots, n * sizeof *more);
    if (!more)
        return COS_ENOMEM;
    /* Slot 0 stays unused: 0 ends the free list. */
    for (uint32_t i = n - 1; i >= rt->nslots && i > 0; i--) {
        more[i] = (struct slot){.next = rt->free_slot};
        rt->free_slot = i;
    }
    rt->slots = more;
    rt->nslots = n;
    return 0;
}

static int64_t ticket_give(struct cps_rt *rt, struct cos_op *op)
{
    uint32_t at;
    int err = rt->free_slot ? 0 : slots_grow(rt);
    if (err)
        return err;
    at = rt->free_slot;
    rt->free_slot = rt->slots[at].next;
    rt->slots[at].op = op;
    return (int64_t)(((uint64_t)(rt->slots[at].turn & 0x7fffffff) << 32) | at);
}

static struct slot *ticket_find(struct cps_rt *rt, int64_t ticket)
{
    uint32_t at = (uint32_t)ticket, turn = (uint32_t)(ticket >> 32);
    struct slot *slot = at && at < rt->nslots ? &rt->slots[at] : NULL;
    return slot && slot->op && (slot->turn & 0x7fffffff) == turn ? slot : NULL;
}

static void ticket_drop(struct cps_rt *rt, int64_t ticket)
{
    struct slot *slot = ticket_find(rt, ticket);
    if (!slot)
        return;
    slot->op = NULL;
    slot->turn++;
    slot->next = rt->free_slot;
    rt->free_slot = (uint32_t)(slot - rt->slots);
}

/* --- operations ------------------------------------------------------------- */

static void queue_done(struct cos_op *op)
{
    struct cps_rt *rt = op->face;
    op->next = NULL;
    *rt->done_end = op;
    rt->done_end = &op->next;
    nudge(rt);
}

static void deadline_passed(struct cos__timer *timer)
{
    struct cos_op *op = (struct cos_op *)((char *)timer - offsetof(struct cos_op, timer));
    cos__op_cancel(op, COS_ETIMEDOUT);
}

static struct cos_op *reserve_take(struct cps_rt *rt)
{
    struct cos_op *op = rt->reserve_free;
    if (!op)
        return NULL;
    rt->reserve_free = op->next;
    *op = (struct cos_op){.type = &reserve_type, .loop = rt->loop, .state = COS__OP_HELD};
    return op;
}

static void let_go(struct cps_rt *rt, struct cos_op *op)
{
    if (op->type == &reserve_type) {
        op->next = rt->reserve_free;
        rt->reserve_free = op;
    } else {
        cos__op_free(op);
    }
}

static void begin(struct cos_op *op, int64_t deadline)
{
    cos__op_start(op);
    if (cos__op_is_done(op) || deadline < 0)
        return;
    op->timer.fire = deadline_passed;
    if (deadline == 0)
        cos__op_cancel(op, COS_ETIMEDOUT);
    else if (cos__timer_set(op->loop, &op->timer, deadline) < 0)
        cos__op_cancel(op, COS_ENOMEM);
}

int64_t cps__begin(struct cps_rt *rt, struct cos_op *op, int64_t deadline,
                   void (*deliver)(struct cos_op *), cps__fn *cb, void *arg)
{
    int64_t ticket = op ? ticket_give(rt, op) : 0;
    if (ticket < 0) {
        cos__op_free(op);
        op = NULL;
    }
    if (!op && !(op = reserve_take(rt)))
        return COS_ENOMEM;
    if (op->type == &reserve_type)
        op->doom = ticket < 0 ? (int)ticket : COS_ENOMEM;
    op->face = rt;
    op->state |= COS__OP_FACED;
    op->done = queue_done;
    op->deliver = deliver;
    op->cb = cb;
    op->arg = arg;
    op->ticket = ticket > 0 ? ticket : 0;
    rt->pending++;
    begin(op, deadline);
    /* A ticket that no slot stands for: there is nothing left to cancel. */
    return ticket > 0 ? ticket : INT64_MAX;
}

int cps_cancel(struct cps_rt *rt, int64_t ticket)
{
    struct slot *slot = ticket_find(rt, ticket);
    struct cos_op *op;
    if (!slot)
        return COS_ENOENT;
    op = slot->op;
    if (cos__op_is_done(op))
        op->err = COS_ECANCELED;
    else
        cos__op_cancel(op, COS_ECANCELED);
    return 0;
}

static void deliver_next(struct cps_rt *rt)
{
    struct cos_op *op = rt->done;
    rt->done = op->next;
    if (!rt->done)
        rt->done_end = &rt->done;
    if (op->ticket)
        ticket_drop(rt, op->ticket);
    if (!op->deliver)
        cos__die("callback of '%s' called twice", op->type->name);
    void (*deliver)(struct cos_op *) = op->deliver;
    op->deliver = NULL;
    if (COS__HOOK_LIVE(op->hook))
        cos__hook_deliver(op->hook, deliver, op, &op->err);
    else
        deliver(op);
    rt->pending--;
    let_go(rt, op);
}

/* --- running ---------------------------------------------------------------- */

/* Bits of stop: cps_stop() was called; what a callback told the hooks ends with
 * it, also where no operation marks its end. */
enum { STOP = 1, BELL = 2 };

static int stopped(struct cps_rt *rt)
{
    if (rt->stop & BELL) {
        rt->stop &= STOP;
        cos__hook_callback_end();
    }
    return rt->stop;
}

static void drain(struct cps_rt *rt)
{
    cos__loop_set_in_callback(rt->loop, 1);
    while (!rt->stop || !stopped(rt)) {
        if (rt->deferred.head != rt->deferred.tail)
            ring_run(&rt->deferred);
        else if (rt->done)
            deliver_next(rt);
        else
            break;
    }
    cos__loop_set_in_callback(rt->loop, 0);
}

/* What was there before the poll runs after it, each followed by what it
 * deferred; what it adds waits for the next poll. */
static void run_immediates(struct cps_rt *rt, size_t n)
{
    while (n-- && (!rt->stop || !stopped(rt))) {
        cos__loop_set_in_callback(rt->loop, 1);
        ring_run(&rt->immediate);
        cos__loop_set_in_callback(rt->loop, 0);
        drain(rt);
    }
}

static int busy(const struct cps_rt *rt)
{
    return rt->pending || rt->held || rt->deferred.head != rt->deferred.tail ||
           rt->immediate.head != rt->immediate.tail;
}

static int run(struct cps_rt *rt)
{
    int err = 0;
    drain(rt);
    while (!err && !stopped(rt) && busy(rt)) {
        size_t n = rt->immediate.tail - rt->immediate.head;
        rt->turning = 1;
        err = cos__loop_turn(rt->loop, n || rt->done ? 0 : -1);
        rt->turning = 0;
        if (!err) {
            drain(rt);
            run_immediates(rt, n);
        }
    }
    return err;
}

int cps_run(struct cps_rt *rt)
{
    struct cos_hook_wait wait;
    int err;
    if (cos__loop_in_callback(rt->loop))
        return COS_ECONTEXT;
    err = cos__loop_enter(rt->loop);
    if (err)
        return err;
    rt->running = 1;
    rt->stop = 0;
    /* Callbacks run under their own names, whoever calls this. */
    COS_HOOK(pause, &wait);
    cos__hook_set_bell(&rt->stop);
    COS_HOOK(detach);
    err = run(rt);
    cos__hook_set_bell(NULL);
    COS_HOOK(resume, &wait);
    rt->running = 0;
    cos__loop_leave(rt->loop);
    return err;
}

void cps_stop(struct cps_rt *rt)
{
    rt->stop |= STOP;
}

void cps__pend(struct cps_rt *rt, int by)
{
    rt->held += (size_t)by;
}

struct cos__loop *cps__loop(struct cps_rt *rt)
{
    return rt->loop;
}

size_t cps_pending(const struct cps_rt *rt)
{
    return rt->pending + rt->held + (rt->deferred.tail - rt->deferred.head) +
           (rt->immediate.tail - rt->immediate.head);
}

/* --- life ------------------------------------------------------------------- */

int cps_open(struct cps_rt **out)
{
    struct cos__loop *loop = cos__loop();
    struct cps_rt *rt = loop ? calloc(1, sizeof *rt) : NULL;
    if (!rt)
        return COS_ENOMEM;
    rt->loop = loop;
    rt->done_end = &rt->done;
    for (int i = 0; i < RESERVE; i++) {
        rt->reserve[i].next = rt->reserve_free;
        rt->reserve_free = &rt->reserve[i];
    }
    *out = rt;
    return 0;
}

int cps_close(struct cps_rt *rt)
{
    if (!rt)
        return 0;
    if (rt->running || busy(rt))
        return COS_EBUSY;
    free(rt->deferred.at);
    free(rt->immediate.at);
    free(rt->slots);
    free(rt);
    return 0;
}
