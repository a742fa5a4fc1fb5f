/* future.c - futures (future.h). A listener is an operation whose provider is
 * the future: both faces wait for it with the means they have. May call base. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/future_int.h"

#include "base/err.h"
#include "base/loop.h"
#include "flow/flow_int.h"
#include "flow/waits.h"

#include <libdill.h>
#include <stdlib.h>

struct cos_future {
    struct cos__waits listeners;
    void (*drop)(void *value);
    void *value;
    int err;
    unsigned refs;
    uint8_t set;
};

struct listener {
    struct cos__wait wait;
    struct cos_future *future; /* a reference */
};

struct cos_future *cos_future_new(void (*drop)(void *value))
{
    struct cos_future *future = calloc(1, sizeof *future);
    if (!future)
        return NULL;
    cos__waits_init(&future->listeners);
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
    struct cos__wait *wait;
    if (future->set)
        return COS_ESTATE;
    future->set = 1;
    future->err = err;
    future->value = value;
    /* A listener that wakes may free its reference, or listen anew. */
    cos_future_ref(future);
    while ((wait = cos__waits_take(&future->listeners)))
        cos__op_complete(&wait->op, err);
    cos_future_free(future);
    return 0;
}

/* --- listening -------------------------------------------------------------------- */

static void listen_start(struct cos_op *op)
{
    struct listener *listener = (struct listener *)op;
    struct cos_future *future = listener->future;
    if (future->set)
        cos__op_complete(op, future->err);
    else
        cos__waits_add(&future->listeners, &listener->wait);
}

static int listen_cancel(struct cos_op *op)
{
    struct listener *listener = (struct listener *)op;
    cos__waits_remove(&listener->future->listeners, &listener->wait);
    return 0;
}

static void listen_release(struct cos_op *op)
{
    cos_future_free(((struct listener *)op)->future);
}

static const struct cos__op_type listen_type = {.name = "future", .hook = COS_HOOK_FUTURE,
                                                .kind = COS__OP_FUTURE,
                                                .size = sizeof(struct listener), .single = 1,
                                                .start = listen_start, .cancel = listen_cancel,
                                                .release = listen_release};

struct cos_op *cos__future_op(struct cos_future *future)
{
    struct listener *listener = (struct listener *)cos__op_new(&listen_type);
    if (!listener)
        return NULL;
    listener->future = cos_future_ref(future);
    return &listener->wait.op;
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

/* --- from a task ------------------------------------------------------------------ */

static dill_coroutine void run_task(struct cos_flow_task task, struct cos_future *future)
{
    struct cos_hook_wait self;
    void *value = NULL;
    int err;
    COS_HOOK(co_begin, &self);
    err = cos__outcome(task.run(&value, task.arg));
    cos_future_set(future, err, value);
    cos_future_free(future);
    COS_HOOK(co_end, &self);
}

/* The coroutines of cos_future_from() outlive their callers; one bundle per
 * thread holds them until cos_shutdown(). */
static void close_nursery(void *data)
{
    int *nursery = data;
    dill_hclose(*nursery);
    free(nursery);
}

static int *open_nursery(void)
{
    struct cos__loop *loop = cos__loop();
    int *nursery = loop ? cos__loop_part(loop, COS__PART_FLOW) : NULL;
    if (!loop || nursery)
        return nursery;
    nursery = malloc(sizeof *nursery);
    if (nursery && (*nursery = dill_bundle()) < 0) {
        free(nursery);
        nursery = NULL;
    }
    if (nursery)
        cos__loop_set_part(loop, COS__PART_FLOW, nursery, close_nursery);
    return nursery;
}

struct cos_future *cos_future_from(const struct cos_flow_task *task, void (*drop)(void *value))
{
    struct cos_future *future;
    struct cos_hook_wait wait;
    int rc, *nursery = cos__in_callback() ? NULL : open_nursery();
    if (!nursery)
        return NULL;
    future = cos_future_new(drop);
    if (!future)
        return NULL;
    cos_future_ref(future);
    COS_HOOK(pause, &wait);
    rc = dill_bundle_go(*nursery, run_task(*task, future));
    COS_HOOK(resume, &wait);
    if (rc < 0) {
        cos_future_free(future);
        cos_future_free(future);
        return NULL;
    }
    return future;
}
