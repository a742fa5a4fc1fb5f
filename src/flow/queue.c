/* queue.c - the task queue of the coroutine face (queue.h). May call backlog,
 * base and libdill.
 *
 * Three channels and no lock. `work`: idle workers receive on it, so waking one
 * is a send that never blocks. The item itself waits in the backlog: an item
 * handed to a worker that is not running yet would be overtaken by the next one,
 * which a worker that is running takes at once. `entry`: producers that found the
 * backlog full send on it, and whoever makes room receives one of them, with
 * deadline 0. `quiet`: those who drain receive on it. Workers are spawned with
 * the queue and not by push: a push that spawned would suspend, and ten pushes
 * in a row could then be ten busy periods instead of one.
 *
 * What the user holds is one of two fronts of the queue: the outside, from
 * cos_flow_queue_new(), or the inside, which work() is given. Rejected: telling
 * them apart by the stack alone. A task may push from a coroutine of its own. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/queue.h"

#include "base/die.h"
#include "base/emit.h"
#include "base/err.h"
#include "base/loop.h"
#include "flow/backlog.h"
#include "flow/flow.h"

#include <errno.h>
#include <libdill.h>
#include <stdlib.h>

enum { CAPACITY = 1024, OVERFLOW = 1 << 20, BACKLOG_MAX = 1 << 28, CARGO_MAX = 1024 };
/* Frames this close below a worker's own are on its stack: stacks are at least
 * 64 KB, and a worker's own frame stands near the top. */
enum { STACK_REACH = 56 * 1024 };

/* What a producer that waits for room sends. */
struct parcel {
    void *item;
    int64_t priority;
    struct cos__hook *hook;
};

struct worker {
    struct worker *next;
    const char *frame;
};

struct cos_flow_queue {
    struct queue *real;
};

struct queue {
    struct cos_flow_queue outside, inside;
    struct cos_flow_queue_opts opts;
    struct cos__backlog backlog;
    int bundle;
    int work[2], entry[2], quiet[2];
    struct worker *workers;
    int nworkers;      /* coroutines alive */
    size_t idle;       /* of them: standing at `work` */
    size_t jobs;       /* of them: with something to do */
    size_t running;    /* items handed out and not done */
    size_t parked;     /* producers standing at `entry` */
    size_t drainers;   /* coroutines standing at `quiet` */
    uint8_t busy, paused, killed, saturated, own_buffer;
};

static void emit(const struct queue *queue, enum cos_flow_event event, void *item, int err)
{
    if (queue->opts.event)
        queue->opts.event(event, item, err, queue->opts.arg);
}

/* --- handing out ------------------------------------------------------------------ */

static void admit_parked(struct queue *queue)
{
    struct parcel parcel;
    while (queue->parked && queue->backlog.count < queue->opts.capacity) {
        /* Room first: what is received must not get lost. */
        if (cos__backlog_room(&queue->backlog) < 0
            || dill_chrecv(queue->entry[1], &parcel, sizeof parcel, 0) < 0)
            return;
        queue->parked--;
        cos__backlog_push_as(&queue->backlog, parcel.item, parcel.priority, parcel.hook);
    }
}

static int take(struct queue *queue, void **item, struct cos__hook **hook)
{
    if (queue->paused || !cos__backlog_pop(&queue->backlog, item))
        return 0;
    *hook = queue->backlog.popped;
    queue->running++;
    if (queue->parked)
        admit_parked(queue);
    if (!queue->backlog.count)
        emit(queue, COS_FLOW_LAST_OUT, *item, 0);
    return 1;
}

/* Saturated when every worker is busy, until so many are not. */
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

/* An idle worker stands at the channel, so this never blocks. It fails only in a
 * coroutine that is being closed. */
static int wake_one(struct queue *queue)
{
    char nothing = 0;
    if (dill_chsend(queue->work[1], &nothing, sizeof nothing, 0) < 0)
        return COS_ECANCELED;
    queue->idle--;
    return 0;
}

