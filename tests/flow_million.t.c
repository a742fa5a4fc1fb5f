/* flow_million.t - a million steps that never suspend: constant stack (C15) and
 * no allocation per step, for every function that can have so many, on both
 * faces. Every allocation of the library is counted. */
#include "tap.h"

#include "coscrawl-cps.h"

#include <libdill.h>
#include <stdint.h>
#include <stdlib.h>

enum { MILLION = 1000000, CALM = 64, SPREAD = 4096 };

static long allocations;

/* A sanitizer has an allocator of its own: the linker's --wrap stands before it.
 * Elsewhere we stand before the C library's, since --wrap does not reach into
 * code that is optimised when it is linked. */
#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#endif

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

#ifdef SANITIZED
#define WRAPPED() allocations++
#else
#define WRAPPED() ((void)0)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    allocations++;
    return __libc_realloc(old, size);
}
#endif

void *__wrap_malloc(size_t size)
{
    WRAPPED();
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    WRAPPED();
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    WRAPPED();
    return __real_realloc(old, size);
}

static struct cps_rt *rt;
static long steps;
static uintptr_t lowest, highest;
static int outcome, finals;

/* Where on the stack, and how often. */
static void seen(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (here < lowest)
        lowest = here;
    if (here > highest)
        highest = here;
    steps++;
}

/* --- the jobs, one of each kind ------------------------------------------------------ */

static int job(const void *item, size_t index, void *result, void *arg)
{
    (void)item, (void)index, (void)result, (void)arg;
    seen();
    return 0;
}

static int yes(const void *item, size_t index, void *result, void *arg)
{
    (void)item, (void)index, (void)result, (void)arg;
    seen();
    return 1;
}

static int task(void *result, void *arg)
{
    (void)result, (void)arg;
    seen();
    return 0;
}

static int bad_task(void *result, void *arg)
{
    (void)result, (void)arg;
    seen();
    return COS_EIO;
}

static int body(void *arg)
{
    (void)arg;
    seen();
    return steps < MILLION ? 0 : COS_ESTOP;
}

static int more(void *arg)
{
    (void)arg;
    return steps < MILLION;
}

static int no_more(void *arg)
{
    (void)arg;
    return steps >= MILLION;
}

static void cps_job(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                    cps_cb *done, void *token)
{
    (void)r, (void)item, (void)index, (void)result, (void)arg;
    seen();
    done(0, token);
}

static void cps_yes(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                    cps_cb *done, void *token)
{
    (void)r, (void)item, (void)index, (void)result, (void)arg;
    seen();
    done(1, token);
}

static void cps_task(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r, (void)result, (void)arg;
    seen();
    done(0, token);
}

static void cps_bad_task(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r, (void)result, (void)arg;
    seen();
    done(COS_EIO, token);
}

static void cps_body(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r, (void)result, (void)arg;
    seen();
    done(steps < MILLION ? 0 : COS_ESTOP, token);
}

static void final(int err, const struct cps_flow_result *result, void *arg)
{
    (void)result, (void)arg;
    outcome = err;
    finals++;
}

/* --- lists and sets ---------------------------------------------------------------------- */

static char items[MILLION], kept[MILLION];
static struct cos_flow_list array = {.items = items, .count = MILLION, .size = 1};
static struct cos_flow_task *tasks, *bad_tasks;
static struct cps_flow_task *cps_tasks, *cps_bad_tasks;

static int left;
static int next_number(void *item, void *arg)
{
    (void)arg;
    *(int *)item = left;
    return left-- > 0;
}
static struct cos_flow_list source = {.size = sizeof(int), .next = next_number};

static void make_tasks(void)
{
    tasks = calloc(MILLION, sizeof *tasks);
    bad_tasks = calloc(MILLION, sizeof *bad_tasks);
    cps_tasks = calloc(MILLION, sizeof *cps_tasks);
    cps_bad_tasks = calloc(MILLION, sizeof *cps_bad_tasks);
    for (size_t i = 0; i < MILLION; i++) {
        tasks[i].run = task;
        bad_tasks[i].run = bad_task;
        cps_tasks[i].run = cps_task;
        cps_bad_tasks[i].run = cps_bad_task;
    }
}

/* --- the queue, the gate, a future -------------------------------------------------------- */

static int work(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue, (void)item, (void)arg;
    seen();
    return 0;
}

static int co_queue(void)
{
    struct cos_flow_queue_opts opts = {.concurrency = 1, .work = work};
    struct cos_flow_queue *queue = NULL;
    int err = cos_flow_queue_new(&opts, &queue);
    for (int i = 0; !err && i < MILLION; i++)
        err = cos_flow_queue_push(queue, items, -1);
    if (!err)
        err = cos_flow_queue_drain(queue, -1);
    cos_flow_queue_free(queue);
    return err;
}

