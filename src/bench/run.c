/* run.c - rounds of workers. Every round runs every cell once, so that whatever
 * the machine does besides hits all of them; each round begins elsewhere and
 * every second one goes backwards, so that no cell always follows the same one.
 * The first round warms caches and is dropped. SIGINT ends the rounds, and what
 * there is gets written. */
#define _GNU_SOURCE
#define DILL_DISABLE_RAW_NAMES
#include "bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20, WORKER_MS = 120 * 1000 };
/* What has begun before the time was over may go on for so long. */
enum { GRACE_S = 8 };

static volatile sig_atomic_t interrupted;
static int64_t began, last_moment;

static void on_signal(int signo)
{
    (void)signo;
    interrupted = 1;
}

int bench_stopped(struct bench *bench)
{
    bench->interrupted = interrupted != 0;
    if (bench->opt.seconds && bench_clock() - began > bench->opt.seconds * (int64_t)1000000000)
        bench->out_of_time = 1;
    return bench->interrupted || bench->out_of_time;
}

void bench_progress(const struct bench *bench, const char *fmt, ...)
{
    va_list ap;
    int terminal = isatty(STDERR_FILENO);
    if (bench->opt.quiet)
        return;
    if (terminal)
        fputs("\r\033[K", stderr);
    fputs("bench: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    if (!terminal)
        fputc('\n', stderr);
    fflush(stderr);
}

/* --- a process and what it prints ---------------------------------------------------- */

static void exec_child(const char *const *argv, int out)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    if (!getenv("COSCRAWL_BENCH_STDERR"))
        dup2(null, STDERR_FILENO);
    execvp(argv[0], (char **)(uintptr_t)argv);
    _exit(127);
}

/* Until the end of its output, or the patience is at its end: then it is killed. */
static void read_child(int fd, pid_t pid, struct cos_buf *out)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int64_t until = bench_clock() + WORKER_MS * (int64_t)1000000;
    if (last_moment && until > last_moment)
        until = last_moment;
    char room[4096];
    ssize_t n = 1;
    while (n > 0 && bench_clock() < until && !interrupted) {
        int ready = poll(&wait, 1, 500);
        if (ready > 0)
            n = read(fd, room, sizeof room);
        if (ready > 0 && n > 0 && cos_buf_add(out, room, (size_t)n))
            break;
    }
    if (n > 0)
        kill(pid, SIGTERM);
}

int bench_start(struct bench_child *child, const char *const *argv)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC))
        return -1;
    child->pid = fork();
    if (child->pid == 0)
        exec_child(argv, fds[1]);
    close(fds[1]);
    child->fd = fds[0];
    if (child->pid < 0)
        close(fds[0]);
    return child->pid < 0 ? -1 : 0;
}

int bench_finish(struct bench_child *child, struct cos_buf *out)
{
    int status = -1;
    read_child(child->fd, child->pid, out);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(child->fd);
    return status == 0 ? 0 : -1;
}

/* --- a sample --------------------------------------------------------------------------- */

int bench_parse_sample(const char *text, struct bench_sample *out)
{
    int found = 0, fields = 0;
    while (text && *text) {
        char name[32];
        long long value;
        if (sscanf(text, "%31s %lld", name, &value) == 2) {
#define BENCH_FIELD(field) if (!strcmp(name, #field)) { out->field = value; found++; }
            BENCH_FIELDS(BENCH_FIELD)
#undef BENCH_FIELD
        }
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
#define BENCH_FIELD(field) fields++;
    BENCH_FIELDS(BENCH_FIELD)
#undef BENCH_FIELD
    return found == fields ? 0 : -1;
}

static void take_sample(struct bench *bench, struct bench_result *result, int round)
{
    char name[96], cell[112], dir[80];
    const char *argv[] = {bench->program, "bench", cell, dir,
                          round < 0 ? "--worker-probe" : NULL, NULL};
    struct cos_buf out = {.max = OUTPUT_MAX};
    struct bench_sample sample = {0};
    struct bench_child child;
    bench_cell_name(&result->cell, name);
    snprintf(cell, sizeof cell, "--worker=%s", name);
    snprintf(dir, sizeof dir, "--worker-dir=%s", bench->dir);
    if (bench_start(&child, argv) || bench_finish(&child, &out)
        || bench_parse_sample(out.data, &sample)) {
        result->died += !interrupted && bench_clock() < last_moment;
    } else if (round < 0) {
        result->probe = sample;
        result->probed = 1;
    } else {
        result->samples[round] = sample;
        result->have[round] = 1;
        result->rounds++;
    }
    cos_buf_release(&out);
}

/* --- rounds ------------------------------------------------------------------------------- */

/* round -1 is the warm-up. */
static void run_round(struct bench *bench, int round)
{
    size_t n = bench->count, from = (size_t)(round + 1) * 7 % n;
    for (size_t i = 0; i < n && !bench_stopped(bench); i++) {
        size_t at = round & 1 ? n - 1 - (from + i) % n : (from + i) % n;
        char name[96];
        bench_cell_name(&bench->results[at].cell, name);
        bench_progress(bench, "%s %d of %d, %zu of %zu: %s", round < 0 ? "warm-up," : "round",
                       round + 1, bench->opt.rounds, i + 1, n, name);
        take_sample(bench, &bench->results[at], round);
    }
}

/* 1 when the rest of the time, a quarter or a minute, is for what comes after the
 * rounds. */
static int late(struct bench *bench)
{
    int64_t rest = bench->opt.seconds / 4 < 60 ? bench->opt.seconds / 4 : 60;
    return bench_stopped(bench)
           || bench_clock() - began > (bench->opt.seconds - rest) * (int64_t)1000000000;
}

static void run_rounds(struct bench *bench)
{
    int round = -1;
    for (; round < bench->opt.rounds && !late(bench); round++)
        run_round(bench, round);
    bench->cut = round < bench->opt.rounds;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int prepare(struct bench *bench)
{
    const char *tmp = getenv("TMPDIR");
    ssize_t n = readlink("/proc/self/exe", bench->program, sizeof bench->program - 1);
    if (n <= 0)
        return cos_err_from_errno(errno);
    bench->program[n] = 0;
    if (!tmp || strlen(tmp) > 30)
        tmp = "/tmp";
    snprintf(bench->dir, sizeof bench->dir, "%s/coscrawl-bench-XXXXXX", tmp);
    return mkdtemp(bench->dir) ? 0 : cos_err_from_errno(errno);
}

int bench_run(struct bench *bench)
{
    struct sigaction stop = {.sa_handler = on_signal};
    int err = prepare(bench);
    if (err)
        return err;
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    began = bench_clock();
    last_moment = began + (bench->opt.seconds + GRACE_S) * (int64_t)1000000000;
    /* Counts first: they are what a busy machine cannot spoil. */
    bench->uncounted = "not asked for";
    if (!bench->opt.no_instructions)
        bench_count(bench);
    run_rounds(bench);
    if (bench_has_real(bench) && !bench_stopped(bench))
        bench_limits(bench);
    if (!bench->uncounted && bench_has_real(bench) && !bench_stopped(bench)) {
        bench_count_fairness(bench);
        bench->cut |= !bench->fairness.measured;
    }
    bench->seconds = (double)(bench_clock() - began) / 1e9;
    if (!bench->opt.quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    nftw(bench->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    bench_summarise(bench);
    return 0;
}
