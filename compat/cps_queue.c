/* cps_queue.c - the task queue of the callback face (cps_flow.h); the twin of
 * flow/queue.c over the same backlog.
 *
 * push never runs a task inside the call: it asks for one deferred look at the
 * backlog, and that look starts as many tasks as the limit allows. A task that
 * answers makes room for the next one, which starts at once; if it answers inside
 * its start, the look that started it simply goes on.
 *
 * As on the other face, what the user holds is the outside of the queue or, in
 * work(), its inside, through which a push never waits for room. The handlers
 * may free the queue: it goes when nothing of it is on the stack any more. */
#include "cps.h"
#include "cps_flow.h"

#include "base/die.h"
#include "flow/backlog.h"
#include "flow/waits.h"

#include <stdlib.h>

enum { CAPACITY = 1024, OVERFLOW = 1 << 20, BACKLOG_MAX = 1 << 28, CARGO_MAX = 1024 };
enum { CONCURRENCY_MAX = 1 << 20 };

/* A running task; its address is the token it answers with. */
struct job {
    struct job *next; /* free list */
    struct queue *queue;
    size_t count;
    struct cos__hook *hook; /* of its first item */
    uint8_t busy;
    void *items[];
};

/* A push that waits for room, or someone who drains. */
struct errand {
    struct cos__wait wait;
    struct queue *queue;
    struct cos__waits *line; /* where it waits, if it must */
    void *item;
    int priority;
    uint8_t inside;
    uint8_t in; /* the queue has the item */
};

struct cps_flow_queue {
    struct queue *real;
};

struct queue {
    struct cps_flow_queue outside, inside;
    struct cps_rt *rt;
    struct cps_flow_queue_opts opts;
    struct cos__backlog backlog;
    struct cos__waits pushes, drains;
    struct job *free_jobs;
    size_t running;  /* items */
    size_t jobs;     /* tasks: with cargo one task carries several items */
    unsigned depth;  /* of our own calls that are on the stack or deferred */
    uint8_t busy, paused, killed, saturated, own_buffer, look_asked, looking, starting, freed;
};

static void emit(const struct queue *queue, enum cos_flow_event event, void *item, int err)
{
    if (queue->opts.event)
        queue->opts.event(event, item, err, queue->opts.arg);
}

/* --- staying alive ---------------------------------------------------------------- */

static void enter(struct queue *queue)
{
    queue->depth++;
}

/* After this the queue may be gone. */
static void leave(struct queue *queue)
{
    if (--queue->depth || !queue->freed || queue->jobs)
        return;
    while (queue->free_jobs) {
        struct job *job = queue->free_jobs;
        queue->free_jobs = job->next;
        free(job);
    }
    cos__backlog_release(&queue->backlog);
    free(queue);
}

/* --- waiting operations ----------------------------------------------------------- */

static void admit_parked(struct queue *queue)
{
    while (queue->pushes.count && queue->backlog.count < queue->opts.capacity) {
        struct errand *errand = (struct errand *)cos__waits_take(&queue->pushes);
        struct cos__hook *hook;
        int err = cos__backlog_room(&queue->backlog);
        if (!err) {
            COS_HOOK(init, &hook, COS_HOOK_QUEUE_TASK, errand->wait.op.hook, NULL);
            cos__backlog_push_as(&queue->backlog, errand->item, errand->priority, hook);
        }
        errand->in = !err;
        cos__op_complete(&errand->wait.op, err);
    }
}

static void tell_all(struct cos__waits *waits, int err)
{
    struct cos__wait *wait;
    while ((wait = cos__waits_take(waits)))
        cos__op_complete(&wait->op, err);
}

/* --- tasks ------------------------------------------------------------------------ */

static int take(struct queue *queue, void **item)
{
    if (queue->paused || !cos__backlog_pop(&queue->backlog, item))
        return 0;
    queue->running++;
    admit_parked(queue);
    if (!queue->backlog.count)
        emit(queue, COS_FLOW_LAST_OUT, *item, 0);
    return 1;
}

