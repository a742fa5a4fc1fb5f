/* dill_cr.t.c - coroutines and bundles: launching, order, cancelling, caller's
 * memory, and what the go macros do to the function around them. */
#include <libdill.h>

#include "dill_util.h"
#include "tap.h"

static char trace[64];

static void mark(char c)
{
    size_t n = strlen(trace);
    if (n + 1 < sizeof trace)
        trace[n] = c;
}

static void fresh_trace(void)
{
    memset(trace, 0, sizeof trace);
}

static coroutine void two_steps(char a, char b)
{
    mark(a);
    yield();
    mark(b);
}

static void test_order(void)
{
    fresh_trace();
    int h1 = go(two_steps('a', 'b'));
    mark('1');
    int h2 = go(two_steps('c', 'd'));
    mark('2');
    ok(h1 >= 0 && h2 >= 0 && h1 != h2, "go returns a handle");
    ok(bundle_wait(h1, -1) == 0 && bundle_wait(h2, -1) == 0, "bundles run empty");
    is(trace, "a1cb2d", "go runs the child at once and queues the parent at the tail");
    ok(hclose(h1) == 0 && hclose(h2) == 0, "a finished bundle can be closed");
    fresh_trace();
    int b = bundle();
    cmp_ok(bundle_go(b, two_steps('a', 'b')), "==", 0, "bundle_go returns 0");
    cmp_ok(bundle_go(b, two_steps('c', 'd')), "==", 0, "bundle_go returns 0 again");
    ok(bundle_wait(b, -1) == 0, "bundle_wait waits for both");
    is(trace, "acbd", "coroutines take turns");
    ok(bundle_wait(b, -1) == 0 && bundle_wait(b, 0) == 0, "bundle_wait on an empty bundle is 0");
    hclose(b);
}

struct triple {
    long a, b, c;
};

static coroutine void many(int a, long b, double c, const char *d, struct triple e, float f, int g,
                           int h, int i, int j, double *sum)
{
    *sum = a + (double)b + c + (double)strlen(d) + (double)(e.a + e.b + e.c) + (double)f + g + h +
           i + j;
    yield();
    *sum += 1000;
}

static int side_effects;

static int side_effect(void)
{
    return ++side_effects;
}

static coroutine void take(int v, int *out)
{
    *out = v;
}

static coroutine int returns_something(int v)
{
    yield();
    return v;
}

static void test_arguments(void)
{
    double sum = 0;
    struct triple t = {1, 2, 3};
    int h = go(many(1, 2, 3.5, "four", t, 0.5F, 7, 8, 9, 10, &sum));
    ok(sum > 50.99 && sum < 51.01, "arguments of every class arrive (%g)", sum);
    bundle_wait(h, -1);
    ok(sum > 1050, "and survive a switch");
    hclose(h);
    int out = 0;
    h = go(take(side_effect(), &out));
    ok(side_effects == 1 && out == 1, "arguments are evaluated once");
    hclose(h);
    h = go(returns_something(5));
    ok(hclose(h) == 0, "a result is dropped");
}

static coroutine void add(long *to, long v)
{
    yield();
    *to += v;
}

/* Locals of the spawning function, in registers and on its stack, must come
 * out of the macro as they went in. */
static __attribute__((noinline)) long busy_parent(int n, const long *table)
{
    long sum = 0, a = n, b = 2 * n, c = 3 * n, d = 4 * n;
    double x = n, y = 0.5 * n;
    int bndl = bundle();
    for (int i = 0; i < n; i++) {
        if (bundle_go(bndl, add(&sum, table[i % 4])) != 0)
            return -1;
        a += i, b -= i, c ^= i, d += b;
        x += 0.25, y -= 0.25;
    }
    bundle_wait(bndl, -1);
    hclose(bndl);
    long expect_a = n, expect_b = 2 * n, expect_c = 3 * n, expect_d = 4 * n;
    for (int i = 0; i < n; i++)
        expect_a += i, expect_b -= i, expect_c ^= i, expect_d += expect_b;
    bool same = a == expect_a && b == expect_b && c == expect_c && d == expect_d;
    bool fine = x > 1.25 * n - 0.01 && x < 1.25 * n + 0.01 && y > 0.25 * n - 0.01;
    return same && fine ? sum : -2;
}

static coroutine void nested(int depth, int *leaves)
{
    if (depth == 0) {
        yield();
        ++*leaves;
        return;
    }
    int b = bundle();
    bundle_go(b, nested(depth - 1, leaves));
    bundle_go(b, nested(depth - 1, leaves));
    bundle_wait(b, -1);
    hclose(b);
}

