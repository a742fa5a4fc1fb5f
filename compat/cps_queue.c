/* cps_queue.c - the task queue of the callback face (cps_flow.h); the twin of
 * flow/queue.c over the same backlog.
 *
 * push never runs a task inside the call: it asks for one deferred look at the
 * backlog, and that look starts as many tasks as the limit allows. A task may
 * answer inside its start; the look then simply goes on with the next one. */
#include "cps.h"
#include "cps_flow.h"

#include "base/die.h"
#include "flow/backlog.h"

#include <stdlib.h>

enum { CAPACITY = 1024, OVERFLOW = 1 << 20, CARGO_MAX = 1024, CONCURRENCY_MAX = 1 << 20 };

/* A running task; its address is the token it answers with. */
struct job {
    struct job *next; /* free list */
    struct cps_flow_queue *queue;
    size_t count;
    uint8_t busy;
    void *items[];
};

/* A push that waits for room, or someone who drains. */
struct wait {
    struct cos_op op;
    struct wait *next;
    struct cps_flow_queue *queue;
    void *item;
    int priority;
    uint8_t listed, draining;
};

struct list {
    struct wait *first, **last;
};

struct cps_flow_queue {
    struct cps_rt *rt;
    struct cps_flow_queue_opts opts;
    struct cos__backlog backlog;
    struct list pushes, drains;
    struct job *free_jobs;
    size_t running; /* items */
    size_t jobs;    /* tasks: with cargo one task carries several items */
    size_t parked;
    uint8_t busy, paused, killed, saturated, look_asked, looking, inside, freed;
};

static void emit(struct cps_flow_queue *queue, enum cos_flow_event event, void *item, int err)
{
    if (queue->opts.event)
        queue->opts.event(event, item, err, queue->opts.arg);
}

/* --- waiting operations -------------------------------------------------------------------- */

static void list_add(struct list *list, struct wait *wait)
{
    wait->listed = 1;
    wait->next = NULL;
    *list->last = wait;
    list->last = &wait->next;
}

static struct wait *list_take(struct list *list)
{
    struct wait *wait = list->first;
    if (!wait)
        return NULL;
    list->first = wait->next;
    if (!list->first)
        list->last = &list->first;
    wait->listed = 0;
    return wait;
}

static void list_remove(struct list *list, struct wait *wait)
{
    struct wait **at = &list->first;
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    if (!wait->next)
        list->last = at;
    wait->listed = 0;
}

static void ask_look(struct cps_flow_queue *queue);

static void admit_parked(struct cps_flow_queue *queue)
{
    struct wait *wait;
    while (queue->parked && queue->backlog.count < queue->opts.capacity) {
        wait = list_take(&queue->pushes);
        queue->parked--;
        cos__op_complete(&wait->op,
                         cos__backlog_push(&queue->backlog, wait->item, wait->priority));
    }
}

static void tell_drained(struct cps_flow_queue *queue)
{
    struct wait *wait;
    while ((wait = list_take(&queue->drains)))
        cos__op_complete(&wait->op, 0);
}

/* --- tasks ------------------------------------------------------------------------------------ */

static int take(struct cps_flow_queue *queue, void **item)
{
    if (queue->paused || !cos__backlog_pop(&queue->backlog, item))
        return 0;
    queue->running++;
    admit_parked(queue);
    if (!queue->backlog.count)
        emit(queue, COS_FLOW_LAST_OUT, *item, 0);
    return 1;
}

static struct job *job_get(struct cps_flow_queue *queue)
{
    struct job *job = queue->free_jobs;
    if (job) {
        queue->free_jobs = job->next;
        return job;
    }
    job = malloc(sizeof *job + queue->opts.cargo * sizeof job->items[0]);
    if (job)
        *job = (struct job){.queue = queue};
    return job;
}

static void destroy(struct cps_flow_queue *queue)
{
    while (queue->free_jobs) {
        struct job *job = queue->free_jobs;
        queue->free_jobs = job->next;
        free(job);
    }
    cos__backlog_release(&queue->backlog);
    free(queue);
}

static void check_saturated(struct cps_flow_queue *queue)
{
    if (!queue->saturated && queue->running >= (size_t)queue->opts.concurrency) {
        queue->saturated = 1;
        emit(queue, COS_FLOW_SATURATED, NULL, 0);
    }
}

