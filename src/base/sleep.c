/* sleep.c - waiting for a time. On the callback face a timer of the loop; on
 * the coroutine face libdill's own sleep, which needs no wake-up message. */
#define DILL_DISABLE_RAW_NAMES
#include "base/sleep.h"

#include "coscrawl.h"

#include <errno.h>
#include <libdill.h>
#include <stddef.h>

struct sleep_op {
    struct cos_op op;
    struct cos__timer timer;
    int64_t at;
};

static void fire(struct cos__timer *timer)
{
    struct sleep_op *sleep = (struct sleep_op *)((char *)timer - offsetof(struct sleep_op, timer));
    cos__op_complete(&sleep->op, 0);
}

static void start(struct cos_op *op)
{
    struct sleep_op *sleep = (struct sleep_op *)op;
    sleep->timer.fire = fire;
    if (sleep->at >= 0 && cos__timer_set(op->loop, &sleep->timer, sleep->at) < 0)
        cos__op_complete(op, COS_ENOMEM);
}

static int cancel(struct cos_op *op)
{
    cos__timer_unset(op->loop, &((struct sleep_op *)op)->timer);
    return 0;
}

static const struct cos__op_type sleep_type = {
    .name = "timer", .hook = COS_HOOK_TIMER, .kind = COS__OP_SLEEP, .size = sizeof(struct sleep_op),
    .single = 1, .start = start, .cancel = cancel};

struct cos_op *cos__sleep_op(int64_t at)
{
    struct sleep_op *sleep = (struct sleep_op *)cos__op_new(&sleep_type);
    if (!sleep)
        return NULL;
    sleep->at = at;
    return &sleep->op;
}

int cos_shutdown(void)
{
    return cos__loop_release();
}

int cos_sleep(int64_t deadline)
{
    struct cos__loop *loop = cos__loop();
    struct cos__hook *hook;
    int err;
    if (!loop)
        return COS_ENOMEM;
    if (cos__loop_in_callback(loop))
        return COS_ECONTEXT;
    COS_HOOK(init, &hook, COS_HOOK_TIMER, NULL, NULL);
    err = COS_WAIT(dill_msleep(deadline)) < 0 ? cos_err_from_errno(errno) : 0;
    COS_HOOK(moment, &hook, err == COS_ECANCELED);
    return err;
}