static struct job *job_new(struct queue *queue)
{
    struct job *job = malloc(sizeof *job + queue->opts.cargo * sizeof job->items[0]);
    if (job)
        *job = (struct job){.queue = queue};
    return job;
}

static struct job *job_get(struct queue *queue)
{
    struct job *job = queue->free_jobs;
    if (!job)
        return job_new(queue);
    queue->free_jobs = job->next;
    return job;
}

static void job_put(struct queue *queue, struct job *job)
{
    job->next = queue->free_jobs;
    queue->free_jobs = job;
}

/* Saturated when every task that may run does, until so many do not. */
static void check_load(struct queue *queue)
{
    size_t limit = (size_t)queue->opts.concurrency, buffer = (size_t)queue->opts.buffer;
    if (!queue->saturated && queue->jobs >= limit) {
        queue->saturated = 1;
        emit(queue, COS_FLOW_SATURATED, NULL, 0);
    } else if (queue->saturated && queue->jobs < limit && queue->jobs + buffer <= limit) {
        queue->saturated = 0;
        emit(queue, COS_FLOW_UNSATURATED, NULL, 0);
    }
}

static void check_empty(struct queue *queue)
{
    if (!queue->busy || queue->running || queue->backlog.count)
        return;
    queue->busy = 0;
    if (!queue->killed)
        emit(queue, COS_FLOW_EMPTY, NULL, 0);
    tell_all(&queue->drains, 0);
}

static void look_now(struct queue *queue);

static void report(struct queue *queue, void *item, int err)
{
    if (err)
        emit(queue, COS_FLOW_ERROR, item, err);
    if (queue->opts.done)
        queue->opts.done(item, err, queue->opts.arg);
}

static void answered(int err, void *token)
{
    struct job *job = token;
    struct queue *queue = job->queue;
    if (!job->busy)
        cos__die("a queue task called its callback twice");
    enter(queue);
    job->busy = 0;
    COS_HOOK(destroy, &job->hook);
    queue->running -= job->count;
    queue->jobs--;
    for (size_t i = 0; i < job->count; i++)
        report(queue, job->items[i], err < 0 ? err : 0);
    job_put(queue, job);
    check_load(queue);
    check_empty(queue);
    if (!queue->looking)
        look_now(queue);
    leave(queue);
}

static void start(struct queue *queue, struct job *job)
{
    struct cps_flow_queue_opts *opts = &queue->opts;
    struct cos__hook *hook = job->hook;
    job->busy = 1;
    queue->jobs++;
    check_load(queue);
    queue->starting = 1;
    COS_HOOK(before, hook, 0);
    if (opts->run_cargo)
        opts->run_cargo(&queue->inside, job->items, job->count, opts->arg, answered, job);
    else
        opts->work(&queue->inside, job->items[0], opts->arg, answered, job);
    COS_HOOK(after, hook, 0);
    queue->starting = 0;
}

/* Of a cargo the first item lends its name to the run. */
static void load(struct queue *queue, struct job *job)
{
    job->hook = NULL;
    for (job->count = 0; job->count < queue->opts.cargo; job->count++) {
        if (!take(queue, &job->items[job->count]))
            break;
        if (job->count == 0)
            job->hook = queue->backlog.popped;
        else
            cos__backlog_dismiss(&queue->backlog);
    }
}

static void look_now(struct queue *queue)
{
    struct job *job;
    queue->looking = 1;
    while (queue->jobs < (size_t)queue->opts.concurrency && (job = job_get(queue))) {
        load(queue, job);
        if (!job->count) {
            job_put(queue, job);
            break;
        }
        start(queue, job);
    }
    queue->looking = 0;
}

static void look(int err, void *arg)
{
    struct queue *queue = arg;
    (void)err;
    queue->look_asked = 0;
    look_now(queue);
    leave(queue); /* entered by ask_look */
}

