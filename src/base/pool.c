/* pool.c - worker processes as the loop sees them: who is idle, who waits, what
 * flows. Calls zygote.c for the processes and the loop for descriptors and time.
 *
 * A worker is in one place at a time: starting, idle, held, or dead. Released,
 * it goes to the first waiter or to the idle list, never to both; one that owes
 * an answer (its holder gave up in mid-job) is of no use to the next holder and
 * is killed. A process counts until the zygote has reaped it, so "max" is a
 * limit of processes and not of hopes. The idle list is a stack: the worker
 * used last is the one whose memory is warm, and those below it can age and go.
 *
 * Answers come from a task of the loop's, never inside cos__pool_wait(): a
 * caller sees one order of events, whether a worker was idle or not. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "base/pool_int.h"

#include "base/frame.h"
#include "coscrawl.h"

#include <errno.h>
#include <fcntl.h>
#include <libdill.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void refill(struct cos_pool *pool);

/* --- lists --- */

static void add_worker(struct cos_pool *pool, struct cos_worker *worker)
{
    worker->prev = NULL;
    worker->next = pool->workers;
    if (pool->workers)
        pool->workers->prev = worker;
    pool->workers = worker;
}

/* A closed pool lives on while its task is queued or somebody holds a worker. */
void cos__pool_check_end(struct cos_pool *pool)
{
    if (pool->closed && !pool->workers && !pool->serve.queued)
        free(pool);
}

/* The last of three frees it: its holder, its process, and who works on it. */
void cos__worker_check_end(struct cos_worker *worker)
{
    struct cos_pool *pool = worker->pool;
    if (worker->held || worker->pinned || !worker->reaped)
        return;
    *(worker->prev ? &worker->prev->next : &pool->workers) = worker->next;
    if (worker->next)
        worker->next->prev = worker->prev;
    cos__timer_unset(pool->loop, &worker->timer);
    cos_buf_release(&worker->in);
    cos_buf_release(&worker->out);
    free(worker);
    cos__pool_check_end(pool);
}

static struct cos_worker *worker_by_id(struct cos_pool *pool, uint32_t id)
{
    struct cos_worker *worker = pool->workers;
    while (worker && worker->id != id)
        worker = worker->next;
    return worker;
}

static void idle_remove(struct cos_pool *pool, struct cos_worker *worker)
{
    struct cos_worker **at = &pool->idle;
    while (*at && *at != worker)
        at = &(*at)->below;
    if (*at)
        *at = worker->below;
}

/* --- death --- */

/* No more use of this worker. Its holder, if any, keeps the pointer. */
void cos__worker_dies(struct cos_worker *worker, int err)
{
    if (worker->state == COS__DEAD)
        return;
    if (worker->state == COS__IDLE)
        idle_remove(worker->pool, worker);
    if (worker->state == COS__STARTING)
        worker->pool->nstarting--;
    worker->state = COS__DEAD;
    worker->err = err;
    cos__timer_unset(worker->pool->loop, &worker->timer);
    cos__worker_close_socket(worker);
    /* Freed by who comes last: the holder's release or the process's end. */
    cos__worker_tell_flushed(worker, err);
    cos__worker_tell_ear(worker, err, "error", worker->why, strlen(worker->why));
}

void cos__worker_kill(struct cos_worker *worker, int grace_ms)
{
    struct cos__order *order = &worker->pool->order;
    if (worker->reaped || worker->pool->closed)
        return;
    order->kind = COS__ORDER_KILL;
    order->id = worker->id;
    order->grace_ms = grace_ms;
    cos__zygote_send(worker->pool->news.fd, order, -1);
}

/* The process is gone for certain. */
static void worker_reaped(struct cos_worker *worker)
{
    struct cos_pool *pool = worker->pool;
    worker->reaped = 1;
    pool->nworkers--;
    refill(pool);
    cos__worker_check_end(worker);
}

