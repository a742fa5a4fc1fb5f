/* cps_crew.c - jobs side by side, in callbacks (cps_crew.h).
 *
 * A job may answer inside its launch. The answer then only notes that a slot is
 * free, and the loop that launched it goes on: no recursion, however many jobs
 * answer at once. Slots are kept and reused, so a series allocates one for any
 * number of steps.
 *
 * The crew is an operation. When the outcome is known while jobs still run, the
 * face is told at once (cos__op_cancel with our own error) and the operation
 * stays, unseen, until the last job has answered. */
#define DILL_DISABLE_RAW_NAMES
#include "cps_crew.h"

#include "base/die.h"
#include "flow/flow_int.h"

#include <stdlib.h>
#include <string.h>

enum { RUNNING_MAX = 1 << 20 };

static void deliver(struct cos_op *op)
{
    static const struct cps_flow_result nothing;
    struct cps__crew *crew = (struct cps__crew *)op;
    /* What could not even be started comes with a bare operation. */
    int bare = op->type->size < sizeof *crew;
    ((cps_flow_cb *)op->cb)(op->err, bare ? &nothing : &crew->result, op->arg);
}

static struct cps__slot *slot_get(struct cps__crew *crew)
{
    struct cps__slot *slot = crew->free_slots;
    if (slot) {
        crew->free_slots = slot->next;
        return slot;
    }
    slot = malloc(sizeof *slot + crew->item_size);
    if (slot)
        *slot = (struct cps__slot){.crew = crew};
    return slot;
}

static void slot_put(struct cps__crew *crew, struct cps__slot *slot)
{
    slot->next = crew->free_slots;
    crew->free_slots = slot;
}

/* Nothing runs and nothing will: the operation ends. */
static void settle(struct cps__crew *crew)
{
    if (crew->running || !(crew->over || crew->dry) || crew->pumping)
        return;
    if (!crew->told && crew->type->close)
        crew->err = crew->type->close(crew, crew->err);
    cos__op_complete(&crew->op, crew->err);
}

/* The outcome is known. */
static void end_crew(struct cps__crew *crew, int err)
{
    if (crew->over)
        return;
    crew->over = 1;
    crew->err = err == COS_ESTOP ? 0 : err;
    if (!crew->running)
        return;
    if (crew->type->close)
        crew->err = crew->type->close(crew, crew->err);
    crew->told = 1;
    cos__op_cancel(&crew->op, crew->err);
    if (crew->type->hurry)
        crew->type->hurry(crew);
}

static int launch_one(struct cps__crew *crew)
{
    struct cps__slot *slot = slot_get(crew);
    int got = slot ? crew->type->take(crew, slot) : COS_ENOMEM;
    if (got > 0 && crew->running >= RUNNING_MAX)
        got = COS_ETOOBIG;
    /* Jobs that answer at once give the timer no chance. The first one runs
     * whatever the time. */
    if (got > 0 && crew->launched++ && cos__passed(crew->deadline))
        got = COS_ETIMEDOUT;
    if (got <= 0) {
        if (slot)
            slot_put(crew, slot);
        crew->dry = 1;
        if (got < 0)
            end_crew(crew, got);
        return 0;
    }
    slot->busy = 1;
    crew->running++;
    crew->type->launch(crew, slot);
    return 1;
}

void cps__crew_pump(struct cps__crew *crew)
{
    if (crew->pumping)
        return;
    crew->pumping = 1;
    crew->dry = 0;
    while (!crew->over && crew->running < crew->limit && launch_one(crew))
        ;
    crew->pumping = 0;
    settle(crew);
}

void cps__crew_landed(int err, void *token)
{
    struct cps__slot *slot = token;
    struct cps__crew *crew = slot->crew;
    if (!slot->busy)
        cos__die("a job called its callback twice");
    slot->busy = 0;
    crew->running--;
    if (!crew->over) {
        err = crew->type->land(crew, slot, err);
        if (err)
            end_crew(crew, err);
    }
    slot_put(crew, slot);
    cps__crew_pump(crew);
}

/* --- the operation ---------------------------------------------------------------- */

static void crew_start(struct cos_op *op)
{
    struct cps__crew *crew = (struct cps__crew *)op;
    int err = crew->limit <= 0 ? COS_EINVAL : 0;
    if (crew->wrong)
        err = crew->err;
    else if (!err && crew->item_size > COS_FLOW_ITEM_MAX)
        err = COS_ETOOBIG;
    if (err)
        cos__op_complete(op, err);
    else
        cps__crew_pump(crew);
}

static int crew_cancel(struct cos_op *op)
{
    struct cps__crew *crew = (struct cps__crew *)op;
    int first = !crew->over;
    crew->over = 1;
    crew->told = 1;
    if (first && crew->running && crew->type->hurry)
        crew->type->hurry(crew);
    return crew->running || crew->pumping ? COS_EBUSY : 0;
}

static void crew_release(struct cos_op *op)
{
    struct cps__crew *crew = (struct cps__crew *)op;
    while (crew->free_slots) {
        struct cps__slot *slot = crew->free_slots;
        crew->free_slots = slot->next;
        free(slot);
    }
    for (size_t i = 0; crew->parts && i < crew->count; i++)
        cos_buf_release(&crew->parts[i]);
    if (crew->extra_free)
        crew->extra_free(crew->extra);
    cos_buf_release(&crew->joined);
    free(crew->parts);
    free(crew->yes);
    free(crew->own_items);
    free(crew->result.winners);
    free(crew->result.values);
}

static const struct cos__op_type crew_type = {.name = "flow", .hook = COS_HOOK_CPS_REQUEST,
                                              .kind = COS__OP_FLOW,
                                              .size = sizeof(struct cps__crew),
                                              .start = crew_start, .cancel = crew_cancel,
                                              .release = crew_release};

struct cps__crew *cps__crew_new(struct cps_rt *rt, const struct cps__crew_type *type, int limit)
{
    struct cps__crew *crew = (struct cps__crew *)cos__op_new(&crew_type);
    if (!crew)
        return NULL;
    crew->rt = rt;
    crew->type = type;
    crew->limit = limit;
    return crew;
}

void cps__crew_refuse(struct cps__crew *crew, int err)
{
    if (!crew->wrong)
        crew->err = err;
    crew->wrong = 1;
}

int cps__crew_results(struct cps__crew *crew, size_t count, size_t size)
{
    crew->result_size = size;
    if (!size)
        return 0;
    crew->result.values = count < SIZE_MAX ? calloc(count + 1, size) : NULL;
    if (crew->result.values)
        return 0;
    cps__crew_refuse(crew, COS_ENOMEM);
    return COS_ENOMEM;
}

int64_t cps__crew_begin(struct cps__crew *crew, struct cps_rt *rt, int64_t deadline,
                        cps_flow_cb *cb, void *arg)
{
    if (crew)
        crew->deadline = deadline;
    return cps__begin(rt, crew ? &crew->op : NULL, deadline, deliver, (cps__fn *)cb, arg);
}
