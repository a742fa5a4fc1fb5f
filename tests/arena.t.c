/* arena.t - pieces stay where they are, references lead back, the ceiling holds. */
#include "tap.h"

#include "base/arena.h"

#include <stdint.h>
#include <string.h>

enum { PIECES = 20000 };

static void stable(void)
{
    static uint32_t refs[PIECES];
    static uint64_t *at[PIECES];
    struct cos_arena arena;
    int moved = 0, lost = 0, crooked = 0;
    cos_arena_init(&arena, 64 << 20);
    for (int i = 0; i < PIECES; i++) {
        at[i] = cos_arena_alloc(&arena, 8 + (size_t)i % 100, &refs[i]);
        crooked += (uintptr_t)at[i] % 8 != 0;
        *at[i] = (uint64_t)i;
    }
    for (int i = 0; i < PIECES; i++) {
        moved += cos_arena_at(&arena, refs[i]) != at[i];
        lost += *at[i] != (uint64_t)i;
    }
    cmp_ok(crooked, "==", 0, "every piece is aligned to 8");
    cmp_ok(moved, "==", 0, "a reference leads to its piece");
    cmp_ok(lost, "==", 0, "no two pieces overlap");
    cmp_ok(arena.bytes, "<", PIECES * 64 * 3 / 2, "little is lost between chunks");
    cos_arena_release(&arena);
    cmp_ok(arena.bytes, "==", 0, "release gives everything back");
    is(cos_arena_dup(&arena, "again", 5), "again", "and the arena can be used again");
    cos_arena_release(&arena);
}

static void ceiling(void)
{
    struct cos_arena arena, zero = {0};
    uint32_t ref;
    size_t before;
    char *big;
    cos_arena_init(&arena, 1 << 20);
    big = cos_arena_alloc(&arena, 600 * 1024, &ref);
    ok(big && cos_arena_at(&arena, ref) == big, "a piece larger than a chunk");
    memset(big, 1, 600 * 1024);
    before = arena.bytes;
    ok(!cos_arena_alloc(&arena, 600 * 1024, NULL), "the ceiling refuses");
    cmp_ok(arena.bytes, "==", before, "and leaves the arena as it was");
    ok(cos_arena_alloc(&arena, 100, NULL) != NULL, "a smaller piece still fits");
    while (cos_arena_alloc(&arena, 1000, NULL))
        ;
    cmp_ok(arena.bytes, "<=", 1 << 20, "never more than the ceiling");
    ok(!cos_arena_alloc(&arena, SIZE_MAX, NULL), "a size that would wrap is refused");
    cos_arena_release(&arena);
    ok(!cos_arena_alloc(&zero, 1, NULL), "a zeroed arena holds nothing");
    cos_arena_release(&zero);
}

int main(void)
{
    plan(NO_PLAN);
    stable();
    ceiling();
    done_testing();
}
