/* run.c - the course of a benchmark. First what needs no clock, side by side:
 * instructions, allocations, memory, descriptors. Then timed rounds, one process
 * at a time. A round takes table after table and runs every cell of a table once,
 * so that whatever the machine does besides hits all that are compared; each
 * round begins with another table and takes its cells in another order, so that
 * none always follows the same one. Rejected: one order through all tables, in
 * which a cell and its baseline are minutes apart.
 *
 * Time: a round is begun only when it will end in time, going by the longest so
 * far. One that is cut off all the same, or by SIGINT, is dropped, so that all
 * cells have equally many; of the first round the finished tables are kept. */
#define _GNU_SOURCE
#define DILL_DISABLE_RAW_NAMES
#include "bench/bench.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the time, for what needs no clock. */
enum { UNTIMED_PERCENT = 60 };
/* A round may take so much more than any before it. */
enum { MARGIN_PERCENT = 115 };

static volatile sig_atomic_t interrupted;

static void on_signal(int signo)
{
    (void)signo;
    interrupted = 1;
}

int bench_interrupted(void)
{
    return interrupted;
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

int bench_start_worker(struct bench *bench, struct bench_job *job, const struct bench_cell *cell,
                       const char *option)
{
    char name[96], worker[112], dir[96];
    const char *argv[] = {bench->program, "bench", worker, dir, option, NULL};
    bench_cell_name(cell, name);
    snprintf(worker, sizeof worker, "--worker=%s", name);
    snprintf(dir, sizeof dir, "--worker-dir=%s/%d", bench->dir, job->number);
    return bench_start(job, argv);
}

/* --- the round that warms up --------------------------------------------------------------- */

static int start_probe(struct bench *bench, struct bench_job *job)
{
    const struct bench_result *result = job->of;
    char name[96];
    bench_cell_name(&result->cell, name);
    bench_progress(bench, "warm-up, %zu of %zu: %s", (size_t)(result - bench->results) + 1,
                   bench->count, name);
    return bench_start_worker(bench, job, &result->cell, "--worker-probe");
}

static void end_probe(struct bench *bench, struct bench_job *job, int failed)
{
    struct bench_result *result = job->of;
    (void)bench;
    result->probed = !failed && !bench_parse_sample(job->said.data, &result->probe);
}

/* What needs no clock: the longest first. */
static int run_untimed(struct bench *bench, int64_t until)
{
    size_t most = BENCH_COUNT_JOBS + BENCH_LIMITS + bench->count, n = 0;
    struct bench_job *jobs = calloc(most, sizeof *jobs);
    if (!jobs)
        return COS_ENOMEM;
    n += bench_count_jobs(bench, jobs);
    n += bench_limit_jobs(bench, jobs + n);
    for (size_t i = 0; i < bench->count; i++)
        jobs[n++] = (struct bench_job){.start = start_probe, .end = end_probe,
                                       .of = &bench->results[i]};
    for (size_t i = 0; i < n; i++)
        jobs[i].number = (int)i;
    bench_run_jobs(bench, jobs, n, BENCH_AT_ONCE, until);
    free(jobs);
    return 0;
}

/* --- rounds ------------------------------------------------------------------------------- */

struct timed {
    struct bench_result *result;
    int round;
};

static int start_timed(struct bench *bench, struct bench_job *job)
{
    const struct timed *timed = job->of;
    return bench_start_worker(bench, job, &timed->result->cell, NULL);
}

static void end_timed(struct bench *bench, struct bench_job *job, int failed)
{
    const struct timed *timed = job->of;
    struct bench_result *result = timed->result;
    struct bench_sample sample = {0};
    (void)bench;
    if (failed || bench_parse_sample(job->said.data, &sample)) {
        result->died += !job->stopped;
        return;
    }
    result->samples[timed->round] = sample;
    result->have[timed->round] = 1;
    result->rounds++;
}

static size_t common_divisor(size_t a, size_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* Steps that reach all of n places, another for each round. */
static size_t stride(size_t n, int round)
{
    size_t step = 1;
    for (int found = -1; n > 2; step = step % (n - 1) + 1)
        if (common_divisor(n, step) == 1 && ++found == round)
            return step;
    return 1;
}

/* 1 when every cell of the table was run. */
static int run_table(struct bench *bench, const struct bench_table *t, int round, int64_t until)
{
    size_t n = t->to - t->from, step = stride(n, round), i;
    for (i = 0; i < n && !interrupted && bench_clock() < until; i++) {
        size_t at = t->from + ((size_t)round + i * step) % n;
        struct timed timed = {&bench->results[at], round};
        struct bench_job job = {.start = start_timed, .end = end_timed, .of = &timed};
        char name[96];
        bench_cell_name(&timed.result->cell, name);
        bench_progress(bench, "round %d of %d, %zu of %zu: %s", round + 1, bench->opt.rounds,
                       ++bench->under_way, bench->count, name);
        bench_run_jobs(bench, &job, 1, 1, until);
    }
    return i == n && !interrupted && bench_clock() < until;
}

static void forget(const struct bench_table *t, int round)
{
    for (size_t i = t->from; i < t->to; i++) {
        t->bench->results[i].rounds -= t->bench->results[i].have[round];
        t->bench->results[i].have[round] = 0;
    }
}

/* 1 when it is complete. */
static int run_round(struct bench *bench, const struct bench_table *tables, size_t n, int round,
                     int64_t until)
{
    size_t done = 0;
    bench->under_way = 0;
    while (done < n && run_table(bench, &tables[((size_t)round + done) % n], round, until))
        done++;
    for (size_t i = round ? 0 : done; done < n && i < n; i++)
        forget(&tables[i], round);
    return done == n;
}

static size_t list_tables(struct bench *bench, struct bench_table *tables)
{
    struct bench_table table = {bench, 0, 0};
    size_t n = 0;
    while (bench_next_table(&table))
        tables[n++] = table;
    return n;
}

static int run_rounds(struct bench *bench, int64_t until)
{
    struct bench_table *tables = calloc(bench->count, sizeof *tables);
    size_t n = tables ? list_tables(bench, tables) : 0;
    int64_t longest = 0, before;
    for (; n && bench->rounds < bench->opt.rounds; bench->rounds++) {
        before = bench_clock();
        if (before + longest / 100 * MARGIN_PERCENT > until
            || !run_round(bench, tables, n, bench->rounds, until))
            break;
        if (bench_clock() - before > longest)
            longest = bench_clock() - before;
    }
    free(tables);
    return n ? 0 : COS_ENOMEM;
}

/* --- from beginning to end ------------------------------------------------------------------ */

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
    int64_t began = bench_clock(), second = 1000000000, end;
    int err = prepare(bench);
    if (err)
        return err;
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    end = began + bench->opt.seconds * second;
    err = run_untimed(bench, began + bench->opt.seconds * second / 100 * UNTIMED_PERCENT);
    if (!err)
        err = run_rounds(bench, end);
    bench->interrupted = interrupted;
    bench->cut |= bench->rounds < bench->opt.rounds;
    if (!bench->opt.quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    nftw(bench->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    bench->seconds = (double)(bench_clock() - began) / 1e9;
    if (!err)
        bench_summarise(bench);
    return err;
}
