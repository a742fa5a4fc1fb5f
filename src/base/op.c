/* op.c - the life of a leaf operation and the coroutine's wait for it (op.h).
 *
 * Two parties hold an operation: its provider while it runs and its face until
 * it has read the result. Whoever lets go last frees it; so a job on a thread
 * that cannot be stopped outlives a caller that was cancelled, and nobody has
 * to wait for it.
 *
 * A coroutine parks by receiving on a channel; completion sends to it with
 * deadline 0, which never blocks since the receiver stands there. The channels
 * are kept in a list and reused: making one per wait would cost more than the
 * message. Where sending is refused (the completing coroutine is itself being
 * closed) chdone wakes the waiter just as well, and the channel is thrown away. */
#define DILL_DISABLE_RAW_NAMES
#include "base/op.h"

#include "base/die.h"
#include "base/hook_int.h"
#include "base/loop_int.h"

#include <errno.h>
#include <libdill.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_MAX = 1024 };

struct cos__waiter {
    struct cos__waiter *next;
    int ch[2];
    uint8_t parked, ended;
};

static void op_abort(const struct cos_op *op, const char *what);

/* --- memory ----------------------------------------------------------------- */

struct cos_op *cos__op_new_at(const struct cos__op_type *type, const char *file, int line)
{
    struct cos__loop *loop = cos__loop();
    struct cos_op *op;
    if (!loop)
        return NULL;
    op = loop->free_ops[type->kind];
    if (op && op->type->size == type->size) {
        loop->free_ops[type->kind] = op->next;
        loop->nfree[type->kind]--;
        memset(op, 0, type->size);
    } else {
        op = calloc(1, type->size);
        if (!op)
            return NULL;
    }
    op->type = type;
    op->loop = loop;
    op->state = COS__OP_HELD;
    loop->nops++;
    COS_HOOK(init_at, &op->hook, type->hook, NULL, type->name, file, line);
    (void)file, (void)line;
    return op;
}

/* One that nobody could wait for has its run all the same: it was given up. */
static __attribute__((noinline)) void end_seen(struct cos_op *op)
{
    if (!op->hook->ran)
        cos__hook_pass(op->hook, 1);
    if (op->type->release)
        op->type->release(op);
    cos__hook_destroy(&op->hook);
}

static void give_back(struct cos_op *op)
{
    struct cos__loop *loop = op->loop;
    enum cos__op_kind kind = op->type->kind;
    if (COS__HOOK_LIVE(op->hook))
        end_seen(op);
    else if (op->type->release)
        op->type->release(op);
    loop->nops--;
    if (loop->nfree[kind] >= FREE_MAX) {
        free(op);
        return;
    }
    op->next = loop->free_ops[kind];
    loop->free_ops[kind] = op;
    loop->nfree[kind]++;
}

void cos__op_free(struct cos_op *op)
{
    if (!op)
        return;
    if (!(op->state & COS__OP_HELD))
        op_abort(op, "freed twice");
    op->state &= ~(unsigned)COS__OP_HELD;
    cos__timer_unset(op->loop, &op->timer);
    if (!(op->state & COS__OP_RUNNING))
        give_back(op);
}

size_t cos__op_count(void)
{
    struct cos__loop *loop = cos__loop();
    return loop ? loop->nops : 0;
}

/* --- completion ------------------------------------------------------------- */

/* The detector: breaking the rule is a bug in a provider, and going on would
 * run somebody's callback twice. */
static void op_abort(const struct cos_op *op, const char *what)
{
    cos__die("operation '%s' %s", op->type->name, what);
}

/* An operation inside another one: what waits for it runs right here. done()
 * may free it; then its destroy is told after this after. */
static __attribute__((noinline)) void tell_inner(struct cos_op *op)
{
    struct cos__hook *hook = op->hook;
    int failed = op->err == COS_ECANCELED;
    cos__hook_before(hook, 0);
    op->done(op);
    cos__hook_after(hook, failed);
}

static void tell(struct cos_op *op, int err)
{
    op->err = err;
    op->state |= COS__OP_DONE;
    cos__timer_unset(op->loop, &op->timer);
    if (COS__HOOK_LIVE(op->hook) && !(op->state & COS__OP_FACED))
        tell_inner(op);
    else
        op->done(op);
}

/* What it starts in its turn is caused by it. */
static __attribute__((noinline)) void start_seen(struct cos_op *op)
{
    struct cos_hook_wait under;
    cos__hook_under(op->hook, &under);
    op->type->start(op);
    cos__hook_above(&under);
}

