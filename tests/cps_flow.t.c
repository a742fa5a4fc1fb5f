/* cps_flow.t - control flow and recipes on the callback face. */
#include "tap.h"

#include "coscrawl-cps.h"

#include <libdill.h>
#include <string.h>

static struct cps_rt *rt;
static char trace[512];
static int started, live, peak, finals, final_err, answer;
static size_t final_count, final_index;
static int values[16];

static void reset(void)
{
    trace[0] = 0;
    started = live = peak = finals = 0;
    final_err = 77;
    final_count = 0;
}

static void final(int err, const struct cps_flow_result *result, void *arg)
{
    finals++;
    final_err = err;
    answer = result->answer;
    final_count = result->count;
    final_index = result->index;
    if (arg && result->values)
        memcpy(values, result->values, (size_t)(intptr_t)arg);
}

struct pending {
    int ms;
    size_t index;
    void *result;
    cps_cb *done;
    void *token;
};

static void timer_over(int err, void *arg)
{
    struct pending *p = arg;
    cps_cb *done = p->done;
    void *token = p->token;
    int ms = p->ms;
    live--;
    snprintf(trace + strlen(trace), sizeof trace - strlen(trace), "%zu ", p->index);
    if (p->result)
        *(int *)p->result = ms * 10;
    free(p);
    done(err ? err : ms == 13 ? COS_EIO : ms == 17 ? COS_ESTOP : 0, token);
}

static void wait_ms(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                    cps_cb *done, void *token)
{
    struct pending *p = malloc(sizeof *p);
    (void)arg;
    *p = (struct pending){*(const int *)item, index, result, done, token};
    started++;
    if (++live > peak)
        peak = live;
    cps_sleep(r, now() + p->ms, timer_over, p);
}

static void sync_even(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                      cps_cb *done, void *token)
{
    (void)r;
    (void)index;
    (void)result;
    (void)arg;
    started++;
    done(*(const int *)item % 2 == 0, token);
}

static void append(struct cps_rt *r, const void *item, size_t index, void *memo, void *arg,
                   cps_cb *done, void *token)
{
    (void)r;
    (void)index;
    (void)arg;
    *(int *)memo = *(int *)memo * 10 + *(const int *)item;
    done(0, token);
}

static void run(void)
{
    cmp_ok(finals, "==", 0, "C13 the final callback does not run inside the call");
    cps_run(rt);
    cmp_ok(finals, "==", 1, "C14 the final callback ran exactly once");
}

