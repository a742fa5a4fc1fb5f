/* flow_gate.t - things that run once, on both faces: the three ways to use
 * something that must be initialised first, the gate, and once. */
#include "tap.h"

#include "coscrawl-cps.h"

#include <libdill.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct cps_rt *rt;
static char trace[256];
static int crew = -1; /* coroutines of a test */

static void run_all(void)
{
    for (int i = 0; i < 40; i++)
        yield();
    cps_run(rt);
    for (int i = 0; i < 40; i++)
        yield();
}

static void add_int(const char *name, int n)
{
    snprintf(trace + strlen(trace), sizeof trace - strlen(trace), "%s%d ", name, n);
}

/* --- C57: a speaker that must be initialised before it can say anything ----------- */

static int ready, said_something;
static struct cos_future *is_ready; /* for the way that asks at every call */

static int initialise(void *result, void *arg)
{
    (void)result, (void)arg;
    if (msleep(now() + 2) < 0)
        return COS_ECANCELED;
    ready = 1;
    return 0;
}

static void initialised(int err, void *arg);
struct answer {
    cps_cb *done;
    void *token;
};

static void cps_initialise(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    struct answer *a = malloc(sizeof *a);
    (void)result, (void)arg;
    *a = (struct answer){done, token};
    cps_sleep(r, now() + 2, initialised, a);
}

static void initialised(int err, void *arg)
{
    struct answer a = *(struct answer *)arg;
    free(arg);
    ready = 1;
    a.done(err, a.token);
}

/* The operation itself: it needs what was initialised, and says so. */
static int say(void)
{
    said_something += ready;
    return ready ? 200 : 500;
}

/* 1: every caller checks, and waits if it must. */
static coroutine void check_then_wait(int *status)
{
    if (!ready)
        cos_await(is_ready, NULL, -1);
    *status = say();
}

static void cps_check_waited(int err, void *value, void *status)
{
    (void)err, (void)value;
    *(int *)status = say();
}

static void now_ready(int err, void *arg)
{
    (void)arg;
    cos_future_set(is_ready, err, NULL);
}

/* 2: whoever uses it is made only when it is there. */
struct user {
    int *speaker;
};

static int use(struct user *user)
{
    return *user->speaker ? say() : 500;
}

static coroutine void inject(int *status)
{
    struct user user = {.speaker = NULL};
    if (initialise(NULL, NULL) == 0)
        user.speaker = &ready;
    *status = use(&user);
}

static void cps_injected(int err, void *status)
{
    struct user user = {.speaker = &ready};
    *(int *)status = err ? err : use(&user);
}

/* 3: the gate keeps the calls. */
static struct cos_flow_gate *gate;
static coroutine void through_gate(int *status)
{
    int err = cos_flow_gate_pass(gate, -1);
    *status = err ? err : say();
}

static void cps_through_gate(int err, void *status)
{
    *(int *)status = err ? err : say();
}

static void begin_ways(void)
{
    ready = said_something = 0;
    is_ready = cos_future_new(NULL);
    gate = cos_flow_gate_new(0);
}

static void end_ways(void)
{
    cos_future_free(is_ready);
    cos_flow_gate_free(gate);
}

