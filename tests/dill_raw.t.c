/* dill_raw.t.c - programs as people write them for libdill's core: short names,
 * no word of ours. */
#include <libdill.h>

#include <string.h>

#include "tap.h"

/* Squares, one worker a number. */
static coroutine void square(int ch, int n)
{
    int result = n * n;
    chsend(ch, &result, sizeof(result), -1);
    hclose(ch);
}

static int squares(void)
{
    int total = 0, bndl = bundle();
    for (int i = 1; i <= 10; i++) {
        int ch[2], v;
        if (chmake(ch) != 0 || bundle_go(bndl, square(ch[1], i)) != 0)
            return -1;
        if (chrecv(ch[0], &v, sizeof(v), now() + 1000) == 0)
            total += v;
        hclose(ch[0]);
    }
    bundle_wait(bndl, -1);
    hclose(bndl);
    return total;
}

/* A pipeline: generator, filter, sink. */
static coroutine void numbers(int out, int n)
{
    for (int i = 2; i < n; i++)
        if (chsend(out, &i, sizeof(i), -1) != 0)
            return;
    chdone(out);
}

static coroutine void sieve(int in, int out, int prime)
{
    int v;
    while (chrecv(in, &v, sizeof(v), -1) == 0)
        if (v % prime && chsend(out, &v, sizeof(v), -1) != 0)
            return;
    chdone(out);
}

static int primes_below(int n)
{
    int ch[64][2], hndl[64], count = 0, last = 0, v;
    chmake(ch[0]);
    hndl[0] = go(numbers(ch[0][0], n));
    while (last < 63 && chrecv(ch[last][1], &v, sizeof(v), -1) == 0) {
        count++;
        chmake(ch[last + 1]);
        hndl[last + 1] = go(sieve(ch[last][1], ch[last + 1][0], v));
        last++;
    }
    for (int i = 0; i <= last; i++) {
        hclose(hndl[i]);
        hclose(ch[i][0]);
        hclose(ch[i][1]);
    }
    return count;
}

/* The first answer wins, the slower ones are cancelled. */
static coroutine void answer(int ch, int ms, const char *text, int *cancelled)
{
    if (msleep(now() + ms) != 0) {
        ++*cancelled;
        return;
    }
    chsend(ch, &text, sizeof(text), -1);
}

static const char *race(int *cancelled)
{
    int a[2], b[2];
    const char *got = NULL;
    chmake(a);
    chmake(b);
    int bndl = bundle();
    bundle_go(bndl, answer(a[0], 2000, "slow", cancelled));
    bundle_go(bndl, answer(b[0], 10, "quick", cancelled));
    struct chclause cl[] = {{CHRECV, a[1], &got, sizeof(got)}, {CHRECV, b[1], &got, sizeof(got)}};
    if (choose(cl, 2, now() + 5000) != 1)
        got = "nobody";
    hclose(bndl);
    for (int i = 0; i < 2; i++) {
        hclose(a[i]);
        hclose(b[i]);
    }
    return got;
}

static coroutine int fib(int n, int ch)
{
    if (n < 2) {
        chsend(ch, &n, sizeof(n), -1);
        return 0;
    }
    struct chstorage mem[2];
    struct bundle_storage bmem;
    int x[2], y[2], a = 0, b = 0;
    chmake_mem(&mem[0], x);
    chmake_mem(&mem[1], y);
    int bndl = bundle_mem(&bmem);
    bundle_go(bndl, fib(n - 1, x[0]));
    bundle_go(bndl, fib(n - 2, y[0]));
    chrecv(x[1], &a, sizeof(a), -1);
    chrecv(y[1], &b, sizeof(b), -1);
    int sum = a + b;
    chsend(ch, &sum, sizeof(sum), -1);
    hclose(bndl);
    for (int i = 0; i < 2; i++) {
        hclose(x[i]);
        hclose(y[i]);
    }
    return 0;
}

static int fibonacci(int n)
{
    int ch[2], v = -1;
    chmake(ch);
    int hndl = go(fib(n, ch[0]));
    chrecv(ch[1], &v, sizeof(v), -1);
    hclose(hndl);
    hclose(ch[0]);
    hclose(ch[1]);
    return v;
}

int main(void)
{
    int cancelled = 0;
    plan(NO_PLAN);
    cmp_ok(squares(), "==", 385, "workers that answer");
    cmp_ok(primes_below(200), "==", 46, "a chain of coroutines");
    is(race(&cancelled), "quick", "the first answer wins");
    cmp_ok(cancelled, "==", 1, "the slower one is cancelled");
    cmp_ok(fibonacci(12), "==", 144, "a tree of coroutines");
    done_testing();
}
