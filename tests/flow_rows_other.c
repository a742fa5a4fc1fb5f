/* flow_rows_other.c - the rows of the matrix for things that live on between
 * calls: queues, once, cache, gate, future. */
#include "flow_matrix.h"

#include <libdill.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- queues: plain, by priority, in cargoes of one -------------------------------- */

enum style { PLAIN, PRIORITY, CARGO };

static void *item_of(struct cell *cell, size_t index)
{
    return &cell->args[index];
}

static void fill(struct cell *cell)
{
    for (size_t i = 0; i < STEPS; i++)
        cell->args[i] = (struct step_arg){cell, i};
}

/* Errors are told per item: "1:EIO". */
static void told(void *item, int err, void *arg)
{
    struct cell *cell = arg;
    size_t len = strlen(cell->value);
    if (err)
        snprintf(cell->value + len, sizeof cell->value - len, "%zu:%s ",
                 ((struct step_arg *)item)->index, cos_errname(err));
}

static int work(struct cos_flow_queue *queue, void *item, void *arg)
{
    struct step_arg *a = item;
    (void)arg;
    if (a->cell->column == INSIDE && a->index == 0)
        for (size_t i = 3; i < 6; i++)
            cos_flow_queue_push(queue, item_of(a->cell, i), -1);
    return step_co(a->cell, a->index);
}

static int work_cargo(struct cos_flow_queue *queue, void **items, size_t count, void *arg)
{
    return count == 1 ? work(queue, items[0], arg) : COS_ESTATE;
}

static void kill_co(struct cell *cell)
{
    cos_flow_queue_kill(cell->object);
}

static void queue_co(struct cell *cell, enum style style, int64_t deadline)
{
    struct cos_flow_queue_opts opts = {.concurrency = cell->limit > 10 ? 10 : cell->limit,
                                       .capacity = cell->column == INSIDE ? 3 : 0,
                                       .by_priority = style == PRIORITY,
                                       .work = style == CARGO ? NULL : work,
                                       .run_cargo = style == CARGO ? work_cargo : NULL,
                                       .done = told,
                                       .arg = cell};
    struct cos_flow_queue *queue;
    char said[256];
    int err;
    fill(cell);
    err = cos_flow_queue_new(&opts, &queue);
    if (err) {
        final_co(cell, err, "%s", "");
        return;
    }
    cell->object = queue;
    cell->control = cell->column == CANCEL ? kill_co : NULL;
    for (size_t i = 0; i < cell->n; i++)
        cos_flow_queue_push(queue, item_of(cell, i), -1);
    err = cos_flow_queue_drain(queue, deadline);
    strcpy(said, cell->value);
    final_co(cell, err, "%s", said);
    cos_flow_queue_free(queue);
    snprintf(cell->value, sizeof cell->value, "%s", said);
}

static void cps_work(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done, void *token)
{
    struct step_arg *a = item;
    (void)arg;
    if (a->cell->column == INSIDE && a->index == 0)
        for (size_t i = 3; i < 6; i++)
            cps_flow_queue_add(queue, item_of(a->cell, i), 0);
    step_cps(a->cell, a->index, done, token);
}

static void cps_work_cargo(struct cps_flow_queue *queue, void **items, size_t count, void *arg,
                           cps_cb *done, void *token)
{
    if (count == 1)
        cps_work(queue, items[0], arg, done, token);
    else
        done(COS_ESTATE, token);
}

static void kill_cps(struct cell *cell)
{
    cps_flow_queue_kill(cell->object);
}

static void drained(int err, void *arg)
{
    struct cell *cell = arg;
    struct cps_flow_queue *queue = cell->object;
    char said[256];
    strcpy(said, cell->value);
    cps_flow_queue_free(queue);
    final_cps(cell, err, "%s", said);
}

static void refused(int err, void *arg)
{
    (void)err;
    final_cps(arg, COS_EINVAL, "%s", "");
}

