/* offload.c - threads that work for the loop (offload.h). Calls pthreads and the
 * loop, nothing else.
 *
 * Both ways go in batches. Jobs started during one turn of the loop are kept in
 * a list of its own and handed over by one deferred task: one lock and at most
 * one futex wake per turn; a thread that finds more work than it can do wakes
 * the next one, so that the loop does not pay for that. A few brief jobs are no
 * reason to wake another thread: that costs what one of them does. Finished jobs
 * collect in a list of the loop's, and only the one that finds it empty posts.
 *
 * The threads are shared by all loops of the process, started by the first job
 * and ended with the last loop. A loop that ends waits for the jobs that still
 * run for it: they hold a pointer to it.
 *
 * Rejected: a lock-free queue. The lock costs 20 ns against 1.6 µs for the whole
 * hand-over, and cancelling needs to take a job out of the middle. */
#include "config.h"

#include "base/offload.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

/* AHEAD: so many brief jobs may wait for a thread that is awake. */
enum { THREADS_MAX = 64, STACK = 1 << 20, AHEAD = 4 };

struct list {
    struct cos__job *head, *tail;
};

struct cos__lane {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct list queue; /* jobs that wait for a thread */
    size_t waiting;    /* length of queue */
    size_t load;       /* the same, a job that is not brief counts AHEAD */
    int held;          /* threads with a job that is not brief */
    int sleeping;      /* threads in the wait */
    int waking;        /* of these: signalled already */
    int stop;
    void (*idle)(void *arg);
    void *arg;
    int nthreads;
    pthread_t threads[THREADS_MAX];
};

/* One per loop; the part of the loop. */
struct cos__offload {
    struct cos__loop *loop;
    struct cos__lane *threads;
    struct list batch;       /* jobs that wait for the next turn */
    struct cos__task flush;  /* deferred: hands the batch over */
    struct cos__task collect; /* posted: completes what is finished */
    pthread_mutex_t lock;
    pthread_cond_t all_in;
    struct list finished; /* guarded by lock */
    size_t out;           /* jobs at the threads, guarded by lock */
    struct cos__offload_stats stats;
};

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cos__lane *shared;
static int shared_users, wanted_threads;

/* --- lists --- */

static void append(struct list *list, struct cos__job *job)
{
    job->prev = list->tail;
    job->next = NULL;
    if (list->tail)
        list->tail->next = job;
    else
        list->head = job;
    list->tail = job;
}

static void unlink_job(struct list *list, struct cos__job *job)
{
    if (job->prev)
        job->prev->next = job->next;
    else
        list->head = job->next;
    if (job->next)
        job->next->prev = job->prev;
    else
        list->tail = job->prev;
    job->prev = job->next = NULL;
}

/* --- threads --- */

/* The job is done; its loop is told unless it has been told already. */
static void deliver(struct cos__job *job)
{
    struct cos__offload *home = job->home;
    int was_empty;
    pthread_mutex_lock(&home->lock);
    was_empty = !home->finished.head;
    append(&home->finished, job);
    /* Inside the lock: a loop that ends waits for out to reach 0, and must not
     * be gone while it is posted to. */
    if (was_empty) {
        home->stats.posts++;
        cos__loop_post(home->loop, &home->collect);
    }
    if (--home->out == 0)
        pthread_cond_signal(&home->all_in);
    pthread_mutex_unlock(&home->lock);
}

static void count_job(struct cos__lane *lane, const struct cos__job *job, int by)
{
    lane->waiting += (size_t)by;
    lane->load += (size_t)(by * (job->brief ? 1 : AHEAD));
}

/* Whether one more thread is to be woken; the caller signals once the lock is
 * free, or the woken thread would run into it. */
static int wants_hand(struct cos__lane *lane)
{
    int hands = lane->nthreads - lane->sleeping + lane->waking - lane->held;
    if (lane->sleeping <= lane->waking || !lane->load ||
        (hands > 0 && lane->load <= (size_t)hands * AHEAD))
        return 0;
    lane->waking++;
    return 1;
}

static void sleep_for_more(struct cos__lane *lane)
{
    lane->sleeping++;
    pthread_cond_wait(&lane->more, &lane->lock);
    lane->sleeping--;
    if (lane->waking)
        lane->waking--;
}

static void run_one(struct cos__lane *lane)
{
    struct cos__job *job = lane->queue.head;
    int wake, held = !job->brief;
    unlink_job(&lane->queue, job);
    job->queued = 0;
    count_job(lane, job, -1);
    lane->held += held;
    wake = wants_hand(lane);
    pthread_mutex_unlock(&lane->lock);
    if (wake)
        pthread_cond_signal(&lane->more);
    job->result = job->work(job);
    deliver(job);
    pthread_mutex_lock(&lane->lock);
    lane->held -= held;
}

