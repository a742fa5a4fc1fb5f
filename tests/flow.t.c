/* flow.t - control flow and recipes on the coroutine face. */
#include "tap.h"

#include "base/err.h"
#include "flow/cache.h"
#include "flow/flow.h"
#include "flow/gate.h"
#include "flow/once.h"

#include <libdill.h>
#include <string.h>

static char trace[512];
static int started, ended, live, peak;

static void reset(void)
{
    trace[0] = 0;
    started = ended = live = peak = 0;
}

static int wait_ms(const void *item, size_t index, void *result, void *arg)
{
    int ms = *(const int *)item;
    (void)arg;
    started++;
    if (++live > peak)
        peak = live;
    if (ms && msleep(now() + ms) < 0) {
        live--;
        return COS_ECANCELED;
    }
    live--;
    ended++;
    snprintf(trace + strlen(trace), sizeof trace - strlen(trace), "%zu ", index);
    if (result)
        *(int *)result = ms * 10;
    return ms == 13 ? COS_EIO : ms == 17 ? COS_ESTOP : 0;
}

static int is_even(const void *item, size_t index, void *result, void *arg)
{
    (void)index;
    (void)result;
    ++*(int *)arg;
    return *(const int *)item % 2 == 0;
}

static int twice(const void *item, size_t index, void *result, void *arg)
{
    (void)arg;
    (void)index;
    for (int i = 0; i < 2; i++)
        cos_buf_addf(result, "%d,", *(const int *)item);
    return 0;
}

static int append(const void *item, size_t index, void *memo, void *arg)
{
    (void)arg;
    (void)index;
    *(int *)memo = *(int *)memo * 10 + *(const int *)item;
    return 0;
}

static void iteration(void)
{
    int waits[] = {9, 1, 5}, bad[] = {1, 13, 3, 4}, stop[] = {0, 17, 0}, out[3] = {0};
    int numbers[] = {1, 2, 3, 4, 6}, kept[5], calls = 0, memo = 0;
    size_t n = 0, index = 99;
    struct cos_flow_list list = COS_FLOW_ARRAY(waits), empty = {0};
    struct cos_flow_list nums = COS_FLOW_ARRAY(numbers);
    struct cos_buf joined;
    reset();
    cmp_ok(cos_flow_each(&list, COS_FLOW_SERIES, wait_ms, NULL, -1), "==", 0, "C20 series");
    is(trace, "0 1 2 ", "C20 one after the other");
    cmp_ok(peak, "==", 1, "C20 one at a time");
    reset();
    cmp_ok(cos_flow_map(&list, COS_FLOW_ALL, wait_ms, out, sizeof out[0], NULL, -1), "==", 0,
           "C21 map");
    is(trace, "1 2 0 ", "C23 side by side, ends by duration");
    ok(out[0] == 90 && out[1] == 10 && out[2] == 50, "C21 results in the order of the input");
    reset();
    cos_flow_each(&list, 2, wait_ms, NULL, -1);
    cmp_ok(peak, "==", 2, "C25 never more than the limit");
    cmp_ok(cos_flow_each(&list, 0, wait_ms, NULL, -1), "==", COS_EINVAL, "C25 limit 0");
    cmp_ok(cos_flow_each(&empty, 4, wait_ms, NULL, -1), "==", 0, "C19 an empty list succeeds");
    reset();
    list = COS_FLOW_ARRAY(bad);
    cmp_ok(cos_flow_each(&list, COS_FLOW_SERIES, wait_ms, NULL, -1), "==", COS_EIO, "C20 error");
    cmp_ok(started, "==", 2, "C20 nothing starts after an error");
    reset();
    cmp_ok(cos_flow_each(&list, 2, wait_ms, NULL, -1), "==", COS_EIO, "C25 error with a limit");
    cmp_ok(live, "==", 0, "C25 what ran was cancelled and has ended");
    reset();
    list = COS_FLOW_ARRAY(stop);
    cmp_ok(cos_flow_each(&list, COS_FLOW_SERIES, wait_ms, NULL, -1), "==", 0, "C21 a stop is no error");
    cmp_ok(ended, "==", 2, "C21 and ends the loop");
    list = COS_FLOW_ARRAY(waits);
    cmp_ok(cos_flow_each(&list, COS_FLOW_ALL, wait_ms, NULL, now() + 3), "==", COS_ETIMEDOUT,
           "C23 the deadline");
    cmp_ok(live, "==", 0, "C23 cancels what ran");

    cmp_ok(cos_flow_some(&nums, COS_FLOW_SERIES, is_even, &calls, -1), "==", 1, "C21 some");
    cmp_ok(calls, "==", 2, "C21 some stops after index + 1 calls");
    calls = 0;
    cmp_ok(cos_flow_every(&nums, COS_FLOW_SERIES, is_even, &calls, -1), "==", 0, "C21 every");
    cmp_ok(calls, "==", 1, "C21 every stops at the first no");
    cmp_ok(cos_flow_every(&empty, 1, is_even, &calls, -1), "==", 1, "C21 every of nothing");
    cmp_ok(cos_flow_detect(&nums, 2, is_even, &index, &calls, -1), "==", 1, "C21 detect");
    cmp_ok(index, "==", 1, "C21 detect says which");
    cos_flow_filter(&nums, 3, is_even, kept, &n, &calls, -1);
    ok(n == 3 && kept[0] == 2 && kept[2] == 6, "C21 filter");
    cos_flow_reject(&nums, 3, is_even, kept, &n, &calls, -1);
    ok(n == 2 && kept[0] == 1 && kept[1] == 3, "C21 reject");
    cos_flow_reduce(&nums, append, &memo, NULL, -1);
    cmp_ok(memo, "==", 12346, "C21 reduce, a function that does not commute");
    cos_buf_init(&joined, 100);
    cos_flow_concat(&nums, COS_FLOW_ALL, twice, &joined, NULL, -1);
    is(joined.data, "1,1,2,2,3,3,4,4,6,6,", "C21 concat");
    cos_buf_release(&joined);
}