static void three_ways(void)
{
    struct cos_flow_task init = {initialise, NULL};
    struct cps_flow_task cps_init = {cps_initialise, NULL};
    int status[3] = {0};
    begin_ways();
    cmp_ok(say(), "==", 500, "C57 co: before it is initialised a bare call fails");
    bundle_go(crew, check_then_wait(&status[0]));
    initialise(NULL, NULL);
    cos_future_set(is_ready, 0, NULL);
    run_all();
    cmp_ok(status[0], "==", 200, "C57 co: check, then wait");
    ready = 0;
    bundle_go(crew, inject(&status[1]));
    bundle_wait(crew, -1);
    cmp_ok(status[1], "==", 200, "C57 co: the user is given what is ready");
    ready = 0;
    bundle_go(crew, through_gate(&status[2]));
    cmp_ok(cos_flow_gate_init(gate, &init, -1), "==", 0, "C57 co: the gate opens");
    cmp_ok(status[2], "==", 200, "C57 co: and the call it kept went through");
    end_ways();

    begin_ways();
    memset(status, 0, sizeof status);
    cmp_ok(say(), "==", 500, "C57 cps: before it is initialised a bare call fails");
    cps_await(rt, is_ready, -1, cps_check_waited, &status[0]);
    cps_initialise(rt, NULL, NULL, now_ready, NULL);
    cps_run(rt);
    cmp_ok(status[0], "==", 200, "C57 cps: check, then wait");
    ready = 0;
    cps_initialise(rt, NULL, NULL, cps_injected, &status[1]);
    cps_run(rt);
    cmp_ok(status[1], "==", 200, "C57 cps: the user is given what is ready");
    ready = 0;
    cps_flow_gate_pass(rt, gate, -1, cps_through_gate, &status[2]);
    cps_flow_gate_init(rt, gate, &cps_init, -1, cps_through_gate, &status[0]);
    cps_run(rt);
    cmp_ok(status[2], "==", 200, "C57 cps: the call the gate kept went through");
    end_ways();
}

/* --- C58: the gate's edges -------------------------------------------------------- */

static int pass_err[4];
static coroutine void pass_and_tell(int i, int64_t deadline)
{
    pass_err[i] = cos_flow_gate_pass(gate, deadline);
    add_int("p", i);
}

static void cps_pass_told(int err, void *i)
{
    pass_err[(intptr_t)i] = err;
    add_int("p", (int)(intptr_t)i);
}

static void init_told(int err, void *arg)
{
    *(int *)arg = err;
    strcat(trace, "init ");
}

static int hang(void *result, void *arg)
{
    (void)result, (void)arg;
    return msleep(-1) < 0 ? COS_ECANCELED : 0;
}

static cps_cb *hanging;
static void *hanging_token;
static void cps_hang(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r, (void)result, (void)arg;
    hanging = done;
    hanging_token = token;
}

static void gate_edges(void)
{
    struct cos_flow_task hangs = {hang, NULL};
    struct cps_flow_task cps_hangs = {cps_hang, NULL};
    int err = 77;
    int64_t ticket;
    gate = cos_flow_gate_new(2);
    for (int i = 0; i < 4; i++)
        pass_err[i] = 77;
    bundle_go(crew, pass_and_tell(0, now() + 1));
    bundle_go(crew, pass_and_tell(1, -1));
    cmp_ok(cos_flow_gate_pass(gate, -1), "==", COS_EFULL, "C58 co: a gate keeps so many calls");
    msleep(now() + 3);
    cmp_ok(pass_err[0], "==", COS_ETIMEDOUT, "C58 co: a kept call has its deadline");
    cmp_ok(cos_flow_gate_init(gate, &hangs, now() + 2), "==", COS_ETIMEDOUT,
           "C58 co: an init that takes too long");
    run_all();
    cmp_ok(pass_err[1], "==", COS_ETIMEDOUT, "C58 co: fails what was kept");
    cmp_ok(cos_flow_gate_pass(gate, -1), "==", COS_ETIMEDOUT, "C58 co: and what comes later");
    cos_flow_gate_free(gate);
    gate = cos_flow_gate_new(0);
    bundle_go(crew, pass_and_tell(2, -1));
    cos_flow_gate_free(gate);
    run_all();
    cmp_ok(pass_err[2], "==", COS_ECLOSED, "C58 co: freed, it sends the kept call away");

    gate = cos_flow_gate_new(2);
    trace[0] = 0;
    for (intptr_t i = 0; i < 3; i++)
        cps_flow_gate_pass(rt, gate, -1, cps_pass_told, (void *)i);
    cps_flow_gate_init(rt, gate, &cps_hangs, now() + 2, init_told, &err);
    cps_run(rt);
    cmp_ok(pass_err[2], "==", COS_EFULL, "C58 cps: a gate keeps so many calls");
    ok(pass_err[0] == COS_ETIMEDOUT && err == COS_ETIMEDOUT, "C58 cps: an init takes too long");
    is(trace, "p2 p0 p1 init ", "C58 cps: the kept calls hear of it first");
    cos_flow_gate_free(gate);
    hanging(0, hanging_token);
    gate = cos_flow_gate_new(0);
    trace[0] = 0;
    cps_flow_gate_pass(rt, gate, -1, cps_pass_told, (void *)0);
    ticket = cps_flow_gate_init(rt, gate, &cps_hangs, -1, init_told, &err);
    cps_cancel(rt, ticket);
    hanging(0, hanging_token);
    cps_run(rt);
    ok(err == COS_ECANCELED && pass_err[0] == COS_ECANCELED && !cos_flow_gate_is_open(gate),
       "C58 cps: a cancelled init fails the gate, whatever it answers later");
    cos_flow_gate_free(gate);
}