static void wake_idle(struct queue *queue)
{
    size_t wanted = queue->paused ? 0 : queue->backlog.count;
    while (wanted-- && queue->idle && !wake_one(queue))
        ;
}

static void wake_drainers(struct queue *queue)
{
    for (; queue->drainers; queue->drainers--)
        if (dill_chsend(queue->quiet[1], NULL, 0, 0) < 0)
            break;
}

static void check_empty(struct queue *queue)
{
    if (!queue->busy || queue->running || queue->backlog.count)
        return;
    queue->busy = 0;
    if (!queue->killed)
        emit(queue, COS_FLOW_EMPTY, NULL, 0);
    wake_drainers(queue);
    /* Killed by a coroutine that is being closed and may not send. */
    if (queue->killed && queue->drainers)
        dill_chdone(queue->quiet[1]);
}

static void finish(struct queue *queue, void **items, size_t count, int err)
{
    err = err < 0 ? err : 0;
    queue->running -= count;
    queue->jobs--;
    for (size_t i = 0; i < count; i++) {
        if (err)
            emit(queue, COS_FLOW_ERROR, items[i], err);
        if (queue->opts.done)
            queue->opts.done(items[i], err, queue->opts.arg);
    }
    check_load(queue);
    check_empty(queue);
}

/* --- workers ---------------------------------------------------------------------- */

/* Of a cargo the first item lends its name to the run. */
static size_t load_cargo(struct queue *queue, void **items)
{
    struct cos__hook *hook;
    size_t count = 1;
    while (count < queue->opts.cargo && take(queue, &items[count], &hook)) {
        COS_HOOK(destroy, &hook);
        count++;
    }
    return count;
}

static __attribute__((noinline)) void run_many(struct queue *queue, void *first)
{
    struct cos_flow_queue_opts *opts = &queue->opts;
    void *items[opts->cargo];
    size_t count;
    int err;
    items[0] = first;
    count = load_cargo(queue, items);
    err = opts->run_cargo ? opts->run_cargo(&queue->inside, items, count, opts->arg)
                          : opts->work(&queue->inside, first, opts->arg);
    finish(queue, items, count, err);
}

static void run_items(struct queue *queue, void *first)
{
    struct cos_flow_queue_opts *opts = &queue->opts;
    if (opts->cargo == 1 && opts->work)
        finish(queue, &first, 1, opts->work(&queue->inside, first, opts->arg));
    else
        run_many(queue, first);
}

/* The task runs under its own name and not the worker's: what it starts was
 * caused by whoever pushed it. */
static __attribute__((noinline)) void run_seen(struct queue *queue, void *first, struct cos_hook_wait *self,
                     struct cos__hook *hook)
{
    struct cos__hook *worker = self->on ? self->op : NULL;
    COS_HOOK(after, worker, 0);
    cos__hook_before(hook, 1);
    run_items(queue, first);
    cos__hook_after(hook, 0);
    cos__hook_destroy(&hook);
    COS_HOOK(before, worker, 1);
}

/* The next item, once there is one. 0 when the worker shall end: it is one too
 * many, or the queue is being freed. */
static int next_item(struct queue *queue, void **item, struct cos__hook **hook)
{
    char nothing;
    while (queue->nworkers <= queue->opts.concurrency) {
        if (take(queue, item, hook)) {
            queue->jobs++;
            check_load(queue);
            return 1;
        }
        queue->idle++;
        if (COS_WAIT(dill_chrecv(queue->work[0], &nothing, sizeof nothing, -1)) < 0) {
            queue->idle--;
            return 0;
        }
    }
    return 0;
}

static dill_coroutine void worker(struct queue *queue)
{
    struct worker self = {.next = queue->workers, .frame = __builtin_frame_address(0)};
    struct worker **at;
    struct cos_hook_wait seen;
    struct cos__hook *hook;
    void *item;
    COS_HOOK(co_begin, &seen);
    /* The list is of workers that live; this one leaves it before it returns. */
    queue->workers = &self; // cppcheck-suppress autoVariables
    while (next_item(queue, &item, &hook))
        if (COS__HOOK_LIVE(hook))
            run_seen(queue, item, &seen, hook);
        else
            run_items(queue, item);
    for (at = &queue->workers; *at != &self; at = &(*at)->next)
        ;
    *at = self.next;
    queue->nworkers--;
    COS_HOOK(co_end, &seen);
}

