/* dill_timer.t.c - the clock, msleep, many deadlines, and that neither timers
 * nor descriptors starve beside coroutines that never stop. */
#include <libdill.h>

#include <time.h>
#include <unistd.h>

#include "dill_util.h"
#include "tap.h"

static int finished[64], nfinished;

static coroutine void sleeper(int id, int64_t deadline)
{
    if (msleep(deadline) == 0)
        finished[nfinished++] = id;
}

static void test_clock(void)
{
    int64_t a = now(), b = now();
    ok(a > 0 && b >= a, "now() does not go back");
    struct timespec ts = {.tv_nsec = 20000000};
    nanosleep(&ts, NULL);
    int64_t c = now();
    ok(c - a >= 20 && c - a < 1000, "and counts milliseconds");
    ok(msleep(c + 30) == 0, "msleep returns 0");
    ok(now() >= c + 30, "not before its deadline");
    ok(now() < c + 500, "and not long after");
    a = now();
    ok(msleep(0) == 0 && msleep(1) == 0 && msleep(now() - 1) == 0, "0 and the past do not wait");
    ok(now() < a + 500, "at all");
}

static void test_order(void)
{
    static const int delays[] = {50, 10, 40, 20, 30, 10, 0};
    enum { N = sizeof delays / sizeof delays[0] };
    int64_t start = now() + (checked_run() ? 500 : 30);
    int b = bundle();
    nfinished = 0;
    for (int i = 0; i < N; i++)
        bundle_go(b, sleeper(i, start + delays[i]));
    bundle_wait(b, -1);
    static const int order[N] = {6, 1, 5, 3, 4, 2, 0};
    ok(nfinished == N && memcmp(finished, order, sizeof order) == 0,
       "sleepers wake by deadline, equal ones in the order they came");
    nfinished = 0;
    bundle_go(b, sleeper(1, -1));
    bundle_go(b, sleeper(2, start + 1000000));
    bundle_go(b, sleeper(3, INT64_MAX));
    ok(fails(bundle_wait(b, now() + 30), ETIMEDOUT) && nfinished == 0, "-1 is for ever");
    hclose(b);
    cmp_ok(nfinished, "==", 0, "cancelled sleepers do not count");
}

static coroutine void random_sleeper(int64_t from, unsigned seed, int *early, int *woken)
{
    for (int i = 0; i < 3; i++) {
        seed = seed * 1103515245U + 12345U;
        int64_t deadline = from + seed / 65536 % 200;
        int rc = msleep(deadline);
        if (rc < 0)
            return;
        *early += now() < deadline;
    }
    ++*woken;
}

static void test_many(void)
{
    int n = checked_run() ? 500 : 10000, early = 0, woken = 0;
    int b = bundle();
    int64_t from = now();
    for (int i = 0; i < n; i++)
        bundle_go(b, random_sleeper(from, (unsigned)i, &early, &woken));
    ok(bundle_wait(b, from + 20000) == 0, "%d sleepers are all woken", n);
    ok(woken == n && early == 0, "and none too early");
    for (int i = 0; i < n; i++)
        bundle_go(b, random_sleeper(now() + 3600000, (unsigned)i, &early, &woken));
    hclose(b);
    cmp_ok(woken, "==", n, "they can be cancelled all at once");
}

static coroutine void yields(long *count)
{
    while (yield() == 0)
        ++*count;
}

static coroutine void computes(void)
{
    do {
        int64_t until = now() + 5;
        while (now() < until)
            continue;
    } while (yield() == 0);
}

static coroutine void talks(int ch, bool sends)
{
    long x = 0;
    while ((sends ? chsend(ch, &x, sizeof x, -1) : chrecv(ch, &x, sizeof x, -1)) == 0)
        continue;
}

static coroutine void spawns(void)
{
    long x = 0;
    int b = bundle();
    while (b >= 0 && yield() == 0)
        bundle_go(b, talks(-1, true));
    (void)x;
    hclose(b);
}