/* 0 when there will be a look at the backlog. */
static int ask_look(struct queue *queue)
{
    int err;
    if (queue->look_asked || queue->looking)
        return 0;
    err = cps_defer(queue->rt, look, queue);
    if (err)
        return err;
    enter(queue);
    queue->look_asked = 1;
    return 0;
}

/* --- life ------------------------------------------------------------------------- */

static int valid(const struct cps_flow_queue_opts *opts)
{
    return opts->concurrency > 0 && opts->concurrency <= CONCURRENCY_MAX
           && opts->cargo <= CARGO_MAX && opts->capacity <= BACKLOG_MAX
           && opts->overflow <= BACKLOG_MAX && opts->buffer >= -1
           && opts->buffer <= opts->concurrency && (!opts->work != !opts->run_cargo);
}

static void fill_defaults(struct queue *queue, const struct cps_flow_queue_opts *opts)
{
    queue->opts = *opts;
    if (!opts->capacity)
        queue->opts.capacity = CAPACITY;
    if (!opts->overflow)
        queue->opts.overflow = OVERFLOW;
    if (!opts->cargo)
        queue->opts.cargo = 1;
    queue->own_buffer = opts->buffer != 0;
    if (opts->buffer <= 0)
        queue->opts.buffer = opts->buffer ? 0 : opts->concurrency / 4;
}

int cps_flow_queue_new(struct cps_rt *rt, const struct cps_flow_queue_opts *opts,
                       struct cps_flow_queue **out)
{
    struct queue *queue;
    if (!valid(opts))
        return COS_EINVAL;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return COS_ENOMEM;
    queue->outside.real = queue->inside.real = queue;
    queue->rt = rt;
    fill_defaults(queue, opts);
    /* The first job is there from the start: whatever memory is left, the queue
     * goes on, one at a time. */
    queue->free_jobs = job_new(queue);
    if (!queue->free_jobs) {
        free(queue);
        return COS_ENOMEM;
    }
    cos__backlog_init(&queue->backlog, queue->opts.capacity + queue->opts.overflow,
                      opts->by_priority);
    cos__waits_init(&queue->pushes);
    cos__waits_init(&queue->drains);
    *out = &queue->outside;
    return 0;
}

void cps_flow_queue_kill(struct cps_flow_queue *front)
{
    struct queue *queue = front->real;
    void *item;
    enter(queue);
    queue->killed = 1;
    tell_all(&queue->pushes, COS_ECLOSED);
    while (cos__backlog_pop(&queue->backlog, &item)) {
        cos__backlog_dismiss(&queue->backlog);
        if (queue->opts.done)
            queue->opts.done(item, COS_ECANCELED, queue->opts.arg);
    }
    check_empty(queue);
    leave(queue);
}

void cps_flow_queue_free(struct cps_flow_queue *front)
{
    struct queue *queue = front ? front->real : NULL;
    if (!queue)
        return;
    enter(queue);
    cps_flow_queue_kill(front);
    tell_all(&queue->drains, COS_ECLOSED);
    queue->freed = 1;
    leave(queue);
}

/* --- producers -------------------------------------------------------------------- */

int cps_flow_queue_add(struct cps_flow_queue *front, void *item, int priority)
{
    struct queue *queue = front->real;
    int err = queue->killed ? COS_ECLOSED : cos__backlog_room(&queue->backlog);
    /* What runs will look when it answers; but with nothing running it is now. */
    if (!err && (err = ask_look(queue)) != 0 && queue->jobs)
        err = 0;
    if (err)
        return err;
    queue->busy = 1;
    cos__backlog_push(&queue->backlog, item, priority);
    return 0;
}

