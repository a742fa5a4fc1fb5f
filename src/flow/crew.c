/* crew.c - workers over a source of steps. May call base and libdill only.
 *
 * A worker is a coroutine that takes step after step, so 10⁶ steps need no more
 * coroutines than the limit allows, and steps that never suspend need one: a
 * worker that is spawned runs at once, and the next is spawned only if the
 * spawner gets its turn while steps are left. Rejected: a coroutine per step
 * (memory grows with the list) and a semaphore before each (a switch per step).
 *
 * In series and without a deadline the caller takes the steps itself: there is
 * nobody to cancel them from outside but whoever closes the caller. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/crew.h"

#include "base/emit.h"
#include "base/err.h"
#include "base/loop.h"
#include "flow/flow.h"
#include "flow/flow_int.h"

#include <errno.h>
#include <libdill.h>
#include <stddef.h>

/* Ends the crew for everybody: no further step, and the caller goes on. */
static void end_crew(struct cos__crew *crew, int err)
{
    if (!crew->over) {
        crew->over = 1;
        crew->err = err == COS_ESTOP ? 0 : err;
    }
    /* chdone is enough: the caller only wants to be woken. */
    if (crew->waiting) {
        crew->waiting = 0;
        dill_chdone(crew->done[1]);
    }
}

/* The deadline is looked at between steps too: steps that never suspend give
 * nobody else the time to do so. The first step runs whatever the time. */
static int take_steps(struct cos__crew *crew)
{
    _Alignas(max_align_t) char item[crew->item_size + 1];
    size_t index = 0;
    int got, err;
    while (!crew->over && !crew->dry) {
        got = crew->take(crew, &index, item);
        if (got == 0)
            crew->dry = 1;
        if (got <= 0)
            return got;
        if (crew->next > 1 && cos__passed(crew->deadline))
            return COS_ETIMEDOUT;
        err = crew->step(crew, index, item);
        if (err < 0)
            return err;
    }
    return 0;
}

static dill_coroutine void worker(struct cos__crew *crew)
{
    struct cos_hook_wait self;
    int err;
    COS_HOOK(co_begin, &self);
    err = take_steps(crew);
    crew->running--;
    if (err)
        end_crew(crew, err);
    else if (!crew->running)
        end_crew(crew, 0);
    COS_HOOK(co_end, &self);
}

static int spawn_workers(struct cos__crew *crew, int bundle)
{
    struct cos_hook_wait wait;
    int rc;
    while (!crew->over && !crew->dry && crew->running < crew->limit) {
        if (crew->running >= COS_FLOW_MAX)
            return COS_ETOOBIG;
        crew->running++;
        COS_HOOK(pause, &wait);
        rc = dill_bundle_go(bundle, worker(crew));
        COS_HOOK(resume, &wait);
        if (rc < 0) {
            crew->running--;
            return cos_err_from_errno(errno);
        }
    }
    return 0;
}

static int wait_for_end(struct cos__crew *crew, int64_t deadline)
{
    int rc;
    if (crew->over || !crew->running)
        return 0;
    crew->waiting = 1;
    rc = COS_WAIT(dill_chrecv(crew->done[0], NULL, 0, deadline));
    crew->waiting = 0;
    return rc < 0 && errno != EPIPE ? cos_err_from_errno(errno) : 0;
}

static int run_workers(struct cos__crew *crew, int64_t deadline)
{
    struct dill_bundle_storage bundle_mem;
    struct dill_chstorage done_mem;
    int bundle, err;
    if (dill_chmake_mem(&done_mem, crew->done) < 0)
        return cos_err_from_errno(errno);
    bundle = dill_bundle_mem(&bundle_mem);
    if (bundle < 0) {
        err = cos_err_from_errno(errno);
        goto out;
    }
    err = spawn_workers(crew, bundle);
    if (!err)
        err = wait_for_end(crew, deadline);
    crew->over = 1;
    (void)COS_WAIT(dill_hclose(bundle));
    if (!err)
        err = crew->err;
out:
    dill_hclose(crew->done[0]);
    dill_hclose(crew->done[1]);
    return err;
}

int cos__crew_run(struct cos__crew *crew, int64_t deadline)
{
    int err;
    if (crew->limit <= 0)
        return COS_EINVAL;
    if (cos__in_callback())
        return COS_ECONTEXT;
    if (crew->item_size > COS_FLOW_ITEM_MAX)
        return COS_ETOOBIG;
    crew->deadline = deadline;
    if (crew->limit == 1 && deadline < 0) {
        err = take_steps(crew);
        return err == COS_ESTOP ? 0 : err;
    }
    return run_workers(crew, deadline);
}
