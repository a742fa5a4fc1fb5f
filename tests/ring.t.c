/* ring.t - order at both ends against a plain array, the ceiling, the memory. */
#include "tap.h"

#include "base/err.h"
#include "base/ring.h"

#include <string.h>

enum { STEPS = 200000, MODEL = 2 * STEPS + 2 };

static int model[MODEL];

/* A fixed mix of the four operations, checked step by step. */
static int mixed(struct cos_ring *ring)
{
    int lo = STEPS, hi = STEPS, wrong = 0, got;
    unsigned seed = 7;
    for (int i = 0; i < STEPS; i++) {
        unsigned op = (seed = seed * 1664525 + 1013904223) >> 24;
        if (op < 110 || lo == hi) {
            wrong += cos_ring_push(ring, &i) != 0;
            model[hi++] = i;
        } else if (op < 150) {
            wrong += cos_ring_push_front(ring, &i) != 0;
            model[--lo] = i;
        } else if (op < 200) {
            wrong += cos_ring_pop(ring, &got) != 0 || got != model[lo++];
        } else {
            wrong += cos_ring_pop_back(ring, &got) != 0 || got != model[--hi];
        }
        wrong += ring->count != (size_t)(hi - lo);
    }
    for (int i = lo; i < hi; i++)
        wrong += *(int *)cos_ring_at(ring, (size_t)(i - lo)) != model[i];
    return wrong;
}

static void ceiling(void)
{
    struct cos_ring ring, zero = {0};
    int n, got = -1;
    cos_ring_init(&ring, sizeof n, 3);
    for (n = 1; n <= 3; n++)
        cmp_ok(cos_ring_push(&ring, &n), "==", 0, "push %d of 3", n);
    cmp_ok(cos_ring_push(&ring, &n), "==", COS_EFULL, "the fourth is refused");
    cmp_ok(cos_ring_push_front(&ring, &n), "==", COS_EFULL, "at the front too");
    ok(!cos_ring_at(&ring, 3), "there is no item past the end");
    cmp_ok(cos_ring_pop(&ring, &got) + got, "==", 1, "first in, first out");
    cmp_ok(cos_ring_pop_back(&ring, &got) + got, "==", 3, "or the last from the back");
    cmp_ok(cos_ring_pop(&ring, NULL), "==", 0, "an item may be dropped unseen");
    cmp_ok(cos_ring_pop(&ring, &got), "==", COS_ENOENT, "an empty ring has nothing");
    cmp_ok(cos_ring_pop_back(&ring, &got), "==", COS_ENOENT, "at neither end");
    cos_ring_release(&ring);
    cos_ring_release(&zero);
    cmp_ok(cos_ring_push(&zero, &n), "==", COS_EFULL, "a zeroed ring holds nothing");
}

int main(void)
{
    struct cos_ring ring;
    size_t peak;
    plan(NO_PLAN);
    cos_ring_init(&ring, sizeof(int), 1 << 20);
    cmp_ok(mixed(&ring), "==", 0, "both ends agree with an array over %d operations", STEPS);
    cos_ring_clear(&ring);
    for (int i = 0; i < STEPS; i++)
        cos_ring_push(&ring, &i);
    peak = ring.cap;
    while (ring.count > 10)
        cos_ring_pop(&ring, NULL);
    cmp_ok(ring.cap, "<=", peak / 64, "a queue that became short gives memory back");
    cmp_ok(*(int *)cos_ring_at(&ring, 0), "==", STEPS - 10, "and keeps its items");
    cos_ring_release(&ring);
    ceiling();
    done_testing();
}
