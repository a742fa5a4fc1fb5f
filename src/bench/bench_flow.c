/* bench_flow.c - what a step of control flow costs, on both faces.
 *
 * Rows run in this process, several rounds each, interleaved; the least CPU time
 * counts. Instructions come from callgrind (bench_flow.sh runs a row twice, short
 * and long, and divides the difference), so start-up does not count:
 *     bench_flow                 the table
 *     bench_flow ROW STEPS       one row, for callgrind */
#define DILL_DISABLE_RAW_NAMES
#include "coscrawl-cps.h"

#include <inttypes.h>
#include <libdill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, STEPS = 200000 };

static struct cps_rt *rt;

static void must(int err, const char *what)
{
    if (err >= 0)
        return;
    fprintf(stderr, "bench-flow: %s: %s\n", what, cos_strerror(err));
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* --- cps: one deferred step after the other -------------------------------------------- */

static void deferred_step(int err, void *arg)
{
    long *left = arg;
    (void)err;
    if (--*left > 0)
        must(cps_defer(rt, deferred_step, left), "cps_defer");
}

static void run_cps_step(long n)
{
    must(cps_defer(rt, deferred_step, &n), "cps_defer");
    must(cps_run(rt), "cps_run");
}

/* --- each, in series, jobs that answer at once -------------------------------------------- */

static int next_long(void *item, void *arg)
{
    long *left = arg;
    *(long *)item = *left;
    return (*left)-- > 0;
}

static void cps_job(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                    cps_cb *done, void *token)
{
    (void)r;
    (void)item;
    (void)index;
    (void)result;
    (void)arg;
    done(0, token);
}

static void cps_end(int err, const struct cps_flow_result *result, void *arg)
{
    (void)result;
    (void)arg;
    must(err, "each");
}

static void run_cps_each(long n)
{
    struct cos_flow_list list = {.size = sizeof n, .next = next_long, .arg = &n};
    cps_flow_each(rt, &list, COS_FLOW_SERIES, cps_job, NULL, -1, cps_end, NULL);
    must(cps_run(rt), "cps_run");
}

static int co_job(const void *item, size_t index, void *result, void *arg)
{
    (void)item;
    (void)index;
    (void)result;
    (void)arg;
    return 0;
}

static void run_co_each(long n)
{
    struct cos_flow_list list = {.size = sizeof n, .next = next_long, .arg = &n};
    must(cos_flow_each(&list, COS_FLOW_SERIES, co_job, NULL, -1), "each");
}

/* --- the queue ------------------------------------------------------------------------------ */

static int queue_work(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue;
    (void)item;
    (void)arg;
    return 0;
}

/* Keeps `waiting` items in the queue while n pass through it. */
static void run_co_queue(long n, long waiting)
{
    struct cos_flow_queue_opts opts = {.concurrency = 4, .capacity = (size_t)waiting,
                                       .work = queue_work};
    struct cos_flow_queue *queue;
    must(cos_flow_queue_new(&opts, &queue), "queue");
    for (long i = 0; i < n; i++)
        must(cos_flow_queue_push(queue, &opts, -1), "push");
    must(cos_flow_queue_drain(queue, -1), "drain");
    cos_flow_queue_free(queue);
}

static void run_co_queue_100(long n)
{
    run_co_queue(n, 100);
}

static void run_co_queue_100k(long n)
{
    run_co_queue(n, 100000);
}

static void cps_work(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done, void *token)
{
    (void)queue;
    (void)item;
    (void)arg;
    done(0, token);
}

static void run_cps_queue_of(long n, long waiting)
{
    struct cps_flow_queue_opts opts = {.concurrency = 4, .capacity = (size_t)waiting,
                                       .work = cps_work};
    struct cps_flow_queue *queue;
    must(cps_flow_queue_new(rt, &opts, &queue), "queue");
    for (long i = 0; i < n;) {
        for (long j = 0; j < waiting && i < n; j++, i++)
            must(cps_flow_queue_add(queue, &opts, 0), "add");
        must(cps_run(rt), "cps_run");
    }
    cps_flow_queue_free(queue);
}

static void run_cps_queue_100(long n)
{
    run_cps_queue_of(n, 100);
}

static void run_cps_queue_100k(long n)
{
    run_cps_queue_of(n, 100000);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct row {
    const char *name, *what;
    void (*run)(long n);
} rows[] = {
    {"cps-step", "cps: a deferred step", run_cps_step},
    {"cps-each", "cps: each in series, a job that answers at once", run_cps_each},
    {"co-each", "co:  each in series, a job that does not suspend", run_co_each},
    {"cps-queue-100", "cps: queue task, 100 waiting", run_cps_queue_100},
    {"cps-queue-100k", "cps: queue task, 100,000 waiting", run_cps_queue_100k},
    {"co-queue-100", "co:  queue task, 100 waiting", run_co_queue_100},
    {"co-queue-100k", "co:  queue task, 100,000 waiting", run_co_queue_100k},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int one_row(const char *name, long n)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name)) {
            rows[i].run(n);
            return 0;
        }
    fprintf(stderr, "bench-flow: no row '%s'\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    double best[ROWS] = {0};
    must(cps_open(&rt), "cps_open");
    if (argc == 3)
        return one_row(argv[1], atol(argv[2]));
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < ROWS; i++) {
            double start = cpu_ns(), ns;
            rows[i].run(STEPS);
            ns = (cpu_ns() - start) / STEPS;
            if (!round || ns < best[i])
                best[i] = ns;
        }
    for (size_t i = 0; i < ROWS; i++)
        printf("%s\t%.1f\t%s\n", rows[i].name, best[i], rows[i].what);
    cps_close(rt);
    return cos_shutdown() != 0;
}
