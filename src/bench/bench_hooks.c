/* bench_hooks.c - what the hooks cost a step: `bench_hooks STEP MODE N` runs a
 * step N times and prints nothing; bench_hooks.sh counts its instructions at two
 * N and divides. The same source is built twice, bench_hooks_out with the
 * emission points compiled out (COS_NO_HOOKS in the files on the steps' path).
 *
 * MODE: off, or on: one hook with four empty callbacks. */
#define DILL_DISABLE_RAW_NAMES
#include "coscrawl-cps.h"
#include "cps_flow.h"

#include <libdill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cps_rt *rt;
static long left;

static int on_init(void *arg, uint64_t id, enum cos_hook_type type, uint64_t trigger)
{
    (void)arg, (void)id, (void)type, (void)trigger;
    return 0;
}

static int on_run(void *arg, uint64_t id, int flag)
{
    (void)arg, (void)id, (void)flag;
    return 0;
}

static int on_destroy(void *arg, uint64_t id)
{
    (void)arg, (void)id;
    return 0;
}

/* --- the steps ------------------------------------------------------------------------ */

static void again_sleep(int err, void *arg)
{
    (void)err, (void)arg;
    if (left-- > 0)
        cps_sleep(rt, dill_now(), again_sleep, NULL);
}

static void cps_sleeps(void)
{
    again_sleep(0, NULL);
    cps_run(rt);
}

static void co_sleeps(void)
{
    while (left-- > 0)
        cos_sleep(dill_now());
}

static void got_file(int err, struct cos_buf *data, void *arg);

static void again_file(void)
{
    if (left-- > 0)
        cps_file_read(rt, "/dev/null", 1, -1, got_file, NULL);
}

static void got_file(int err, struct cos_buf *data, void *arg)
{
    (void)err, (void)data, (void)arg;
    again_file();
}

static void cps_files(void)
{
    again_file();
    cps_run(rt);
}

static void co_files(void)
{
    struct cos_buf buf;
    cos_buf_init(&buf, 64);
    while (left-- > 0)
        cos_file_read("/dev/null", &buf, -1);
    cos_buf_release(&buf);
}

static struct cos_future *future;

static void again_await(int err, void *value, void *arg)
{
    (void)err, (void)value, (void)arg;
    if (left-- > 0)
        cps_await(rt, future, -1, again_await, NULL);
}

static void cps_awaits(void)
{
    future = cos_future_new(NULL);
    cos_future_set(future, 0, NULL);
    again_await(0, NULL, NULL);
    cps_run(rt);
    cos_future_free(future);
}

static int work(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue, (void)item, (void)arg;
    return dill_yield();
}

static void co_queue(void)
{
    struct cos_flow_queue_opts opts = {.concurrency = 4, .work = work};
    struct cos_flow_queue *queue;
    if (cos_flow_queue_new(&opts, &queue))
        exit(1);
    while (left-- > 0)
        cos_flow_queue_push(queue, NULL, -1);
    cos_flow_queue_drain(queue, -1);
    cos_flow_queue_free(queue);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } steps[] = {{"cps-sleep", cps_sleeps}, {"co-sleep", co_sleeps},   {"cps-await", cps_awaits},
                 {"co-queue", co_queue},    {"cps-file", cps_files},   {"co-file", co_files}};
    struct cos_hook_calls calls = {.name = "empty", .init = on_init, .before = on_run,
                                   .after = on_run, .destroy = on_destroy};
    struct cos_hook *hook = NULL;
    size_t i = 0, n = sizeof steps / sizeof steps[0];
    if (argc != 4 || cps_open(&rt))
        return 2;
    left = atol(argv[3]);
    while (i < n && strcmp(steps[i].name, argv[1]) != 0)
        i++;
    if (i == n || (!strcmp(argv[2], "on") &&
                   (cos_hook_new(&hook, &calls) || cos_hook_enable(hook))))
        return 2;
    steps[i].run();
    cos_hook_free(hook);
    cps_close(rt);
    cos_shutdown();
    return 0;
}