static struct cps_flow_queue *cps_queue_;
/* Each task pushes the next one, so nothing piles up. */
static void cps_work(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done,
                     void *token)
{
    (void)arg;
    seen();
    if (steps < MILLION)
        cps_flow_queue_add(queue, item, 0);
    done(0, token);
}

static void drained(int err, void *arg)
{
    (void)arg;
    outcome = err;
    finals++;
    cps_flow_queue_free(cps_queue_);
}

static void cps_queue(void)
{
    struct cps_flow_queue_opts opts = {.concurrency = 1, .work = cps_work};
    cps_flow_queue_new(rt, &opts, &cps_queue_);
    cps_flow_queue_add(cps_queue_, items, 0);
    cps_flow_queue_drain(cps_queue_, -1, drained, NULL);
}

static struct cos_flow_gate *gate;
static struct cos_future *future;

static int co_gate(void)
{
    int err = 0;
    for (int i = 0; !err && i < MILLION; i++) {
        err = cos_flow_gate_pass(gate, -1);
        seen();
    }
    return err;
}

static void passed(int err, void *arg)
{
    (void)arg;
    seen();
    outcome = err;
    if (steps < MILLION)
        cps_flow_gate_pass(rt, gate, -1, passed, NULL);
    else
        finals++;
}

static void cps_gate(void)
{
    cps_flow_gate_pass(rt, gate, -1, passed, NULL);
}

static int co_future(void)
{
    int err = 0;
    for (int i = 0; !err && i < MILLION; i++) {
        err = cos_await(future, NULL, -1);
        seen();
    }
    return err;
}

static void got(int err, void *value, void *arg)
{
    (void)value, (void)arg;
    seen();
    outcome = err;
    if (steps < MILLION)
        cps_await(rt, future, -1, got, NULL);
    else
        finals++;
}

static void cps_future(void)
{
    cps_await(rt, future, -1, got, NULL);
}

/* --- the rows -------------------------------------------------------------------------------- */

static const struct cos_flow_retry often = {.tries = MILLION};
static const struct cos_flow_task failing = {bad_task, NULL};
static const struct cps_flow_task cps_failing = {cps_bad_task, NULL}, cps_turn = {cps_body, NULL};
static struct cos_buf joined = {.max = 100};
static size_t count_kept, winner, *winners;
static int memo;

#define CO(name, call)                                                                             \
    static int co_##name(void)                                                                     \
    {                                                                                              \
        return call;                                                                               \
    }
#define CPS(name, call)                                                                            \
    static void cps_##name(void)                                                                   \
    {                                                                                              \
        call;                                                                                      \
    }