/* How late is a 10 ms sleep here? The best of a few: a busy machine makes any
 * process late now and then, a starved timer is late every time. */
static int64_t lateness(void)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < 5 && best > 5; i++) {
        int64_t deadline = now() + 10;
        msleep(deadline);
        int64_t late = now() - deadline;
        best = late < best ? late : best;
    }
    return best;
}

static int64_t wait_for(int fd)
{
    int64_t best = INT64_MAX;
    for (int i = 0; i < 5 && best > 5; i++) {
        int64_t start = now();
        if (fdin(fd, start + 5000) != 0)
            return INT64_MAX;
        best = now() - start < best ? now() - start : best;
    }
    return best;
}

/* The first sleep after quick turns, when the runtime looks at the clock most
 * seldom. */
static int64_t first_lateness(void)
{
    for (int i = 0; i < 1000; i++)
        yield();
    int64_t deadline = now() + 10;
    int h = go(computes()), g = go(computes());
    msleep(deadline);
    int64_t late = now() - deadline;
    hclose(h);
    hclose(g);
    return late;
}

static void test_starving(void)
{
    long count = 0;
    int slack = checked_run() ? 500 : 20;
    int h = go(yields(&count));
    cmp_ok(lateness(), "<=", slack, "a 10 ms sleep beside one that only yields");
    cmp_ok(count, ">", 0, "which did run");
    int p[2];
    char x = 'x';
    ok(pipe(p) == 0 && write(p[1], &x, 1) == 1, "a pipe with a byte");
    cmp_ok(wait_for(p[0]), "<=", slack, "fdin beside one that only yields");
    hclose(h);
    int64_t first = INT64_MAX;
    for (int i = 0; i < 3 && first > 60; i++)
        first = first_lateness();
    cmp_ok(first, "<=", checked_run() ? 500 : 150,
           "the first sleep beside two that compute 5 ms a turn");
    h = go(computes());
    int g = go(computes());
    cmp_ok(lateness(), "<=", slack + 80, "later sleeps beside them");
    cmp_ok(wait_for(p[0]), "<=", slack + 80, "fdin beside them");
    hclose(h);
    hclose(g);
    int ch[2];
    chmake(ch);
    h = go(talks(ch[0], true));
    g = go(talks(ch[1], false));
    cmp_ok(lateness(), "<=", slack, "a sleep beside two that talk without end");
    hclose(h);
    hclose(g);
    h = go(spawns());
    cmp_ok(lateness(), "<=", slack, "a sleep beside one that spawns without end");
    hclose(h);
    hclose(ch[0]);
    hclose(ch[1]);
    fdclean(p[0]);
    close(p[0]);
    close(p[1]);
}

static double cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static coroutine void sleep_on(int64_t from, unsigned seed, int times)
{
    for (int i = 0; i < times; i++) {
        seed = seed * 1103515245U + 12345U;
        msleep(from + 20 * i + seed / 65536 % 20);
    }
}

/* What a sleep costs must not depend on how many others sleep: that is the
 * heap. The bar is generous, a list of 10,000 is an order of magnitude off. */
static double cost_per_sleep(int n)
{
    int b = bundle();
    int64_t from = now() + 100;
    for (int i = 0; i < n; i++)
        bundle_go(b, sleep_on(from, (unsigned)i, 5));
    double start = cpu_ns();
    bundle_wait(b, -1);
    double ns = cpu_ns() - start;
    hclose(b);
    return ns / n / 5;
}

static void test_cost(void)
{
    double ns = cost_per_sleep(10000);
    ok(ns < 5000, "a sleep among 10,000 costs %.0f ns of CPU", ns);
}

int main(void)
{
    plan(NO_PLAN);
    test_clock();
    test_order();
    test_many();
    test_starving();
    if (!checked_run())
        test_cost();
    done_testing();
}
