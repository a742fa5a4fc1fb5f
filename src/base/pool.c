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

#include "base/pool.h"

#include "base/frame.h"
#include "base/pool_int.h"
#include "base/zygote.h"
#include "coscrawl.h"

#include <errno.h>
#include <fcntl.h>
#include <libdill.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 1000, READ_STEP = 64 * 1024, MAX_WORKERS = COS__CHILDREN_MAX };
enum state { STARTING, IDLE, HELD, DEAD };

struct cos_worker {
    struct cos_pool *pool;
    struct cos_worker *prev, *next;        /* all of the pool */
    struct cos_worker *below;              /* the idle stack */
    enum state state;
    int held;                              /* somebody has the pointer */
    int pinned;                            /* so have we, further up the stack */
    int reaped;                            /* the process is gone, or never was */
    uint32_t id;
    pid_t pid;
    int err;                               /* once DEAD: why */
    char why[128];
    int owed;                              /* messages sent that await "end" or "error" */
    struct cos__watch watch;
    struct cos__timer timer;               /* of the job while held, of idleness while idle */
    struct cos_buf in, out;
    size_t in_at, out_at;                  /* up to here it is dealt with */
    int handing;                           /* messages are being handed over, further up */
    struct cos__ear *ear;
    struct cos__flushed *flushed;
};

struct cos_pool {
    struct cos__loop *loop;
    struct cos_pool **list;                 /* of this loop's pools */
    struct cos_pool *prev_pool, *next_pool;
    struct cos_pool_setup setup;
    struct cos__order order;                /* template of SPAWN */
    struct cos__watch news;
    struct cos_worker *workers, *idle;
    int nworkers, nstarting;
    struct cos__wait *first, *last;
    struct cos__task serve;
    uint32_t next_id;
    int closed;
    struct cos_pool_stats stats;
};

static void refill(struct cos_pool *pool);

/* --- lists ------------------------------------------------------------------------- */

static void add_worker(struct cos_pool *pool, struct cos_worker *worker)
{
    worker->prev = NULL;
    worker->next = pool->workers;
    if (pool->workers)
        pool->workers->prev = worker;
    pool->workers = worker;
}

/* A closed pool lives on while its task is queued or somebody holds a worker. */
static void pool_check_end(struct cos_pool *pool)
{
    if (pool->closed && !pool->workers && !pool->serve.queued)
        free(pool);
}

/* The last of three frees it: its holder, its process, and who works on it. */
static void worker_check_end(struct cos_worker *worker)
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
    pool_check_end(pool);
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

/* --- death ---------------------------------------------------------------------------- */

static void close_socket(struct cos_worker *worker)
{
    if (worker->watch.fd < 0)
        return;
    cos__watch_set(worker->pool->loop, &worker->watch, 0);
    close(worker->watch.fd);
    worker->watch.fd = -1;
}

static void tell_ear(struct cos_worker *worker, int err, const char *event, const char *data,
                     size_t len)
{
    struct cos__ear *ear = worker->ear;
    worker->ear = NULL;
    if (ear)
        ear->heard(ear, err, event, data, len);
}

static void tell_flushed(struct cos_worker *worker, int err)
{
    struct cos__flushed *flushed = worker->flushed;
    worker->flushed = NULL;
    if (flushed)
        flushed->flushed(flushed, err);
}

/* No more use of this worker. Its holder, if any, keeps the pointer. */
static void worker_dies(struct cos_worker *worker, int err)
{
    if (worker->state == DEAD)
        return;
    if (worker->state == IDLE)
        idle_remove(worker->pool, worker);
    if (worker->state == STARTING)
        worker->pool->nstarting--;
    worker->state = DEAD;
    worker->err = err;
    cos__timer_unset(worker->pool->loop, &worker->timer);
    close_socket(worker);
    /* Freed by who comes last: the holder's release or the process's end. */
    tell_flushed(worker, err);
    tell_ear(worker, err, "error", worker->why, strlen(worker->why));
}

