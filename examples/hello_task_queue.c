/* hello_task_queue.c - the smallest use of the queue: a million numbers are
 * split into even and odd. What to look at: the two faces differ in how a worker
 * says that it is done, and in nothing else; "empty" comes once, at the end,
 * since the queue is held back until every number is in. */
#include "example.h"

#include <coscrawl-cps.h>

#include <stdio.h>

static const char usage[] =
    "usage: hello_task_queue [--face=co|cps] [--count=N] [--concurrency=N]\n"
    "Splits the numbers from 1 to N (1,000,000) into even and odd ones through a\n"
    "queue with some workers (2).\n";

static int64_t count = 1000000, concurrency = 2;

struct split {
    int64_t even, odd, empty;
    struct cps_flow_queue *queue;
    int err;
};

static void put(struct split *split, void *item)
{
    if ((uintptr_t)item % 2)
        split->odd++;
    else
        split->even++;
}

static void heard(enum cos_flow_event event, void *item, int err, void *arg)
{
    struct split *split = arg;
    (void)item;
    if (event == COS_FLOW_EMPTY)
        split->empty++;
    if (event == COS_FLOW_ERROR)
        split->err = err;
}

/* --- coroutines ---------------------------------------------------------------------------- */

static int work_co(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue;
    put(arg, item);
    return 0;
}

static int split_co(struct split *split)
{
    struct cos_flow_queue_opts opts = {.concurrency = (int)concurrency, .capacity = (size_t)count,
                                       .work = work_co, .event = heard, .arg = split};
    struct cos_flow_queue *queue = NULL;
    int err = cos_flow_queue_new(&opts, &queue);
    if (err)
        return err;
    cos_flow_queue_pause(queue);
    for (int64_t n = 1; !err && n <= count; n++)
        err = cos_flow_queue_push(queue, (void *)(uintptr_t)n, -1);
    cos_flow_queue_resume(queue);
    if (!err)
        err = cos_flow_queue_drain(queue, -1);
    cos_flow_queue_free(queue);
    return err ? err : split->err;
}

/* --- callbacks ----------------------------------------------------------------------------- */

static void work_cps(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done,
                     void *token)
{
    (void)queue;
    put(arg, item);
    done(0, token);
}

static void drained(int err, void *arg)
{
    struct split *split = arg;
    if (err && !split->err)
        split->err = err;
    cps_flow_queue_free(split->queue);
}

static int split_cps(struct split *split)
{
    struct cps_flow_queue_opts opts = {.concurrency = (int)concurrency, .capacity = (size_t)count,
                                       .work = work_cps, .event = heard, .arg = split};
    struct cps_rt *rt;
    int ran, err = cps_open(&rt);
    if (err)
        return err;
    err = cps_flow_queue_new(rt, &opts, &split->queue);
    if (!err) {
        cps_flow_queue_pause(split->queue);
        for (int64_t n = 1; !err && n <= count; n++)
            err = cps_flow_queue_add(split->queue, (void *)(uintptr_t)n, 0);
        cps_flow_queue_resume(split->queue);
        if (cps_flow_queue_drain(split->queue, -1, drained, split) < 0)
            err = COS_ENOMEM;
    }
    ran = cps_run(rt);
    cps_close(rt);
    return err ? err : ran ? ran : split->err;
}

int main(int argc, char **argv)
{
    const struct example_option options[] = {{"count", &count, 1, 1000000},
                                             {"concurrency", &concurrency, 1, COS_FLOW_MAX}, {0}};
    struct example example = {.name = "hello_task_queue", .usage = usage, .options = options};
    struct split split = {0};
    int err;
    example_start(&example, argc, argv);
    err = example.is_cps ? split_cps(&split) : split_co(&split);
    cos_shutdown();
    if (err)
        return example_fail(&example, "the queue failed", err);
    printf("even %lld\nodd %lld\nempty %lld\n", (long long)split.even, (long long)split.odd,
           (long long)split.empty);
    return example_flush(&example);
}
