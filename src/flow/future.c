/* future.c - futures (future.h). A listener is an operation whose provider is
 * the future: both faces wait for it with the means they have. May call base. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/future_int.h"

#include "base/err.h"
#include "base/op.h"

#include <libdill.h>
#include <stdlib.h>

struct cos_future {
    struct listener *first, **last;
    void (*drop)(void *value);
    void *value;
    int err;
    unsigned refs;
    uint8_t set;
};

struct listener {
    struct cos_op op;
    struct listener *next;
    struct cos_future *future; /* a reference */
    uint8_t listed;
};

struct cos_future *cos_future_new(void (*drop)(void *value))
{
    struct cos_future *future = calloc(1, sizeof *future);
    if (!future)
        return NULL;
    future->last = &future->first;
    future->drop = drop;
    future->refs = 1;
    return future;
}

struct cos_future *cos_future_ref(struct cos_future *future)
{
    future->refs++;
    return future;
}

void cos_future_free(struct cos_future *future)
{
    if (!future || --future->refs)
        return;
    if (future->drop && future->value)
        future->drop(future->value);
    free(future);
}

int cos_future_is_set(const struct cos_future *future)
{
    return future->set;
}

int cos_future_get(const struct cos_future *future, void **value)
{
    if (!future->set)
        return COS_EBUSY;
    if (value)
        *value = future->value;
    return future->err;
}

int cos_future_set(struct cos_future *future, int err, void *value)
{
    struct listener *listener;
    if (future->set)
        return COS_ESTATE;
    future->set = 1;
    future->err = err;
    future->value = value;
    /* A listener that wakes may free its reference, or listen anew. */
    cos_future_ref(future);
    while ((listener = future->first)) {
        future->first = listener->next;
        if (!future->first)
            future->last = &future->first;
        listener->listed = 0;
        cos__op_complete(&listener->op, err);
    }
    cos_future_free(future);
    return 0;
}

/* --- listening ----------------------------------------------------------------- */

static void listen_start(struct cos_op *op)
{
    struct listener *listener = (struct listener *)op;
    struct cos_future *future = listener->future;
    if (future->set) {
        cos__op_complete(op, future->err);
        return;
    }
    listener->listed = 1;
    *future->last = listener;
    future->last = &listener->next;
}

static int listen_cancel(struct cos_op *op)
{
    struct listener *listener = (struct listener *)op, **at;
    struct cos_future *future = listener->future;
    if (!listener->listed)
        return 0;
    for (at = &future->first; *at != listener; at = &(*at)->next)
        ;
    *at = listener->next;
    if (!listener->next)
        future->last = at;
    listener->listed = 0;
    return 0;
}

static void listen_release(struct cos_op *op)
{
    cos_future_free(((struct listener *)op)->future);
}

static const struct cos__op_type listen_type = {.name = "future", .kind = COS__OP_FUTURE,
                                                .size = sizeof(struct listener),
                                                .start = listen_start, .cancel = listen_cancel,
                                                .release = listen_release};

struct cos_op *cos__future_op(struct cos_future *future)
{
    struct listener *listener = (struct listener *)cos__op_new(&listen_type);
    if (!listener)
        return NULL;
    listener->future = cos_future_ref(future);
    return &listener->op;
}

void *cos__future_op_value(const struct cos_op *op)
{
    return ((const struct listener *)op)->future->value;
}

int cos_await(struct cos_future *future, void **value, int64_t deadline)
{
    struct cos_op *op;
    int err;
    if (!future->set) {
        op = cos__future_op(future);
        err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
        cos__op_free(op);
        if (!future->set)
            return err;
    }
    return cos_future_get(future, value);
}

/* --- from a task ----------------------------------------------------------------- */

static dill_coroutine void run_task(struct cos_flow_task task, struct cos_future *future)
{
    void *value = NULL;
    int err = task.run(&value, task.arg);
    cos_future_set(future, err, value);
    cos_future_free(future);
}

/* The coroutines of cos_future_from() outlive their callers; one bundle per
 * thread holds them. */
static _Thread_local int nursery = -1;

struct cos_future *cos_future_from(const struct cos_flow_task *task, void (*drop)(void *value))
{
    struct cos_future *future;
    if (nursery < 0)
        nursery = dill_bundle();
    if (nursery < 0)
        return NULL;
    future = cos_future_new(drop);
    if (!future)
        return NULL;
    cos_future_ref(future);
    if (dill_bundle_go(nursery, run_task(*task, future)) < 0) {
        cos_future_free(future);
        cos_future_free(future);
        return NULL;
    }
    return future;
}