static void iteration(void)
{
    int waits[] = {20, 1, 10}, bad[] = {1, 13, 13, 4}, nums[] = {1, 2, 3, 4, 6};
    struct cos_flow_list list = COS_FLOW_ARRAY(waits), errors = COS_FLOW_ARRAY(bad);
    struct cos_flow_list numbers = COS_FLOW_ARRAY(nums), empty = {0};
    int memo = 0;
    reset();
    cps_flow_each(rt, &list, COS_FLOW_SERIES, wait_ms, NULL, -1, final, NULL);
    run();
    ok(!final_err && peak == 1 && !strcmp(trace, "0 1 2 "), "C20 in series");
    reset();
    cps_flow_map(rt, &list, COS_FLOW_ALL, wait_ms, sizeof(int), NULL, -1, final, (void *)12);
    run();
    ok(peak == 3 && !strcmp(trace, "1 2 0 "), "C23 side by side");
    ok(values[0] == 200 && values[1] == 10 && values[2] == 100, "C21 results in order of input");
    reset();
    cps_flow_each(rt, &list, 2, wait_ms, NULL, -1, final, NULL);
    run();
    cmp_ok(peak, "==", 2, "C25 never more than the limit");
    reset();
    cps_flow_each(rt, &list, 0, wait_ms, NULL, -1, final, NULL);
    run();
    cmp_ok(final_err, "==", COS_EINVAL, "C25 limit 0");
    reset();
    cps_flow_each(rt, &empty, 1, wait_ms, NULL, -1, final, NULL);
    run();
    cmp_ok(final_err, "==", 0, "C19 an empty list completes once, later");
    reset();
    cps_flow_each(rt, &errors, COS_FLOW_SERIES, wait_ms, NULL, -1, final, NULL);
    run();
    ok(final_err == COS_EIO && started == 2, "C20 nothing starts after an error");
    reset();
    cps_flow_each(rt, &errors, COS_FLOW_ALL, wait_ms, NULL, -1, final, NULL);
    run();
    cmp_ok(final_err, "==", COS_EIO, "C23 two errors, one report");
    reset();
    cps_flow_each(rt, &list, COS_FLOW_ALL, wait_ms, NULL, now() + 5, final, NULL);
    run();
    cmp_ok(final_err, "==", COS_ETIMEDOUT, "C23 the deadline");
    reset();
    cps_flow_some(rt, &numbers, COS_FLOW_SERIES, sync_even, NULL, -1, final, NULL);
    run();
    ok(answer == 1 && started == 2, "C21 some stops after index + 1 calls");
    reset();
    cps_flow_every(rt, &numbers, COS_FLOW_SERIES, sync_even, NULL, -1, final, NULL);
    run();
    ok(answer == 0 && started == 1, "C21 every");
    reset();
    cps_flow_detect(rt, &numbers, 1, sync_even, NULL, -1, final, NULL);
    run();
    ok(answer == 1 && final_index == 1, "C21 detect");
    reset();
    cps_flow_filter(rt, &numbers, 2, sync_even, NULL, -1, final, (void *)12);
    run();
    ok(final_count == 3 && values[0] == 2 && values[2] == 6, "C21 filter");
    reset();
    cps_flow_reject(rt, &numbers, 2, sync_even, NULL, -1, final, (void *)8);
    run();
    ok(final_count == 2 && values[1] == 3, "C21 reject");
    reset();
    cps_flow_reduce(rt, &numbers, append, &memo, sizeof memo, NULL, -1, final, (void *)4);
    run();
    cmp_ok(values[0], "==", 12346, "C21 reduce");
}

static char *lowest, *highest;
static int count_down(void *item, void *arg)
{
    int *left = arg;
    *(int *)item = 1;
    return (*left)-- > 0;
}

static void sync_step(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                      cps_cb *done, void *token)
{
    char here;
    (void)r;
    (void)item;
    (void)index;
    (void)result;
    (void)arg;
    if (!lowest || &here < lowest)
        lowest = &here;
    if (!highest || &here > highest)
        highest = &here;
    started++;
    done(0, token);
}

static void million(void)
{
    int left = 1000000;
    struct cos_flow_list gen = {.size = sizeof(int), .next = count_down, .arg = &left};
    reset();
    cps_flow_each(rt, &gen, COS_FLOW_SERIES, sync_step, NULL, -1, final, NULL);
    run();
    cmp_ok(started, "==", 1000000, "C21b a million generated items");
    cmp_ok(highest - lowest, "<", 4096, "C15 on one spot of the stack");
}

struct job {
    int ms, err;
};

static void job_over(int err, void *arg)
{
    struct pending *p = arg;
    cps_cb *done = p->done;
    void *token = p->token;
    int result = (int)p->index;
    if (p->result)
        *(int *)p->result += p->ms;
    free(p);
    done(err ? err : -result, token);
}

static void job_run(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    struct job *job = arg;
    struct pending *p = malloc(sizeof *p);
    *p = (struct pending){job->ms, (size_t)-job->err, result, done, token};
    started++;
    cps_sleep(r, now() + job->ms, job_over, p);
}

static void race_final(int err, const struct cps_flow_result *result, void *arg)
{
    (void)arg;
    finals++;
    final_err = err;
    final_count = result->count;
    if (result->winners)
        final_index = result->winners[0];
}