static int countdown(void *item, void *arg)
{
    int *left = arg;
    *(int *)item = *left;
    return (*left)-- > 0;
}

static int add_up(const void *item, size_t index, void *result, void *arg)
{
    (void)index;
    (void)result;
    *(long long *)arg += *(const int *)item;
    return 0;
}

static int still(void *arg)
{
    return *(int *)arg < 5;
}

static int one_more(void *arg)
{
    return ++*(int *)arg == 50 ? COS_ESTOP : 0;
}

static void sources(void)
{
    int left = 1000000, i = 0;
    long long sum = 0;
    struct cos_flow_list gen = {.size = sizeof(int), .next = countdown, .arg = &left};
    cmp_ok(cos_flow_each(&gen, 8, add_up, &sum, -1), "==", 0, "C21b a generator");
    cmp_ok(sum, "==", 500000500000LL, "C21b a million generated items");
    cos_flow_whilst(still, one_more, &i, -1);
    cmp_ok(i, "==", 5, "C21 whilst");
    cmp_ok(cos_flow_forever(one_more, &i, -1), "==", 0, "C21 forever, ended by a stop");
    cmp_ok(i, "==", 50, "C21 forever");
}

struct job {
    int ms, err;
};

static int job_run(void *result, void *arg)
{
    struct job *job = arg;
    started++;
    if (job->ms && msleep(now() + job->ms) < 0) {
        live--;
        return COS_ECANCELED;
    }
    ended++;
    if (result)
        *(int *)result += job->ms;
    return job->err;
}

