/* queue.c - the task queue of the coroutine face (queue.h). May call backlog,
 * base and libdill.
 *
 * Three channels and no lock. `work`: idle workers receive on it, so handing an
 * item over is a send that never blocks. `entry`: producers that found the
 * backlog full send on it, and whoever makes room receives one of them, with
 * deadline 0. `quiet`: those who drain receive on it. Workers are spawned with
 * the queue and not by push: a push that spawned would suspend, and ten pushes
 * in a row could then be ten busy periods instead of one.
 *
 * running counts from the hand-over, not from the worker's first step; so an
 * item under way between two coroutines still counts as work. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/queue.h"

#include "base/err.h"
#include "flow/backlog.h"
#include "flow/flow.h"

#include <errno.h>
#include <libdill.h>
#include <stdlib.h>

enum { CAPACITY = 1024, OVERFLOW = 1 << 20, CARGO_MAX = 1024 };
/* Frames this close below a worker's own are on its stack: stacks are at least
 * 64 KB, and a worker's own frame stands near the top. */
enum { STACK_REACH = 56 * 1024 };

/* What passes through a channel. */
struct parcel {
    void *item;
    int64_t priority;
};

struct worker {
    struct worker *next;
    const char *frame;
};

struct cos_flow_queue {
    struct cos_flow_queue_opts opts;
    struct cos__backlog backlog;
    int bundle;
    int work[2], entry[2], quiet[2];
    struct worker *workers;
    int nworkers;      /* coroutines alive */
    size_t idle;       /* of them: standing at `work` */
    size_t running;    /* items handed out and not done */
    size_t parked;     /* producers standing at `entry` */
    size_t drainers;   /* coroutines standing at `quiet` */
    uint8_t busy, paused, killed, saturated;
};

static void emit(struct cos_flow_queue *queue, enum cos_flow_event event, void *item, int err)
{
    if (queue->opts.event)
        queue->opts.event(event, item, err, queue->opts.arg);
}

/* --- handing out ------------------------------------------------------------- */

static void admit_parked(struct cos_flow_queue *queue)
{
    struct parcel parcel;
    while (queue->parked && queue->backlog.count < queue->opts.capacity) {
        if (dill_chrecv(queue->entry[1], &parcel, sizeof parcel, 0) < 0)
            return;
        queue->parked--;
        cos__backlog_push(&queue->backlog, parcel.item, parcel.priority);
    }
}

static int take(struct cos_flow_queue *queue, void **item)
{
    if (queue->paused || !cos__backlog_pop(&queue->backlog, item))
        return 0;
    queue->running++;
    if (queue->parked)
        admit_parked(queue);
    if (!queue->backlog.count)
        emit(queue, COS_FLOW_LAST_OUT, *item, 0);
    return 1;
}

static void check_saturated(struct cos_flow_queue *queue)
{
    if (!queue->saturated && queue->running >= (size_t)queue->opts.concurrency) {
        queue->saturated = 1;
        emit(queue, COS_FLOW_SATURATED, NULL, 0);
    }
}

/* An idle worker stands at the channel, so this never blocks. */
static int hand_over(struct cos_flow_queue *queue, void *item)
{
    struct parcel parcel = {item, 0};
    if (dill_chsend(queue->work[1], &parcel, sizeof parcel, 0) < 0)
        return 0;
    queue->idle--;
    return 1;
}

static void wake_drainers(struct cos_flow_queue *queue)
{
    for (; queue->drainers; queue->drainers--)
        if (dill_chsend(queue->quiet[1], NULL, 0, 0) < 0)
            break;
}

static void finish(struct cos_flow_queue *queue, void **items, size_t count, int err)
{
    queue->running -= count;
    for (size_t i = 0; i < count; i++) {
        if (err)
            emit(queue, COS_FLOW_ERROR, items[i], err);
        if (queue->opts.done)
            queue->opts.done(items[i], err, queue->opts.arg);
    }
    if (queue->saturated
        && queue->running <= (size_t)(queue->opts.concurrency - queue->opts.buffer)) {
        queue->saturated = 0;
        emit(queue, COS_FLOW_UNSATURATED, NULL, 0);
    }
    if (queue->busy && !queue->running && !queue->backlog.count) {
        queue->busy = 0;
        emit(queue, COS_FLOW_EMPTY, NULL, 0);
        wake_drainers(queue);
    }
}

