/* leak_finder.c - which operations were begun and never ended? A hook counts them
 * in at init and out at destroy; at the end the ones that are left are shown with
 * the place where they were created and what led there. What to look at: COS_SITES
 * before the include makes the places our own lines. */
#define COS_SITES
#include "example.h"

#include <coscrawl-cps.h>
#include <coscrawl/libdill.h>

#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: leak_finder [--face=co|cps] [--leaks=N]\n"
                            "Runs ten timers, forgets N of them (1), and finds those.\n";

enum { LIVE_MAX = 1024 };

static int64_t leaks = 1;
static uint64_t live[LIVE_MAX];
static int nlive;

static int on_init(void *arg, uint64_t id, enum cos_hook_type type, uint64_t trigger)
{
    (void)arg, (void)type, (void)trigger;
    if (nlive == LIVE_MAX)
        return COS_EFULL;
    live[nlive++] = id;
    return 0;
}

static int on_destroy(void *arg, uint64_t id)
{
    (void)arg;
    for (int i = 0; i < nlive; i++)
        if (live[i] == id) {
            live[i] = live[--nlive];
            break;
        }
    return 0;
}

static void show_leaks(void)
{
    struct cos_buf stack;
    cos_buf_init(&stack, 16384);
    printf("%d left\n", nlive);
    for (int i = 0; i < nlive; i++) {
        cos_buf_clear(&stack);
        if (!cos_hook_stack(live[i], &stack))
            printf("%s", stack.data);
    }
    cos_buf_release(&stack);
}

/* --- what is watched ------------------------------------------------------------------------ */

static void rang(int err, void *arg)
{
    (void)err, (void)arg;
}

/* The bell that ends the run: what waits for ever would keep it going. */
static void closing(int err, void *arg)
{
    (void)err;
    cps_stop(arg);
}

static int run_cps(void)
{
    struct cps_rt *rt;
    int err = cps_open(&rt);
    if (err)
        return err;
    for (int i = 0; i < 10; i++)
        cps_sleep(rt, i < leaks ? -1 : now() + i, rang, NULL);
    cps_sleep(rt, now() + 50, closing, rt);
    return cps_run(rt);
}

static coroutine void wait_for(int64_t until)
{
    struct cos_hook_wait self;
    cos_co_begin(&self);
    cos_sleep(until);
    cos_co_end(&self);
}

static int run_co(void)
{
    int all = bundle();
    for (int i = 0; i < 10; i++) {
        struct cos_hook_wait wait;
        cos_co_pause(&wait);
        bundle_go(all, wait_for(i < leaks ? -1 : now() + i));
        cos_co_resume(&wait);
    }
    return cos_sleep(now() + 50);
}

int main(int argc, char **argv)
{
    const struct example_option options[] = {{"leaks", &leaks, 0, 10}, {0}};
    struct example example = {.name = "leak_finder", .usage = usage, .options = options};
    struct cos_hook_calls calls = {.name = "leaks", .init = on_init, .destroy = on_destroy};
    struct cos_hook *hook;
    int err;
    example_start(&example, argc, argv);
    err = cos_hook_new(&hook, &calls);
    if (!err)
        err = cos_hook_enable(hook);
    if (!err)
        err = example.is_cps ? run_cps() : run_co();
    if (err)
        return example_fail(&example, "cannot run", err);
    show_leaks();
    cos_hook_free(hook);
    return example_flush(&example);
}
