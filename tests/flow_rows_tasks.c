/* flow_rows_tasks.c - the rows of the matrix that run tasks: series, parallel,
 * waterfall, race, try_each, auto; retry, timeout, reflect, ensure_async. */
#include "flow_matrix.h"

#include <stdlib.h>
#include <string.h>

/* A task leaves a number in a slot, or a digit behind the value it was given. */
static int task(void *result, void *arg)
{
    struct step_arg *a = arg;
    int said = step_co(a->cell, a->index);
    if (result && said != COS_ECANCELED)
        *(int *)result = result_of(a->index);
    return said;
}

static int digit_task(void *result, void *arg)
{
    struct step_arg *a = arg;
    int said = step_co(a->cell, a->index);
    if (said != COS_ECANCELED)
        *(int *)result = *(int *)result * 10 + (int)a->index + 1;
    return said;
}

struct pending {
    struct step_arg *a;
    int *result;
    int digit;
    cps_cb *done;
    void *token;
};

static void ended(int err, void *arg)
{
    struct pending p = *(struct pending *)arg;
    free(arg);
    if (p.result && p.digit)
        *p.result = *p.result * 10 + (int)p.a->index + 1;
    else if (p.result)
        *p.result = result_of(p.a->index);
    p.done(err, p.token);
}

static void start(struct step_arg *a, void *result, int digit, cps_cb *done, void *token)
{
    struct pending *p = malloc(sizeof *p);
    *p = (struct pending){a, result, digit, done, token};
    step_cps(a->cell, a->index, ended, p);
}

static void cps_task(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token)
{
    (void)rt;
    start(arg, result, 0, done, token);
}

static void cps_digit_task(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token)
{
    (void)rt;
    start(arg, result, 1, done, token);
}

static void fill(struct cell *cell, int digit)
{
    for (size_t i = 0; i < STEPS; i++) {
        cell->args[i] = (struct step_arg){cell, i};
        cell->tasks[i] = (struct cos_flow_task){digit ? digit_task : task, &cell->args[i]};
        cell->cps_tasks[i] =
            (struct cps_flow_task){digit ? cps_digit_task : cps_task, &cell->args[i]};
    }
}

static void slots_final(int err, const struct cps_flow_result *result, void *arg)
{
    struct cell *cell = arg;
    final_cps(cell, err, "%s", result->values ? numbers(cell, result->values, cell->n) : "[]");
}

/* --- series, parallel, waterfall -------------------------------------------------- */

static void co_series(struct cell *cell, int64_t deadline)
{
    int err;
    fill(cell, 0);
    err = cos_flow_series(cell->tasks, cell->n, cell->results, sizeof(int), deadline);
    final_co(cell, err, "%s", numbers(cell, cell->results, cell->n));
}

static int64_t cps_series(struct cell *cell, int64_t deadline)
{
    fill(cell, 0);
    return cps_flow_series(cell->rt, cell->cps_tasks, cell->n, sizeof(int), deadline, slots_final,
                           cell);
}

static void co_parallel(struct cell *cell, int64_t deadline)
{
    int err;
    fill(cell, 0);
    err =
        cos_flow_parallel(cell->tasks, cell->n, cell->limit, cell->results, sizeof(int), deadline);
    final_co(cell, err, "%s", numbers(cell, cell->results, cell->n));
}

static int64_t cps_parallel(struct cell *cell, int64_t deadline)
{
    fill(cell, 0);
    return cps_flow_parallel(cell->rt, cell->cps_tasks, cell->n, cell->limit, sizeof(int), deadline,
                             slots_final, cell);
}

static void co_waterfall(struct cell *cell, int64_t deadline)
{
    int value = 0, err;
    fill(cell, 1);
    err = cos_flow_waterfall(cell->tasks, cell->n, &value, deadline);
    final_co(cell, err, "%d", value);
}

static void value_final(int err, const struct cps_flow_result *result, void *arg)
{
    final_cps(arg, err, "%d", result->values ? *(int *)result->values : -1);
}

static int64_t cps_waterfall(struct cell *cell, int64_t deadline)
{
    int value = 0;
    fill(cell, 1);
    return cps_flow_waterfall(cell->rt, cell->cps_tasks, cell->n, &value, sizeof value, deadline,
                              value_final, cell);
}