static void kill_worker(struct cos_worker *worker, int grace_ms)
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
    worker_check_end(worker);
    refill(pool);
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
    if (worker->state != DEAD) {
        int hung = WIFSIGNALED(news->status) && WTERMSIG(news->status) == SIGXCPU;
        explain(worker, news->status);
        if (hung)
            pool->stats.hung++;
        else
            pool->stats.crashed++;
        worker_dies(worker, hung ? COS_EHUNG : COS_ECRASHED);
    }
    worker_reaped(worker);
}

/* --- bytes ------------------------------------------------------------------------------ */

/* Broken from our side: it answered nonsense, or too much. */
static void condemn(struct cos_worker *worker, int err)
{
    snprintf(worker->why, sizeof worker->why, "%s", cos_strerror(err));
    kill_worker(worker, 0);
    worker_dies(worker, err);
}

static unsigned wanted_events(const struct cos_worker *worker)
{
    unsigned events = worker->out.len > worker->out_at ? COS__OUT : 0;
    /* Without a listener nothing is read: the socket's buffer is the bound. An
     * idle worker has nothing to say, but its end must be noticed. */
    if (worker->ear || worker->state == IDLE)
        events |= COS__IN;
    return events;
}

static void rearm(struct cos_worker *worker)
{
    int err;
    if (worker->watch.fd < 0)
        return;
    err = cos__watch_set(worker->pool->loop, &worker->watch, wanted_events(worker));
    if (err)
        condemn(worker, err);
}

/* The next whole message in the buffer: 1, 0, or an error. */
static int next_message(struct cos_worker *worker, struct cos__frame *frame)
{
    const char *data = worker->in.data ? worker->in.data + worker->in_at : "";
    size_t len = worker->in.len - worker->in_at;
    int got = cos__frame_head(data, len, worker->pool->setup.message_max, frame);
    return got == 1 && len < frame->head + frame->len ? 0 : got;
}

/* Hands messages over as long as somebody listens. A loop, and not a call from
 * each listener to the next: there may be thousands of messages in the buffer.
 * Who hears one may release the worker, and the next holder listens. */
static void hand_messages(struct cos_worker *worker)
{
    struct cos__frame frame;
    int got = 0;
    worker->handing = 1;
    while (worker->ear && worker->state != DEAD && (got = next_message(worker, &frame)) > 0) {
        const char *data = worker->in.data + worker->in_at + frame.head;
        if (!strcmp(frame.event, "end") || !strcmp(frame.event, "error"))
            worker->owed -= worker->owed > 0;
        worker->in_at += frame.head + frame.len;
        tell_ear(worker, 0, frame.event, data, frame.len);
    }
    worker->handing = 0;
    if (got < 0)
        condemn(worker, got);
}

/* 0 to go on. At the end of the stream the zygote will say what became of the
 * process; one that lives on without its socket is helped along. */
static int read_some(struct cos_worker *worker)
{
    ssize_t n;
    int err;
    if (worker->in_at) {
        worker->in.len -= worker->in_at;
        memmove(worker->in.data, worker->in.data + worker->in_at, worker->in.len);
        worker->in_at = 0;
    }
    /* What one large answer needed is not kept for all the small ones. */
    if (!worker->in.len && worker->in.cap > (1 << 20))
        cos_buf_release(&worker->in);
    err = cos_buf_reserve(&worker->in, READ_STEP);
    if (err) {
        condemn(worker, err);
        return err;
    }
    n = read(worker->watch.fd, worker->in.data + worker->in.len, READ_STEP);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return COS_EBUSY;
    if (n <= 0) {
        kill_worker(worker, GRACE_MS);
        close_socket(worker);
        return COS_ECLOSED;
    }
    worker->in.len += (size_t)n;
    return 0;
}

static void write_some(struct cos_worker *worker)
{
    while (worker->out_at < worker->out.len) {
        ssize_t n = send(worker->watch.fd, worker->out.data + worker->out_at,
                         worker->out.len - worker->out_at, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            /* Gone: its end is reported when the zygote has it. */
            kill_worker(worker, GRACE_MS);
            close_socket(worker);
            return;
        }
        worker->out_at += (size_t)n;
    }
    worker->out_at = 0;
    cos_buf_clear(&worker->out);
    if (worker->out.cap > (1 << 20))
        cos_buf_release(&worker->out);
    tell_flushed(worker, 0);
}