static void *thread_main(void *arg)
{
    struct cos__lane *lane = arg;
    int worked = 0;
    pthread_mutex_lock(&lane->lock);
    while (lane->waiting || !lane->stop || worked) {
        if (lane->waiting) {
            run_one(lane);
            worked = 1;
        } else if (worked && lane->idle) {
            pthread_mutex_unlock(&lane->lock);
            lane->idle(lane->arg);
            pthread_mutex_lock(&lane->lock);
            worked = 0;
        } else if (!lane->stop) {
            worked = 0;
            sleep_for_more(lane);
        } else {
            worked = 0;
        }
    }
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

static void start_threads(struct cos__lane *lane, int n)
{
    pthread_attr_t attr;
    sigset_t all, old;
    /* Signals are the main thread's: a handler must not run on one of these. */
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (lane->nthreads < n &&
           !pthread_create(&lane->threads[lane->nthreads], &attr, thread_main, lane))
        lane->nthreads++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
}

static struct cos__lane *lane_new(int n, void (*idle)(void *), void *arg)
{
    struct cos__lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->more, NULL);
    lane->idle = idle;
    lane->arg = arg;
    start_threads(lane, n);
    if (!lane->nthreads) {
        cos__offload_lane_free(lane);
        lane = NULL;
    }
    return lane;
}

struct cos__lane *cos__offload_lane(void (*idle)(void *), void *arg)
{
    return lane_new(1, idle, arg);
}

void cos__offload_lane_free(struct cos__lane *lane)
{
    if (!lane)
        return;
    pthread_mutex_lock(&lane->lock);
    lane->stop = 1;
    pthread_cond_broadcast(&lane->more);
    pthread_mutex_unlock(&lane->lock);
    for (int i = 0; i < lane->nthreads; i++)
        pthread_join(lane->threads[i], NULL);
    pthread_cond_destroy(&lane->more);
    pthread_mutex_destroy(&lane->lock);
    free(lane);
}

/* --- the threads all loops share --- */

void cos__offload_threads(int n)
{
    pthread_mutex_lock(&shared_lock);
    wanted_threads = n < 0 ? 0 : n > THREADS_MAX ? THREADS_MAX : n;
    pthread_mutex_unlock(&shared_lock);
}

static int cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : n;
}

static struct cos__lane *shared_get(void)
{
    struct cos__lane *lane;
    pthread_mutex_lock(&shared_lock);
    if (!shared)
        shared = lane_new(wanted_threads ? wanted_threads : cores(), NULL, NULL);
    lane = shared;
    if (lane)
        shared_users++;
    pthread_mutex_unlock(&shared_lock);
    return lane;
}

static void shared_put(void)
{
    struct cos__lane *last = NULL;
    pthread_mutex_lock(&shared_lock);
    if (--shared_users == 0) {
        last = shared;
        shared = NULL;
    }
    pthread_mutex_unlock(&shared_lock);
    cos__offload_lane_free(last);
}

/* --- the loop's side --- */

static void complete_all(struct cos__offload *home)
{
    struct cos__job *job, *next;
    pthread_mutex_lock(&home->lock);
    job = home->finished.head;
    home->finished = (struct list){NULL, NULL};
    pthread_mutex_unlock(&home->lock);
    for (; job; job = next) {
        next = job->next;
        cos__op_complete(&job->op, job->result);
    }
}

static void collect(struct cos__task *task)
{
    complete_all((struct cos__offload *)((char *)task - offsetof(struct cos__offload, collect)));
}

/* Moves the jobs of one lane from the batch to it; those it has no room for go
 * to refused. */
static void hand_over(struct cos__offload *home, struct cos__lane *lane, struct list *refused)
{
    struct cos__job *job, *next;
    size_t moved = 0;
    int wake;
    pthread_mutex_lock(&lane->lock);
    for (job = home->batch.head; job; job = next) {
        next = job->next;
        if (job->lane != lane)
            continue;
        unlink_job(&home->batch, job);
        job->batched = 0;
        if (lane->waiting >= COS__OFFLOAD_QUEUE_MAX) {
            append(refused, job);
            continue;
        }
        append(&lane->queue, job);
        job->queued = 1;
        count_job(lane, job, 1);
        moved++;
    }
    /* Counted before the lane's lock is let go: a thread may be through with the
     * first of them before this one runs on. */
    pthread_mutex_lock(&home->lock);
    home->out += moved;
    pthread_mutex_unlock(&home->lock);
    wake = wants_hand(lane);
    pthread_mutex_unlock(&lane->lock);
    if (wake)
        pthread_cond_signal(&lane->more);
    home->stats.jobs += moved;
}