/* The parent's frame is gone long before the child returns into the code that
 * the macro left there. */
static __attribute__((noinline)) int leave_early(char a, char b)
{
    char pad[256];
    memset(pad, a, sizeof pad);
    int h = go(two_steps(a, b));
    return pad[17] == a ? h : -1;
}

static __attribute__((noinline)) void overwrite_stack(void)
{
    volatile char junk[2048];
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (char)0xAA;
}

static void test_parents(void)
{
    long table[4] = {1, 10, 100, 1000};
    cmp_ok(busy_parent(100, table), "==", 25 * 1111, "locals survive go in a loop");
    int leaves = 0;
    int h = go(nested(5, &leaves));
    bundle_wait(h, -1);
    hclose(h);
    cmp_ok(leaves, "==", 32, "coroutines launch coroutines");
    fresh_trace();
    h = leave_early('x', 'y');
    overwrite_stack();
    ok(h >= 0 && bundle_wait(h, -1) == 0, "the parent's function may return first");
    is(trace, "xy", "and the child still ends well");
    hclose(h);
}

struct saw {
    int errs[16];
    int n;
};

static void note_err(struct saw *s, int rc)
{
    s->errs[s->n++] = rc == -1 ? errno : 0;
}

static coroutine void blocked_then_all(struct saw *s, int inner)
{
    int ch[2];
    char x;
    struct chclause cl = {CHRECV, inner, &x, 1};
    note_err(s, msleep(-1));
    note_err(s, msleep(now() + 10));
    note_err(s, yield());
    note_err(s, fdin(0, -1));
    note_err(s, fdout(1, -1));
    note_err(s, chmake(ch));
    note_err(s, bundle());
    note_err(s, go(two_steps('a', 'b')));
    note_err(s, bundle_wait(inner, -1));
    note_err(s, chsend(inner, &x, 1, -1));
    note_err(s, chrecv(inner, &x, 1, -1));
    note_err(s, choose(&cl, 1, -1));
    note_err(s, bundle_go(inner, two_steps('a', 'b')));
    s->errs[s->n++] = hclose(inner) == 0 ? ECANCELED : -1;
}

static void test_cancel(void)
{
    struct saw s = {.n = 0};
    int h = go(blocked_then_all(&s, bundle()));
    cmp_ok(s.n, "==", 0, "the coroutine is blocked");
    ok(hclose(h) == 0, "hclose cancels and waits");
    bool all = true;
    for (int i = 0; i < s.n; i++)
        all = all && s.errs[i] == ECANCELED;
    ok(s.n == 14 && all, "every blocking call, go, bundle and chmake are ECANCELED, hclose works");
}

static coroutine void cancelled_slowly(int *steps, int64_t *ended)
{
    msleep(-1);
    int h = go(two_steps('a', 'b'));
    *steps = h == -1 ? 1 : -1;
    *ended = now();
}

static coroutine void closes_a_child(int *inner_steps, int64_t *inner_end, int *rc)
{
    int h = go(cancelled_slowly(inner_steps, inner_end));
    msleep(-1);
    *rc = hclose(h);
}

static coroutine void ready_when_cancelled(int *first, int *second)
{
    *first = yield();
    *second = yield();
}

static coroutine void closes_itself(int *err)
{
    yield();
    *err = fails(hclose(*err), EDEADLK) ? EDEADLK : 0;
}

static void test_cancel_corners(void)
{
    int steps = 0, rc = -1;
    int64_t ended = 0;
    int h = go(closes_a_child(&steps, &ended, &rc));
    ok(hclose(h) == 0 && rc == 0 && steps == 1 && ended > 0,
       "a cancelled coroutine can close its own children");
    int first = -5, second = -5;
    h = go(ready_when_cancelled(&first, &second));
    hclose(h);
    ok(first == 0 && second == -1, "one that is ready finishes its call and learns at the next");
    int b = bundle(), n = 0;
    long sum = 0;
    for (; n < 50; n++)
        bundle_go(b, add(&sum, 1));
    hclose(b);
    cmp_ok(sum, "==", 50, "closing a bundle waits for every member");
    int own = bundle();
    int number = own;
    bundle_go(own, closes_itself(&number));
    bundle_wait(own, -1);
    ok(number == EDEADLK, "closing the bundle one runs in is EDEADLK");
    hclose(own);
}

static coroutine void waits_for(int b, int *err)
{
    *err = bundle_wait(b, -1) == 0 ? 0 : errno;
}

static coroutine void sleeps(int64_t deadline)
{
    msleep(deadline);
}

