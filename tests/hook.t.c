/* hook.t - the emission points: silent and without ids while off, in order and
 * with ids of their own while on. */
#include "tap.h"

#include "base/buf.h"
#include "base/hook.h"

#include <string.h>

static struct cos_buf seen;

static void on_init(uint64_t id, enum cos_hook_type type, uint64_t trigger, const char *file,
                    int line)
{
    cos_buf_addf(&seen, "init %s trigger %d %s; ", cos_hook_type_name(type), (int)trigger,
                 id && line && strstr(file, "hook.t.c") ? "here" : "nowhere");
}

static void on_before(uint64_t id, int entry)
{
    cos_buf_addf(&seen, "before %s%d; ", id ? "" : "0!", entry);
}

static void on_after(uint64_t id, int failed)
{
    cos_buf_addf(&seen, "after %s%d; ", id ? "" : "0!", failed);
}

static void on_destroy(uint64_t id)
{
    cos_buf_addf(&seen, "destroy%s; ", id ? "" : " 0!");
}

static const struct cos__hook_sink sink = {on_init, on_before, on_after, on_destroy};

static uint64_t one_life(uint64_t trigger)
{
    uint64_t id = 99, was;
    COS_HOOK(init, &id, COS_HOOK_FETCH, trigger);
    was = id;
    COS_HOOK(before, id, 1);
    COS_HOOK(after, id, 0);
    COS_HOOK(destroy, &id);
    COS_HOOK(destroy, &id);
    return id ? 99 : was;
}

int main(void)
{
    uint64_t a, b;
    int repeated = 0;
    plan(NO_PLAN);
    cos_buf_init(&seen, 1 << 16);
    cmp_ok(one_life(0), "==", 0, "C41 while off an operation has no id");
    ok(!seen.len, "C41 and nothing is emitted");
    cos__hook_set_sink(&sink);
    a = one_life(7);
    is(seen.data, "init fetch trigger 7 here; before 1; after 0; destroy; ",
       "a life in order, destroyed once, with the place it was created");
    b = one_life(0);
    ok(a && b > a && b < (uint64_t)1 << 53, "ids count up and fit into a JSON number");
    COS_HOOK(init, &a, COS_HOOK_TIMER, 0);
    cos__hook_set_sink(NULL);
    cos_buf_clear(&seen);
    COS_HOOK(before, a, 1);
    COS_HOOK(destroy, &a);
    ok(!seen.len && !a, "an operation that outlives the listener ends in silence");
    for (int i = 0; i < COS_HOOK_TYPE_COUNT; i++)
        for (int j = 0; j < i; j++)
            repeated += !strcmp(cos_hook_type_name(i), cos_hook_type_name(j));
    cmp_ok(COS_HOOK_TYPE_COUNT, "==", 17, "17 types");
    cmp_ok(repeated, "==", 0, "each with a name of its own");
    is(cos_hook_type_name(1000), "unknown", "and a name for what is none");
    cos_buf_release(&seen);
    done_testing();
}
