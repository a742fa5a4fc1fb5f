/* loop.c - the leaf side of the event loop (loop.h): epoll set, tasks, posts
 * and the two drivers. Calls libdill and the kernel, nothing else of ours but
 * timer.c. Only plain libdill calls: a system libdill must do.
 *
 * The pump is one coroutine per thread. It stands in one of three places: in a
 * turn, parked in fdin on our epoll descriptor, or, while a cps_run() drives,
 * parked on its own channel ("aside"). After a turn that woke somebody it
 * yields, so that the woken coroutines start their next operations before it
 * waits again: in the steady state nobody needs the eventfd to reach it.
 *
 * Rejected: letting each coroutine wait for its own socket with fdin. Then
 * curl's descriptors enter libdill, which aborts when one of them is closed by
 * curl during a wait. Rejected too: closing the pump when cps_run() starts and
 * starting it again afterwards; a coroutine that is being closed cannot start
 * another one, and the operations of its neighbours would hang. */
#define DILL_DISABLE_RAW_NAMES
#include "base/loop.h"

#include "base/err.h"
#include "base/hook_check.h"
#include "base/loop_int.h"
#include "base/op.h"

#include <errno.h>
#include <libdill.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 128, SLICE_US = 2000 };

static _Thread_local struct cos__loop *here;

/* --- tasks ---------------------------------------------------------------- */

static void queue_add(struct cos__queue *queue, struct cos__task *task)
{
    task->next = NULL;
    if (queue->tail)
        queue->tail->next = task;
    else
        queue->head = task;
    queue->tail = task;
}

static struct cos__task *queue_take(struct cos__queue *queue)
{
    struct cos__task *task = queue->head;
    if (task) {
        queue->head = task->next;
        if (!queue->head)
            queue->tail = NULL;
    }
    return task;
}

void cos__loop_kick(struct cos__loop *loop)
{
    loop->woke = 1;
    if (!loop->parked || loop->kicked)
        return;
    loop->kicked = 1;
    loop->stats.kicks++;
    /* The only failure is a full counter, and then it is readable anyway. */
    eventfd_write(loop->eventfd, 1);
}

/* The driver sleeps and would not look at what was just added. */
void cos__loop_kick_before(struct cos__loop *loop, int64_t at)
{
    if (at < loop->parked_until)
        cos__loop_kick(loop);
}

static void enqueue(struct cos__loop *loop, struct cos__queue *queue, struct cos__task *task)
{
    if (task->queued)
        return;
    task->queued = 1;
    queue_add(queue, task);
    cos__loop_kick_before(loop, INT64_MIN + 1);
}

void cos__loop_defer(struct cos__loop *loop, struct cos__task *task)
{
    enqueue(loop, &loop->deferred, task);
}

void cos__loop_immediate(struct cos__loop *loop, struct cos__task *task)
{
    enqueue(loop, &loop->immediate, task);
}

static void run_task(struct cos__task *task)
{
    task->queued = 0;
    task->run(task);
}

static void run_deferred(struct cos__loop *loop)
{
    struct cos__task *task;
    while ((task = queue_take(&loop->deferred)))
        run_task(task);
}

static void run_batch(struct cos__queue *from)
{
    struct cos__queue batch = *from;
    struct cos__task *task;
    *from = (struct cos__queue){NULL, NULL};
    while ((task = queue_take(&batch)))
        run_task(task);
}

/* --- posts from other threads ---------------------------------------------- */

/* A driver that is awake looks for posts in every turn. One that goes to sleep
 * says so first and looks once more; so one of the two always sees the other. */
void cos__loop_post(struct cos__loop *loop, struct cos__task *task)
{
    pthread_mutex_lock(&loop->lock);
    queue_add(&loop->posted, task);
    atomic_store(&loop->has_posts, 1);
    /* Inside the lock: once the owner has seen the task it may end the loop. */
    if (atomic_exchange(&loop->asleep, 0))
        eventfd_write(loop->eventfd, 1);
    pthread_mutex_unlock(&loop->lock);
}

static void run_posts(struct cos__loop *loop)
{
    struct cos__queue batch;
    struct cos__task *task;
    if (!atomic_load(&loop->has_posts))
        return;
    pthread_mutex_lock(&loop->lock);
    batch = loop->posted;
    loop->posted = (struct cos__queue){NULL, NULL};
    atomic_store(&loop->has_posts, 0);
    pthread_mutex_unlock(&loop->lock);
    while ((task = queue_take(&batch))) {
        loop->stats.posts++;
        task->run(task);
    }
}

static void eventfd_ready(struct cos__watch *watch, unsigned events)
{
    struct cos__loop *loop = here;
    eventfd_t count;
    (void)events;
    if (eventfd_read(watch->fd, &count) < 0)
        return;
    loop->kicked = 0;
}

/* --- descriptors ------------------------------------------------------------ */