static void tasks(void)
{
    struct job jobs[] = {{200, 0}, {2, 0}, {100, 0}}, fails[] = {{1, COS_EIO}, {2, 0}, {9, 0}};
    struct cos_flow_task set[3], bad[3];
    size_t winners[3] = {9, 9, 9};
    int value = 0, outcome = 7;
    for (int i = 0; i < 3; i++) {
        set[i] = (struct cos_flow_task){job_run, &jobs[i]};
        bad[i] = (struct cos_flow_task){job_run, &fails[i]};
    }
    cmp_ok(cos_flow_waterfall(set, 3, &value, -1), "==", 0, "C22 waterfall");
    cmp_ok(value, "==", 302, "C22 the value passed on");
    reset();
    cmp_ok(cos_flow_race(set, 3, 1, winners, NULL, 0, -1), "==", 0, "C24 race");
    cmp_ok(winners[0], "==", 1, "C24 the first to finish wins");
    cmp_ok(ended, "==", 1, "C24 the losers are cancelled");
    cmp_ok(cos_flow_race(set, 3, 2, winners, NULL, 0, -1), "==", 0, "C24 first two");
    ok(winners[0] == 1 && winners[1] == 2, "C24 in the order they came in");
    cmp_ok(cos_flow_race(bad, 3, 1, winners, NULL, 0, -1), "==", COS_EIO, "C24 an error wins too");
    reset();
    cmp_ok(cos_flow_race(set, 3, 0, winners, NULL, 0, -1), "==", 0, "C24 k = 0");
    cmp_ok(started, "==", 0, "C24 starts nothing");
    cmp_ok(cos_flow_race(set, 3, 4, winners, NULL, 0, -1), "==", COS_EINVAL, "C24 k > n");
    cmp_ok(cos_flow_try_each(bad, 3, winners, NULL, 0, -1), "==", 0, "C24 try_each");
    cmp_ok(winners[0], "==", 1, "C24 the second succeeded");
    cmp_ok(cos_flow_timeout(&set[0], 3, NULL, -1), "==", COS_ETIMEDOUT, "C29b timeout");
    cmp_ok(cos_flow_reflect(&bad[0], &outcome, NULL, -1), "==", 0, "C29b reflect never fails");
    cmp_ok(outcome, "==", COS_EIO, "C29b and tells the outcome");
    reset();
    cmp_ok(cos_flow_retry(&(struct cos_flow_retry){.tries = 3, .wait = 1}, &bad[0], NULL, -1), "==",
           COS_EIO, "C29b retry gives up");
    cmp_ok(started, "==", 3, "C29b after its tries");
}

static int note_name(void *result, void *arg)
{
    (void)result;
    strcat(trace, arg);
    return 0;
}

static void graph(void)
{
    const char *ab[] = {"a", "b", NULL}, *c[] = {"c", NULL}, *d[] = {"d", NULL}, *x[] = {"x", NULL};
    struct cos_flow_node nodes[] = {{"d", c, {note_name, (char []){"d"}}},
                                    {"c", ab, {note_name, (char []){"c"}}},
                                    {"b", NULL, {note_name, (char []){"b"}}},
                                    {"a", NULL, {note_name, (char []){"a"}}}};
    reset();
    cmp_ok(cos_flow_auto(nodes, 4, 2, NULL, 0, -1), "==", 0, "C22 auto");
    is(trace, "bacd", "C22 each after what it needs");
    nodes[3].needs = d;
    reset();
    cmp_ok(cos_flow_auto(nodes, 4, 2, NULL, 0, -1), "==", COS_EINVAL, "C22 a circle");
    is(trace, "", "C22 runs nothing");
    nodes[3].needs = x;
    cmp_ok(cos_flow_auto(nodes, 4, 2, NULL, 0, -1), "==", COS_EINVAL, "C22 an unknown name");
}

static int loads;
static int load(const char *key, void **value, void *arg)
{
    (void)arg;
    loads++;
    msleep(now() + 3);
    *value = NULL;
    return strcmp(key, "bad") ? 0 : COS_EIO;
}

static struct cos_flow_cache *cache;
static int served, failed_gets;
static coroutine void get(const char *key)
{
    struct cos_future *future = NULL;
    if (cos_flow_cache_get(cache, key, &future, -1) == 0) {
        served++;
        cos_future_free(future);
    } else {
        failed_gets++;
    }
}

static void get_many(const char *key, int n)
{
    int b = bundle();
    served = failed_gets = loads = 0;
    for (int i = 0; i < n; i++)
        bundle_go(b, get(key));
    bundle_wait(b, -1);
    hclose(b);
}

