/* lag.c - the time between before and after (lag.h). A run inside another one is
 * part of it; the innermost one that was too long is the one that is named. */
#include "tool/lag.h"

#include "base/buf.h"
#include "base/hook.h"

#include <stdlib.h>
#include <time.h>

enum { DEEP = 64, SAID_MAX = 20 };

struct tool_lag {
    struct cos_hook *hook;
    int64_t limit_us;
    void (*say)(void *arg, const char *what, const char *stack);
    void *arg;
    int64_t since[DEEP];
    int named[DEEP]; /* a run inside was to blame */
    int depth;
    uint64_t count;
    int64_t longest;
};

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void blame(struct tool_lag *lag, uint64_t id, int64_t us)
{
    const struct cos_hook_op *op = cos_hook_find(id);
    struct cos_buf what, stack;
    if (lag->count++ >= SAID_MAX || !lag->say)
        return;
    cos_buf_init(&what, 256);
    cos_buf_init(&stack, 16384);
    cos_buf_addf(&what, "%s held the loop for %lld ms", op ? cos_hook_type_name(op->type) : "?",
                 (long long)(us / 1000));
    cos_hook_stack(id, &stack);
    lag->say(lag->arg, what.data ? what.data : "", stack.data ? stack.data : "");
    cos_buf_release(&what);
    cos_buf_release(&stack);
}

static int before(void *arg, uint64_t id, int entry)
{
    struct tool_lag *lag = arg;
    (void)id;
    if (entry)
        lag->depth = 0;
    if (lag->depth < DEEP) {
        lag->since[lag->depth] = clock_us();
        lag->named[lag->depth] = 0;
    }
    lag->depth++;
    return 0;
}

static int after(void *arg, uint64_t id, int failed)
{
    struct tool_lag *lag = arg;
    int64_t us;
    (void)failed;
    if (!lag->depth || --lag->depth >= DEEP)
        return 0;
    us = clock_us() - lag->since[lag->depth];
    if (us > lag->longest)
        lag->longest = us;
    if (us < lag->limit_us)
        return 0;
    if (!lag->named[lag->depth])
        blame(lag, id, us);
    if (lag->depth)
        lag->named[lag->depth - 1] = 1;
    return 0;
}

struct tool_lag *lag_open(int64_t ms, void (*say)(void *arg, const char *what, const char *stack),
                          void *arg)
{
    struct tool_lag *lag = calloc(1, sizeof *lag);
    struct cos_hook_calls calls = {.name = "loop lag", .arg = lag, .before = before,
                                   .after = after};
    if (!lag)
        return NULL;
    lag->limit_us = ms * 1000;
    lag->say = say;
    lag->arg = arg;
    if (cos_hook_new(&lag->hook, &calls) || cos_hook_enable(lag->hook)) {
        lag_close(lag);
        return NULL;
    }
    return lag;
}

uint64_t lag_count(const struct tool_lag *lag)
{
    return lag->count;
}

int64_t lag_longest(const struct tool_lag *lag)
{
    return lag->longest;
}

void lag_close(struct tool_lag *lag)
{
    if (!lag)
        return;
    cos_hook_free(lag->hook);
    free(lag);
}
