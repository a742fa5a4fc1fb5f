/* slow_lookup.c - which name lookups are slow? A hook on the type "dns" notes when
 * each begins and ends; the program only fetches. What to look at: nothing in the
 * fetching code knows that it is watched, on either face. */
#include "example.h"

#include <coscrawl-cps.h>
#include <coscrawl/libdill.h>

#include <stdio.h>

static const char usage[] =
    "usage: slow_lookup [--face=co|cps] [--limit=MS] HOST...\n"
    "Looks the hosts up and names the lookups that took longer than the limit (100 ms).\n";

enum { LOOKUPS = 256 };

static int64_t limit = 100;
static struct {
    uint64_t id;
    int64_t began;
} lookups[LOOKUPS];
static int slow;

static int on_init(void *arg, uint64_t id, enum cos_hook_type type, uint64_t trigger)
{
    (void)arg, (void)type, (void)trigger;
    lookups[id % LOOKUPS].id = id;
    lookups[id % LOOKUPS].began = now();
    return 0;
}

static int on_before(void *arg, uint64_t id, int entry)
{
    int64_t took = now() - lookups[id % LOOKUPS].began;
    (void)arg, (void)entry;
    if (lookups[id % LOOKUPS].id == id && took > limit)
        printf("lookup %d took %d ms\n", ++slow, (int)took);
    return 0;
}

/* --- what is watched ------------------------------------------------------------------------ */

static void look_up_co(char **hosts, int n)
{
    struct cos_addrs addrs;
    for (int i = 0; i < n; i++)
        cos_resolve(hosts[i], 4, &addrs, -1);
}

static void found(int err, const struct cos_addrs *addrs, void *arg)
{
    (void)err, (void)addrs, (void)arg;
}

static int look_up_cps(char **hosts, int n)
{
    struct cps_rt *rt;
    int err = cps_open(&rt);
    if (err)
        return err;
    for (int i = 0; i < n; i++)
        cps_resolve(rt, hosts[i], 4, -1, found, NULL);
    err = cps_run(rt);
    cps_close(rt);
    return err;
}

int main(int argc, char **argv)
{
    const struct example_option options[] = {{"limit", &limit, 1, 60000}, {0}};
    struct example example = {.name = "slow_lookup", .usage = usage, .options = options,
                              .min_operands = 1, .max_operands = 64};
    struct cos_hook_calls calls = {.name = "slow lookups", .types = 1u << COS_HOOK_DNS,
                                   .init = on_init, .before = on_before};
    struct cos_hook *hook;
    int err;
    example_start(&example, argc, argv);
    err = cos_hook_new(&hook, &calls);
    if (!err)
        err = cos_hook_enable(hook);
    if (!err && example.is_cps)
        err = look_up_cps(example.args, example.nargs);
    else if (!err)
        look_up_co(example.args, example.nargs);
    if (err)
        return example_fail(&example, "cannot look", err);
    printf("%d of %d\n", slow, example.nargs);
    cos_hook_free(hook);
    cos_shutdown();
    return example_flush(&example);
}