static int64_t queue_cps(struct cell *cell, enum style style, int64_t deadline)
{
    struct cps_flow_queue_opts opts = {.concurrency = cell->limit > 10 ? 10 : cell->limit,
                                       .capacity = cell->column == INSIDE ? 3 : 0,
                                       .by_priority = style == PRIORITY,
                                       .work = style == CARGO ? NULL : cps_work,
                                       .run_cargo = style == CARGO ? cps_work_cargo : NULL,
                                       .done = told,
                                       .arg = cell};
    struct cps_flow_queue *queue;
    fill(cell);
    if (cps_flow_queue_new(cell->rt, &opts, &queue)) {
        cps_defer(cell->rt, refused, cell);
        return 0;
    }
    cell->object = queue;
    cell->control = cell->column == CANCEL ? kill_cps : NULL;
    for (size_t i = 0; i < cell->n; i++)
        cps_flow_queue_add(queue, item_of(cell, i), 0);
    return cps_flow_queue_drain(queue, deadline, drained, cell);
}

static void co_queue(struct cell *cell, int64_t deadline)
{
    queue_co(cell, PLAIN, deadline);
}

static int64_t cps_queue(struct cell *cell, int64_t deadline)
{
    return queue_cps(cell, PLAIN, deadline);
}

static void co_priority(struct cell *cell, int64_t deadline)
{
    queue_co(cell, PRIORITY, deadline);
}

static int64_t cps_priority(struct cell *cell, int64_t deadline)
{
    return queue_cps(cell, PRIORITY, deadline);
}

static void co_cargo(struct cell *cell, int64_t deadline)
{
    queue_co(cell, CARGO, deadline);
}

static int64_t cps_cargo(struct cell *cell, int64_t deadline)
{
    return queue_cps(cell, CARGO, deadline);
}

/* --- one task behind something ---------------------------------------------------- */

static int task(void *result, void *arg)
{
    struct cell *cell = arg;
    (void)result;
    return step_co(cell, 0);
}

static void cps_task(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token)
{
    (void)rt;
    (void)result;
    step_cps(arg, 0, done, token);
}

static void plain_final(int err, void *arg)
{
    final_cps(arg, err, "%s", "");
}

static void value_final(int err, void *value, void *arg)
{
    (void)value;
    final_cps(arg, err, "%s", "");
}

static void free_once(struct cell *cell)
{
    cos_flow_once_free(cell->object);
}

static void free_cache(struct cell *cell)
{
    cos_flow_cache_free(cell->object);
}

static void free_gate(struct cell *cell)
{
    cos_flow_gate_free(cell->object);
}

static void co_once(struct cell *cell, int64_t deadline)
{
    struct cos_flow_once *once = cos_flow_once_new(0);
    struct cos_flow_task t = {task, cell};
    int err = cos_flow_once_run(once, "k", &t, NULL, deadline);
    cos_flow_once_free(once);
    final_co(cell, err, "%s", "");
}

static int64_t cps_once(struct cell *cell, int64_t deadline)
{
    struct cos_flow_once *once = cos_flow_once_new(0);
    struct cps_flow_task t = {cps_task, cell};
    int64_t ticket = cps_flow_once_run(cell->rt, once, "k", &t, deadline, plain_final, cell);
    cell->object = once;
    cell->release = free_once;
    return ticket;
}

static int load(const char *key, void **value, void *arg)
{
    (void)key;
    *value = NULL;
    return step_co(arg, 0);
}

static void co_cache(struct cell *cell, int64_t deadline)
{
    struct cos_flow_cache_opts opts = {.ttl = -1, .load = load, .arg = cell};
    struct cos_future *future = NULL;
    int err;
    cell->object = cos_flow_cache_new(&opts);
    cell->release = free_cache;
    err = cos_flow_cache_get(cell->object, "k", &future, deadline);
    if (!err)
        cos_future_free(future);
    final_co(cell, err, "%s", "");
}