static void tasks(void)
{
    struct job jobs[] = {{20, 0}, {2, 0}, {5, 0}}, fails[] = {{1, COS_EIO}, {2, 0}, {9, 0}};
    struct cps_flow_task set[3], bad[3];
    int zero = 0;
    for (int i = 0; i < 3; i++) {
        set[i] = (struct cps_flow_task){job_run, &jobs[i]};
        bad[i] = (struct cps_flow_task){job_run, &fails[i]};
    }
    reset();
    cps_flow_waterfall(rt, set, 3, &zero, sizeof zero, -1, final, (void *)4);
    run();
    cmp_ok(values[0], "==", 27, "C22 waterfall");
    reset();
    cps_flow_race(rt, set, 3, 1, 0, -1, race_final, NULL);
    run();
    ok(!final_err && final_index == 1, "C24 the first to finish wins");
    reset();
    cps_flow_race(rt, bad, 3, 1, 0, -1, race_final, NULL);
    run();
    cmp_ok(final_err, "==", COS_EIO, "C24 an error wins too");
    reset();
    cps_flow_race(rt, set, 3, 4, 0, -1, race_final, NULL);
    run();
    cmp_ok(final_err, "==", COS_EINVAL, "C24 k > n");
    reset();
    cps_flow_race(rt, set, 3, 0, 0, -1, race_final, NULL);
    run();
    ok(!final_err && !started, "C24 k = 0 starts nothing");
    reset();
    cps_flow_try_each(rt, bad, 3, 0, -1, final, NULL);
    run();
    ok(!final_err && final_index == 1, "C24 try_each");
    reset();
    cps_flow_timeout(rt, &set[0], 3, 0, -1, final, NULL);
    run();
    cmp_ok(final_err, "==", COS_ETIMEDOUT, "C29b timeout");
    reset();
    cps_flow_reflect(rt, &bad[0], 0, -1, final, NULL);
    run();
    ok(!final_err && answer == COS_EIO, "C29b reflect");
    reset();
    cps_flow_retry(rt, &(struct cos_flow_retry){.tries = 3, .wait = 1}, &bad[0], 0, -1, final, NULL);
    run();
    ok(final_err == COS_EIO && started == 3, "C29b retry");
    reset();
    cps_flow_ensure_async(rt, &set[1], 0, -1, final, NULL);
    cmp_ok(started, "==", 0, "C29b ensure_async starts later");
    run();
}

static int loads, served;
static void slow_load(struct cps_rt *r, const char *key, void **value, void *arg, cps_cb *done,
                      void *token)
{
    static struct job good = {3, 0}, bad = {3, COS_EIO};
    (void)value;
    (void)arg;
    loads++;
    job_run(r, NULL, strcmp(key, "bad") ? &good : &bad, done, token);
}

static void got(int err, void *value, void *arg)
{
    (void)value;
    (void)arg;
    served += err ? 100 : 1;
}

static void get_many(struct cos_flow_cache *cache, const char *key, int n)
{
    loads = served = 0;
    for (int i = 0; i < n; i++)
        cps_flow_cache_get(rt, cache, key, slow_load, NULL, -1, got, NULL);
    cps_run(rt);
}

static void caching(void)
{
    struct cos_flow_cache *cache =
        cos_flow_cache_new(&(struct cos_flow_cache_opts){.ttl = 10000, .max = 2});
    get_many(cache, "k", 20);
    ok(loads == 1 && served == 20, "C60 twenty calls, one load, twenty results");
    get_many(cache, "k", 1);
    ok(loads == 0 && served == 1, "C61 NULL is a hit");
    get_many(cache, "bad", 3);
    ok(loads == 1 && served == 300, "C61 an error reaches all waiters");
    get_many(cache, "bad", 1);
    cmp_ok(loads, "==", 1, "C61 and is not cached");
    cos_flow_cache_free(cache);
}

static struct cos_flow_gate *gate;
static void passed_again(int err, void *arg)
{
    (void)err;
    (void)arg;
    strcat(trace, "+");
}

static void passed(int err, void *arg)
{
    strcat(trace, err ? "!" : arg);
    if (arg && *(char *)arg == '1')
        cps_flow_gate_pass(rt, gate, -1, passed_again, NULL);
}

static void initialised(int err, void *arg)
{
    (void)arg;
    finals++;
    final_err = err;
    strcat(trace, "i");
}

