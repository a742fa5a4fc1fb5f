/* bench_dill.c - what the coroutine runtime costs.
 *
 * Written against libdill's public header only, so that the same source
 * measures a system libdill:
 *     cc -O2 -D_GNU_SOURCE bench_dill.c -ldill
 * Each row runs in a process of its own. Times are CPU time, the least of
 * several rounds. Instructions come from callgrind, when valgrind is there,
 * and system calls from ptrace; both as the difference of two runs of
 * different length, so that start-up does not count. */
#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, SHORT_RUN = 2000, LONG_RUN = 12000 };

struct row {
    const char *name, *what;
    double (*run)(long n); /* returns the figure per operation */
    long n;
    int rounds;
    bool count;       /* instructions and system calls make sense */
    const char *unit; /* of the figure */
};

struct result {
    double figure, instructions, syscalls;
};

static void must(bool held, const char *what)
{
    if (held)
        return;
    fprintf(stderr, "bench-dill: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* ---- the rows ---- */

static dill_coroutine void yielder(long n)
{
    for (long i = 0; i < n; i++)
        dill_yield();
}

static double run_switch(long n)
{
    int h = dill_go(yielder(n / 2));
    must(h >= 0, "go");
    double start = cpu_ns();
    yielder(n / 2);
    double ns = cpu_ns() - start;
    dill_hclose(h);
    return ns / (double)n;
}

static dill_coroutine void nothing(void)
{
}

static double run_spawn(long n)
{
    int b = dill_bundle();
    double start = cpu_ns();
    for (long i = 0; i < n; i++)
        must(dill_bundle_go(b, nothing()) == 0, "bundle_go");
    double ns = cpu_ns() - start;
    dill_hclose(b);
    return ns / (double)n;
}

static double run_go_close(long n)
{
    double start = cpu_ns();
    for (long i = 0; i < n; i++)
        must(dill_hclose(dill_go(nothing())) == 0, "go, hclose");
    return (cpu_ns() - start) / (double)n;
}

static dill_coroutine void parked(int ch)
{
    char x;
    dill_chrecv(ch, &x, 1, -1);
}

static double run_cold_spawn(long n)
{
    int ch[2], b = dill_bundle();
    must(dill_chmake(ch) == 0, "chmake");
    double start = cpu_ns();
    for (long i = 0; i < n; i++)
        must(dill_bundle_go(b, parked(ch[0])) == 0, "bundle_go");
    double ns = cpu_ns() - start;
    dill_hclose(b);
    return ns / (double)n;
}

static dill_coroutine void sender(int ch, long n)
{
    for (long i = 0; i < n; i++)
        must(dill_chsend(ch, &i, sizeof i, -1) == 0, "chsend");
}

static double run_message(long n)
{
    int ch[2];
    long v;
    must(dill_chmake(ch) == 0, "chmake");
    int h = dill_go(sender(ch[0], n));
    double start = cpu_ns();
    for (long i = 0; i < n; i++)
        must(dill_chrecv(ch[1], &v, sizeof v, -1) == 0 && v == i, "chrecv");
    double ns = cpu_ns() - start;
    dill_hclose(h);
    dill_hclose(ch[0]);
    dill_hclose(ch[1]);
    return ns / (double)n;
}

static double run_choose(long n)
{
    int a[2], b[2];
    long v;
    must(dill_chmake(a) == 0 && dill_chmake(b) == 0, "chmake");
    int h = dill_go(sender(b[0], n));
    struct dill_chclause cl[2] = {{DILL_CHRECV, a[1], &v, sizeof v},
                                  {DILL_CHRECV, b[1], &v, sizeof v}};
    double start = cpu_ns();
    for (long i = 0; i < n; i++)
        must(dill_choose(cl, 2, -1) == 1 && errno == 0, "choose");
    double ns = cpu_ns() - start;
    dill_hclose(h);
    for (int i = 0; i < 2; i++) {
        dill_hclose(a[i]);
        dill_hclose(b[i]);
    }
    return ns / (double)n;
}

static dill_coroutine void echo(int in, int out, long n)
{
    char x;
    for (long i = 0; i < n; i++)
        must(dill_fdin(in, -1) == 0 && read(in, &x, 1) == 1 && write(out, &x, 1) == 1, "echo");
}

/* A byte there and back through two pipes: two waits, two switches. */
static double run_fd(long n)
{
    int there[2], back[2];
    char x = 'x';
    must(pipe(there) == 0 && pipe(back) == 0, "pipe");
    int h = dill_go(echo(there[0], back[1], n));
    double start = cpu_ns();
    for (long i = 0; i < n; i++)
        must(write(there[1], &x, 1) == 1 && dill_fdin(back[0], -1) == 0 &&
                 read(back[0], &x, 1) == 1,
             "ping");
    double ns = cpu_ns() - start;
    dill_hclose(h);
    return ns / (double)n;
}

static dill_coroutine void sleeper(int64_t from, unsigned i, int times, long *left, int ch)
{
    char x = 0;
    for (int k = 0; k < times; k++) {
        i = i * 1103515245U + 12345U;
        dill_msleep(from + 20L * (k + 1) + i / 65536 % 10);
    }
    if (--*left == 0)
        dill_chsend(ch, &x, 1, -1);
    else
        dill_msleep(-1);
}

/* n coroutines that sleep ten times each; a figure per sleep. */
static double run_timers(long n)
{
    int ch[2], b = dill_bundle();
    int64_t from = dill_now();
    long left = n;
    char x;
    must(dill_chmake(ch) == 0, "chmake");
    for (long i = 0; i < n; i++)
        must(dill_bundle_go(b, sleeper(from + 200, (unsigned)i, 10, &left, ch[0])) == 0,
             "bundle_go");
    double start = cpu_ns();
    must(dill_chrecv(ch[1], &x, 1, -1) == 0, "chrecv");
    double ns = cpu_ns() - start;
    dill_hclose(b);
    return ns / (double)n / 10;
}

static dill_coroutine void for_ever(void)
{
    while (dill_yield() == 0)
        continue;
}

static double run_late(long n)
{
    double worst = 0;
    int h = dill_go(for_ever());
    for (long i = 0; i < n; i++) {
        int64_t deadline = dill_now() + 10;
        must(dill_msleep(deadline) == 0, "msleep");
        double late = (double)(dill_now() - deadline);
        if (late > worst)
            worst = late;
    }
    dill_hclose(h);
    return worst;
}

static double resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    must(f && fscanf(f, "%*d %ld", &pages) == 1, "/proc/self/statm");
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double run_memory(long n)
{
    int ch[2], b = dill_bundle();
    must(dill_chmake(ch) == 0, "chmake");
    double before = resident();
    for (long i = 0; i < n; i++) {
        if (dill_bundle_go(b, parked(ch[0])) == 0)
            continue;
        fprintf(stderr, "bench-dill: coroutine %ld: %s\n", i + 1, strerror(errno));
        return -1;
    }
    return (resident() - before) / (double)n;
}

static const struct row rows[] = {
    {"switch", "a switch (yield)", run_switch, 2000000, ROUNDS, true, "ns"},
    {"spawn", "bundle_go and its end, stack cached", run_spawn, 1000000, ROUNDS, true, "ns"},
    {"go", "go, its end, hclose", run_go_close, 500000, ROUNDS, true, "ns"},
    {"cold", "bundle_go on a new stack", run_cold_spawn, 10000, 3, true, "ns"},
    {"message", "a message of 8 bytes", run_message, 1000000, ROUNDS, true, "ns"},
    {"choose", "choose from two", run_choose, 1000000, ROUNDS, true, "ns"},
    {"fd", "a byte there and back, two fdin", run_fd, 50000, 3, true, "ns"},
    {"timers", "msleep beside 10,000 others", run_timers, 10000, 3, false, "ns"},
    {"late", "10 ms sleep beside a yielding one", run_late, 10, 1, false, "ms late"},
    {"memory-10k", "a parked coroutine of 10,000", run_memory, 10000, 1, false, "bytes"},
    {"memory-100k", "a parked coroutine of 100,000", run_memory, 100000, 1, false, "bytes"},
};
enum { NROWS = sizeof rows / sizeof rows[0] };

/* ---- measuring ---- */

static double figure_in_child(const struct row *r)
{
    int p[2];
    double figure = -1;
    fflush(NULL);
    must(pipe(p) == 0, "pipe");
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
        figure = r->run(r->n);
        _exit(write(p[1], &figure, sizeof figure) != (ssize_t)sizeof figure);
    }
    close(p[1]);
    if (read(p[0], &figure, sizeof figure) != (ssize_t)sizeof figure)
        figure = -1;
    close(p[0]);
    waitpid(pid, NULL, 0);
    return figure;
}

static double best(const struct row *r)
{
    double least = figure_in_child(r);
    for (int i = 1; i < r->rounds; i++) {
        double f = figure_in_child(r);
        if (f < least)
            least = f;
    }
    return least;
}

static bool have_valgrind(void)
{
    /* NOLINTNEXTLINE(cert-env33-c): the one command is ours */
    return system("command -v valgrind >/dev/null 2>&1") == 0;
}

/* Instructions of one run, start-up included; -1: no valgrind. */
static double instructions(const char *self, const struct row *r, long n)
{
    char cmd[512], line[256];
    double count = -1;
    snprintf(cmd, sizeof cmd,
             "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' --run=%s --n=%ld 2>&1",
             self, r->name, n);
    FILE *f = popen(cmd, "r"); /* NOLINT(cert-env33-c): the one command is ours */
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f)) {
        char *at = strstr(line, "Collected :");
        if (at)
            count = strtod(at + strlen("Collected :"), NULL);
    }
    return pclose(f) == 0 ? count : -1;
}