/* --- race, try_each --------------------------------------------------------------- */

static void co_race(struct cell *cell, int64_t deadline)
{
    size_t k = cell->n > 0;
    int err;
    fill(cell, 0);
    err =
        cos_flow_race(cell->tasks, cell->n, k, cell->winners, cell->results, sizeof(int), deadline);
    final_co(cell, err, "%s", indices(cell, cell->winners, err ? 0 : k));
}

static void race_final(int err, const struct cps_flow_result *result, void *arg)
{
    struct cell *cell = arg;
    final_cps(cell, err, "%s", indices(cell, result->winners, err ? 0 : result->count));
}

static int64_t cps_race(struct cell *cell, int64_t deadline)
{
    fill(cell, 0);
    return cps_flow_race(cell->rt, cell->cps_tasks, cell->n, cell->n > 0, sizeof(int), deadline,
                         race_final, cell);
}

static void co_try_each(struct cell *cell, int64_t deadline)
{
    size_t winner = 77;
    int err;
    fill(cell, 0);
    err = cos_flow_try_each(cell->tasks, cell->n, &winner, cell->results, sizeof(int), deadline);
    final_co(cell, err, "%s", indices(cell, &winner, !err));
}

static void try_final(int err, const struct cps_flow_result *result, void *arg)
{
    final_cps(arg, err, "%s", indices(arg, &result->index, !err));
}

static int64_t cps_try_each(struct cell *cell, int64_t deadline)
{
    fill(cell, 0);
    return cps_flow_try_each(cell->rt, cell->cps_tasks, cell->n, sizeof(int), deadline, try_final,
                             cell);
}

/* --- auto: here without needs; with them in flow.t and cps_flow.t ----------------- */

static const char *const names[STEPS] = {"a", "b", "c", "d", "e", "f"};

static void co_auto(struct cell *cell, int64_t deadline)
{
    struct cos_flow_node nodes[STEPS];
    int err;
    fill(cell, 0);
    for (size_t i = 0; i < cell->n; i++)
        nodes[i] = (struct cos_flow_node){names[i], NULL, cell->tasks[i]};
    err = cos_flow_auto(nodes, cell->n, cell->limit, cell->results, sizeof(int), deadline);
    final_co(cell, err, "%s", numbers(cell, cell->results, cell->n));
}

static int64_t cps_auto(struct cell *cell, int64_t deadline)
{
    struct cps_flow_node nodes[STEPS];
    fill(cell, 0);
    for (size_t i = 0; i < cell->n; i++)
        nodes[i] = (struct cps_flow_node){names[i], NULL, cell->cps_tasks[i]};
    return cps_flow_auto(cell->rt, nodes, cell->n, cell->limit, sizeof(int), deadline, slots_final,
                         cell);
}

/* --- retry: try i is step i ------------------------------------------------------- */

static int attempt(void *result, void *arg)
{
    struct cell *cell = arg;
    *(int *)result = 10 + cell->tried;
    return step_co(cell, (size_t)cell->tried++);
}

static void cps_attempt(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token)
{
    struct cell *cell = arg;
    (void)rt;
    *(int *)result = 10 + cell->tried;
    step_cps(cell, (size_t)cell->tried++, done, token);
}

static void co_retry(struct cell *cell, int64_t deadline)
{
    struct cos_flow_retry how = {.tries = (int)cell->n};
    int result = 0;
    int err = cos_flow_retry(&how, &(struct cos_flow_task){attempt, cell}, &result, deadline);
    final_co(cell, err, "%d", result);
}

static void retry_final(int err, const struct cps_flow_result *result, void *arg)
{
    final_cps(arg, err, "%d", result->values ? *(int *)result->values : -1);
}

static int64_t cps_retry(struct cell *cell, int64_t deadline)
{
    struct cos_flow_retry how = {.tries = (int)cell->n};
    struct cps_flow_task t = {cps_attempt, cell};
    return cps_flow_retry(cell->rt, &how, &t, sizeof(int), deadline, retry_final, cell);
}

/* --- one task --------------------------------------------------------------------- */

static void co_timeout(struct cell *cell, int64_t deadline)
{
    int result = 0, err;
    fill(cell, 0);
    err = cos_flow_timeout(&cell->tasks[0], cell->column == DEADLINE ? 20 : 10000, &result,
                           cell->column == DEADLINE ? -1 : deadline);
    final_co(cell, err, "%d", result);
}

