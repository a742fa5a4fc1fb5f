/* tasks.c - series, parallel, waterfall, race, try_each: a fixed set of jobs,
 * each a step of a crew. May call crew, base. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/flow.h"

#include "base/err.h"
#include "flow/crew.h"
#include "flow/flow_int.h"

struct set {
    struct cos__crew crew;
    const struct cos_flow_task *tasks;
    size_t count;
    char *results;
    size_t result_size;
    size_t wanted;   /* race: how many may win */
    size_t won;
    size_t *winners; /* race, try_each */
    int last;        /* try_each: the latest error */
};

static int take_task(struct cos__crew *crew, size_t *index, void *item)
{
    struct set *set = crew->self;
    (void)item;
    if (crew->next >= set->count)
        return 0;
    *index = crew->next++;
    crew->dry = crew->next == set->count;
    return 1;
}

static int run_task(struct set *set, size_t index)
{
    const struct cos_flow_task *task = &set->tasks[index];
    return task->run(set->results ? set->results + index * set->result_size : NULL, task->arg);
}

static int step_task(struct cos__crew *crew, size_t index, const void *item)
{
    (void)item;
    return run_task(crew->self, index);
}

static int run_set(struct set *set, int limit,
                   int (*step)(struct cos__crew *, size_t, const void *), int64_t deadline)
{
    set->crew.take = take_task;
    set->crew.step = step;
    set->crew.limit = limit;
    set->crew.self = set;
    return cos__crew_run(&set->crew, deadline);
}

int cos_flow_parallel(const struct cos_flow_task *tasks, size_t count, int limit, void *results,
                      size_t result_size, int64_t deadline)
{
    struct set set = {.tasks = tasks, .count = count, .results = results,
                      .result_size = result_size};
    return run_set(&set, limit, step_task, deadline);
}

int cos_flow_series(const struct cos_flow_task *tasks, size_t count, void *results,
                    size_t result_size, int64_t deadline)
{
    return cos_flow_parallel(tasks, count, COS_FLOW_SERIES, results, result_size, deadline);
}

/* Every task has the same slot: its result is the next one's input. */
int cos_flow_waterfall(const struct cos_flow_task *tasks, size_t count, void *value,
                       int64_t deadline)
{
    return cos_flow_parallel(tasks, count, COS_FLOW_SERIES, value, 0, deadline);
}

static int step_race(struct cos__crew *crew, size_t index, const void *item)
{
    struct set *set = crew->self;
    int err;
    (void)item;
    err = run_task(set, index);
    /* Late finishers change nothing. */
    if (err < 0 || crew->over)
        return err;
    if (set->winners)
        set->winners[set->won] = index;
    set->won++;
    return set->won == set->wanted ? COS_ESTOP : 0;
}

int cos_flow_race(const struct cos_flow_task *tasks, size_t count, size_t k, size_t *winners,
                  void *results, size_t result_size, int64_t deadline)
{
    struct set set = {.tasks = tasks, .count = count, .results = results,
                      .result_size = result_size, .wanted = k, .winners = winners};
    if (k > count)
        return COS_EINVAL;
    for (size_t i = 0; winners && i < k; i++)
        winners[i] = SIZE_MAX;
    if (k == 0)
        return 0;
    return run_set(&set, COS_FLOW_ALL, step_race, deadline);
}

static int step_try(struct cos__crew *crew, size_t index, const void *item)
{
    struct set *set = crew->self;
    (void)item;
    set->last = run_task(set, index);
    /* A cancelled try is no answer of the task's, and a stop is nobody's win. */
    if (set->last == COS_ECANCELED || set->last == COS_ESTOP)
        return set->last;
    if (set->last < 0)
        return 0;
    if (set->winners)
        *set->winners = index;
    return COS_ESTOP;
}

int cos_flow_try_each(const struct cos_flow_task *tasks, size_t count, size_t *winner,
                      void *results, size_t result_size, int64_t deadline)
{
    struct set set = {.tasks = tasks, .count = count, .results = results,
                      .result_size = result_size, .winners = winner};
    int err;
    if (winner)
        *winner = SIZE_MAX;
    err = run_set(&set, COS_FLOW_SERIES, step_try, deadline);
    return err ? err : cos__outcome(set.last);
}
