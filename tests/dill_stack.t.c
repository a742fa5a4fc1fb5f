/* dill_stack.t.c - stacks: guards, sizes, how many, what they cost, and that
 * the memory of finished coroutines is given back. */
#include <libdill.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dill_util.h"
#include "tap.h"

static size_t resident(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %lu", &pages) != 1)
        BAIL_OUT("/proc/self/statm");
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static coroutine void parked(int ch, int *alive)
{
    char x;
    ++*alive;
    chrecv(ch, &x, 1, -1);
    --*alive;
}

/* Without the cheap guards a stack takes two mappings, and those end early. */
static bool cheap_guards(void)
{
    if (getenv("NO_CHEAP_GUARDS")) /* the runtime was built without them */
        return false;
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool works = madvise(p, 4096, 102) == 0;
    munmap(p, 4096);
    return works;
}

static void test_parked(int n, size_t limit)
{
    int ch[2], alive = 0, made = 0, b = bundle();
    chmake(ch);
    size_t before = resident();
    while (made < n && bundle_go(b, parked(ch[0], &alive)) == 0)
        made++;
    int err = errno;
    size_t used = resident() - before;
    if (made < n && !cheap_guards())
        ok(err == ENOMEM && made > 20000, "no cheap guards here: ENOMEM after %d stacks", made);
    else
        ok(made == n && alive == n, "%d parked coroutines", made);
    note("%zu bytes each", used / (size_t)made);
    if (!checked_run())
        cmp_ok(used / (size_t)made, "<=", limit, "bytes of memory for each");
    hclose(b);
    cmp_ok(alive, "==", 0, "all end when the bundle is closed");
    if (!checked_run())
        cmp_ok((resident() - before) / 1024, "<=", 16 * 1024, "KB kept afterwards");
    hclose(ch[0]);
    hclose(ch[1]);
}

static __attribute__((noinline)) int overflow(volatile int depth)
{
    volatile char frame[200];
    memset((char *)frame, depth, sizeof frame);
    return depth > 0 ? overflow(depth + 1) + frame[5] : 0;
}

static __attribute__((noinline)) int overflow_in_strides(volatile int depth)
{
    volatile char frame[9000];
    frame[0] = frame[8999] = (char)depth;
    return depth > 0 ? overflow_in_strides(depth + 1) + frame[5] : 0;
}

static coroutine void overflows(bool strides, int *out)
{
    *out = strides ? overflow_in_strides(1) : overflow(1);
}

static char alternate[64 * 1024];
static char *victim_low, *victim_high;

static void on_segv(int sig, siginfo_t *info, void *uc)
{
    (void)sig, (void)uc;
    const char *at = info->si_addr;
    _exit(at >= victim_low && at < victim_high ? 7 : 8);
}

static __attribute__((noinline)) void note_top(size_t size)
{
    char here;
    char *top = (char *)(((uintptr_t)&here + 4095) & ~(uintptr_t)4095);
    victim_low = top - size - 64 * 1024;
    victim_high = top - size + 4096;
}

static coroutine void overflows_noted(bool strides, size_t size, int *out)
{
    note_top(size);
    overflows(strides, out);
}

/* In a child: the first neighbours are parked above and below the victim. */
static int overflow_in_child(bool strides, size_t size)
{
    int out = 0, alive = 0, ch[2], b = bundle(), status = -1;
    stack_t ss = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction sa = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        chmake(ch);
        sigaltstack(&ss, NULL);
        sigaction(SIGSEGV, &sa, NULL);
        sigaction(SIGBUS, &sa, NULL);
        bundle_go(b, parked(ch[0], &alive));
        bundle_go(b, parked(ch[0], &alive));
        bundle_go(b, overflows_noted(strides, size, &out));
        _exit(9);
    }
    waitpid(pid, &status, 0);
    hclose(b);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static coroutine void uses(size_t bytes, size_t *sum)
{
    volatile char *a = __builtin_alloca(bytes);
    for (size_t i = 0; i < bytes; i += 512)
        a[i] = 1;
    yield();
    for (size_t i = 0; i < bytes; i += 512)
        *sum += (size_t)a[i];
}

static void test_size(void)
{
    size_t sum = 0;
    int b = bundle();
    ok(fails(dill_stack_size(0), EINVAL), "a stack of 0 bytes is EINVAL");
    ok(fails(dill_stack_size(32 << 10), EINVAL), "less than 64 KiB too");
    ok(fails(dill_stack_size((size_t)-1), EINVAL), "and a negative size");
    ok(bundle_go(b, uses(200 << 10, &sum)) == 0 && bundle_wait(b, -1) == 0 && sum == 400,
       "200 KiB fit in the default");
    sum = 0;
    bundle_go(b, uses(100 << 10, &sum));
    ok(dill_stack_size(4 << 20) == 0, "larger stacks, while one is in use");
    bundle_go(b, uses(3 << 20, &sum));
    ok(bundle_wait(b, -1) == 0 && sum == 200 + 6144, "3 MiB fit, and the old one ends well");
    ok(dill_stack_size((64 << 10) + 1) == 0, "odd sizes are rounded up");
    sum = 0;
    bundle_go(b, uses(48 << 10, &sum));
    ok(bundle_wait(b, -1) == 0 && sum == 96, "small stacks");
    if (!SANITIZED && !checked_run())
        cmp_ok(overflow_in_child(false, (64 << 10) + 4096), "==", 7, "have their guard too");
    ok(dill_stack_size(256 << 10) == 0, "back to the default");
    hclose(b);
}

static coroutine void dirty(int *left)
{
    volatile char a[64 * 1024];
    for (size_t i = 0; i < sizeof a; i += 1024)
        a[i] = 1;
    yield();
    --*left;
}

static void test_give_back(void)
{
    int n = checked_run() ? 600 : 2000, left = n, b = bundle();
    size_t before = resident();
    for (int i = 0; i < n; i++)
        bundle_go(b, dirty(&left));
    bundle_wait(b, -1);
    cmp_ok(left, "==", 0, "coroutines that used 64 KiB of stack each");
    if (!checked_run())
        cmp_ok((resident() - before) >> 20, "<=", 64, "MB kept of %d", n * 64 >> 10);
    hclose(b);
}

int main(void)
{
    plan(NO_PLAN);
    if (checked_run()) {
        test_parked(2000, 0);
    } else {
        test_parked(10000, 4300);
        test_parked(100000, 4300);
        cmp_ok(overflow_in_child(false, 256 << 10), "==", 7,
               "an overflow is a SIGSEGV on the guard");
        cmp_ok(overflow_in_child(true, 256 << 10), "==", 7, "also with frames larger than a page");
    }
    test_size();
    test_give_back();
    done_testing();
}
