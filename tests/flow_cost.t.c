/* flow_cost.t - an item costs the same with 100,000 waiting as with 100: the
 * backlog is a ring and no shifted array. Counted in instructions where the
 * machine lets us, in CPU time with a wide margin where not: shifting would cost
 * hundreds of times more. The full tier counts instructions under callgrind. */
#include "tap.h"

#include "coscrawl-cps.h"

#include <libdill.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 100000, FEW = 100, ROUNDS = 5 };

static struct cps_rt *rt;
static int counter = -1;

static void open_counter(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .size = sizeof attr,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1};
    counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static double spent(void)
{
    struct timespec ts;
    long long count = 0;
    if (counter >= 0 && read(counter, &count, sizeof count) == sizeof count && count > 0)
        return (double)count;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int done_items;
static int work(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue, (void)item, (void)arg;
    done_items++;
    return 0;
}

static void cps_work(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done,
                     void *token)
{
    (void)queue, (void)item, (void)arg;
    done_items++;
    done(0, token);
}

/* Fills the queue with so many and lets it run dry, again and again. */
static void co_pass(long waiting)
{
    struct cos_flow_queue_opts opts = {.concurrency = 1, .capacity = (size_t)waiting,
                                       .work = work};
    struct cos_flow_queue *queue;
    if (cos_flow_queue_new(&opts, &queue))
        BAIL_OUT("no queue");
    for (long i = 0; i < ITEMS; i += waiting) {
        for (long j = 0; j < waiting; j++)
            cos_flow_queue_push(queue, &opts, -1);
        cos_flow_queue_drain(queue, -1);
    }
    cos_flow_queue_free(queue);
}

static void cps_pass(long waiting)
{
    struct cps_flow_queue_opts opts = {.concurrency = 1, .capacity = (size_t)waiting,
                                       .work = cps_work};
    struct cps_flow_queue *queue;
    if (cps_flow_queue_new(rt, &opts, &queue))
        BAIL_OUT("no queue");
    for (long i = 0; i < ITEMS; i += waiting) {
        for (long j = 0; j < waiting; j++)
            cps_flow_queue_add(queue, &opts, 0);
        cps_run(rt);
    }
    cps_flow_queue_free(queue);
}

static double least(void (*go_round)(long), long waiting)
{
    double best = 0, start, cost;
    for (int i = 0; i < ROUNDS; i++) {
        start = spent();
        go_round(waiting);
        cost = (spent() - start) / ITEMS;
        if (!i || cost < best)
            best = cost;
    }
    return best;
}

static void compare(const char *face, void (*go_round)(long))
{
    double few = least(go_round, FEW), many = least(go_round, ITEMS);
    double bound = counter >= 0 ? 1.15 : 8;
    note("%s: %.1f with 100 waiting, %.1f with 100,000 (%s)", face, few, many,
         counter >= 0 ? "instructions" : "ns");
    ok(many < few * bound, "C27 %s: 100,000 waiting items at the cost of 100", face);
}

/* Instructions of this program with these arguments, or 0. */
static double callgrind(const char *self, const char *face, long waiting)
{
    char command[1024], line[512];
    double count = 0;
    FILE *f;
    snprintf(command, sizeof command,
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null %s %s %ld 2>&1", self, face,
             waiting);
    f = popen(command, "r");
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "Collected :"))
            sscanf(strstr(line, "Collected :"), "Collected : %lf", &count);
    if (f)
        pclose(f);
    return count;
}

static void count_instructions(const char *self, const char *face)
{
    double base = callgrind(self, face, 0);
    double few = (callgrind(self, face, FEW) - base) / ITEMS;
    double many = (callgrind(self, face, ITEMS) - base) / ITEMS;
    note("%s: %.1f instructions with 100 waiting, %.1f with 100,000", face, few, many);
    ok(base > 0 && many < few * 1.15, "C27 %s: the same number of instructions", face);
}

/* Under callgrind: one pass of one face, or none. */
static int one_pass(const char *face, long waiting)
{
    if (waiting > 0)
        (strcmp(face, "co") ? cps_pass : co_pass)(waiting);
    cps_close(rt);
    return cos_shutdown();
}

int main(int argc, char **argv)
{
    const char *tier = getenv("TEST_TIER");
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    if (argc == 3)
        return one_pass(argv[1], atol(argv[2]));
    plan(NO_PLAN);
    open_counter();
    compare("co", co_pass);
    compare("cps", cps_pass);
    cmp_ok(done_items, "==", 2 * 2 * ROUNDS * ITEMS, "C27 every item was run");
    if (tier && !strcmp(tier, "full") && counter < 0) {
        count_instructions(argv[0], "co");
        count_instructions(argv[0], "cps");
    }
    cps_close(rt);
    done_testing();
}