int cos__watch_set(struct cos__loop *loop, struct cos__watch *watch, unsigned events)
{
    struct epoll_event ev = {.data.ptr = watch};
    int how = !events ? EPOLL_CTL_DEL : watch->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (events == watch->events)
        return 0;
    if (events & COS__IN)
        ev.events |= EPOLLIN;
    if (events & COS__OUT)
        ev.events |= EPOLLOUT;
    if (!events)
        cos__loop_forget(loop, watch);
    watch->events = events;
    if (epoll_ctl(loop->epfd, how, watch->fd, &ev) < 0 && events) {
        watch->events = 0;
        return errno == ENOSPC ? COS_EMFILE : cos_err_from_errno(errno);
    }
    return 0;
}

/* A watch taken out by an earlier event of the same batch must not be called. */
void cos__loop_forget(struct cos__loop *loop, struct cos__watch *watch)
{
    for (int i = loop->ev_at; i < loop->ev_n; i++)
        if (loop->events[i].data.ptr == watch)
            loop->events[i].data.ptr = NULL;
}

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Fast senders on many sockets could hold the loop for a tenth of a second in
 * one batch. What is not served in time is reported again by the next poll, and
 * meanwhile timers and other coroutines have their turn. */
static void dispatch(struct cos__loop *loop, int n)
{
    int64_t end = clock_us() + SLICE_US;
    loop->ev_n = n;
    for (loop->ev_at = 0; loop->ev_at < loop->ev_n;) {
        struct epoll_event *ev = &loop->events[loop->ev_at++];
        struct cos__watch *watch = ev->data.ptr;
        unsigned what = 0;
        if (!watch)
            continue;
        if (ev->events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP))
            what |= COS__IN;
        if (ev->events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
            what |= COS__OUT;
        watch->ready(watch, what);
        if (clock_us() >= end)
            break;
    }
    loop->ev_n = 0;
}

/* --- turns ------------------------------------------------------------------ */

int64_t cos__loop_now(struct cos__loop *loop)
{
    return loop->now;
}

/* When the wait must end: negative never, 0 at once. */
static int64_t wait_until(struct cos__loop *loop, int64_t deadline)
{
    int64_t at = cos__timer_next(loop);
    /* Work done before the poll may have woken somebody: see to him first. */
    if (loop->woke || loop->immediate.head || loop->deferred.head || deadline == 0 ||
        atomic_load(&loop->has_posts))
        return 0;
    return at < 0 || (deadline > 0 && deadline < at) ? deadline : at;
}

/* Parks the driver. A kick, a ready descriptor or the time ends it. */
static int park(struct cos__loop *loop, int64_t until)
{
    int rc, err = 0;
    atomic_store(&loop->asleep, 1);
    if (atomic_load(&loop->has_posts)) {
        atomic_store(&loop->asleep, 0);
        return 0;
    }
    loop->stats.waits++;
    loop->parked = loop->slept = 1;
    loop->parked_until = until < 0 ? INT64_MAX : until;
    rc = COS_WAIT(dill_fdin(loop->epfd, until));
    if (rc < 0 && errno != ETIMEDOUT && errno != EINTR)
        err = errno == ECANCELED ? COS_ECANCELED : cos_err_from_errno(errno);
    atomic_store(&loop->asleep, 0);
    loop->parked = 0;
    loop->parked_until = INT64_MIN;
    loop->now = dill_now();
    return err;
}

static int turn(struct cos__loop *loop, int64_t deadline)
{
    int64_t until;
    int err = 0, n;
    run_deferred(loop);
    /* Asking our own set first spares the runtime's poller when busy. */
    n = epoll_wait(loop->epfd, loop->events, EVENTS, 0);
    until = wait_until(loop, deadline);
    if (n <= 0 && until != 0) {
        err = park(loop, until);
        if (!err)
            n = epoll_wait(loop->epfd, loop->events, EVENTS, 0);
    }
    if (err)
        return err;
    if (n > 0)
        dispatch(loop, n);
    run_posts(loop);
    loop->now = dill_now();
    cos__timer_run(loop);
    run_batch(&loop->immediate);
    return 0;
}

int cos__loop_turn(struct cos__loop *loop, int64_t deadline)
{
    int err;
    if (loop->turning)
        return COS_EBUSY;
    loop->turning = 1;
    loop->stats.turns++;
    loop->slept = 0;
    err = turn(loop, deadline);
    loop->turning = 0;
    /* Woken coroutines go first; and a driver that never has to wait must not
     * starve the others. */
    if (!err && (loop->woke || !loop->slept)) {
        loop->woke = 0;
        if (COS_WAIT(dill_yield()) < 0 && errno == ECANCELED)
            err = COS_ECANCELED;
    }
    return err;
}

void cos__loop_woke(struct cos__loop *loop)
{
    loop->woke = 1;
}

/* --- the pump --------------------------------------------------------------- */

/* Waits until no cps_run() drives. The channel is made anew each time it was
 * ended: chdone is the one wake-up that works from a cancelled coroutine. */
