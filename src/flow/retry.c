/* retry.c - retry, timeout, reflect, ensure_async: one job, wrapped. */
#define DILL_DISABLE_RAW_NAMES
#include "base/err.h"
#include "flow/backoff.h"
#include "flow/crew.h"

#include <errno.h>
#include <libdill.h>
#include <stdlib.h>

enum { TRIES = 5, WAIT_MAX = 60000 };

struct cos_flow_retry cos__retry_defaults(const struct cos_flow_retry *how)
{
    struct cos_flow_retry full = how ? *how : (struct cos_flow_retry){0};
    if (!full.tries)
        full.tries = TRIES;
    if (full.factor <= 0)
        full.factor = 1;
    if (!full.wait_max)
        full.wait_max = WAIT_MAX;
    return full;
}

int64_t cos__retry_wait(const struct cos_flow_retry *how, int tried)
{
    double wait = (double)how->wait;
    for (int i = 1; i < tried && wait < (double)how->wait_max; i++)
        wait *= how->factor;
    if (wait > (double)how->wait_max)
        wait = (double)how->wait_max;
    if (how->jitter > 0)
        wait -= wait * how->jitter * ((double)random() / (double)RAND_MAX);
    return wait > 0 ? (int64_t)wait : 0;
}

int cos__retry_again(const struct cos_flow_retry *how, int tried, int err)
{
    /* Neither a closing coroutine nor a stop on request is a failure to mend. */
    if (!err || err == COS_ECANCELED || err == COS_ESTOP || tried >= how->tries)
        return 0;
    return !how->again || how->again(err, how->arg);
}

struct attempt {
    struct cos_flow_retry how;
    const struct cos_flow_task *task;
    void *result;
};

static int try_on(void *result, void *arg)
{
    struct attempt *attempt = arg;
    int tried = 0, err;
    for (;;) {
        err = attempt->task->run(result, attempt->task->arg);
        if (!cos__retry_again(&attempt->how, ++tried, err))
            return err;
        if (dill_msleep(dill_now() + cos__retry_wait(&attempt->how, tried)) < 0)
            return cos_err_from_errno(errno);
    }
}

/* Runs one task so that the deadline can end it. */
static int run_one(const struct cos_flow_task *task, void *result, int64_t deadline)
{
    if (deadline < 0)
        return task->run(result, task->arg);
    return cos_flow_series(task, 1, result, 0, deadline);
}

int cos_flow_retry(const struct cos_flow_retry *how, const struct cos_flow_task *task,
                   void *result, int64_t deadline)
{
    struct attempt attempt = {.how = cos__retry_defaults(how), .task = task};
    struct cos_flow_task whole = {try_on, &attempt};
    if (attempt.how.tries < 0)
        return COS_EINVAL;
    return run_one(&whole, result, deadline);
}

int cos_flow_timeout(const struct cos_flow_task *task, int64_t ms, void *result, int64_t deadline)
{
    int64_t end;
    if (ms < 0)
        return COS_EINVAL;
    end = dill_now() + ms;
    if (deadline >= 0 && deadline < end)
        end = deadline;
    return run_one(task, result, end);
}

int cos_flow_reflect(const struct cos_flow_task *task, int *outcome, void *result,
                     int64_t deadline)
{
    *outcome = run_one(task, result, deadline);
    return 0;
}

int cos_flow_ensure_async(const struct cos_flow_task *task, void *result, int64_t deadline)
{
    if (dill_yield() < 0)
        return cos_err_from_errno(errno);
    return run_one(task, result, deadline);
}
