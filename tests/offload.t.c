/* offload.t - jobs on threads: delivery, order on a lane, cancelling a waiting
 * and leaving a running one, the ceiling, and an orderly end. */
#include "tap.h"

#include "base/loop.h"
#include "base/offload.h"
#include "coscrawl.h"

#include <errno.h>
#include <libdill.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static atomic_int ran, dropped, hold;
static pthread_t loop_thread;
static atomic_int on_loop_thread;

static void nap(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&ts, NULL);
}

static int twice(void *data)
{
    int *n = data;
    if (pthread_equal(pthread_self(), loop_thread))
        on_loop_thread++;
    *n *= 2;
    ran++;
    return *n == 14 ? COS_EIO : 0;
}

static int wait_for_release(void *data)
{
    (void)data;
    ran++;
    while (hold)
        nap(1);
    return 0;
}

static void count_drop(void *data)
{
    (void)data;
    dropped++;
}

/* --- coroutines ------------------------------------------------------------- */

static coroutine void one(int n, int *good)
{
    int value = n;
    void *data = &value;
    int err = cos_offload(twice, &data, NULL, -1);
    if (data == &value && value == 2 * n && err == (n == 7 ? COS_EIO : 0))
        ++*good;
}

static void delivers(void)
{
    int good = 0, b = bundle();
    for (int i = 0; i < 1000; i++)
        bundle_go(b, one(i, &good));
    bundle_wait(b, -1);
    hclose(b);
    cmp_ok(good, "==", 1000, "1,000 jobs give their own results and errors");
    cmp_ok(on_loop_thread, "==", 0, "none runs on the loop's thread");
    cmp_ok(cos__offload_stats().jobs, "==", 1000, "all are counted");
}

static int batched;

static void batch_done(struct cos_op *op)
{
    (void)op;
    batched++;
}

/* 100 jobs started in one turn, and done while the loop looks elsewhere. */
static void batches(void)
{
    struct cos__offload_stats before = cos__offload_stats(), after;
    struct cos_op *ops[100];
    int n[100] = {0};
    ran = 0;
    for (int i = 0; i < 100; i++) {
        ops[i] = cos__offload_op(twice, &n[i], NULL, NULL);
        ops[i]->done = batch_done;
        cos__op_start(ops[i]);
    }
    cmp_ok(ran, "==", 0, "nothing is handed over before the turn ends");
    while (cos__offload_stats().flushes == before.flushes)
        msleep(now() + 1);
    while (ran < 100)
        nap(1);
    nap(20);
    while (batched < 100)
        msleep(now() + 1);
    after = cos__offload_stats();
    cmp_ok(after.flushes - before.flushes, "==", 1, "100 jobs are handed over at once");
    cmp_ok(after.posts - before.posts, "<=", 50, "and come back in batches (%d)",
           (int)(after.posts - before.posts));
    for (int i = 0; i < 100; i++)
        cos__op_free(ops[i]);
}

static coroutine void blocker(int *err)
{
    int dummy;
    void *data = &dummy;
    *err = cos_offload(wait_for_release, &data, count_drop, -1);
}

static coroutine void victim(int *err, void **data)
{
    static int dummy;
    *data = &dummy;
    *err = cos_offload(twice, data, count_drop, -1);
}

static void cancels(void)
{
    int err[2], verr = 1, b = bundle(), v;
    void *vdata = NULL, *data = &verr;
    hold = 1;
    ran = dropped = 0;
    cos__offload_threads(0);
    for (int i = 0; i < 2; i++)
        bundle_go(b, blocker(&err[i]));
    while (ran < 2)
        msleep(now() + 1);
    v = go(victim(&verr, &vdata));
    msleep(now() + 5);
    hclose(v);
    cmp_ok(verr, "==", COS_ECANCELED, "a job cancelled while it waits says so");
    ok(vdata != NULL, "and its data comes back");
    cmp_ok(cos_offload(twice, &data, count_drop, now() + 5), "==", COS_ETIMEDOUT,
           "a deadline ends the wait for a thread");
    ok(data == &verr, "and the data comes back too");
    hclose(b);
    cmp_ok(err[0], "==", COS_ECANCELED, "a running job's waiter is told at once");
    cmp_ok(dropped, "==", 0, "its data is the job's until the thread is through");
    hold = 0;
    for (int i = 0; i < 1000 && dropped < 2; i++)
        msleep(now() + 1);
    cmp_ok(dropped, "==", 2, "then it is dropped");
    cmp_ok(ran, "==", 2, "cancelled jobs never ran");
}