static int64_t cps_timeout(struct cell *cell, int64_t deadline)
{
    fill(cell, 0);
    return cps_flow_timeout(cell->rt, &cell->cps_tasks[0], cell->column == DEADLINE ? 20 : 10000,
                            sizeof(int), cell->column == DEADLINE ? -1 : deadline, value_final,
                            cell);
}

/* The outcome is what the matrix looks at: a failure is what was said, no error. */
static void co_reflect(struct cell *cell, int64_t deadline)
{
    int result = 0, said = 0, err;
    fill(cell, 0);
    err = cos_flow_reflect(&cell->tasks[0], &said, &result, deadline);
    final_co(cell, err ? err : said, "%s%d", err ? "" : "reflected ", result);
}

static void reflect_final(int err, const struct cps_flow_result *result, void *arg)
{
    final_cps(arg, err ? err : result->answer, "%s%d", err ? "" : "reflected ",
              result->values ? *(int *)result->values : -1);
}

static int64_t cps_reflect(struct cell *cell, int64_t deadline)
{
    fill(cell, 0);
    return cps_flow_reflect(cell->rt, &cell->cps_tasks[0], sizeof(int), deadline, reflect_final,
                            cell);
}

static void co_ensure_async(struct cell *cell, int64_t deadline)
{
    int result = 0, err;
    fill(cell, 0);
    err = cos_flow_ensure_async(&cell->tasks[0], &result, deadline);
    final_co(cell, err, "%d", result);
}

static int64_t cps_ensure_async(struct cell *cell, int64_t deadline)
{
    fill(cell, 0);
    return cps_flow_ensure_async(cell->rt, &cell->cps_tasks[0], sizeof(int), deadline, value_final,
                                 cell);
}

#define NO_TEST  [DECIDED] = "nothing is decided: its tasks are no tests"
#define NO_PUSH  [INSIDE] = "nothing can be added while it runs"
#define NO_LIMIT [LIMIT_0] = "takes no limit"
#define ONE_TASK                                                                                   \
    [EMPTY] = "always one task", [MIXED] = "always one task", [ERR_MIDDLE] = "always one task",    \
    [ERR_LAST] = "always one task", [TWO_ERRORS] = "always one task",                              \
    [SAME_TICK] = "always one task", [SYNC_ERROR] = "always one task"

const struct function task_functions[] = {
    ROW("series", "C22", SERIES, LISTED, series, "[10 11 12]", .why = {NO_TEST, NO_PUSH, NO_LIMIT}),
    ROW("parallel", "C23", LIST, LIMITED | LISTED, parallel, "[10 11 12]",
        .why = {NO_TEST, NO_PUSH}),
    ROW("waterfall", "C22", SERIES, LISTED, waterfall, "123", .why = {NO_TEST, NO_PUSH, NO_LIMIT}),
    ROW("race", "C24", RACE, LISTED, race, NULL, .why = {NO_TEST, NO_PUSH, NO_LIMIT}),
    ROW("try_each", "C24", TRY, LISTED, try_each, "[0]", .why = {NO_TEST, NO_PUSH, NO_LIMIT}),
    ROW("auto", "C22", LIST, LIMITED | LISTED, auto, "[10 11 12]", .why = {NO_TEST, NO_PUSH}),
    ROW("retry", "C29b", TRY, LISTED, retry, "10",
        .why = {NO_TEST, NO_PUSH, NO_LIMIT, [EMPTY] = "0 tries means the default of 5"}),
    ROW("timeout", "C29b", SINGLE, 0, timeout, "10", .why = {NO_TEST, NO_PUSH, NO_LIMIT, ONE_TASK}),
    ROW("reflect", "C29b", SINGLE, 0, reflect, "reflected 10",
        .why = {NO_TEST, NO_PUSH, NO_LIMIT, ONE_TASK}),
    ROW("ensure_async", "C29b", SINGLE, 0, ensure_async, "10",
        .why = {NO_TEST, NO_PUSH, NO_LIMIT, ONE_TASK},
        .unlike = {[NO_WAIT] = "=ETIMEDOUT", [NO_WAIT_SYNC] = "=ETIMEDOUT"}),
    {0},
};