/* System calls of one run; -1: not allowed to trace. */
static double syscalls(const struct row *r, long n)
{
    int status;
    double stops = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(1);
        raise(SIGSTOP);
        r->run(n);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
        return -1;
    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid &&
           WIFSTOPPED(status))
        stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? stops / 2 : -1;
}

static double per_op(double shorter, double longer)
{
    return shorter < 0 || longer < 0 ? -1 : (longer - shorter) / (LONG_RUN - SHORT_RUN);
}

static struct result measure(const char *self, const struct row *r)
{
    struct result res = {best(r), -1, -1};
    if (!r->count)
        return res;
    res.syscalls = per_op(syscalls(r, SHORT_RUN), syscalls(r, LONG_RUN));
    if (have_valgrind())
        res.instructions =
            per_op(instructions(self, r, SHORT_RUN), instructions(self, r, LONG_RUN));
    return res;
}

/* ---- reporting ---- */

static void print_text(const struct row *r, const struct result *res)
{
    printf("%-12s %10.1f %-8s", r->name, res->figure, r->unit);
    if (res->instructions >= 0)
        printf(" %8.1f instr", res->instructions);
    else
        printf(" %14s", "");
    if (res->syscalls >= 0)
        printf(" %7.3f syscalls", res->syscalls);
    else
        printf(" %16s", "");
    printf("  %s\n", r->what);
    fflush(stdout);
}

