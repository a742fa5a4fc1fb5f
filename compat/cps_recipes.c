/* cps_recipes.c - futures, cache, gate and once in callbacks. The state is the
 * same as on the coroutine face (src/flow); here are only the calls that wait. */
#define DILL_DISABLE_RAW_NAMES
#include "cps.h"
#include "cps_flow.h"

#include "base/die.h"
#include "flow/flow_int.h"
#include "flow/future_int.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- futures ---------------------------------------------------------------------- */

static void deliver_value(struct cos_op *op)
{
    ((cps_value_cb *)op->cb)(op->err, op->err ? NULL : cos__future_op_value(op), op->arg);
}

int64_t cps_await(struct cps_rt *rt, struct cos_future *future, int64_t deadline, cps_value_cb *cb,
                  void *arg)
{
    return cps__begin(rt, cos__future_op(future), deadline, deliver_value, (cps__fn *)cb, arg);
}

/* A task under way whose answer sets a future. */
struct maker {
    struct cos_future *future;
    struct cos_flow_cache *cache; /* or NULL */
    char *key;
    void *value;
    uint8_t answered;
};

static void made(int err, void *token)
{
    struct maker *maker = token;
    if (maker->answered)
        cos__die("a job called its callback twice");
    maker->answered = 1;
    err = cos__outcome(err);
    if (maker->cache)
        cos__cache_loaded(maker->cache, maker->key, maker->future, err, maker->value);
    else
        cos_future_set(maker->future, err, maker->value);
    cos_future_free(maker->future);
    free(maker->key);
    free(maker);
}

struct cos_future *cps_future_from(struct cps_rt *rt, const struct cps_flow_task *task,
                                   void (*drop)(void *value))
{
    struct cos_future *future = cos_future_new(drop);
    struct maker *maker = future ? calloc(1, sizeof *maker) : NULL;
    if (!maker) {
        cos_future_free(future);
        return NULL;
    }
    maker->future = cos_future_ref(future);
    task->run(rt, &maker->value, task->arg, made, maker);
    return future;
}

/* --- cache ------------------------------------------------------------------------ */

/* An already failed future tells the callback, later, as any other. */
static struct cos_future *failed_future(int err)
{
    struct cos_future *future = cos_future_new(NULL);
    if (future)
        cos_future_set(future, err, NULL);
    return future;
}

static void start_load(struct cps_rt *rt, struct cos_flow_cache *cache, const char *key,
                       struct cos_future *future, cps_load_fn *load, void *loadarg)
{
    struct maker *maker = calloc(1, sizeof *maker);
    if (maker)
        maker->key = strdup(key);
    if (!maker || !maker->key) {
        /* Those who joined the load must hear of it all the same. */
        free(maker);
        cos__cache_loaded(cache, key, future, COS_ENOMEM, NULL);
        return;
    }
    maker->future = cos_future_ref(future);
    maker->cache = cache;
    load(rt, maker->key, &maker->value, loadarg, made, maker);
}

int64_t cps_flow_cache_get(struct cps_rt *rt, struct cos_flow_cache *cache, const char *key,
                           cps_load_fn *load, void *loadarg, int64_t deadline, cps_value_cb *cb,
                           void *arg)
{
    int start, err;
    int64_t ticket;
    struct cos_future *future = cos__cache_find(cache, key, &start, &err);
    if (!future) {
        start = 0;
        future = failed_future(err);
    }
    if (!future)
        return cps__begin(rt, NULL, deadline, deliver_value, (cps__fn *)cb, arg);
    /* First the load: with deadline 0 what it answers at once still counts. */
    if (start)
        start_load(rt, cache, key, future, load, loadarg);
    ticket = cps_await(rt, future, deadline, cb, arg);
    cos_future_free(future);
    return ticket;
}

/* --- gate ------------------------------------------------------------------------- */

static void deliver_plain(struct cos_op *op)
{
    ((cps_cb *)op->cb)(op->err, op->arg);
}

int64_t cps_flow_gate_pass(struct cps_rt *rt, struct cos_flow_gate *gate, int64_t deadline,
                           cps_cb *cb, void *arg)
{
    return cps__begin(rt, cos__gate_op(gate), deadline, deliver_plain, (cps__fn *)cb, arg);
}

struct opener {
    struct cos_op op;
    struct cps_rt *rt;
    struct cos_flow_gate *gate;
    struct cps_flow_task task;
    int64_t deadline;
    int err;
    uint8_t answered, over;
};