static void flush(struct cos__task *task)
{
    struct cos__offload *home =
        (struct cos__offload *)((char *)task - offsetof(struct cos__offload, flush));
    struct list refused = {NULL, NULL};
    struct cos__job *job, *next;
    home->stats.flushes++;
    while (home->batch.head)
        hand_over(home, home->batch.head->lane, &refused);
    for (job = refused.head; job; job = next) {
        next = job->next;
        cos__op_complete(&job->op, COS_EFULL);
    }
}

/* The loop ends. Nobody waits for these jobs any more, but a thread may be in
 * the middle of one. */
static void release(void *data)
{
    struct cos__offload *home = data;
    struct cos__job *job;
    while ((job = home->batch.head)) {
        unlink_job(&home->batch, job);
        cos__op_complete(&job->op, COS_ECANCELED);
    }
    pthread_mutex_lock(&home->lock);
    while (home->out)
        pthread_cond_wait(&home->all_in, &home->lock);
    pthread_mutex_unlock(&home->lock);
    complete_all(home);
    shared_put();
    pthread_cond_destroy(&home->all_in);
    pthread_mutex_destroy(&home->lock);
    free(home);
}

static struct cos__offload *home_of(struct cos__loop *loop)
{
    struct cos__offload *home = cos__loop_part(loop, COS__PART_FILE);
    if (home)
        return home;
    home = calloc(1, sizeof *home);
    if (!home)
        return NULL;
    home->loop = loop;
    home->flush.run = flush;
    home->collect.run = collect;
    home->threads = shared_get();
    if (!home->threads) {
        free(home);
        return NULL;
    }
    pthread_mutex_init(&home->lock, NULL);
    pthread_cond_init(&home->all_in, NULL);
    cos__loop_set_part(loop, COS__PART_FILE, home, release);
    return home;
}

void cos__job_start(struct cos_op *op)
{
    struct cos__job *job = (struct cos__job *)op;
    job->home = home_of(op->loop);
    if (!job->home) {
        cos__op_complete(op, COS_ENOMEM);
        return;
    }
    if (!job->lane)
        job->lane = job->home->threads;
    job->batched = 1;
    append(&job->home->batch, job);
    cos__loop_defer(op->loop, &job->home->flush);
}

static int take_back(struct cos__job *job)
{
    struct cos__offload *home = job->home;
    int taken;
    pthread_mutex_lock(&job->lane->lock);
    taken = job->queued;
    if (taken) {
        unlink_job(&job->lane->queue, job);
        count_job(job->lane, job, -1);
        job->queued = 0;
    }
    pthread_mutex_unlock(&job->lane->lock);
    if (taken) {
        pthread_mutex_lock(&home->lock);
        home->out--;
        pthread_mutex_unlock(&home->lock);
    }
    return taken;
}

int cos__job_cancel(struct cos_op *op)
{
    struct cos__job *job = (struct cos__job *)op;
    if (job->batched) {
        unlink_job(&job->home->batch, job);
        job->batched = 0;
        return 0;
    }
    return take_back(job) ? 0 : COS_EBUSY;
}

struct cos__offload_stats cos__offload_stats(void)
{
    struct cos__loop *loop = cos__loop();
    struct cos__offload *home = loop ? cos__loop_part(loop, COS__PART_FILE) : NULL;
    struct cos__offload_stats stats = {0};
    if (home) {
        pthread_mutex_lock(&home->lock);
        stats = home->stats;
        pthread_mutex_unlock(&home->lock);
    }
    return stats;
}

/* --- any function as a job --- */

struct call {
    struct cos__job job;
    int (*work)(void *data);
    void *data;
    void (*drop)(void *data);
};

static int call_work(struct cos__job *job)
{
    struct call *call = (struct call *)job;
    return call->work(call->data);
}

static void call_release(struct cos_op *op)
{
    struct call *call = (struct call *)op;
    if (call->data && call->drop)
        call->drop(call->data);
}

static const struct cos__op_type call_type = {
    .name = "job",
    .hook = COS_HOOK_POOL_JOB,
    .kind = COS__OP_JOB,
    .size = sizeof(struct call),
    .start = cos__job_start,
    .cancel = cos__job_cancel,
    .release = call_release,
};

struct cos_op *cos__offload_op(int (*work)(void *data), void *data, void (*drop)(void *data),
                               struct cos__lane *lane)
{
    struct call *call = (struct call *)cos__op_new(&call_type);
    if (!call)
        return NULL;
    call->job.work = call_work;
    call->job.lane = lane;
    call->work = work;
    call->data = data;
    call->drop = drop;
    return &call->job.op;
}

void *cos__offload_take(struct cos_op *op)
{
    struct call *call = (struct call *)op;
    void *data;
    if (!cos__op_mine(op))
        return NULL;
    data = call->data;
    call->data = NULL;
    return data;
}