/* --- lane --------------------------------------------------------------------- */

static int order[200], at, idles;

static int log_order(void *data)
{
    order[at++] = *(int *)data;
    return 0;
}

static void on_idle(void *arg)
{
    ++*(int *)arg;
}

static coroutine void on_lane(struct cos__lane *lane, int n)
{
    int value = n;
    struct cos_op *op = cos__offload_op(log_order, &value, NULL, lane);
    cos__op_await(op, -1);
    cos__op_free(op);
}

static void lanes(void)
{
    struct cos__lane *lane = cos__offload_lane(on_idle, &idles);
    int b = bundle(), sorted = 1;
    for (int i = 0; i < 200; i++)
        bundle_go(b, on_lane(lane, i));
    bundle_wait(b, -1);
    hclose(b);
    cos__offload_lane_free(lane);
    for (int i = 0; i < 200; i++)
        sorted &= order[i] == i;
    ok(sorted && at == 200, "a lane runs its jobs one by one in order");
    ok(idles >= 1 && idles < 200, "its idle function runs after batches, not jobs (%d)", idles);
}

/* --- ceiling ------------------------------------------------------------------ */

static int full, finished;

static void done(struct cos_op *op)
{
    full += op->err == COS_EFULL;
    finished++;
}

static void ceiling(void)
{
    enum { N = COS__OFFLOAD_QUEUE_MAX + 64 };
    static struct cos_op *ops[N];
    static int n[N];
    hold = 1;
    ran = 0;
    for (int i = 0; i < N; i++) {
        ops[i] = cos__offload_op(wait_for_release, &n[i], NULL, NULL);
        ops[i]->done = done;
        cos__op_start(ops[i]);
    }
    cos__loop_drive(cos__loop());
    msleep(now() + 20);
    cmp_ok(full, ">=", 1, "a job too many is refused with COS_EFULL");
    cmp_ok(full, "<=", 64, "and only what is too many");
    hold = 0;
    while (finished < N)
        msleep(now() + 1);
    pass("the rest is done");
    for (int i = 0; i < N; i++)
        cos__op_free(ops[i]);
}

/* --- the end -------------------------------------------------------------------- */

static int slow(void *data)
{
    nap(50);
    *(int *)data = 1;
    return 0;
}

static void *second_loop(void *arg)
{
    int good = 0, b = bundle();
    for (int i = 0; i < 100; i++)
        bundle_go(b, one(i, &good));
    bundle_wait(b, -1);
    hclose(b);
    *(int *)arg = good == 100 && cos__loop_release() == 0;
    return NULL;
}

static void ends(void)
{
    static int touched;
    void *data = &touched;
    pthread_t other;
    int fine = 0;
    pthread_create(&other, NULL, second_loop, &fine);
    nap(1);
    pthread_join(other, NULL);
    ok(fine, "a second thread's loop shares the threads");
    cmp_ok(cos_offload(slow, &data, count_drop, now() + 5), "==", COS_ETIMEDOUT, "leave a job");
    cmp_ok(cos__loop_release(), "==", 0, "the loop ends with no operation left");
    cmp_ok(touched, "==", 1, "and only after its job was through");
    data = &touched;
    cmp_ok(cos_offload(slow, &data, NULL, -1), "==", 0, "a new loop starts the threads anew");
    cmp_ok(cos__loop_release(), "==", 0, "and ends them");
}

static int nothing(void *data)
{
    (void)data;
    return 0;
}

static coroutine void spin(int n)
{
    for (int i = 0; i < n; i++) {
        int x;
        void *data = &x;
        cos_offload(nothing, &data, NULL, -1);
    }
}

static void cost(void)
{
    struct timespec a, b;
    int bn = bundle();
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 64; i++)
        bundle_go(bn, spin(500));
    bundle_wait(bn, -1);
    hclose(bn);
    clock_gettime(CLOCK_MONOTONIC, &b);
    note("64 in flight: %.2f us a hand-over",
         ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / 32e6);
}

int main(void)
{
    plan(NO_PLAN);
    loop_thread = pthread_self();
    cos__offload_threads(2);
    delivers();
    batches();
    cancels();
    lanes();
    ceiling();
    cost();
    ends();
    done_testing();
}