static void leave(struct opener *opener)
{
    cos__gate_leave(opener->gate);
    cos__op_complete(&opener->op, opener->err);
}

/* Calls let through are callbacks that run before the next poll, and this runs
 * after it; so each of them has run by then, and what they asked of the gate is
 * next. */
static void replay(int err, void *arg)
{
    struct opener *opener = arg;
    (void)err;
    if (cos__gate_release(opener->gate) && cps_immediate(opener->rt, replay, opener) == 0)
        return;
    while (cos__gate_release(opener->gate))
        ;
    leave(opener);
}

static void opened(int err, void *token)
{
    struct opener *opener = token;
    if (opener->answered)
        cos__die("a job called its callback twice");
    opener->answered = 1;
    if (opener->over) { /* too late: the gate has failed */
        leave(opener);
        return;
    }
    opener->err = cos__outcome(err);
    cos__gate_end(opener->gate, opener->err);
    replay(0, opener);
}

static void opener_start(struct cos_op *op)
{
    struct opener *opener = (struct opener *)op;
    int err = cos__gate_begin(opener->gate);
    if (err)
        cos__op_complete(op, err);
    else
        opener->task.run(opener->rt, NULL, opener->task.arg, opened, opener);
}

/* As on the coroutine face, an initialiser that is given up fails the gate; the
 * kept calls hear of it first. */
static int opener_cancel(struct cos_op *op)
{
    struct opener *opener = (struct opener *)op;
    int late = opener->deadline == 0 || cos__passed(opener->deadline);
    if (!opener->answered) {
        opener->over = 1;
        cos__gate_end(opener->gate, late ? COS_ETIMEDOUT : COS_ECANCELED);
        cos__gate_release(opener->gate);
    }
    return COS_EBUSY;
}

static const struct cos__op_type opener_type = {.name = "gate init", .hook = COS_HOOK_CPS_REQUEST,
                                                .kind = COS__OP_OTHER,
                                                .size = sizeof(struct opener),
                                                .start = opener_start, .cancel = opener_cancel};

int64_t cps_flow_gate_init(struct cps_rt *rt, struct cos_flow_gate *gate,
                           const struct cps_flow_task *task, int64_t deadline, cps_cb *cb,
                           void *arg)
{
    struct opener *opener = (struct opener *)cos__op_new(&opener_type);
    if (opener) {
        opener->rt = rt;
        opener->gate = gate;
        opener->task = *task;
        opener->deadline = deadline;
    }
    return cps__begin(rt, opener ? &opener->op : NULL, deadline, deliver_plain, (cps__fn *)cb, arg);
}

/* --- once ------------------------------------------------------------------------- */

/* The future's value is the outcome of the one run. */
static void deliver_once(struct cos_op *op)
{
    int err = op->err ? op->err : (int)(intptr_t)cos__future_op_value(op);
    ((cps_cb *)op->cb)(err, op->arg);
}

struct once_run {
    struct cos_flow_cache *cache; /* stays until the run has ended */
    struct cos_future *future;
    char *key;
    uint8_t answered;
};

static void once_ran(int err, void *token)
{
    struct once_run *run = token;
    if (run->answered)
        cos__die("a job called its callback twice");
    run->answered = 1;
    cos__once_ran(run->cache, run->key, run->future, cos__outcome(err));
    cos_future_free(run->future);
    free(run->key);
    free(run);
}

static void start_run(struct cps_rt *rt, struct cos_flow_cache *cache, const char *key,
                      struct cos_future *future, const struct cps_flow_task *task)
{
    struct once_run *run = calloc(1, sizeof *run);
    if (run)
        run->key = strdup(key);
    if (!run || !run->key) {
        free(run);
        cos__cache_loaded(cache, key, future, COS_ENOMEM, NULL);
        return;
    }
    run->cache = cache;
    run->future = cos_future_ref(future);
    task->run(rt, NULL, task->arg, once_ran, run);
}

int64_t cps_flow_once_run(struct cps_rt *rt, struct cos_flow_once *once, const char *key,
                          const struct cps_flow_task *task, int64_t deadline, cps_cb *cb,
                          void *arg)
{
    int start, err;
    int64_t ticket;
    struct cos_future *future = cos__once_find(once, key, &start, &err);
    if (!future) {
        start = 0;
        future = failed_future(err);
    }
    if (start)
        start_run(rt, cos__once_cache(once), key, future, task);
    ticket = cps__begin(rt, future ? cos__future_op(future) : NULL, deadline, deliver_once,
                        (cps__fn *)cb, arg);
    cos_future_free(future);
    return ticket;
}