static void push_start(struct cos_op *op)
{
    struct errand *errand = (struct errand *)op;
    struct queue *queue = errand->queue;
    int err;
    if (!queue->killed && !errand->inside && queue->backlog.count >= queue->opts.capacity) {
        cos__waits_add(errand->line, &errand->wait);
        return;
    }
    err = cps_flow_queue_add(&queue->outside, errand->item, errand->priority);
    errand->in = !err;
    cos__op_complete(op, err);
}

static int errand_cancel(struct cos_op *op)
{
    struct errand *errand = (struct errand *)op;
    cos__waits_remove(errand->line, &errand->wait);
    return 0;
}

static void drain_start(struct cos_op *op)
{
    struct errand *errand = (struct errand *)op;
    if (errand->queue->busy)
        cos__waits_add(errand->line, &errand->wait);
    else
        cos__op_complete(op, 0);
}

static const struct cos__op_type push_type = {.name = "queue push", .hook = COS_HOOK_CPS_REQUEST,
                                              .kind = COS__OP_QUEUE, .size = sizeof(struct errand),
                                              .start = push_start, .cancel = errand_cancel};
static const struct cos__op_type drain_type = {.name = "queue drain", .hook = COS_HOOK_CPS_REQUEST,
                                               .kind = COS__OP_QUEUE,
                                               .size = sizeof(struct errand),
                                               .start = drain_start, .cancel = errand_cancel};

static void deliver(struct cos_op *op)
{
    /* A cancel that came when the item was in already came too late. */
    int in = op->type == &push_type && ((struct errand *)op)->in;
    ((cps_cb *)op->cb)(in ? 0 : op->err, op->arg);
}

int64_t cps_flow_queue_push_priority(struct cps_flow_queue *front, void *item, int priority,
                                     int64_t deadline, cps_cb *cb, void *arg)
{
    struct queue *queue = front->real;
    struct errand *errand = (struct errand *)cos__op_new(&push_type);
    if (errand) {
        errand->queue = queue;
        errand->line = &queue->pushes;
        errand->item = item;
        errand->priority = priority;
        errand->inside = front == &queue->inside || queue->starting;
    }
    return cps__begin(queue->rt, errand ? &errand->wait.op : NULL, deadline, deliver,
                      (cps__fn *)cb, arg);
}

int64_t cps_flow_queue_push(struct cps_flow_queue *front, void *item, int64_t deadline, cps_cb *cb,
                            void *arg)
{
    return cps_flow_queue_push_priority(front, item, 0, deadline, cb, arg);
}

int64_t cps_flow_queue_drain(struct cps_flow_queue *front, int64_t deadline, cps_cb *cb, void *arg)
{
    struct errand *errand = (struct errand *)cos__op_new(&drain_type);
    if (errand) {
        errand->queue = front->real;
        errand->line = &front->real->drains;
    }
    return cps__begin(front->real->rt, errand ? &errand->wait.op : NULL, deadline, deliver,
                      (cps__fn *)cb, arg);
}

/* --- control ---------------------------------------------------------------------- */

void cps_flow_queue_pause(struct cps_flow_queue *front)
{
    front->real->paused = 1;
}

int cps_flow_queue_resume(struct cps_flow_queue *front)
{
    front->real->paused = 0;
    return ask_look(front->real);
}

int cps_flow_queue_concurrency(struct cps_flow_queue *front, int concurrency)
{
    struct queue *queue = front->real;
    if (concurrency <= 0 || concurrency > CONCURRENCY_MAX)
        return COS_EINVAL;
    queue->opts.concurrency = concurrency;
    if (!queue->own_buffer || queue->opts.buffer > concurrency)
        queue->opts.buffer = concurrency / 4;
    enter(queue);
    check_load(queue);
    (void)ask_look(queue); /* without memory the next answer looks */
    leave(queue);
    return 0;
}

size_t cps_flow_queue_waiting(const struct cps_flow_queue *front)
{
    return front->real->backlog.count + front->real->pushes.count;
}

size_t cps_flow_queue_running(const struct cps_flow_queue *front)
{
    return front->real->running;
}
