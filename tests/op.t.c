/* op.t - the completion core: one start, one completion, and what becomes of an
 * operation whose waiter gives up. The providers here are made for the test. */
#include "tap.h"

#include "base/op.h"
#include "base/sleep.h"
#include "coscrawl-cps.h"
#include "cps.h"

#include <libdill.h>
#include <string.h>

struct try_op {
    struct cos_op op;
    int marker;
};

static struct cos_op *running; /* the provider's view */
static int released, cancelled, refuse_cancel, complete_at_once;

static void try_start(struct cos_op *op)
{
    running = op;
    if (complete_at_once)
        cos__op_complete(op, COS_ENOENT);
}

static int try_cancel(struct cos_op *op)
{
    (void)op;
    cancelled++;
    return refuse_cancel ? COS_EBUSY : 0;
}

static void try_release(struct cos_op *op)
{
    (void)op;
    released++;
}

static const struct cos__op_type try_type = {
    .name = "try", .hook = COS_HOOK_FILE, .kind = COS__OP_OTHER, .size = sizeof(struct try_op),
    .start = try_start, .cancel = try_cancel, .release = try_release};

static void reset(void)
{
    running = NULL;
    released = cancelled = refuse_cancel = complete_at_once = 0;
}

static coroutine void complete_later(int64_t when, int err)
{
    msleep(when);
    cos__op_complete(running, err);
}

/* --- waiting -------------------------------------------------------------------- */

static void test_await(void)
{
    struct cos_op *op = cos__op_new(&try_type);
    int helper;
    reset();
    helper = go(complete_later(now() + 10, COS_EIO));
    cmp_ok(cos__op_await(op, -1), "==", COS_EIO, "the provider's result arrives");
    ok(cos__op_mine(op) && !released, "the waiter still holds it");
    cos__op_free(op);
    cmp_ok(released, "==", 1, "freed once");
    hclose(helper);
    reset();
    complete_at_once = 1;
    op = cos__op_new(&try_type);
    cmp_ok(cos__op_await(op, 0), "==", COS_ENOENT, "completed inside start: no wait");
    cos__op_free(op);
    reset();
    op = cos__op_new(&try_type);
    op->doom = COS_EINVAL;
    cmp_ok(cos__op_await(op, -1), "==", COS_EINVAL, "doomed: fails without being started");
    ok(!running, "start was not called");
    cos__op_free(op);
}

static void test_deadline(void)
{
    struct cos_op *op = cos__op_new(&try_type);
    int64_t begin = now();
    reset();
    cmp_ok(cos__op_await(op, now() + 30), "==", COS_ETIMEDOUT, "deadline");
    cmp_ok((int)(now() - begin), ">=", 30, "not before");
    cmp_ok(cancelled, "==", 1, "the provider was asked to stop");
    cos__op_free(op);
    cmp_ok(released, "==", 1, "stopped: freed by the waiter");
    reset();
    op = cos__op_new(&try_type);
    cmp_ok(cos__op_await(op, 0), "==", COS_ETIMEDOUT, "deadline 0 does not wait");
    cos__op_free(op);
}

static void test_detached(void)
{
    struct cos_op *op = cos__op_new(&try_type);
    reset();
    refuse_cancel = 1;
    cmp_ok(cos__op_await(op, now() + 5), "==", COS_ETIMEDOUT, "cannot stop: told at once");
    ok(!cos__op_mine(op), "the results are not to be read");
    cos__op_free(op);
    cmp_ok(released, "==", 0, "the provider still holds it");
    cos__op_complete(running, 0);
    cmp_ok(released, "==", 1, "freed when the provider is through");
}

static int seen_err;

static coroutine void wait_for_it(void)
{
    struct cos_op *op = cos__op_new(&try_type);
    seen_err = cos__op_await(op, -1);
    cos__op_free(op);
}

static void test_closed(void)
{
    int h;
    reset();
    h = go(wait_for_it());
    hclose(h);
    cmp_ok(seen_err, "==", COS_ECANCELED, "hclose cancels the operation of the coroutine");
    ok(cancelled == 1 && released == 1, "stopped and freed");
    reset();
    refuse_cancel = 1;
    h = go(wait_for_it());
    hclose(h);
    ok(cancelled == 1 && released == 0, "one that cannot stop stays with its provider");
    cos__op_complete(running, 0);
    cmp_ok(released, "==", 1, "until that is through");
}

