/* lane.c - the thread behind lane.h: a mutex, a condition, a list.
 * The list needs no ceiling of its own: its users push a batch only when the
 * one before has landed, and calls park their caller. */
#include "config.h"

#include "store/lane.h"

#include "base/err.h"
#include "base/op.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct cos__lane {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;  /* a job was pushed, or quit */
    pthread_cond_t ran;   /* a call has returned */
    struct cos__lane_job *head, *tail;
    struct cos__loop *loop;
    int quit;
};

static struct cos__lane_job *next_job(struct cos__lane *lane)
{
    struct cos__lane_job *job;
    pthread_mutex_lock(&lane->lock);
    while (!lane->head && !lane->quit)
        pthread_cond_wait(&lane->more, &lane->lock);
    job = lane->head;
    if (job) {
        lane->head = job->next;
        if (!lane->head)
            lane->tail = NULL;
    }
    pthread_mutex_unlock(&lane->lock);
    return job;
}

static void *lane_main(void *arg)
{
    struct cos__lane *lane = arg;
    struct cos__lane_job *job;
    while ((job = next_job(lane)) != NULL) {
        job->run(job);
        if (job->landed.run)
            cos__loop_post(lane->loop, &job->landed);
    }
    return NULL;
}

/* Signals are the loop thread's business. */
static int spawn(struct cos__lane *lane)
{
    sigset_t all, old;
    int rc;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&lane->thread, NULL, lane_main, lane);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

int cos__lane_start(struct cos__lane **out, const char *name)
{
    struct cos__lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return COS_ENOMEM;
    lane->loop = cos__loop();
    if (!lane->loop) {
        free(lane);
        return COS_EMFILE;
    }
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->more, NULL);
    pthread_cond_init(&lane->ran, NULL);
    if (spawn(lane) != 0) {
        free(lane);
        return COS_ENOMEM;
    }
    pthread_setname_np(lane->thread, name);
    *out = lane;
    return 0;
}

void cos__lane_stop(struct cos__lane *lane)
{
    if (!lane)
        return;
    pthread_mutex_lock(&lane->lock);
    lane->quit = 1;
    pthread_cond_signal(&lane->more);
    pthread_mutex_unlock(&lane->lock);
    pthread_join(lane->thread, NULL);
    pthread_cond_destroy(&lane->more);
    pthread_cond_destroy(&lane->ran);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
}

void cos__lane_push(struct cos__lane *lane, struct cos__lane_job *job)
{
    pthread_mutex_lock(&lane->lock);
    job->next = NULL;
    if (lane->tail)
        lane->tail->next = job;
    else
        lane->head = job;
    lane->tail = job;
    pthread_cond_signal(&lane->more);
    pthread_mutex_unlock(&lane->lock);
}

/* --- calls ------------------------------------------------------------------ */

struct call_op {
    struct cos_op op;
    struct cos__lane_job job;
    struct cos__lane *lane;
    int (*fn)(void *arg);
    void *arg;
    int result;
    int ran;
};

#define CALL_OF(ptr, member) ((struct call_op *)((char *)(ptr)-offsetof(struct call_op, member)))

static void call_run(struct cos__lane_job *job)
{
    struct call_op *call = CALL_OF(job, job);
    int result = call->fn(call->arg);
    pthread_mutex_lock(&call->lane->lock);
    call->result = result;
    call->ran = 1;
    pthread_cond_broadcast(&call->lane->ran);
    pthread_mutex_unlock(&call->lane->lock);
}

static void call_landed(struct cos__task *task)
{
    struct call_op *call = CALL_OF(task, job.landed);
    cos__op_complete(&call->op, call->result);
}

static void call_start(struct cos_op *op)
{
    struct call_op *call = (struct call_op *)op;
    call->job.run = call_run;
    call->job.landed.run = call_landed;
    cos__lane_push(call->lane, &call->job);
}

static const struct cos__op_type call_type = {
    .name = "lane", .kind = COS__OP_OTHER, .size = sizeof(struct call_op), .start = call_start};

static int wait_here(struct call_op *call)
{
    pthread_mutex_lock(&call->lane->lock);
    while (!call->ran)
        pthread_cond_wait(&call->lane->ran, &call->lane->lock);
    pthread_mutex_unlock(&call->lane->lock);
    return call->result;
}

int cos__lane_call(struct cos__lane *lane, int (*fn)(void *arg), void *arg)
{
    struct call_op *call = (struct call_op *)cos__op_new(&call_type);
    int err;
    if (!call)
        return COS_ENOMEM;
    call->lane = lane;
    call->fn = fn;
    call->arg = arg;
    err = cos__op_await(&call->op, -1);
    if (!cos__op_mine(&call->op))
        err = wait_here(call);
    cos__op_free(&call->op);
    return err;
}
