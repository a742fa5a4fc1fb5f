/* cps_flow_tasks.c - series, parallel, waterfall, race, try_each, auto, and one
 * job wrapped (retry, timeout, reflect, ensure_async), in callbacks. */
#define DILL_DISABLE_RAW_NAMES
#include "cps_crew.h"

#include "flow/backoff.h"
#include "flow/flow_int.h"
#include "flow/graph.h"

#include <libdill.h>
#include <stdlib.h>
#include <string.h>

static int take_task(struct cps__crew *crew, struct cps__slot *slot)
{
    if (crew->next >= crew->count)
        return 0;
    slot->index = crew->next++;
    return 1;
}

static void launch_task(struct cps__crew *crew, struct cps__slot *slot)
{
    const struct cps_flow_task *task = &crew->tasks[slot->index];
    task->run(crew->rt, cps__crew_slot(crew, slot->index), task->arg, cps__crew_landed, slot);
}

static int land_task(struct cps__crew *crew, struct cps__slot *slot, int err)
{
    (void)crew;
    (void)slot;
    return err > 0 ? 0 : err;
}

static int land_race(struct cps__crew *crew, struct cps__slot *slot, int err)
{
    if (err < 0)
        return err;
    crew->result.winners[crew->result.count++] = slot->index;
    return crew->result.count == crew->wanted_count ? COS_ESTOP : 0;
}

static int land_try(struct cps__crew *crew, struct cps__slot *slot, int err)
{
    crew->last = err;
    /* A cancelled try is no answer of the task's, and a stop is nobody's win. */
    if (err == COS_ECANCELED || err == COS_ESTOP)
        return err;
    if (err < 0)
        return 0;
    crew->result.index = slot->index;
    return COS_ESTOP;
}

static int close_try(struct cps__crew *crew, int err)
{
    return err ? err : cos__outcome(crew->last);
}

static const struct cps__crew_type all = {take_task, launch_task, land_task, NULL, NULL};
static const struct cps__crew_type racing = {take_task, launch_task, land_race, NULL, NULL};
static const struct cps__crew_type trying = {take_task, launch_task, land_try, close_try, NULL};

static struct cps__crew *set_of(struct cps_rt *rt, const struct cps__crew_type *type,
                                const struct cps_flow_task *tasks, size_t count, int limit,
                                size_t result_size)
{
    struct cps__crew *crew = cps__crew_new(rt, type, limit);
    if (!crew)
        return NULL;
    crew->count = count;
    crew->own_items = crew->tasks = count < SIZE_MAX ? calloc(count + 1, sizeof *tasks) : NULL;
    if (!crew->tasks) {
        cps__crew_refuse(crew, COS_ENOMEM);
        return crew;
    }
    if (count)
        memcpy(crew->tasks, tasks, count * sizeof *tasks);
    if (!cps__crew_results(crew, count, result_size))
        crew->result.count = count;
    return crew;
}

int64_t cps_flow_parallel(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count,
                          int limit, size_t result_size, int64_t deadline, cps_flow_cb *cb,
                          void *arg)
{
    return cps__crew_begin(set_of(rt, &all, tasks, count, limit, result_size), rt, deadline, cb,
                           arg);
}

int64_t cps_flow_series(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count,
                        size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    return cps_flow_parallel(rt, tasks, count, COS_FLOW_SERIES, result_size, deadline, cb, arg);
}