/* --- workers ----------------------------------------------------------------- */

static void run_items(struct cos_flow_queue *queue, void *first)
{
    void *items[queue->opts.cargo];
    size_t count = 1;
    int err;
    items[0] = first;
    while (count < queue->opts.cargo && take(queue, &items[count]))
        count++;
    check_saturated(queue);
    err = queue->opts.run_cargo ? queue->opts.run_cargo(queue, items, count, queue->opts.arg)
                                : queue->opts.work(queue, first, queue->opts.arg);
    finish(queue, items, count, err);
}

/* The next item: from the backlog, else from the channel. 0 when the worker
 * shall end: it is one too many, or the queue is being freed. */
static int next_item(struct cos_flow_queue *queue, void **item)
{
    struct parcel parcel;
    if (queue->nworkers > queue->opts.concurrency)
        return 0;
    if (take(queue, item))
        return 1;
    queue->idle++;
    if (dill_chrecv(queue->work[0], &parcel, sizeof parcel, -1) < 0) {
        queue->idle--;
        return 0;
    }
    *item = parcel.item;
    return parcel.item != (void *)queue; /* the queue itself: a surplus worker's farewell */
}

static dill_coroutine void worker(struct cos_flow_queue *queue)
{
    struct worker self = {.next = queue->workers, .frame = __builtin_frame_address(0)};
    struct worker **at;
    void *item;
    queue->workers = &self;
    while (next_item(queue, &item))
        run_items(queue, item);
    for (at = &queue->workers; *at != &self; at = &(*at)->next)
        ;
    *at = self.next;
    queue->nworkers--;
}

static int on_worker_stack(const struct cos_flow_queue *queue)
{
    const char *here = __builtin_frame_address(0);
    for (const struct worker *w = queue->workers; w; w = w->next)
        if (here < w->frame && w->frame - here < STACK_REACH)
            return 1;
    return 0;
}

static int hire(struct cos_flow_queue *queue)
{
    while (queue->nworkers < queue->opts.concurrency) {
        queue->nworkers++;
        if (dill_bundle_go(queue->bundle, worker(queue)) < 0) {
            queue->nworkers--;
            return cos_err_from_errno(errno);
        }
    }
    return 0;
}

/* --- life --------------------------------------------------------------------- */

static int valid(const struct cos_flow_queue_opts *opts)
{
    return opts->concurrency > 0 && opts->concurrency <= COS_FLOW_MAX && opts->cargo <= CARGO_MAX
           && (!opts->work != !opts->run_cargo);
}

static void fill_defaults(struct cos_flow_queue_opts *opts)
{
    if (!opts->capacity)
        opts->capacity = CAPACITY;
    if (!opts->overflow)
        opts->overflow = OVERFLOW;
    if (!opts->cargo)
        opts->cargo = 1;
    if (!opts->buffer)
        opts->buffer = opts->concurrency / 4;
}

static void close_channels(struct cos_flow_queue *queue)
{
    int *pairs[] = {queue->work, queue->entry, queue->quiet};
    for (size_t i = 0; i < 3; i++)
        for (int end = 0; end < 2; end++)
            if (pairs[i][end] >= 0)
                dill_hclose(pairs[i][end]);
}

int cos_flow_queue_new(const struct cos_flow_queue_opts *opts, struct cos_flow_queue **out)
{
    struct cos_flow_queue *queue;
    int err;
    if (!valid(opts))
        return COS_EINVAL;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return COS_ENOMEM;
    queue->opts = *opts;
    fill_defaults(&queue->opts);
    cos__backlog_init(&queue->backlog, queue->opts.capacity + queue->opts.overflow,
                      opts->by_priority);
    queue->bundle = -1;
    for (int end = 0; end < 2; end++)
        queue->work[end] = queue->entry[end] = queue->quiet[end] = -1;
    if (dill_chmake(queue->work) < 0 || dill_chmake(queue->entry) < 0
        || dill_chmake(queue->quiet) < 0 || (queue->bundle = dill_bundle()) < 0)
        err = cos_err_from_errno(errno);
    else
        err = hire(queue);
    if (err)
        cos_flow_queue_free(queue);
    else
        *out = queue;
    return err;
}

