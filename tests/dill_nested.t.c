/* dill_nested.t - a coroutine that launches others leaves its stack as it found
 * it: the next owner of that stack must not start on a child's. */
#include "tap.h"

#include <libdill.h>

static int inner = -1, ended;

static coroutine void child(void)
{
    msleep(now() + 1);
    ended++;
}

static coroutine void parent(int *sum, int n)
{
    volatile int local[64];
    for (int i = 0; i < 64; i++)
        local[i] = n;
    bundle_go(inner, child());
    msleep(now() + 2);
    for (int i = 0; i < 64; i++)
        *sum += local[i] == n;
    ended++;
}

int main(void)
{
    int sum = 0;
    plan(NO_PLAN);
    inner = bundle();
    for (int round = 0; round < 5; round++) {
        int b = bundle();
        for (int i = 0; i < 8; i++)
            bundle_go(b, parent(&sum, i));
        bundle_wait(b, -1);
        hclose(b);
        bundle_wait(inner, -1);
    }
    cmp_ok(ended, "==", 80, "every coroutine ended, five times on the same stacks");
    cmp_ok(sum, "==", 5 * 8 * 64, "no coroutine's frame was overwritten");
    hclose(inner);
    done_testing();
}
