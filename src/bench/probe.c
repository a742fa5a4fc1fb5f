/* probe.c - what a run needs besides time: memory, stack, descriptors, and how
 * late the loop is. May call base and the runtime.
 *
 * Memory, stack and descriptors are looked at in the steps of a probing run. That
 * costs far more than a step does, so it is done in the round that warms up and
 * is dropped; memory has to be seen in a fresh process anyway, for a second
 * run would find what the first left. Anonymous memory was taken because it has
 * both heap and stacks in it; mallinfo() knows nothing of a coroutine's stack. */
#include "config.h"
#define DILL_DISABLE_RAW_NAMES
#include "bench/web.h"

#include "base/loop.h"
#ifndef SYSTEM_LIBDILL
#include "dill/ctx.h"
#endif

#include <fcntl.h>
#include <libdill.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TICK_MS = 5, STACK_MOST = 8 << 20, EACH = 32 };
enum { RECORD_LENGTH = 16 }; /* where a struct linux_dirent64 has it */

/* --- memory, stack, descriptors ----------------------------------------------------- */

/* All of it off the stack: the caller's is what is measured. */
static char text[32768];

static size_t read_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* Bytes; 0 when the kernel does not tell. */
static int64_t anonymous(void)
{
    const char *line;
    read_text("/proc/self/smaps_rollup");
    line = strstr(text, "\nAnonymous:");
    return line ? atoll(line + 11) * 1024 : 0;
}

/* opendir() would allocate. */
static int descriptors(void)
{
    int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
    long len;
    while (fd >= 0 && (len = syscall(SYS_getdents64, fd, text, sizeof text)) > 0)
        for (long at = 0; at < len; n++)
            at += *(unsigned short *)(text + at + RECORD_LENGTH);
    if (fd >= 0)
        close(fd);
    return n > 3 ? n - 3 : 0; /* ".", ".." and the directory itself */
}

/* How deep the caller's stack is: our coroutines keep their block at its top. */
static int64_t stack_depth(const struct bench_probe *probe, const char *frame)
{
#ifndef SYSTEM_LIBDILL
    const char *top = (const char *)dill__tls.running;
    if (top > frame && top - frame < STACK_MOST)
        return top - frame;
#endif
    return probe->base > frame && probe->base - frame < STACK_MOST ? probe->base - frame : 0;
}

/* The stack in every step; the rest, which costs, now and then, and whenever there
 * are clearly more tasks than at any look before. */
void bench_probe_step(struct bench_probe *probe, int64_t tasks)
{
    int64_t depth = stack_depth(probe, __builtin_frame_address(0)), now, memory;
    int fds;
    probe->stack = depth > probe->stack ? depth : probe->stack;
    if (tasks < probe->next && probe->steps++ % EACH)
        return;
    if (tasks >= probe->next)
        probe->next = tasks + 1 + tasks / 16;
    now = anonymous();
    fds = descriptors();
    probe->fds = fds > probe->fds ? fds : probe->fds;
    /* From the first step on: what a style makes once is not a task's. */
    if (!probe->before)
        probe->before = now;
    memory = now - probe->before;
    probe->memory = memory > probe->memory ? memory : probe->memory;
}

void bench_probe_begin(struct bench_probe *probe)
{
    *probe = (struct bench_probe){.on = 1, .base = __builtin_frame_address(0)};
}

/* --- how late the loop is ------------------------------------------------------------ */

static void tick(struct cos__timer *timer);

static struct {
    struct cos__timer timer;
    struct cos__loop *loop;
    int64_t due, worst;
} lag = {.timer = {.fire = tick}};

static void set_tick(void)
{
    lag.due = bench_clock() + TICK_MS * (int64_t)1000000;
    cos__timer_set(lag.loop, &lag.timer, dill_now() + TICK_MS);
}

static void tick(struct cos__timer *timer)
{
    int64_t late = bench_clock() - lag.due;
    (void)timer;
    lag.worst = late > lag.worst ? late : lag.worst;
    set_tick();
}

void bench_lag_begin(void)
{
    lag.loop = cos__loop();
    lag.worst = 0;
    if (lag.loop)
        set_tick();
}

/* A timer that should have fired by now counts, too. */
int64_t bench_lag_end(void)
{
    int64_t late = bench_clock() - lag.due;
    if (!lag.loop)
        return 0;
    cos__timer_unset(lag.loop, &lag.timer);
    return late > lag.worst ? late : lag.worst;
}
