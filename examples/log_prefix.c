/* log_prefix.c - a server whose log lines say which request they belong to, though
 * no function hands the request on: its number is a local value (cos_local_set)
 * that every operation inherits from whoever created it. What to look at: work()
 * and its callbacks know nothing of requests, and the requests overlap. */
#include "example.h"

#include <coscrawl-cps.h>
#include <coscrawl/libdill.h>

#include <stdio.h>

static const char usage[] = "usage: log_prefix [--face=co|cps] [--requests=N]\n"
                            "Serves N requests (3) side by side and logs their steps.\n";

static const struct cos_local request = {.name = "request"};
static int64_t requests = 3;
static const int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static void log_line(const char *text)
{
    const int *number = cos_local_get(&request);
    printf("[%d] %s\n", number ? *number : 0, text);
}

/* --- coroutines ---------------------------------------------------------------------------- */

static void work(void)
{
    log_line("read");
    cos_sleep(now() + 10);
    log_line("written");
}

static coroutine void serve(const int *number)
{
    struct cos_hook_wait self;
    cos_co_begin(&self);
    cos_local_set(&request, (void *)(uintptr_t)number);
    work();
    cos_co_end(&self);
    cos_local_clear();
}

static int run_co(void)
{
    int all = bundle();
    for (int i = 0; i < requests; i++) {
        struct cos_hook_wait wait;
        cos_co_pause(&wait);
        bundle_go(all, serve(&numbers[i]));
        cos_co_resume(&wait);
    }
    cos_sleep(now() + 40);
    log_line("end");
    return hclose(all);
}

/* --- callbacks ----------------------------------------------------------------------------- */

static void written(int err, void *arg)
{
    (void)err, (void)arg;
    log_line("written");
}

static void start_work(struct cps_rt *rt)
{
    log_line("read");
    cps_sleep(rt, now() + 10, written, NULL);
}

static int serve_in(void *rt)
{
    start_work(rt);
    return 0;
}

static int run_cps(void)
{
    struct cps_rt *rt;
    int err = cps_open(&rt);
    for (int i = 0; !err && i < requests; i++)
        err = cos_local_run(&request, (void *)(uintptr_t)&numbers[i], serve_in, rt);
    if (!err)
        err = cps_run(rt);
    log_line("end");
    cps_close(rt);
    return err;
}

int main(int argc, char **argv)
{
    const struct example_option options[] = {{"requests", &requests, 1, 9}, {0}};
    struct example example = {.name = "log_prefix", .usage = usage, .options = options};
    int err;
    example_start(&example, argc, argv);
    err = example.is_cps ? run_cps() : run_co();
    cos_shutdown();
    return err ? example_fail(&example, "cannot serve", err) : example_flush(&example);
}