CO(each, cos_flow_each(&source, 1, job, NULL, -1))
CPS(each, cps_flow_each(rt, &source, 1, cps_job, NULL, -1, final, NULL))
CO(each_8, cos_flow_each(&source, 8, job, NULL, -1))
CPS(each_8, cps_flow_each(rt, &source, 8, cps_job, NULL, -1, final, NULL))
CO(times, cos_flow_times(MILLION, 1, job, NULL, 0, NULL, -1))
CPS(times, cps_flow_times(rt, MILLION, 1, cps_job, 0, NULL, -1, final, NULL))
CO(map, cos_flow_map(&array, 1, job, NULL, 0, NULL, -1))
CPS(map, cps_flow_map(rt, &array, 1, cps_job, 0, NULL, -1, final, NULL))
CO(filter, cos_flow_filter(&array, 1, yes, kept, &count_kept, NULL, -1))
CPS(filter, cps_flow_filter(rt, &array, 1, cps_yes, NULL, -1, final, NULL))
CO(reject, cos_flow_reject(&array, 1, yes, kept, &count_kept, NULL, -1))
CPS(reject, cps_flow_reject(rt, &array, 1, cps_yes, NULL, -1, final, NULL))
CO(some, cos_flow_some(&source, 1, job, NULL, -1))
CPS(some, cps_flow_some(rt, &source, 1, cps_job, NULL, -1, final, NULL))
CO(every, cos_flow_every(&source, 1, yes, NULL, -1) - 1)
CPS(every, cps_flow_every(rt, &source, 1, cps_yes, NULL, -1, final, NULL))
CO(detect, cos_flow_detect(&source, 1, job, &winner, NULL, -1))
CPS(detect, cps_flow_detect(rt, &source, 1, cps_job, NULL, -1, final, NULL))
CO(concat, cos_flow_concat(&array, 1, job, &joined, NULL, -1))
CPS(concat, cps_flow_concat(rt, &array, 1, cps_job, 100, NULL, -1, final, NULL))
CO(reduce, cos_flow_reduce(&source, job, &memo, NULL, -1))
CPS(reduce, cps_flow_reduce(rt, &source, cps_job, &memo, sizeof memo, NULL, -1, final, NULL))
CO(whilst, cos_flow_whilst(more, body, NULL, -1))
CPS(whilst, cps_flow_whilst(rt, more, &cps_turn, -1, final, NULL))
CO(until, cos_flow_until(no_more, body, NULL, -1))
CPS(until, cps_flow_until(rt, no_more, &cps_turn, -1, final, NULL))
CO(forever, cos_flow_forever(body, NULL, -1))
CPS(forever, cps_flow_forever(rt, &cps_turn, -1, final, NULL))
CO(series, cos_flow_series(tasks, MILLION, NULL, 0, -1))
CPS(series, cps_flow_series(rt, cps_tasks, MILLION, 0, -1, final, NULL))
CO(parallel, cos_flow_parallel(tasks, MILLION, COS_FLOW_ALL, NULL, 0, -1))
CPS(parallel, cps_flow_parallel(rt, cps_tasks, MILLION, COS_FLOW_ALL, 0, -1, final, NULL))
CO(waterfall, cos_flow_waterfall(tasks, MILLION, &memo, -1))
CPS(waterfall, cps_flow_waterfall(rt, cps_tasks, MILLION, &memo, sizeof memo, -1, final, NULL))
CO(race, cos_flow_race(tasks, MILLION, MILLION, winners, NULL, 0, -1))
CPS(race, cps_flow_race(rt, cps_tasks, MILLION, MILLION, 0, -1, final, NULL))
CO(try_each, cos_flow_try_each(bad_tasks, MILLION, NULL, NULL, 0, -1) - COS_EIO)
CPS(try_each, cps_flow_try_each(rt, cps_bad_tasks, MILLION, 0, -1, final, NULL))
CO(retry, cos_flow_retry(&often, &failing, NULL, -1) - COS_EIO)
CPS(retry, cps_flow_retry(rt, &often, &cps_failing, 0, -1, final, NULL))

static const struct {
    const char *name;
    int (*co)(void);
    void (*cps)(void);
    int says; /* the outcome on the callback face */
} rows[] = {
#define R(name) {#name, co_##name, cps_##name, 0}
    R(each), R(each_8), R(times), R(map), R(filter), R(reject), R(some), R(every), R(detect),
    R(concat), R(reduce), R(whilst), R(until), R(forever), R(series), R(parallel), R(waterfall),
    R(race), {"try_each", co_try_each, cps_try_each, COS_EIO},
    {"retry", co_retry, cps_retry, COS_EIO}, R(queue), R(gate), R(future),
};

static void begin(void)
{
    steps = finals = 0;
    outcome = 77;
    left = MILLION;
    highest = 0;
    lowest = UINTPTR_MAX;
    allocations = 0;
}

static void end(const char *face, const char *name, int err)
{
    long made = allocations;
    ok(!err && steps == MILLION, "C21b %s %s: a million steps", face, name);
    cmp_ok(highest - lowest, "<", SPREAD, "C15 %s %s: on one spot of the stack", face, name);
    cmp_ok(made, "<", CALM, "C15 %s %s: no allocation per step", face, name);
}

int main(void)
{
    static const char *const why[] = {
        "auto: a graph has at most 1,024 nodes", "timeout, reflect, ensure_async: one step each",
        "once, cache: a new key is remembered, and that is memory"};
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    make_tasks();
    winners = calloc(MILLION, sizeof *winners);
    allocations = 0;
    gate = cos_flow_gate_new(0);
    cmp_ok(allocations, ">", 0, "the counter sees what the library allocates");
    cos_flow_gate_init(gate, &(struct cos_flow_task){task, NULL}, -1);
    future = cos_future_new(NULL);
    cos_future_set(future, 0, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int err;
        begin();
        err = rows[i].co();
        end("co ", rows[i].name, err);
        begin();
        rows[i].cps();
        cps_run(rt);
        end("cps", rows[i].name, outcome != rows[i].says || finals != 1);
    }
    for (size_t i = 0; i < sizeof why / sizeof why[0]; i++)
        note("not run: %s", why[i]);
    cos_flow_gate_free(gate);
    cos_future_free(future);
    free(tasks);
    free(bad_tasks);
    free(cps_tasks);
    free(cps_bad_tasks);
    free(winners);
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