/* Completed and closed in the same breath: the result was there first. */
static void test_closed_late(void)
{
    int h;
    reset();
    h = go(wait_for_it());
    cos__op_complete(running, COS_EIO);
    hclose(h);
    cmp_ok(seen_err, "==", COS_EIO, "a result that is there is not lost to a cancellation");
    cmp_ok(released, "==", 1, "freed once");
}

static int woken;

static coroutine void waiter(int64_t deadline)
{
    struct cos_op *op = cos__sleep_op(deadline);
    woken += cos__op_await(op, -1) == 0;
    cos__op_free(op);
}

static void test_many(void)
{
    int crowd = bundle();
    for (int i = 0; i < 1000; i++)
        bundle_go(crowd, waiter(now() + i % 7));
    bundle_wait(crowd, -1);
    hclose(crowd);
    cmp_ok(woken, "==", 1000, "a thousand waiters, each woken by its own operation");
}

/* --- broken providers -------------------------------------------------------------- */

static void nobody(struct cos_op *op)
{
    (void)op;
}

static void complete_twice(void)
{
    struct cos_op *op = cos__op_new(&try_type);
    op->done = nobody;
    cos__op_start(op);
    cos__op_complete(op, 0);
    cos__op_complete(op, 0);
}

static void start_twice(void)
{
    struct cos_op *op = cos__op_new(&try_type);
    op->done = nobody;
    cos__op_start(op);
    cos__op_start(op);
}

static void free_twice(void)
{
    struct cos_op *op = cos__op_new(&try_type);
    cos__op_free(op);
    cos__op_free(op);
}

static void test_detector(void)
{
    dies_ok({ complete_twice(); }, "C12 an operation completed twice ends the process");
    dies_ok({ start_twice(); }, "C12 an operation started twice ends the process");
    dies_ok({ free_twice(); }, "C12 an operation freed twice ends the process");
}

/* --- the callback face ---------------------------------------------------------------- */

static struct cps_rt *rt;
static int calls, last_err;

static void deliver(struct cos_op *op)
{
    calls++;
    last_err = op->err;
}

static void test_cps(void)
{
    int64_t ticket;
    reset();
    cps_open(&rt);
    ticket = cps__begin(rt, cos__op_new(&try_type), -1, deliver, NULL, NULL);
    cos__op_complete(running, COS_EIO);
    cmp_ok(calls, "==", 0, "C13 completion does not call back");
    cmp_ok(cps_cancel(rt, ticket), "==", 0, "a result not yet delivered can be cancelled");
    cps_run(rt);
    ok(calls == 1 && last_err == COS_ECANCELED, "and then COS_ECANCELED is delivered, once");
    refuse_cancel = 1;
    calls = released = 0;
    ticket = cps__begin(rt, cos__op_new(&try_type), -1, deliver, NULL, NULL);
    cps_cancel(rt, ticket);
    cps_run(rt);
    ok(calls == 1 && last_err == COS_ECANCELED, "C14 one that cannot stop is told at once");
    cmp_ok(released, "==", 0, "while its provider still has it");
    cos__op_complete(running, 0);
    ok(calls == 1 && released == 1, "C14 its late end calls nobody and frees it");
    calls = 0;
    cps__begin(rt, NULL, -1, deliver, NULL, NULL);
    cmp_ok(calls, "==", 0, "C13 out of memory is told later, too");
    cps_run(rt);
    ok(calls == 1 && last_err == COS_ENOMEM, "C14 once");
    cps_close(rt);
}

int main(void)
{
    plan(NO_PLAN);
    test_await();
    test_deadline();
    test_detached();
    test_closed();
    test_closed_late();
    test_many();
    test_cps();
    test_detector();
    cmp_ok((int)cos__op_count(), "==", 0, "no operation is left");
    cmp_ok(cos_shutdown(), "==", 0, "nothing under way");
    done_testing();
}