static void explain(struct cos_worker *worker, int status)
{
    if (WIFSIGNALED(status))
        snprintf(worker->why, sizeof worker->why, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(worker->why, sizeof worker->why, "exited with status %d", WEXITSTATUS(status));
}

static void on_exited(struct cos_pool *pool, const struct cos__news *news)
{
    struct cos_worker *worker = worker_by_id(pool, news->id);
    if (!worker || worker->reaped)
        return;
    if (worker->state != COS__DEAD) {
        int hung = WIFSIGNALED(news->status) && WTERMSIG(news->status) == SIGXCPU;
        explain(worker, news->status);
        if (hung)
            pool->stats.hung++;
        else
            pool->stats.crashed++;
        cos__worker_dies(worker, hung ? COS_EHUNG : COS_ECRASHED);
    }
    worker_reaped(worker);
}

void cos__worker_idle_died(struct cos_worker *worker)
{
    worker->pool->stats.crashed++;
    cos__worker_dies(worker, COS_ECRASHED);
}

/* --- spawning --- */

static struct cos_worker *worker_new(struct cos_pool *pool, int fd)
{
    struct cos_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->pool = pool;
    worker->id = ++pool->next_id;
    worker->watch.fd = fd;
    worker->watch.ready = cos__worker_ready;
    worker->timer.fire = cos__worker_timer;
    cos_buf_init(&worker->in, pool->setup.message_max + COS__FRAME_HEAD_MAX + COS__READ_STEP);
    cos_buf_init(&worker->out, pool->setup.message_max + COS__FRAME_HEAD_MAX);
    add_worker(pool, worker);
    pool->nworkers++;
    pool->nstarting++;
    return worker;
}

/* Asks for one more process. */
static int spawn(struct cos_pool *pool)
{
    int pair[2], err;
    struct cos_worker *worker;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return cos_err_from_errno(errno);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    worker = worker_new(pool, pair[0]);
    if (!worker) {
        close(pair[0]);
        close(pair[1]);
        return COS_ENOMEM;
    }
    pool->order.kind = COS__ORDER_SPAWN;
    pool->order.id = worker->id;
    err = cos__zygote_send(pool->news.fd, &pool->order, pair[1]);
    close(pair[1]);
    if (err) {
        pool->nworkers--;
        cos__worker_dies(worker, err);
        worker->reaped = 1;
        cos__worker_check_end(worker);
        return err == COS_ECLOSED ? COS_ECRASHED : err;
    }
    pool->stats.spawned++;
    return 0;
}

static struct cos__wait *wait_pop(struct cos_pool *pool)
{
    struct cos__wait *wait = pool->first;
    if (wait)
        cos__pool_unwait(pool, wait);
    return wait;
}

void cos__pool_fail_first(struct cos_pool *pool, int err)
{
    struct cos__wait *wait = wait_pop(pool);
    if (wait)
        wait->got(wait, NULL, err);
}

/* As many starting as wait, within the limit. When none can be started those
 * who wait may still get one that is released; when there is none, they fail. */
static void refill(struct cos_pool *pool)
{
    int err = 0;
    while (!err && !pool->closed && pool->nworkers < pool->setup.max &&
           pool->nstarting < pool->stats.waiting)
        err = spawn(pool);
    while (err && !pool->nworkers && pool->first)
        cos__pool_fail_first(pool, err);
}

static void give_out(struct cos_worker *worker, struct cos__wait *wait)
{
    struct cos_pool *pool = worker->pool;
    worker->state = COS__HELD;
    worker->held = 1;
    pool->stats.jobs++;
    cos__timer_unset(pool->loop, &worker->timer);
    if (pool->setup.job_ms > 0 &&
        cos__timer_set(pool->loop, &worker->timer, dill_now() + pool->setup.job_ms)) {
        worker->held = 0;
        cos__worker_kill(worker, 0);
        cos__worker_dies(worker, COS_ENOMEM);
        wait->got(wait, NULL, COS_ENOMEM);
        return;
    }
    cos__worker_rearm(worker);
    wait->got(wait, worker, 0);
}

/* To the first who waits, or to the idle ones: this is the one place. */
static void hand_on(struct cos_worker *worker)
{
    struct cos_pool *pool = worker->pool;
    struct cos__wait *wait = wait_pop(pool);
    if (wait) {
        give_out(worker, wait);
        return;
    }
    worker->state = COS__IDLE;
    worker->below = pool->idle;
    pool->idle = worker;
    if (pool->setup.idle_ms >= 0)
        cos__timer_set(pool->loop, &worker->timer, dill_now() + pool->setup.idle_ms);
    cos__worker_rearm(worker);
}

static void on_spawned(struct cos_pool *pool, const struct cos__news *news)
{
    struct cos_worker *worker = worker_by_id(pool, news->id);
    int err;
    if (!worker)
        return;
    if (!news->error) {
        pool->nstarting--;
        worker->state = COS__IDLE; /* until it is handed on */
        worker->pid = news->pid;
        hand_on(worker);
        return;
    }
    err = news->error == EAGAIN ? COS_EBUSY : cos_err_from_errno(news->error);
    cos__worker_dies(worker, err);
    worker_reaped(worker);
    cos__pool_fail_first(pool, err);
}

static void lose_zygote(struct cos_pool *pool)
{
    struct cos_worker *worker, *next;
    cos__watch_set(pool->loop, &pool->news, 0);
    for (worker = pool->workers; worker; worker = next) {
        next = worker->next;
        snprintf(worker->why, sizeof worker->why, "the process that starts workers is gone");
        cos__worker_dies(worker, COS_ECRASHED);
        pool->nworkers -= !worker->reaped;
        worker->reaped = 1;
        cos__worker_check_end(worker);
    }
    while (pool->first)
        cos__pool_fail_first(pool, COS_ECRASHED);
}

void cos__pool_news(struct cos__watch *watch, unsigned events)
{
    struct cos_pool *pool = (struct cos_pool *)((char *)watch - offsetof(struct cos_pool, news));
    struct cos__news news = {0};
    int got;
    (void)events;
    /* One a turn: what it causes may close the pool. */
    got = cos__zygote_recv(watch->fd, &news);
    if (got < 0)
        lose_zygote(pool);
    else if (got && news.kind == COS__NEWS_SPAWNED)
        on_spawned(pool, &news);
    else if (got)
        on_exited(pool, &news);
}

/* --- time --- */

void cos__worker_timer(struct cos__timer *timer)
{
    struct cos_worker *worker =
        (struct cos_worker *)((char *)timer - offsetof(struct cos_worker, timer));
    struct cos_pool *pool = worker->pool;
    if (worker->state == COS__IDLE) {
        pool->stats.reaped++;
        cos__worker_kill(worker, COS__GRACE_MS);
        cos__worker_dies(worker, COS_ECLOSED);
        return;
    }
    pool->stats.hung++;
    snprintf(worker->why, sizeof worker->why, "not released within %lld ms",
             (long long)pool->setup.job_ms);
    cos__worker_kill(worker, 0);
    cos__worker_dies(worker, COS_EHUNG);
}

/* --- waiting --- */

/* One that died a moment ago is not given out: its holder would take the blame. */
static int is_alive(const struct cos_worker *worker)
{
    char byte;
    return recv(worker->watch.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void cos__pool_serve(struct cos__task *task)
{
    struct cos_pool *pool = (struct cos_pool *)((char *)task - offsetof(struct cos_pool, serve));
    while (pool->idle && pool->first) {
        struct cos_worker *worker = pool->idle;
        if (!is_alive(worker)) {
            cos__worker_idle_died(worker);
            continue;
        }
        pool->idle = worker->below;
        hand_on(worker);
    }
    refill(pool);
    cos__pool_check_end(pool);
}

int cos__pool_wait(struct cos_pool *pool, struct cos__wait *wait)
{
    if (pool->closed)
        return COS_ECLOSED;
    wait->next = NULL;
    wait->prev = pool->last;
    *(pool->last ? &pool->last->next : &pool->first) = wait;
    pool->last = wait;
    wait->listed = 1;
    pool->stats.waiting++;
    cos__loop_defer(pool->loop, &pool->serve);
    return 0;
}

void cos__pool_unwait(struct cos_pool *pool, struct cos__wait *wait)
{
    if (!wait->listed)
        return;
    *(wait->prev ? &wait->prev->next : &pool->first) = wait->next;
    *(wait->next ? &wait->next->prev : &pool->last) = wait->prev;
    wait->listed = 0;
    pool->stats.waiting--;
}

void cos_pool_release(struct cos_worker *worker)
{
    if (!worker)
        return;
    worker->held = 0;
    worker->ear = NULL;
    worker->flushed = NULL;
    if (worker->state != COS__DEAD &&
        (worker->owed || worker->in_at < worker->in.len || worker->watch.fd < 0)) {
        cos__worker_kill(worker, 0);
        cos__worker_dies(worker, COS_ECANCELED);
    }
    if (worker->state != COS__DEAD)
        hand_on(worker);
    else
        cos__worker_check_end(worker);
}
