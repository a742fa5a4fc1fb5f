/* pool_open.c - the life of a pool: settings, the loop's list of pools, closing. */
#include "config.h"

#include "base/pool_int.h"

#include "coscrawl.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    int is_program = setup->argv && setup->argv[0];
    *s = *setup;
    if (!s->run == !is_program || s->max < 0 || s->max > COS__CHILDREN_MAX || s->retries < 0)
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
    for (struct cos_pool *pool = *list, *next; pool; pool = next) {
        next = pool->next_pool;
        pool->serve.queued = 0; /* never to run: the loop ends */
        cos_pool_close(pool);
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
        pool->serve.run = cos__pool_serve;
        pool->news = (struct cos__watch){.fd = cos__zygote_channel(), .ready = cos__pool_news};
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
        cos__pool_fail_first(pool, COS_ECLOSED);
    /* Closing the channel kills the processes: no order is sent for each. */
    cos__watch_set(pool->loop, &pool->news, 0);
    close(pool->news.fd);
    for (worker = pool->workers; worker; worker = next) {
        next = worker->next;
        cos__worker_dies(worker, COS_ECLOSED);
        worker->reaped = 1;
        cos__worker_check_end(worker);
    }
    pool->closed = 1;
    cos__pool_check_end(pool);
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