static void check_quiet(struct cps_flow_queue *queue)
{
    if (queue->saturated
        && queue->running <= (size_t)(queue->opts.concurrency - queue->opts.buffer)) {
        queue->saturated = 0;
        emit(queue, COS_FLOW_UNSATURATED, NULL, 0);
    }
    if (queue->busy && !queue->running && !queue->backlog.count) {
        queue->busy = 0;
        emit(queue, COS_FLOW_EMPTY, NULL, 0);
        tell_drained(queue);
    }
}

static void answered(int err, void *token)
{
    struct job *job = token;
    struct cps_flow_queue *queue = job->queue;
    if (!job->busy)
        cos__die("a queue task called its callback twice");
    job->busy = 0;
    queue->running -= job->count;
    queue->jobs--;
    for (size_t i = 0; i < job->count; i++) {
        if (err)
            emit(queue, COS_FLOW_ERROR, job->items[i], err);
        if (queue->opts.done)
            queue->opts.done(job->items[i], err, queue->opts.arg);
    }
    job->next = queue->free_jobs;
    queue->free_jobs = job;
    check_quiet(queue);
    if (queue->freed && !queue->running && !queue->looking && !queue->look_asked)
        destroy(queue);
    else if (!queue->looking && queue->backlog.count)
        ask_look(queue);
}

static void start(struct cps_flow_queue *queue, struct job *job)
{
    job->busy = 1;
    queue->jobs++;
    check_saturated(queue);
    queue->inside = 1;
    if (queue->opts.run_cargo)
        queue->opts.run_cargo(queue, job->items, job->count, queue->opts.arg, answered, job);
    else
        queue->opts.work(queue, job->items[0], queue->opts.arg, answered, job);
    queue->inside = 0;
}

static void look(int err, void *arg)
{
    struct cps_flow_queue *queue = arg;
    struct job *job;
    (void)err;
    queue->look_asked = 0;
    queue->looking = 1;
    while (queue->jobs < (size_t)queue->opts.concurrency && (job = job_get(queue))) {
        job->count = 0;
        while (job->count < queue->opts.cargo && take(queue, &job->items[job->count]))
            job->count++;
        if (!job->count) {
            job->next = queue->free_jobs;
            queue->free_jobs = job;
            break;
        }
        start(queue, job);
    }
    queue->looking = 0;
    if (queue->freed && !queue->running)
        destroy(queue);
}

static void ask_look(struct cps_flow_queue *queue)
{
    if (!queue->look_asked && !queue->looking && cps_defer(queue->rt, look, queue) == 0)
        queue->look_asked = 1;
}

/* --- life --------------------------------------------------------------------------------------- */

static int valid(const struct cps_flow_queue_opts *opts)
{
    return opts->concurrency > 0 && opts->concurrency <= CONCURRENCY_MAX
           && opts->cargo <= CARGO_MAX && (!opts->work != !opts->run_cargo);
}

int cps_flow_queue_new(struct cps_rt *rt, const struct cps_flow_queue_opts *opts,
                       struct cps_flow_queue **out)
{
    struct cps_flow_queue *queue;
    if (!valid(opts))
        return COS_EINVAL;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return COS_ENOMEM;
    queue->rt = rt;
    queue->opts = *opts;
    if (!opts->capacity)
        queue->opts.capacity = CAPACITY;
    if (!opts->overflow)
        queue->opts.overflow = OVERFLOW;
    if (!opts->cargo)
        queue->opts.cargo = 1;
    if (!opts->buffer)
        queue->opts.buffer = opts->concurrency / 4;
    cos__backlog_init(&queue->backlog, queue->opts.capacity + queue->opts.overflow,
                      opts->by_priority);
    queue->pushes.last = &queue->pushes.first;
    queue->drains.last = &queue->drains.first;
    *out = queue;
    return 0;
}

void cps_flow_queue_kill(struct cps_flow_queue *queue)
{
    struct wait *wait;
    void *item;
    queue->killed = 1;
    while ((wait = list_take(&queue->pushes))) {
        queue->parked--;
        cos__op_complete(&wait->op, COS_ECLOSED);
    }
    while (cos__backlog_pop(&queue->backlog, &item))
        if (queue->opts.done)
            queue->opts.done(item, COS_ECANCELED, queue->opts.arg);
    if (queue->busy && !queue->running) {
        queue->busy = 0;
        tell_drained(queue);
    }
}

