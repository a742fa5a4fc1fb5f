/* static_sequence.c - three tasks, known in advance, one after the other. They
 * wait 500, 100 and 200 ms: called one after the other without waiting for their
 * ends they end 2, 3, 1, in sequence 1, 2, 3. What to look at: a coroutine's
 * sequence is three lines; a callback's is three functions, each of which starts
 * the next. */
#include "example.h"

#include <coscrawl-cps.h>
#include <coscrawl/libdill.h>

#include <stdio.h>

static const char usage[] =
    "usage: static_sequence [--face=co|cps] [--unit=MS]\n"
    "Shows in which order three tasks end that wait 5, 1 and 2 units (100 ms each):\n"
    "started at once, and in sequence.\n";

static int64_t unit = 100;
static const int units[] = {5, 1, 2};

static int64_t end_of(int task)
{
    return now() + unit * units[task - 1];
}

static void ended(int task)
{
    printf(" %d", task);
}

/* --- coroutines ---------------------------------------------------------------------------- */

static int do_task(int task)
{
    int err = cos_sleep(end_of(task));
    if (!err)
        ended(task);
    return err;
}

static coroutine void start_task(int task)
{
    do_task(task);
}

static int naive_co(void)
{
    int all = bundle(), err = all < 0 ? COS_ENOMEM : 0;
    for (int task = 1; !err && task <= 3; task++)
        err = bundle_go(all, start_task(task)) ? COS_ENOMEM : 0;
    if (!err && bundle_wait(all, -1))
        err = COS_ECANCELED;
    if (all >= 0)
        hclose(all);
    return err;
}

static int sequence_co(void)
{
    int err = do_task(1);
    if (!err)
        err = do_task(2);
    if (!err)
        err = do_task(3);
    return err;
}

/* --- callbacks ----------------------------------------------------------------------------- */

struct run {
    struct cps_rt *rt;
    int err;
};

/* 0 keeps what went wrong before. */
static void note(struct run *run, int64_t outcome)
{
    if (outcome < 0 && !run->err)
        run->err = (int)outcome;
}

static void naive_ended(int err, void *arg)
{
    const int *wait = arg;
    if (!err)
        ended((int)(wait - units) + 1);
}

static void naive_cps(struct run *run)
{
    for (int task = 1; task <= 3; task++)
        note(run, cps_sleep(run->rt, end_of(task), naive_ended, (void *)(units + task - 1)));
}

static void ended3(int err, void *arg)
{
    note(arg, err);
    if (!err)
        ended(3);
}

static void ended2(int err, void *arg)
{
    struct run *run = arg;
    note(run, err);
    if (err)
        return;
    ended(2);
    note(run, cps_sleep(run->rt, end_of(3), ended3, run));
}

static void ended1(int err, void *arg)
{
    struct run *run = arg;
    note(run, err);
    if (err)
        return;
    ended(1);
    note(run, cps_sleep(run->rt, end_of(2), ended2, run));
}

static void sequence_cps(struct run *run)
{
    note(run, cps_sleep(run->rt, end_of(1), ended1, run));
}

static int run_cps(void (*start)(struct run *run))
{
    struct run run = {0};
    int err = cps_open(&run.rt);
    if (err)
        return err;
    start(&run);
    note(&run, cps_run(run.rt));
    cps_close(run.rt);
    return run.err;
}

int main(int argc, char **argv)
{
    const struct example_option options[] = {{"unit", &unit, 1, 10000}, {0}};
    struct example example = {.name = "static_sequence", .usage = usage, .options = options};
    int err;
    example_start(&example, argc, argv);
    fputs("naive:", stdout);
    err = example.is_cps ? run_cps(naive_cps) : naive_co();
    if (!err) {
        fputs("\nsequence:", stdout);
        err = example.is_cps ? run_cps(sequence_cps) : sequence_co();
    }
    putchar('\n');
    cos_shutdown();
    return err ? example_fail(&example, "cannot wait", err) : example_flush(&example);
}