/* --- once ------------------------------------------------------------------------- */

static int once_runs, once_outcome[3];
static int once_task(void *result, void *arg)
{
    (void)result;
    once_runs++;
    if (msleep(now() + (int64_t)(intptr_t)arg) < 0)
        return COS_ECANCELED;
    return COS_EIO;
}

static coroutine void run_once(struct cos_flow_once *once, int i, int64_t deadline)
{
    struct cos_flow_task task = {once_task, (void *)(intptr_t)(i ? 1 : 1000)};
    once_outcome[i] = cos_flow_once_run(once, "k", &task, NULL, deadline);
}

static void once_told(int err, void *i)
{
    once_outcome[(intptr_t)i] = err;
}

static void onces(void)
{
    struct cos_flow_once *once = cos_flow_once_new(1);
    struct cos_flow_task task = {once_task, NULL};
    struct cps_flow_task hangs = {cps_hang, NULL};
    int ran = 77;
    once_runs = 0;
    bundle_go(crew, run_once(once, 0, now() + 3));
    bundle_go(crew, run_once(once, 1, -1));
    bundle_go(crew, run_once(once, 2, -1));
    bundle_wait(crew, -1);
    ok(once_outcome[0] == COS_ETIMEDOUT && once_runs == 2,
       "C16 co: when the one who runs gives up, the next takes its place");
    ok(once_outcome[1] == COS_EIO && once_outcome[2] == COS_EIO, "C16 co: one outcome for all");
    cmp_ok(cos_flow_once_run(once, "k", &task, &ran, -1), "==", COS_EIO, "C16 co: remembered");
    cmp_ok(ran, "==", 0, "C16 co: not run again, and a full set still knows its keys");
    cmp_ok(cos_flow_once_run(once, "l", &task, &ran, -1), "==", COS_EFULL, "C16 co: it is full");
    cos_flow_once_forget(once, "k");
    cmp_ok(cos_flow_once_run(once, "k", &task, &ran, -1), "==", COS_EIO, "C16 co: forgotten");
    cmp_ok(ran, "==", 1, "C16 co: it runs anew");
    cos_flow_once_free(once);
    once = cos_flow_once_new(0);
    for (intptr_t i = 0; i < 3; i++)
        cps_flow_once_run(rt, once, "k", &hangs, -1, once_told, (void *)i);
    cos_flow_once_free(once);
    cps_run(rt);
    hanging(0, hanging_token);
    ok(once_outcome[0] == COS_ECLOSED && once_outcome[2] == COS_ECLOSED,
       "C16 cps: freed during a run, those who wait are told");
}

int main(void)
{
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    crew = bundle();
    three_ways();
    gate_edges();
    onces();
    hclose(crew);
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