void cps_flow_queue_free(struct cps_flow_queue *queue)
{
    struct wait *wait;
    if (!queue)
        return;
    cps_flow_queue_kill(queue);
    while ((wait = list_take(&queue->drains)))
        cos__op_complete(&wait->op, COS_ECLOSED);
    queue->freed = 1;
    if (!queue->running && !queue->look_asked && !queue->looking)
        destroy(queue);
}

/* --- producers ------------------------------------------------------------------------------------ */

int cps_flow_queue_add(struct cps_flow_queue *queue, void *item, int priority)
{
    int err = queue->killed ? COS_ECLOSED : cos__backlog_push(&queue->backlog, item, priority);
    if (err)
        return err;
    queue->busy = 1;
    ask_look(queue);
    return 0;
}

static void push_start(struct cos_op *op)
{
    struct wait *wait = (struct wait *)op;
    struct cps_flow_queue *queue = wait->queue;
    if (!queue->killed && !queue->inside && queue->backlog.count >= queue->opts.capacity) {
        list_add(&queue->pushes, wait);
        queue->parked++;
    } else {
        cos__op_complete(op, cps_flow_queue_add(queue, wait->item, wait->priority));
    }
}

static int wait_cancel(struct cos_op *op)
{
    struct wait *wait = (struct wait *)op;
    if (!wait->listed)
        return 0;
    list_remove(wait->draining ? &wait->queue->drains : &wait->queue->pushes, wait);
    if (!wait->draining)
        wait->queue->parked--;
    return 0;
}

static void drain_start(struct cos_op *op)
{
    struct wait *wait = (struct wait *)op;
    if (wait->queue->busy)
        list_add(&wait->queue->drains, wait);
    else
        cos__op_complete(op, 0);
}

static const struct cos__op_type push_type = {.name = "queue push", .kind = COS__OP_QUEUE,
                                              .size = sizeof(struct wait), .start = push_start,
                                              .cancel = wait_cancel};
static const struct cos__op_type drain_type = {.name = "queue drain", .kind = COS__OP_QUEUE,
                                               .size = sizeof(struct wait), .start = drain_start,
                                               .cancel = wait_cancel};

static void deliver(struct cos_op *op)
{
    ((cps_cb *)op->cb)(op->err, op->arg);
}

int64_t cps_flow_queue_push_priority(struct cps_flow_queue *queue, void *item, int priority,
                                     int64_t deadline, cps_cb *cb, void *arg)
{
    struct wait *wait = (struct wait *)cos__op_new(&push_type);
    if (wait) {
        wait->queue = queue;
        wait->item = item;
        wait->priority = priority;
    }
    return cps__begin(queue->rt, wait ? &wait->op : NULL, deadline, deliver, (cps__fn *)cb, arg);
}

int64_t cps_flow_queue_push(struct cps_flow_queue *queue, void *item, int64_t deadline, cps_cb *cb,
                            void *arg)
{
    return cps_flow_queue_push_priority(queue, item, 0, deadline, cb, arg);
}

int64_t cps_flow_queue_drain(struct cps_flow_queue *queue, int64_t deadline, cps_cb *cb, void *arg)
{
    struct wait *wait = (struct wait *)cos__op_new(&drain_type);
    if (wait) {
        wait->queue = queue;
        wait->draining = 1;
    }
    return cps__begin(queue->rt, wait ? &wait->op : NULL, deadline, deliver, (cps__fn *)cb, arg);
}

/* --- control ---------------------------------------------------------------------------------------- */

void cps_flow_queue_pause(struct cps_flow_queue *queue)
{
    queue->paused = 1;
}

void cps_flow_queue_resume(struct cps_flow_queue *queue)
{
    queue->paused = 0;
    ask_look(queue);
}

int cps_flow_queue_concurrency(struct cps_flow_queue *queue, int concurrency)
{
    if (concurrency <= 0 || concurrency > CONCURRENCY_MAX)
        return COS_EINVAL;
    queue->opts.concurrency = concurrency;
    if (queue->opts.buffer > concurrency)
        queue->opts.buffer = concurrency / 4;
    ask_look(queue);
    return 0;
}

size_t cps_flow_queue_waiting(const struct cps_flow_queue *queue)
{
    return queue->backlog.count + queue->parked;
}

size_t cps_flow_queue_running(const struct cps_flow_queue *queue)
{
    return queue->running;
}