static void print_number(const char *name, double v)
{
    if (v < 0)
        printf(",\"%s\":null", name);
    else
        printf(",\"%s\":%.3f", name, v);
}

static void print_json(const struct row *r, const struct result *res, bool first)
{
    printf("%s{\"name\":\"%s\",\"what\":\"%s\",\"n\":%ld,\"unit\":\"%s\"", first ? "" : ",",
           r->name, r->what, r->n, r->unit);
    print_number("figure", res->figure);
    print_number("instructions", res->instructions);
    print_number("syscalls", res->syscalls);
    printf("}");
    fflush(stdout);
}

static int usage(void)
{
    fputs("usage: bench_dill [--json] [--only=ROW] | --run=ROW --n=N\nrows:", stderr);
    for (int i = 0; i < NROWS; i++)
        fprintf(stderr, " %s", rows[i].name);
    fputc('\n', stderr);
    return 2;
}

static int run_one(const char *name, long n)
{
    for (int i = 0; i < NROWS; i++)
        if (strcmp(rows[i].name, name) == 0) {
            printf("%s %.1f\n", name, rows[i].run(n > 0 ? n : rows[i].n));
            return 0;
        }
    return usage();
}

int main(int argc, char **argv)
{
    const char *only = NULL, *run = NULL;
    bool json = false, first = true;
    long n = 0;
    char self[256] = "";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strncmp(argv[i], "--only=", 7) == 0)
            only = argv[i] + 7;
        else if (strncmp(argv[i], "--run=", 6) == 0)
            run = argv[i] + 6;
        else if (strncmp(argv[i], "--n=", 4) == 0)
            n = strtol(argv[i] + 4, NULL, 10);
        else
            return usage();
    }
    if (run)
        return run_one(run, n);
    must(readlink("/proc/self/exe", self, sizeof self - 1) > 0, "/proc/self/exe");
    if (json)
        printf("{\"rows\":[");
    for (int i = 0; i < NROWS; i++) {
        if (only && strcmp(only, rows[i].name) != 0)
            continue;
        struct result res = measure(self, &rows[i]);
        if (json)
            print_json(&rows[i], &res, first);
        else
            print_text(&rows[i], &res);
        first = false;
    }
    if (json)
        printf("]}\n");
    return 0;
}