/* The second net, for a task that pushes through the outside. */
static int on_worker_stack(const struct queue *queue)
{
    const char *here = __builtin_frame_address(0);
    for (const struct worker *w = queue->workers; w; w = w->next)
        if (here < w->frame && w->frame - here < STACK_REACH)
            return 1;
    return 0;
}

static int is_inside(const struct cos_flow_queue *front)
{
    return front == &front->real->inside || on_worker_stack(front->real);
}

static int hire(struct queue *queue)
{
    struct cos_hook_wait wait;
    int rc;
    while (queue->nworkers < queue->opts.concurrency) {
        queue->nworkers++;
        COS_HOOK(pause, &wait);
        rc = dill_bundle_go(queue->bundle, worker(queue));
        COS_HOOK(resume, &wait);
        if (rc < 0) {
            queue->nworkers--;
            return cos_err_from_errno(errno);
        }
    }
    return 0;
}

/* --- life ------------------------------------------------------------------------- */

static int valid(const struct cos_flow_queue_opts *opts)
{
    return opts->concurrency > 0 && opts->concurrency <= COS_FLOW_MAX && opts->cargo <= CARGO_MAX
           && opts->capacity <= BACKLOG_MAX && opts->overflow <= BACKLOG_MAX && opts->buffer >= -1
           && opts->buffer <= opts->concurrency && (!opts->work != !opts->run_cargo);
}

static void fill_defaults(struct queue *queue, const struct cos_flow_queue_opts *opts)
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

static int open_channels(struct queue *queue)
{
    queue->bundle = -1;
    for (int end = 0; end < 2; end++)
        queue->work[end] = queue->entry[end] = queue->quiet[end] = -1;
    if (dill_chmake(queue->work) < 0 || dill_chmake(queue->entry) < 0
        || dill_chmake(queue->quiet) < 0 || (queue->bundle = dill_bundle()) < 0)
        return cos_err_from_errno(errno);
    return 0;
}

static void close_channels(struct queue *queue)
{
    int *pairs[] = {queue->work, queue->entry, queue->quiet};
    for (size_t i = 0; i < 3; i++)
        for (int end = 0; end < 2; end++)
            if (pairs[i][end] >= 0)
                dill_hclose(pairs[i][end]);
}

int cos_flow_queue_new(const struct cos_flow_queue_opts *opts, struct cos_flow_queue **out)
{
    struct queue *queue;
    int err;
    if (!valid(opts))
        return COS_EINVAL;
    if (cos__in_callback())
        return COS_ECONTEXT;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return COS_ENOMEM;
    queue->outside.real = queue->inside.real = queue;
    fill_defaults(queue, opts);
    cos__backlog_init(&queue->backlog, queue->opts.capacity + queue->opts.overflow,
                      opts->by_priority);
    err = open_channels(queue);
    if (!err)
        err = hire(queue);
    if (err)
        cos_flow_queue_free(&queue->outside);
    else
        *out = &queue->outside;
    return err;
}

void cos_flow_queue_free(struct cos_flow_queue *front)
{
    struct queue *queue = front ? front->real : NULL;
    if (!queue)
        return;
    cos_flow_queue_kill(front);
    if (front == &queue->inside
        || (queue->bundle >= 0 && COS_WAIT(dill_hclose(queue->bundle)) < 0 && errno == EDEADLK))
        cos__die("a queue cannot be freed from inside one of its tasks");
    close_channels(queue);
    cos__backlog_release(&queue->backlog);
    free(queue);
}

/* --- producers -------------------------------------------------------------------- */