void cos_flow_queue_free(struct cos_flow_queue *queue)
{
    if (!queue)
        return;
    cos_flow_queue_kill(queue);
    if (queue->bundle >= 0)
        dill_hclose(queue->bundle);
    close_channels(queue);
    cos__backlog_release(&queue->backlog);
    free(queue);
}

/* --- producers ----------------------------------------------------------------- */

/* Full: from outside, wait for room; from inside, the overflow takes it. */
static int push_when_full(struct cos_flow_queue *queue, void *item, int priority, int64_t deadline)
{
    struct parcel parcel = {item, priority};
    int rc;
    if (on_worker_stack(queue))
        return cos__backlog_push(&queue->backlog, item, priority);
    queue->parked++;
    rc = dill_chsend(queue->entry[0], &parcel, sizeof parcel, deadline);
    if (rc == 0)
        return queue->killed ? COS_ECLOSED : 0;
    /* Whoever received it has counted us out already; nobody did. */
    queue->parked--;
    return errno == EPIPE ? COS_ECLOSED : cos_err_from_errno(errno);
}

int cos_flow_queue_push_priority(struct cos_flow_queue *queue, void *item, int priority,
                                 int64_t deadline)
{
    int err;
    if (queue->killed)
        return COS_ECLOSED;
    if (!queue->paused && queue->idle && !queue->backlog.count && hand_over(queue, item)) {
        queue->busy = 1;
        queue->running++;
        emit(queue, COS_FLOW_LAST_OUT, item, 0);
        check_saturated(queue);
        return 0;
    }
    if (queue->backlog.count >= queue->opts.capacity)
        return push_when_full(queue, item, priority, deadline);
    err = cos__backlog_push(&queue->backlog, item, priority);
    if (!err)
        queue->busy = 1;
    return err;
}

int cos_flow_queue_push(struct cos_flow_queue *queue, void *item, int64_t deadline)
{
    return cos_flow_queue_push_priority(queue, item, 0, deadline);
}

int cos_flow_queue_drain(struct cos_flow_queue *queue, int64_t deadline)
{
    if (!queue->busy)
        return 0;
    queue->drainers++;
    if (dill_chrecv(queue->quiet[0], NULL, 0, deadline) == 0)
        return 0;
    queue->drainers--;
    return cos_err_from_errno(errno);
}

/* --- control -------------------------------------------------------------------- */

void cos_flow_queue_pause(struct cos_flow_queue *queue)
{
    queue->paused = 1;
}

void cos_flow_queue_resume(struct cos_flow_queue *queue)
{
    void *item;
    queue->paused = 0;
    while (queue->idle && take(queue, &item))
        hand_over(queue, item);
    check_saturated(queue);
}

void cos_flow_queue_kill(struct cos_flow_queue *queue)
{
    void *item;
    queue->killed = 1;
    /* Producers that stand waiting learn that there will be no room. */
    if (queue->parked)
        dill_chdone(queue->entry[0]);
    while (cos__backlog_pop(&queue->backlog, &item))
        if (queue->opts.done)
            queue->opts.done(item, COS_ECANCELED, queue->opts.arg);
    if (queue->busy && !queue->running) {
        queue->busy = 0;
        wake_drainers(queue);
    }
}

int cos_flow_queue_concurrency(struct cos_flow_queue *queue, int concurrency)
{
    if (concurrency <= 0 || concurrency > COS_FLOW_MAX)
        return COS_EINVAL;
    queue->opts.concurrency = concurrency;
    if (queue->opts.buffer > concurrency)
        queue->opts.buffer = concurrency / 4;
    /* Idle workers beyond the number go now; busy ones when they look for work. */
    for (int surplus = queue->nworkers - concurrency; surplus > 0 && queue->idle; surplus--)
        if (!hand_over(queue, queue))
            break;
    return hire(queue);
}

size_t cos_flow_queue_waiting(const struct cos_flow_queue *queue)
{
    return queue->backlog.count + queue->parked;
}

size_t cos_flow_queue_running(const struct cos_flow_queue *queue)
{
    return queue->running;
}