void cos__op_start(struct cos_op *op)
{
    if (op->state & COS__OP_STARTED)
        op_abort(op, "started twice");
    op->state |= COS__OP_STARTED;
    if (op->doom) {
        tell(op, op->doom);
        return;
    }
    op->state |= COS__OP_RUNNING;
    if (COS__HOOK_LIVE(op->hook) && !op->type->single)
        start_seen(op);
    else
        op->type->start(op);
}

void cos__op_complete(struct cos_op *op, int err)
{
    if (!(op->state & COS__OP_RUNNING))
        op_abort(op, "completed twice");
    op->state &= ~(unsigned)COS__OP_RUNNING;
    if (!(op->state & COS__OP_DONE))
        tell(op, err);
    else if (!(op->state & COS__OP_HELD))
        give_back(op);
}

void cos__op_cancel(struct cos_op *op, int err)
{
    if (op->state & COS__OP_DONE)
        return;
    if (op->type->cancel && op->type->cancel(op) == 0)
        op->state &= ~(unsigned)COS__OP_RUNNING;
    tell(op, err);
}

/* --- the coroutine's wait --------------------------------------------------- */

static struct cos__waiter *waiter_get(struct cos__loop *loop)
{
    struct cos__waiter *waiter = loop->waiters;
    if (waiter) {
        loop->waiters = waiter->next;
        return waiter;
    }
    waiter = calloc(1, sizeof *waiter);
    if (waiter && dill_chmake(waiter->ch) < 0) {
        free(waiter);
        waiter = NULL;
    }
    return waiter;
}

static void waiter_free(struct cos__waiter *waiter)
{
    dill_hclose(waiter->ch[0]);
    dill_hclose(waiter->ch[1]);
    free(waiter);
}

static void waiter_put(struct cos__loop *loop, struct cos__waiter *waiter)
{
    if (waiter->ended) {
        waiter_free(waiter);
        return;
    }
    waiter->next = loop->waiters;
    loop->waiters = waiter;
}

static void wake(struct cos_op *op)
{
    struct cos__waiter *waiter = op->face;
    if (!waiter || !waiter->parked)
        return;
    waiter->parked = 0;
    if (dill_chsend(waiter->ch[1], "", 0, 0) < 0) {
        waiter->ended = 1;
        dill_chdone(waiter->ch[1]);
    }
    cos__loop_woke(op->loop);
}

static void park(struct cos_op *op, int64_t deadline)
{
    struct cos__loop *loop = op->loop;
    struct cos__waiter *waiter = waiter_get(loop);
    int rc, why = 0;
    char nothing;
    if (!waiter) {
        cos__op_cancel(op, errno == ECANCELED ? COS_ECANCELED : COS_ENOMEM);
        return;
    }
    op->face = waiter;
    waiter->parked = 1;
    rc = COS_WAIT(dill_chrecv(waiter->ch[0], &nothing, 0, deadline));
    waiter->parked = 0;
    if (rc < 0)
        why = errno == ETIMEDOUT ? COS_ETIMEDOUT : COS_ECANCELED;
    op->face = NULL;
    cos__op_cancel(op, why);
    waiter_put(loop, waiter);
}

/* What runs after the wait is the coroutine, which has runs of its own: the pair
 * marks the moment. */
static __attribute__((noinline)) void resumed(const struct cos_op *op)
{
    cos__hook_pass(op->hook, op->err == COS_ECANCELED);
    if (op->err == COS_ECANCELED)
        cos__hook_cancelled();
}

int cos__op_await(struct cos_op *op, int64_t deadline)
{
    struct cos__loop *loop = op->loop;
    int err;
    if (cos__loop_in_callback(loop))
        return COS_ECONTEXT;
    op->done = wake;
    op->state |= COS__OP_FACED;
    cos__op_start(op);
    if (!cos__op_is_done(op) && (err = cos__loop_drive(loop)) < 0)
        cos__op_cancel(op, err);
    if (!cos__op_is_done(op))
        park(op, deadline);
    if (COS__HOOK_LIVE(op->hook))
        resumed(op);
    return op->err;
}

void cos__op_trim(struct cos__loop *loop)
{
    for (int i = 0; i < COS__OP_COUNT; i++)
        while (loop->free_ops[i]) {
            struct cos_op *op = loop->free_ops[i];
            loop->free_ops[i] = op->next;
            free(op);
        }
    while (loop->waiters) {
        struct cos__waiter *waiter = loop->waiters;
        loop->waiters = waiter->next;
        waiter_free(waiter);
    }
}