/* Whoever receives the parcel counts us out; on EPIPE the queue may be gone. */
static int wait_for_room(struct queue *queue, void *item, int priority, int64_t deadline)
{
    struct parcel parcel = {item, priority, NULL};
    if (cos__in_callback())
        return COS_ECONTEXT;
    COS_HOOK(init, &parcel.hook, COS_HOOK_QUEUE_TASK, NULL, NULL);
    queue->parked++;
    if (COS_WAIT(dill_chsend(queue->entry[0], &parcel, sizeof parcel, deadline)) == 0)
        return 0;
    COS_HOOK(destroy, &parcel.hook);
    if (errno == EPIPE)
        return COS_ECLOSED;
    queue->parked--;
    return cos_err_from_errno(errno);
}

/* Wakes first: nobody else runs before this returns, and a coroutine that may
 * wake nobody must not leave the item behind. */
int cos_flow_queue_add(struct cos_flow_queue *front, void *item, int priority)
{
    struct queue *queue = front->real;
    int err = queue->killed ? COS_ECLOSED : cos__backlog_room(&queue->backlog);
    if (!err && queue->idle && !queue->paused)
        err = wake_one(queue);
    if (err)
        return err;
    queue->busy = 1;
    cos__backlog_push(&queue->backlog, item, priority);
    return 0;
}

int cos_flow_queue_push_priority(struct cos_flow_queue *front, void *item, int priority,
                                 int64_t deadline)
{
    struct queue *queue = front->real;
    if (queue->backlog.count < queue->opts.capacity || queue->killed || is_inside(front))
        return cos_flow_queue_add(front, item, priority);
    return wait_for_room(queue, item, priority, deadline);
}

int cos_flow_queue_push(struct cos_flow_queue *front, void *item, int64_t deadline)
{
    return cos_flow_queue_push_priority(front, item, 0, deadline);
}

int cos_flow_queue_drain(struct cos_flow_queue *front, int64_t deadline)
{
    struct queue *queue = front->real;
    if (!queue->busy)
        return 0;
    if (cos__in_callback() || is_inside(front))
        return COS_ECONTEXT;
    wake_idle(queue);
    queue->drainers++;
    if (COS_WAIT(dill_chrecv(queue->quiet[0], NULL, 0, deadline)) == 0)
        return 0;
    if (errno == EPIPE) /* the queue may be gone */
        return COS_ECLOSED;
    queue->drainers--;
    return cos_err_from_errno(errno);
}

/* --- control ---------------------------------------------------------------------- */

void cos_flow_queue_pause(struct cos_flow_queue *front)
{
    front->real->paused = 1;
}

void cos_flow_queue_resume(struct cos_flow_queue *front)
{
    front->real->paused = 0;
    wake_idle(front->real);
}

void cos_flow_queue_kill(struct cos_flow_queue *front)
{
    struct queue *queue = front->real;
    void *item;
    queue->killed = 1;
    /* Producers that stand waiting learn that there will be no room. */
    if (queue->parked)
        dill_chdone(queue->entry[0]);
    queue->parked = 0;
    while (cos__backlog_pop(&queue->backlog, &item)) {
        cos__backlog_dismiss(&queue->backlog);
        if (queue->opts.done)
            queue->opts.done(item, COS_ECANCELED, queue->opts.arg);
    }
    check_empty(queue);
}

int cos_flow_queue_concurrency(struct cos_flow_queue *front, int concurrency)
{
    struct queue *queue = front->real;
    int surplus;
    if (concurrency <= 0 || concurrency > COS_FLOW_MAX)
        return COS_EINVAL;
    if (cos__in_callback())
        return COS_ECONTEXT;
    queue->opts.concurrency = concurrency;
    if (!queue->own_buffer || queue->opts.buffer > concurrency)
        queue->opts.buffer = concurrency / 4;
    /* Idle workers beyond the number go now; busy ones when they look for work. */
    for (surplus = queue->nworkers - concurrency; surplus > 0 && queue->idle; surplus--)
        if (wake_one(queue) < 0)
            break;
    check_load(queue);
    return hire(queue);
}

size_t cos_flow_queue_waiting(const struct cos_flow_queue *front)
{
    return front->real->backlog.count + front->real->parked;
}

size_t cos_flow_queue_running(const struct cos_flow_queue *front)
{
    return front->real->running;
}