static void caching(void)
{
    cache = cos_flow_cache_new(&(struct cos_flow_cache_opts){.ttl = 100, .max = 2, .load = load});
    get_many("k", 20);
    ok(loads == 1 && served == 20, "C60 twenty calls, one load, twenty results");
    get_many("k", 1);
    ok(loads == 0 && served == 1, "C61 NULL is a hit");
    msleep(now() + 120);
    get_many("k", 1);
    cmp_ok(loads, "==", 1, "C61 gone after its ttl");
    get_many("bad", 3);
    ok(loads == 1 && failed_gets == 3, "C61 an error reaches all waiters");
    get_many("bad", 1);
    cmp_ok(loads, "==", 1, "C61 and is not cached");
    cos_flow_cache_free(cache);
    cache = cos_flow_cache_new(&(struct cos_flow_cache_opts){.ttl = -1, .max = 2, .load = load});
    get_many("k", 1);
    get_many("l", 1);
    get_many("k", 1);
    get_many("m", 1);
    get_many("k", 1);
    cmp_ok(loads, "==", 0, "C62 what was used lately stays");
    get_many("l", 1);
    cmp_ok(loads, "==", 1, "C62 the least recently used went");
    cos_flow_cache_forget(cache, "l");
    int h = go(get("l"));
    cos_flow_cache_forget(cache, "l");
    bundle_wait(h, -1);
    hclose(h);
    get_many("l", 1);
    cmp_ok(loads, "==", 1, "C62 forgotten during the load: not kept");
    cos_flow_cache_free(cache);
}

static struct cos_flow_gate *gate;
static coroutine void pass_gate(const char *name, int again)
{
    int err = cos_flow_gate_pass(gate, -1);
    strcat(trace, err ? "!" : name);
    if (again) {
        cos_flow_gate_pass(gate, -1);
        strcat(trace, "+");
    }
}

static void gates(void)
{
    struct job good = {3, 0}, bad = {3, COS_EIO};
    int b = bundle();
    gate = cos_flow_gate_new(0);
    reset();
    bundle_go(b, pass_gate("1", 1));
    bundle_go(b, pass_gate("2", 0));
    bundle_go(b, pass_gate("3", 0));
    is(trace, "", "C58 calls before init are kept");
    cmp_ok(cos_flow_gate_init(gate, &(struct cos_flow_task){job_run, &good}, -1), "==", 0, "C58 init");
    is(trace, "123+", "C58 replay in order, calls made during it after it");
    cmp_ok(cos_flow_gate_init(gate, &(struct cos_flow_task){job_run, &good}, -1), "==", COS_ESTATE,
           "C58 a second init is an error");
    cmp_ok(cos_flow_gate_pass(gate, 0), "==", 0, "C58 open for good");
    cos_flow_gate_free(gate);
    gate = cos_flow_gate_new(0);
    reset();
    bundle_go(b, pass_gate("1", 0));
    cmp_ok(cos_flow_gate_init(gate, &(struct cos_flow_task){job_run, &bad}, -1), "==", COS_EIO,
           "C58 a failed init");
    is(trace, "!", "C58 fails every kept call");
    hclose(b);
    cos_flow_gate_free(gate);
}

static coroutine void run_once(struct cos_flow_once *once, struct job *job)
{
    cos_flow_once_run(once, "k", &(struct cos_flow_task){job_run, job}, NULL, -1);
    served++;
}

static void onces(void)
{
    struct cos_flow_once *once = cos_flow_once_new(0);
    struct job job = {3, 0};
    int b = bundle();
    reset();
    served = 0;
    for (int i = 0; i < 5; i++)
        bundle_go(b, run_once(once, &job));
    bundle_wait(b, -1);
    hclose(b);
    ok(started == 1 && served == 5, "C5 at most one run per key, all callers served");
    cos_flow_once_free(once);
}

int main(void)
{
    plan(NO_PLAN);
    iteration();
    sources();
    tasks();
    graph();
    caching();
    gates();
    onces();
    done_testing();
}
