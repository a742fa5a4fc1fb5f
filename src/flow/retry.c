/* retry.c - retry, timeout, reflect, ensure_async: one job, wrapped. */
#define DILL_DISABLE_RAW_NAMES
#include "base/emit.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/loop.h"
#include "flow/backoff.h"
#include "flow/flow_int.h"

#include <errno.h>
#include <libdill.h>

enum { TRIES = 5, WAIT_MAX = 60000 };
static const int64_t YEAR = INT64_C(366) * 86400000;

struct cos_flow_retry cos__retry_defaults(const struct cos_flow_retry *how)
{
    struct cos_flow_retry full = how ? *how : (struct cos_flow_retry){0};
    if (!full.tries)
        full.tries = TRIES;
    if (full.factor <= 0)
        full.factor = 1;
    if (full.wait_max <= 0 || full.wait_max > YEAR)
        full.wait_max = full.wait_max <= 0 ? WAIT_MAX : YEAR;
    return full;
}

/* 0 … 1, in another order in each process and thread: those that failed together must not come
 * back together. */
static double some_part(void)
{
    static _Thread_local uint64_t state;
    uint64_t *self = &state;
    if (!state)
        state = cos_hash_keyed(cos_hash_process_key(), &self, sizeof self) | 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

int64_t cos__retry_wait(const struct cos_flow_retry *how, int tried)
{
    double wait = (double)how->wait, most = (double)how->wait_max;
    for (int i = 1; i < tried && how->factor != 1 && wait >= 1 && wait < most; i++)
        wait *= how->factor;
    if (wait > most)
        wait = most;
    if (how->jitter > 0)
        wait -= wait * how->jitter * some_part();
    return wait > 0 ? (int64_t)wait : 0;
}

int cos__retry_again(const struct cos_flow_retry *how, int tried, int err)
{
    /* Neither a closing coroutine nor a stop on request is a failure to mend. */
    if (err >= 0 || err == COS_ECANCELED || err == COS_ESTOP || tried >= how->tries)
        return 0;
    return !how->again || how->again(err, how->arg);
}

struct attempt {
    struct cos_flow_retry how;
    const struct cos_flow_task *task;
};

static int try_on(void *result, void *arg)
{
    struct attempt *attempt = arg;
    int tried = 0, err;
    for (;;) {
        err = attempt->task->run(result, attempt->task->arg);
        if (!cos__retry_again(&attempt->how, ++tried, err))
            return err;
        if (COS_WAIT(dill_msleep(cos__after(cos__retry_wait(&attempt->how, tried)))) < 0)
            return cos_err_from_errno(errno);
    }
}

/* Runs one task so that the deadline can end it. */
static int run_one(const struct cos_flow_task *task, void *result, int64_t deadline)
{
    if (cos__in_callback())
        return COS_ECONTEXT;
    if (deadline < 0)
        return cos__outcome(task->run(result, task->arg));
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
    if (ms < 0)
        return COS_EINVAL;
    return run_one(task, result, cos__sooner(cos__after(ms), deadline));
}

struct mirror {
    const struct cos_flow_task *task;
    int outcome;
};

static int note_outcome(void *result, void *arg)
{
    struct mirror *mirror = arg;
    mirror->outcome = cos__outcome(mirror->task->run(result, mirror->task->arg));
    return 0;
}

/* Only what the task itself said is reflected: a deadline that passed is the
 * caller's, and so is being closed. */
int cos_flow_reflect(const struct cos_flow_task *task, int *outcome, void *result,
                     int64_t deadline)
{
    struct mirror mirror = {.task = task};
    int err = run_one(&(struct cos_flow_task){note_outcome, &mirror}, result, deadline);
    if (!err && mirror.outcome == COS_ECANCELED && COS_WAIT(dill_yield()) < 0)
        err = COS_ECANCELED;
    if (!err)
        *outcome = mirror.outcome;
    return err;
}

int cos_flow_ensure_async(const struct cos_flow_task *task, void *result, int64_t deadline)
{
    if (cos__in_callback())
        return COS_ECONTEXT;
    /* 0 does not wait, and this does nothing without a wait. */
    if (deadline == 0)
        return COS_ETIMEDOUT;
    if (COS_WAIT(dill_yield()) < 0)
        return cos_err_from_errno(errno);
    return run_one(task, result, deadline);
}
