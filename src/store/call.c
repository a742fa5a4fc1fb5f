/* call.c - a function of the caller's run on the database thread. The caller's
 * memory is used there, so it must not go before the function has returned:
 * who is being closed while it runs waits for it without suspending. */
#include "store/db_int.h"

#include "base/err.h"
#include "base/offload.h"

#include <semaphore.h>

struct call_op {
    struct cos__job job;
    int (*fn)(void *arg);
    void *arg;
    int result;
    sem_t *ran; /* the caller's */
};

static int call_work(struct cos__job *job)
{
    struct call_op *call = (struct call_op *)job;
    int result = call->fn(call->arg);
    call->result = result;
    sem_post(call->ran);
    return result;
}

static const struct cos__op_type call_type = {.name = "database", .hook = COS_HOOK_FILE,
                                              .kind = COS__OP_CALL,
                                              .size = sizeof(struct call_op),
                                              .start = cos__job_start,
                                              .cancel = cos__job_cancel};

int cos__db_call(struct cos_db *db, int (*fn)(void *arg), void *arg)
{
    struct call_op *call = (struct call_op *)cos__op_new(&call_type);
    sem_t ran;
    int err;
    if (!call)
        return COS_ENOMEM;
    sem_init(&ran, 0, 0);
    call->job.work = call_work;
    call->job.lane = db->lane;
    call->fn = fn;
    call->arg = arg;
    call->ran = &ran;
    err = cos__op_await(&call->job.op, -1);
    if (!cos__op_mine(&call->job.op)) {
        while (sem_wait(&ran) < 0)
            ;
        err = call->result;
    }
    cos__op_free(&call->job.op);
    sem_destroy(&ran);
    return err;
}