static void test_bundle_wait(void)
{
    int b = bundle();
    bundle_go(b, sleeps(-1));
    int64_t start = now();
    ok(fails(bundle_wait(b, start + 20), ETIMEDOUT), "bundle_wait times out");
    ok(now() >= start + 20, "not before the deadline");
    ok(fails(bundle_wait(b, 0), ETIMEDOUT), "deadline 0 does not wait");
    ok(fails(bundle_wait(b, 1), ETIMEDOUT), "nor does the past");
    int e1 = -1, e2 = -1;
    int w = go(waits_for(b, &e1)), v = go(waits_for(b, &e2));
    hclose(w);
    ok(e1 == ECANCELED, "a waiter can be cancelled");
    hclose(b);
    yield();
    ok(e2 == ECANCELED, "closing the bundle wakes who waits for it");
    hclose(v);
    b = bundle();
    bundle_go(b, sleeps(now() + 10));
    e1 = e2 = -1;
    w = go(waits_for(b, &e1));
    v = go(waits_for(b, &e2));
    bundle_wait(w, -1);
    bundle_wait(v, -1);
    ok(e1 == 0 && e2 == 0, "two may wait for the same bundle");
    hclose(w);
    hclose(v);
    hclose(b);
}

static coroutine void uses_stack(int n, int *out)
{
    volatile char a[1024];
    for (size_t i = 0; i < sizeof a; i++)
        a[i] = (char)i;
    yield();
    *out = n + a[7];
}

static void test_mem(void)
{
    enum { SIZE = 64 * 1024 };
    char *mem = malloc(SIZE);
    struct bundle_storage room;
    int out = 0;
    int h = go_mem(uses_stack(1, &out), mem, SIZE);
    ok(h >= 0 && bundle_wait(h, -1) == 0 && hclose(h) == 0, "go_mem runs in the caller's memory");
    cmp_ok(out, "==", 8, "and does its work");
    h = go_mem(uses_stack(1, &out), mem + 1, SIZE - 1);
    ok(h >= 0 && hclose(h) == 0, "odd addresses are fine");
    int b = bundle_mem(&room);
    ok(b >= 0, "bundle_mem");
    ok(bundle_go_mem(b, uses_stack(2, &out), mem, SIZE) == 0, "bundle_go_mem");
    ok(bundle_wait(b, -1) == 0 && out == 9, "it runs");
    ok(fails(go_mem(uses_stack(1, &out), mem, 256), ENOMEM), "too small is ENOMEM");
    ok(fails(go_mem(uses_stack(1, &out), mem, 0), ENOMEM), "so is nothing");
    ok(fails(go_mem(uses_stack(1, &out), mem, (size_t)-1), ENOMEM), "so is a negative size");
    ok(fails(bundle_go_mem(b, uses_stack(1, &out), mem, 100), ENOMEM), "also in a bundle");
    ok(fails(go_mem(uses_stack(1, &out), NULL, SIZE), EINVAL), "no memory is EINVAL");
    ok(fails(bundle_mem(NULL), EINVAL), "bundle_mem(NULL) is EINVAL");
    hclose(b);
    free(mem);
}

static void test_bad_handles(void)
{
    int ch[2];
    chmake(ch);
    ok(fails(bundle_go(-1, two_steps('a', 'b')), EBADF), "bundle_go on -1 is EBADF");
    ok(fails(bundle_go(123456, two_steps('a', 'b')), EBADF), "on no handle too");
    ok(fails(bundle_go(ch[0], two_steps('a', 'b')), ENOTSUP), "on a channel ENOTSUP");
    ok(fails(bundle_wait(-1, -1), EBADF), "bundle_wait on -1 is EBADF");
    ok(fails(bundle_wait(ch[0], -1), ENOTSUP), "on a channel ENOTSUP");
    hclose(ch[0]);
    hclose(ch[1]);
}

static void test_many(void)
{
    int n = checked_run() ? 1000 : 20000;
    long sum = 0;
    int b = bundle();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++)
            if (bundle_go(b, add(&sum, 1)) != 0)
                break;
        bundle_wait(b, -1);
    }
    cmp_ok(sum, "==", 3L * n, "thousands at once, three times over");
    hclose(b);
}

int main(void)
{
    plan(NO_PLAN);
    ok(yield() == 0, "yield alone is fine");
    test_order();
    test_arguments();
    test_parents();
    test_cancel();
    test_cancel_corners();
    test_bundle_wait();
    test_mem();
    test_bad_handles();
    test_many();
    done_testing();
}