int64_t cps_flow_waterfall(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count,
                           const void *value, size_t size, int64_t deadline, cps_flow_cb *cb,
                           void *arg)
{
    struct cps__crew *crew = set_of(rt, &all, tasks, count, COS_FLOW_SERIES, size ? size : 1);
    if (crew && !crew->wrong) {
        if (size)
            memcpy(crew->result.values, value, size);
        crew->result_size = 0; /* every task has the same slot */
        crew->result.count = 1;
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

int64_t cps_flow_race(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count, size_t k,
                      size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = set_of(rt, &racing, tasks, count, COS_FLOW_ALL, result_size);
    if (crew && !crew->wrong) {
        crew->wanted_count = k;
        crew->result.count = 0;
        if (k > count)
            cps__crew_refuse(crew, COS_EINVAL);
        else if (!(crew->result.winners = calloc(k + 1, sizeof(size_t))))
            cps__crew_refuse(crew, COS_ENOMEM);
        else if (k == 0)
            crew->count = 0;
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

int64_t cps_flow_try_each(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count,
                          size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = set_of(rt, &trying, tasks, count, COS_FLOW_SERIES, result_size);
    if (crew)
        crew->result.index = SIZE_MAX;
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

/* --- auto ------------------------------------------------------------------------- */

struct plan {
    struct cos__graph graph;
    struct cos_flow_node *nodes;
};

static int take_node(struct cps__crew *crew, struct cps__slot *slot)
{
    struct plan *plan = crew->extra;
    return cos__graph_next(&plan->graph, &slot->index);
}

static int land_node(struct cps__crew *crew, struct cps__slot *slot, int err)
{
    struct plan *plan = crew->extra;
    if (err >= 0)
        cos__graph_finish(&plan->graph, slot->index);
    return err > 0 ? 0 : err;
}

static const struct cps__crew_type graph = {take_node, launch_task, land_node, NULL, NULL};

static void plan_free(void *extra)
{
    struct plan *plan = extra;
    cos__graph_release(&plan->graph);
    free(plan->nodes);
    free(plan);
}

/* The graph knows names and needs only; the tasks are in the crew. */
static int plan_make(struct cps__crew *crew, const struct cps_flow_node *nodes, size_t count)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return COS_ENOMEM;
    crew->extra = plan;
    crew->extra_free = plan_free;
    plan->nodes = calloc(count + 1, sizeof *plan->nodes);
    if (!plan->nodes)
        return COS_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        plan->nodes[i].name = nodes[i].name;
        plan->nodes[i].needs = nodes[i].needs;
    }
    return cos__graph_init(&plan->graph, plan->nodes, count);
}

int64_t cps_flow_auto(struct cps_rt *rt, const struct cps_flow_node *nodes, size_t count,
                      int limit, size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = set_of(rt, &graph, NULL, 0, limit, 0);
    int err;
    if (crew && !crew->wrong) {
        free(crew->own_items);
        crew->own_items = crew->tasks = calloc(count + 1, sizeof *crew->tasks);
        for (size_t i = 0; crew->tasks && i < count; i++)
            crew->tasks[i] = nodes[i].task;
        crew->count = count;
        crew->result.count = count;
        err = crew->tasks ? plan_make(crew, nodes, count) : COS_ENOMEM;
        if (err)
            cps__crew_refuse(crew, err);
        else
            cps__crew_results(crew, count, result_size);
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

/* --- one job, wrapped ------------------------------------------------------------- */

struct again {
    struct cos_flow_retry how;
    int tried;
    int64_t sleep; /* ticket, 0: it does not sleep */
    struct cps__slot *slot;
    struct cps__crew *crew;
};

/* The crew runs one task; before each further try it sleeps. */
static void try_after_sleep(int err, void *arg)
{
    struct again *again = arg;
    struct cps__crew *crew = again->crew;
    again->sleep = 0;
    /* Cancelled or timed out while it slept: only the slot is to be returned. */
    if (err || crew->over)
        cps__crew_landed(err, again->slot);
    else
        crew->tasks->run(crew->rt, cps__crew_slot(crew, 0), crew->tasks->arg, cps__crew_landed,
                         again->slot);
}

static int take_try(struct cps__crew *crew, struct cps__slot *slot)
{
    (void)crew;
    slot->index = 0;
    return 1;
}

static void launch_try(struct cps__crew *crew, struct cps__slot *slot)
{
    struct again *again = crew->extra;
    int64_t wait = again->tried ? cos__retry_wait(&again->how, again->tried) : 0;
    again->slot = slot;
    again->crew = crew;
    again->tried++;
    if (!wait) {
        try_after_sleep(0, again);
        return;
    }
    again->sleep = cps_sleep(crew->rt, cos__after(wait), try_after_sleep, again);
    if (again->sleep < 0)
        cps__crew_landed(COS_ENOMEM, slot);
}

/* Nobody waits for the next try any more: no need to sleep until then. */
static void wake_sleeper(struct cps__crew *crew)
{
    struct again *again = crew->extra;
    if (again->sleep > 0)
        cps_cancel(crew->rt, again->sleep);
}

static int land_retry(struct cps__crew *crew, struct cps__slot *slot, int err)
{
    struct again *again = crew->extra;
    (void)slot;
    if (err < 0)
        return cos__retry_again(&again->how, again->tried, err) ? 0 : err;
    return COS_ESTOP;
}

static const struct cps__crew_type retrying = {take_try, launch_try, land_retry, NULL,
                                               wake_sleeper};

int64_t cps_flow_retry(struct cps_rt *rt, const struct cos_flow_retry *how,
                       const struct cps_flow_task *task, size_t result_size, int64_t deadline,
                       cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = set_of(rt, &retrying, task, 1, 1, result_size);
    struct again *again;
    if (crew && !crew->wrong) {
        again = calloc(1, sizeof *again);
        crew->extra = again;
        crew->extra_free = free;
        if (again)
            again->how = cos__retry_defaults(how);
        if (!again || again->how.tries < 0)
            cps__crew_refuse(crew, again ? COS_EINVAL : COS_ENOMEM);
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

int64_t cps_flow_timeout(struct cps_rt *rt, const struct cps_flow_task *task, int64_t ms,
                         size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    int64_t end = cos__sooner(cos__after(ms), deadline);
    struct cps__crew *crew = set_of(rt, &all, task, 1, 1, result_size);
    if (crew && ms < 0)
        cps__crew_refuse(crew, COS_EINVAL);
    return cps__crew_begin(crew, rt, end, cb, arg);
}

static int land_reflect(struct cps__crew *crew, struct cps__slot *slot, int err)
{
    (void)slot;
    crew->result.answer = cos__outcome(err);
    return 0;
}

static const struct cps__crew_type reflecting = {take_task, launch_task, land_reflect, NULL, NULL};

int64_t cps_flow_reflect(struct cps_rt *rt, const struct cps_flow_task *task, size_t result_size,
                         int64_t deadline, cps_flow_cb *cb, void *arg)
{
    return cps__crew_begin(set_of(rt, &reflecting, task, 1, 1, result_size), rt, deadline, cb, arg);
}

static void run_deferred(int err, void *arg)
{
    struct cps__slot *slot = arg;
    if (err || slot->crew->over)
        cps__crew_landed(err, slot);
    else
        launch_task(slot->crew, slot);
}

static void launch_later(struct cps__crew *crew, struct cps__slot *slot)
{
    int err = cps_defer(crew->rt, run_deferred, slot);
    if (err)
        cps__crew_landed(err, slot);
}

static const struct cps__crew_type later = {take_task, launch_later, land_task, NULL, NULL};

int64_t cps_flow_ensure_async(struct cps_rt *rt, const struct cps_flow_task *task,
                              size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    return cps__crew_begin(set_of(rt, &later, task, 1, 1, result_size), rt, deadline, cb, arg);
}