static void gates(void)
{
    struct job good = {3, 0}, bad = {3, COS_EIO};
    char one[] = "1", two[] = "2";
    gate = cos_flow_gate_new(0);
    reset();
    cps_flow_gate_pass(rt, gate, -1, passed, one);
    cps_flow_gate_pass(rt, gate, -1, passed, two);
    cps_flow_gate_init(rt, gate, &(struct cps_flow_task){job_run, &good}, -1, initialised, NULL);
    run();
    is(trace, "12+i", "C58 kept calls in order, calls during the replay after it, then init");
    reset();
    cps_flow_gate_init(rt, gate, &(struct cps_flow_task){job_run, &good}, -1, initialised, NULL);
    run();
    cmp_ok(final_err, "==", COS_ESTATE, "C58 a second init is an error");
    cos_flow_gate_free(gate);
    gate = cos_flow_gate_new(0);
    reset();
    cps_flow_gate_pass(rt, gate, -1, passed, two);
    cps_flow_gate_init(rt, gate, &(struct cps_flow_task){job_run, &bad}, -1, initialised, NULL);
    run();
    is(trace, "!i", "C58 a failed init fails every kept call");
    cos_flow_gate_free(gate);
}

static int events[8], items_done, errors_done;
static void on_event(enum cos_flow_event event, void *item, int err, void *arg)
{
    (void)item;
    (void)err;
    (void)arg;
    events[event]++;
}

static void on_done(void *item, int err, void *arg)
{
    (void)item;
    (void)arg;
    items_done++;
    errors_done += err != 0;
}

static void quick(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done, void *token)
{
    (void)queue;
    (void)arg;
    done((intptr_t)item % 2 ? COS_EIO : 0, token);
}

static void slow_over(int err, void *arg)
{
    struct pending *p = arg;
    cps_cb *done = p->done;
    void *token = p->token;
    live--;
    free(p);
    done(err, token);
}

static void slow(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done, void *token)
{
    struct pending *p = malloc(sizeof *p);
    (void)queue;
    (void)item;
    (void)arg;
    *p = (struct pending){.done = done, .token = token};
    if (++live > peak)
        peak = live;
    cps_sleep(rt, now() + 1, slow_over, p);
}

static int pushed_in;
static void pushed(int err, void *arg)
{
    (void)arg;
    pushed_in += err == 0;
}

static void queues(void)
{
    struct cps_flow_queue *queue;
    struct cps_flow_queue_opts opts = {.concurrency = 2, .work = quick, .done = on_done,
                                       .event = on_event};
    cps_flow_queue_new(rt, &opts, &queue);
    for (intptr_t i = 0; i < 10; i++)
        cps_flow_queue_push(queue, (void *)i, -1, pushed, NULL);
    cmp_ok(items_done, "==", 0, "C13 push runs nothing inside the call");
    cps_run(rt);
    ok(items_done == 10 && errors_done == 5, "C28 errors never stop the queue");
    cmp_ok(events[COS_FLOW_EMPTY], "==", 1, "C29 ten synchronous tasks, one empty");
    cmp_ok(pushed_in, "==", 10, "C27b every producer heard that its item is in");
    cps_flow_queue_free(queue);

    reset();
    pushed_in = 0;
    opts.work = slow;
    opts.concurrency = 3;
    opts.capacity = 4;
    opts.overflow = 2;
    cps_flow_queue_new(rt, &opts, &queue);
    for (intptr_t i = 0; i < 20; i++)
        cps_flow_queue_push(queue, (void *)i, -1, pushed, NULL);
    cmp_ok(cps_flow_queue_waiting(queue), "==", 20, "C27b four wait inside, the rest for room");
    cmp_ok(cps_flow_queue_add(queue, NULL, 0), "==", 0, "C27b the overflow takes more");
    cps_flow_queue_add(queue, NULL, 0);
    cmp_ok(cps_flow_queue_add(queue, NULL, 0), "==", COS_EFULL, "C27b up to its ceiling");
    cps_run(rt);
    cmp_ok(pushed_in, "==", 20, "C27b all came in in the end");
    cmp_ok(peak, "==", 3, "C25 never more than the limit");
    cps_flow_queue_free(queue);
}

int main(void)
{
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    iteration();
    million();
    tasks();
    caching();
    gates();
    queues();
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