static int stand_aside(struct cos__loop *loop)
{
    char nothing;
    int rc;
    if (dill_chmake(loop->aside) < 0)
        return -1;
    loop->is_aside = 1;
    rc = COS_WAIT(dill_chrecv(loop->aside[0], &nothing, 0, -1));
    rc = rc < 0 && errno == ECANCELED ? -1 : 0;
    loop->is_aside = 0;
    dill_hclose(loop->aside[0]);
    dill_hclose(loop->aside[1]);
    return rc;
}

static dill_coroutine void pump(struct cos__loop *loop)
{
    int err = 0;
    /* It works for all, not for whom it was started by. */
    COS_HOOK(detach);
    while (!err) {
        if (loop->entered) {
            if (stand_aside(loop) < 0)
                break;
            continue;
        }
        err = cos__loop_turn(loop, -1);
        /* Another driver is inside a turn: it will do the work. */
        if (err == COS_EBUSY)
            err = COS_WAIT(dill_yield()) < 0 ? COS_ECANCELED : 0;
    }
    loop->pumping = 0;
}

int cos__loop_drive(struct cos__loop *loop)
{
    struct cos_hook_wait wait;
    int rc;
    if (loop->entered || loop->pumping)
        return 0;
    if (loop->bundle < 0)
        loop->bundle = dill_bundle();
    if (loop->bundle < 0)
        return errno == ECANCELED ? COS_ECANCELED : COS_ENOMEM;
    loop->pumping = 1;
    loop->stats.pumps++;
    COS_HOOK(pause, &wait);
    rc = dill_bundle_go(loop->bundle, pump(loop));
    COS_HOOK(resume, &wait);
    if (rc < 0) {
        loop->pumping = 0;
        return errno == ECANCELED ? COS_ECANCELED : COS_ENOMEM;
    }
    return 0;
}

int cos__loop_enter(struct cos__loop *loop)
{
    if (loop->entered)
        return COS_EBUSY;
    loop->entered = 1;
    while (loop->pumping && !loop->is_aside) {
        /* Parked on the descriptor: the kick makes it readable, and the pump
         * runs before this coroutine does again. */
        cos__loop_kick(loop);
        if (COS_WAIT(dill_msleep(dill_now() + 1)) < 0) {
            cos__loop_leave(loop);
            return COS_ECANCELED;
        }
    }
    return 0;
}

void cos__loop_leave(struct cos__loop *loop)
{
    loop->entered = 0;
    if (loop->is_aside)
        dill_chdone(loop->aside[1]);
}

int cos__loop_in_callback(const struct cos__loop *loop)
{
    return loop->in_callback;
}

int cos__in_callback(void)
{
    return here && here->in_callback;
}

void cos__loop_set_in_callback(struct cos__loop *loop, int on)
{
    loop->in_callback = (uint8_t)on;
}

/* --- life ------------------------------------------------------------------- */

static void destroy(struct cos__loop *loop)
{
    if (loop->eventfd >= 0)
        close(loop->eventfd);
    if (loop->epfd >= 0) {
        dill_fdclean(loop->epfd);
        close(loop->epfd);
    }
    free(loop->timers);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}

static struct cos__loop *create(void)
{
    struct cos__loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    pthread_mutex_init(&loop->lock, NULL);
    loop->bundle = -1;
    loop->parked_until = INT64_MIN;
    loop->now = dill_now();
    loop->epfd = epoll_create1(EPOLL_CLOEXEC);
    loop->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->wake = (struct cos__watch){.fd = loop->eventfd, .ready = eventfd_ready};
    if (loop->epfd < 0 || loop->eventfd < 0 || cos__watch_set(loop, &loop->wake, COS__IN) < 0) {
        int saved = errno;
        destroy(loop);
        errno = saved;
        return NULL;
    }
    return loop;
}

struct cos__loop *cos__loop(void)
{
    if (!here) {
        cos__check_begin();
        here = create();
    }
    return here;
}

int cos__loop_release(void)
{
    struct cos__loop *loop = here;
    int left;
    if (!loop)
        return 0;
    for (int i = COS__PARTS - 1; i >= 0; i--)
        cos__loop_set_part(loop, (enum cos__part)i, NULL, NULL);
    if (loop->bundle >= 0)
        dill_hclose(loop->bundle);
    left = (int)cos__op_count();
    cos__op_trim(loop);
    destroy(loop);
    here = NULL;
    cos__check_end();
    return left;
}

void *cos__loop_part(struct cos__loop *loop, enum cos__part part)
{
    return loop->parts[part].data;
}

void cos__loop_set_part(struct cos__loop *loop, enum cos__part part, void *data,
                        void (*release)(void *))
{
    struct cos__loop_part old = loop->parts[part];
    loop->parts[part] = (struct cos__loop_part){data, release};
    if (!data && old.data && old.release)
        old.release(old.data);
}

struct cos__loop_stats cos__loop_stats(const struct cos__loop *loop)
{
    return loop->stats;
}
