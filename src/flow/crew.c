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

#include "base/err.h"
#include "flow/flow.h"

#include <errno.h>
#include <libdill.h>

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

static int take_steps(struct cos__crew *crew)
{
    char item[crew->item_size + 1];
    size_t index = 0;
    int got, err;
    while (!crew->over) {
        got = crew->take(crew, &index, item);
        if (got <= 0)
            return got;
        err = crew->step(crew, index, item);
        if (err)
            return err;
    }
    return 0;
}

static dill_coroutine void worker(struct cos__crew *crew)
{
    int err = take_steps(crew);
    crew->running--;
    if (err)
        end_crew(crew, err);
    else if (!crew->running)
        end_crew(crew, 0);
}

static int spawn_workers(struct cos__crew *crew, int bundle)
{
    while (!crew->over && crew->running < crew->limit) {
        size_t before = crew->next;
        if (crew->running >= COS_FLOW_MAX)
            return COS_ETOOBIG;
        crew->running++;
        if (dill_bundle_go(bundle, worker(crew)) < 0) {
            crew->running--;
            return cos_err_from_errno(errno);
        }
        /* It found nothing to take: the source is dry for now. */
        if (crew->next == before)
            break;
    }
    return 0;
}

static int wait_for_end(struct cos__crew *crew, int64_t deadline)
{
    int rc;
    if (crew->over || !crew->running)
        return 0;
    crew->waiting = 1;
    rc = dill_chrecv(crew->done[0], NULL, 0, deadline);
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
    dill_hclose(bundle);
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
    if (crew->item_size > COS_FLOW_ITEM_MAX)
        return COS_ETOOBIG;
    if (crew->limit == 1 && deadline < 0) {
        err = take_steps(crew);
        return err == COS_ESTOP ? 0 : err;
    }
    return run_workers(crew, deadline);
}