static void idle_died(struct cos_worker *worker)
{
    worker->pool->stats.crashed++;
    worker_dies(worker, COS_ECRASHED);
}

static void socket_ready(struct cos__watch *watch, unsigned events)
{
    struct cos_worker *worker =
        (struct cos_worker *)((char *)watch - offsetof(struct cos_worker, watch));
    worker->pinned++;
    if (events & COS__OUT && worker->out.len > worker->out_at)
        write_some(worker);
    if (events & COS__IN && watch->fd >= 0 && !read_some(worker)) {
        if (worker->state == IDLE)
            condemn(worker, COS_EPROTO); /* speaks without being asked */
        else
            hand_messages(worker);
    }
    if (worker->state == IDLE && watch->fd < 0)
        idle_died(worker);
    if (worker->state != DEAD)
        rearm(worker);
    worker->pinned--;
    worker_check_end(worker);
}

int cos__worker_listen(struct cos_worker *worker, struct cos__ear *ear)
{
    if (worker->ear)
        return COS_EBUSY;
    worker->ear = ear;
    if (worker->state == DEAD) {
        tell_ear(worker, worker->err, "error", worker->why, strlen(worker->why));
        return 0;
    }
    if (worker->handing)
        return 0;
    worker->pinned++;
    hand_messages(worker);
    if (worker->state != DEAD)
        rearm(worker);
    worker->pinned--;
    worker_check_end(worker);
    return 0;
}

void cos__worker_unlisten(struct cos_worker *worker, struct cos__ear *ear)
{
    if (worker->ear == ear)
        worker->ear = NULL;
    if (worker->state != DEAD)
        rearm(worker);
}

int cos__worker_post(struct cos_worker *worker, const char *event, const void *data, size_t len)
{
    int err;
    if (worker->state == DEAD)
        return worker->err;
    if (len > worker->pool->setup.message_max)
        return COS_ETOOBIG;
    err = cos__frame_add(&worker->out, event, data, len);
    if (err)
        return err;
    worker->owed++;
    if (worker->watch.fd >= 0)
        write_some(worker);
    rearm(worker);
    return 0;
}

int cos__worker_flush(struct cos_worker *worker, struct cos__flushed *flushed)
{
    if (worker->flushed)
        return COS_EBUSY;
    worker->flushed = flushed;
    if (worker->state == DEAD)
        tell_flushed(worker, worker->err);
    else if (worker->out_at == worker->out.len)
        tell_flushed(worker, 0);
    return 0;
}

void cos__worker_unflush(struct cos_worker *worker, struct cos__flushed *flushed)
{
    if (worker->flushed == flushed)
        worker->flushed = NULL;
}

/* --- spawning ----------------------------------------------------------------------------- */

static void timer_fired(struct cos__timer *timer);

static struct cos_worker *worker_new(struct cos_pool *pool, int fd)
{
    struct cos_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->pool = pool;
    worker->id = ++pool->next_id;
    worker->watch.fd = fd;
    worker->watch.ready = socket_ready;
    worker->timer.fire = timer_fired;
    cos_buf_init(&worker->in, pool->setup.message_max + COS__FRAME_HEAD_MAX + READ_STEP);
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
        worker_dies(worker, err);
        worker->reaped = 1;
        worker_check_end(worker);
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

static void fail_first(struct cos_pool *pool, int err)
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
        fail_first(pool, err);
}

static void give_out(struct cos_worker *worker, struct cos__wait *wait)
{
    struct cos_pool *pool = worker->pool;
    worker->state = HELD;
    worker->held = 1;
    pool->stats.jobs++;
    cos__timer_unset(pool->loop, &worker->timer);
    if (pool->setup.job_ms > 0 &&
        cos__timer_set(pool->loop, &worker->timer, dill_now() + pool->setup.job_ms)) {
        worker->held = 0;
        kill_worker(worker, 0);
        worker_dies(worker, COS_ENOMEM);
        wait->got(wait, NULL, COS_ENOMEM);
        return;
    }
    rearm(worker);
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
    worker->state = IDLE;
    worker->below = pool->idle;
    pool->idle = worker;
    if (pool->setup.idle_ms >= 0)
        cos__timer_set(pool->loop, &worker->timer, dill_now() + pool->setup.idle_ms);
    rearm(worker);
}