static void cps_load(struct cps_rt *rt, const char *key, void **value, void *arg, cps_cb *done,
                     void *token)
{
    (void)rt;
    (void)key;
    *value = NULL;
    step_cps(arg, 0, done, token);
}

static int64_t cps_cache(struct cell *cell, int64_t deadline)
{
    struct cos_flow_cache_opts opts = {.ttl = -1};
    cell->object = cos_flow_cache_new(&opts);
    cell->release = free_cache;
    return cps_flow_cache_get(cell->rt, cell->object, "k", cps_load, cell, deadline, value_final,
                              cell);
}

static void co_gate(struct cell *cell, int64_t deadline)
{
    struct cos_flow_gate *gate = cos_flow_gate_new(0);
    struct cos_flow_task t = {task, cell};
    int err = cos_flow_gate_init(gate, &t, deadline), open = cos_flow_gate_is_open(gate);
    cos_flow_gate_free(gate);
    final_co(cell, err, "%s", open ? "open" : "failed");
}

static void gate_final(int err, void *arg)
{
    struct cell *cell = arg;
    final_cps(cell, err, "%s", cos_flow_gate_is_open(cell->object) ? "open" : "failed");
}

static int64_t cps_gate(struct cell *cell, int64_t deadline)
{
    struct cps_flow_task t = {cps_task, cell};
    cell->object = cos_flow_gate_new(0);
    cell->release = free_gate;
    return cps_flow_gate_init(cell->rt, cell->object, &t, deadline, gate_final, cell);
}

static void co_future(struct cell *cell, int64_t deadline)
{
    struct cos_flow_task t = {task, cell};
    struct cos_future *future = cos_future_from(&t, NULL);
    int err = cos_await(future, NULL, deadline);
    cos_future_free(future);
    final_co(cell, err, "%s", "");
}

static int64_t cps_future(struct cell *cell, int64_t deadline)
{
    struct cps_flow_task t = {cps_task, cell};
    struct cos_future *future = cps_future_from(cell->rt, &t, NULL);
    int64_t ticket = cps_await(cell->rt, future, deadline, value_final, cell);
    cos_future_free(future);
    return ticket;
}

#define NO_TEST [DECIDED] = "nothing is decided: its tasks are no tests"
#define NO_ZERO                                                                                    \
    [NO_WAIT] = "pushing starts nothing; when the first task starts is each face's own",           \
    [NO_WAIT_SYNC] = "as deadline 0"
#define NO_STOP [STOP] = "errors and stops are told per item and end nothing"
#define ONE_TASK                                                                                   \
    [EMPTY] = "always one task", [MIXED] = "always one task", [ERR_MIDDLE] = "always one task",    \
    [ERR_LAST] = "always one task", [TWO_ERRORS] = "always one task",                              \
    [SAME_TICK] = "always one task", [SYNC_ERROR] = "always one task",                             \
    [INSIDE] = "always one task", [LIMIT_0] = "takes no limit",                                    \
    [DECIDED] = "nothing is decided: its task is no test"

const struct function other_functions[] = {
    ROW("queue", "C27", QUEUE, LIMITED | LISTED, queue, "", .why = {NO_TEST, NO_STOP, NO_ZERO}),
    ROW("priority queue", "C27", QUEUE, LIMITED | LISTED, priority, "",
        .why = {NO_TEST, NO_STOP, NO_ZERO}),
    ROW("cargo", "C29b", QUEUE, LIMITED | LISTED, cargo, "", .why = {NO_TEST, NO_STOP, NO_ZERO}),
    ROW("once", "C16", SINGLE, 0, once, "", .why = {ONE_TASK}),
    ROW("cache", "C61", SINGLE, 0, cache, "", .why = {ONE_TASK}),
    ROW("gate", "C58", SINGLE, 0, gate, "open", .why = {ONE_TASK}),
    ROW("future", "C64", SINGLE, 0, future, "", .why = {ONE_TASK}),
    {0},
};