static void on_spawned(struct cos_pool *pool, const struct cos__news *news)
{
    struct cos_worker *worker = worker_by_id(pool, news->id);
    int err;
    if (!worker)
        return;
    if (!news->error) {
        pool->nstarting--;
        worker->state = IDLE; /* until it is handed on */
        worker->pid = news->pid;
        hand_on(worker);
        return;
    }
    err = news->error == EAGAIN ? COS_EBUSY : cos_err_from_errno(news->error);
    worker_dies(worker, err);
    worker_reaped(worker);
    fail_first(pool, err);
}

static void lose_zygote(struct cos_pool *pool)
{
    struct cos_worker *worker, *next;
    cos__watch_set(pool->loop, &pool->news, 0);
    for (worker = pool->workers; worker; worker = next) {
        next = worker->next;
        snprintf(worker->why, sizeof worker->why, "the process that starts workers is gone");
        worker_dies(worker, COS_ECRASHED);
        pool->nworkers -= !worker->reaped;
        worker->reaped = 1;
        worker_check_end(worker);
    }
    while (pool->first)
        fail_first(pool, COS_ECRASHED);
}

static void news_ready(struct cos__watch *watch, unsigned events)
{
    struct cos_pool *pool = (struct cos_pool *)((char *)watch - offsetof(struct cos_pool, news));
    struct cos__news news;
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

/* --- time ------------------------------------------------------------------------------------ */

static void timer_fired(struct cos__timer *timer)
{
    struct cos_worker *worker =
        (struct cos_worker *)((char *)timer - offsetof(struct cos_worker, timer));
    struct cos_pool *pool = worker->pool;
    if (worker->state == IDLE) {
        pool->stats.reaped++;
        kill_worker(worker, GRACE_MS);
        worker_dies(worker, COS_ECLOSED);
        return;
    }
    pool->stats.hung++;
    snprintf(worker->why, sizeof worker->why, "not released within %lld ms",
             (long long)pool->setup.job_ms);
    kill_worker(worker, 0);
    worker_dies(worker, COS_EHUNG);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* One that died a moment ago is not given out: its holder would take the blame. */
static int is_alive(const struct cos_worker *worker)
{
    char byte;
    return recv(worker->watch.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void serve(struct cos__task *task)
{
    struct cos_pool *pool = (struct cos_pool *)((char *)task - offsetof(struct cos_pool, serve));
    while (pool->idle && pool->first) {
        struct cos_worker *worker = pool->idle;
        if (!is_alive(worker)) {
            idle_died(worker);
            continue;
        }
        pool->idle = worker->below;
        hand_on(worker);
    }
    refill(pool);
    pool_check_end(pool);
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
    if (worker->state != DEAD &&
        (worker->owed || worker->in_at < worker->in.len || worker->watch.fd < 0)) {
        kill_worker(worker, 0);
        worker_dies(worker, COS_ECANCELED);
    }
    if (worker->state != DEAD)
        hand_on(worker);
    else
        worker_check_end(worker);
}

/* --- life --------------------------------------------------------------------------------------- */

static int cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n;
}

static int pack_args(struct cos__order *order, const char *const *argv)
{
    size_t at = 0;
    for (; argv && argv[order->argc]; order->argc++) {
        size_t n = strlen(argv[order->argc]) + 1;
        if (n > sizeof order->args - at || order->argc >= COS__ARGS_MAX / 2 - 1)
            return COS_ETOOBIG;
        memcpy(order->args + at, argv[order->argc], n);
        at += n;
    }
    return 0;
}

static int set_up(struct cos_pool *pool, const struct cos_pool_setup *setup)
{
    struct cos_pool_setup *s = &pool->setup;
    int is_program = setup->argv != NULL;
    *s = *setup;
    if (!s->run == !s->argv || s->max < 0 || s->max > MAX_WORKERS || s->retries < 0)
        return COS_EINVAL;
    if (is_program && !s->argv[0])
        return COS_EINVAL;
    s->max = s->max ? s->max : cores();
    s->idle_ms = s->idle_ms ? s->idle_ms : 30000;
    s->job_ms = s->job_ms ? s->job_ms : 10000;
    s->cpu_s = s->cpu_s ? s->cpu_s : is_program ? -1 : 10;
    s->message_max = s->message_max ? s->message_max : 64 << 20;
    if (!s->memory && !is_program)
        s->memory = 512 << 20;
    pool->order.setup = (struct cos__worker_setup){
        .run = s->run, .memory = s->memory, .message_max = s->message_max,
        .cpu_s = s->cpu_s < 0 ? 0 : s->cpu_s, .no_seccomp = s->no_seccomp};
    return pack_args(&pool->order, s->argv);
}

/* The pools of a loop end with it. */
static void close_all(void *data)
{
    struct cos_pool **list = data;
    while (*list) {
        (*list)->serve.queued = 0; /* never to run: the loop ends */
        cos_pool_close(*list);
    }
    free(list);
}

static struct cos_pool **pools_of(struct cos__loop *loop)
{
    struct cos_pool **list = cos__loop_part(loop, COS__PART_POOL);
    if (!list && (list = calloc(1, sizeof *list)))
        cos__loop_set_part(loop, COS__PART_POOL, list, close_all);
    return list;
}

int cos_pool_prepare(void)
{
    return cos__zygote_start();
}

int cos_pool_open(struct cos_pool **out, const struct cos_pool_setup *setup)
{
    struct cos__loop *loop = cos__loop();
    struct cos_pool **list = loop ? pools_of(loop) : NULL;
    struct cos_pool *pool = list ? calloc(1, sizeof *pool) : NULL;
    int err = pool ? set_up(pool, setup) : COS_ENOMEM;
    if (!err) {
        pool->loop = loop;
        pool->serve.run = serve;
        pool->news = (struct cos__watch){.fd = cos__zygote_channel(), .ready = news_ready};
        err = pool->news.fd < 0 ? pool->news.fd : cos__watch_set(loop, &pool->news, COS__IN);
        if (err && pool->news.fd >= 0)
            close(pool->news.fd);
    }
    if (err) {
        free(pool);
        return err;
    }
    pool->list = list;
    pool->next_pool = *list;
    if (*list)
        (*list)->prev_pool = pool;
    *list = pool;
    *out = pool;
    return 0;
}

static void leave_list(struct cos_pool *pool)
{
    *(pool->prev_pool ? &pool->prev_pool->next_pool : pool->list) = pool->next_pool;
    if (pool->next_pool)
        pool->next_pool->prev_pool = pool->prev_pool;
}

void cos_pool_close(struct cos_pool *pool)
{
    struct cos_worker *worker, *next;
    if (!pool)
        return;
    leave_list(pool);
    pool->setup.max = 0; /* nothing is started any more */
    while (pool->first)
        fail_first(pool, COS_ECLOSED);
    /* Closing the channel kills the processes: no order is sent for each. */
    cos__watch_set(pool->loop, &pool->news, 0);
    close(pool->news.fd);
    for (worker = pool->workers; worker; worker = next) {
        next = worker->next;
        worker_dies(worker, COS_ECLOSED);
        worker->reaped = 1;
        worker_check_end(worker);
    }
    pool->closed = 1;
    pool_check_end(pool);
}

void cos_pool_stats(const struct cos_pool *pool, struct cos_pool_stats *out)
{
    *out = pool->stats;
    out->workers = pool->nworkers;
    out->idle = 0;
    for (struct cos_worker *worker = pool->idle; worker; worker = worker->below)
        out->idle++;
}

pid_t cos_worker_pid(const struct cos_worker *worker)
{
    return worker->pid;
}

const char *cos_worker_why(const struct cos_worker *worker)
{
    return worker->why;
}

void cos_message_release(struct cos_message *message)
{
    cos_buf_release(&message->data);
    message->event[0] = 0;
}

size_t cos__pool_message_max(const struct cos_pool *pool)
{
    return pool->setup.message_max;
}

int cos__pool_retries(const struct cos_pool *pool)
{
    return pool->setup.retries;
}

struct cos_pool *cos__worker_pool(const struct cos_worker *worker)
{
    return worker->pool;
}
