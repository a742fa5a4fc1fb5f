/* worker.c - one cell in one process: nothing of an earlier cell is warm, and a
 * crash costs one sample. Prints "name value" lines. With null and replay leaves
 * the first run is thrown away and the rest repeat until the clock can be
 * believed; with real ones a run is long enough, and only the engine is started
 * before it. */
#define _GNU_SOURCE
#define DILL_DISABLE_RAW_NAMES
#include "bench/bench.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without valgrind's header there are no marks, and nothing is counted. */
#if defined __has_include
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define BENCH_MARKS 1
#endif
#endif
#ifndef BENCH_MARKS
#define BENCH_MARKS 0
#define CALLGRIND_ZERO_STATS ((void)0)
#define CALLGRIND_DUMP_STATS ((void)0)
#define CALLGRIND_TOGGLE_COLLECT ((void)0)
#endif

enum { LONG_ENOUGH_NS = 20 * 1000 * 1000, RUNS_MAX = 2000, SINGLES = 20 };
enum { TAIL_MS = 100, TAIL_EACH = 10 };
/* With fewer tasks at once, memory is not theirs but what a run needs anyhow. */
enum { MANY = 8 };

struct worker {
    struct bench_cell cell;
    struct bench_web web;
    pid_t site;
    char origin[128], dir[256];
    const struct bench_work *work; /* NULL: counting */
    struct cos_pool *tidy;
    struct bench_sample sum;
};

/* --- the site ------------------------------------------------------------------------ */

/* The long tail: of sixteen pages, spread over the site, each takes TAIL_MS. */
static int site_arguments(const struct bench_cell *cell, char args[][64])
{
    struct cos_site_options opt;
    struct cos__site site = {0};
    int nesting, n = 0;
    bench_shape_options(cell->shape, &opt, &nesting);
    site.opt = opt;
    snprintf(args[n++], 64, "--pages=%lld", (long long)opt.pages);
    snprintf(args[n++], 64, "--links=%lld", (long long)opt.links);
    snprintf(args[n++], 64, "--errors=%lld", (long long)opt.errors);
    snprintf(args[n++], 64, "--latency=%d", cell->latency == BENCH_TAIL ? 1 : cell->latency);
    snprintf(args[n++], 64, "--shape=%s",
             (const char *[]){"tree", "chain", "cross", "star", "lost"}[opt.shape]);
    for (int64_t i = 1; cell->latency == BENCH_TAIL && i < 16 && i * TAIL_EACH < opt.pages; i++) {
        struct cos_buf path = {.max = 200};
        cos__site_add_path(&site, &path, i * TAIL_EACH);
        snprintf(args[n++], 64, "--slow=%.40s:%d", path.data, TAIL_MS);
        cos_buf_release(&path);
    }
    return n;
}

static void exec_site(const struct bench_cell *cell, int out)
{
    static char args[32][64];
    static char program[4096];
    const char *argv[40] = {"coscrawl", "site", "--die-with-parent"};
    int n = site_arguments(cell, args), at = 3;
    for (int i = 0; i < n; i++)
        argv[at++] = args[i];
    argv[at] = NULL;
    dup2(out, STDOUT_FILENO);
    /* The name, not the link: under valgrind the link is valgrind. */
    if (readlink("/proc/self/exe", program, sizeof program - 1) > 0)
        execv(program, (char **)(uintptr_t)argv);
    _exit(127);
}

/* The origin of the site into the worker; 0 or -1. */
static int start_site(struct worker *w)
{
    int out[2];
    size_t have = 0;
    ssize_t n;
    if (pipe2(out, O_CLOEXEC) || (w->site = fork()) < 0)
        return -1;
    if (w->site == 0)
        exec_site(&w->cell, out[1]);
    close(out[1]);
    while (have < sizeof w->origin - 1 && !memchr(w->origin, '\n', have)
           && (n = read(out[0], w->origin + have, sizeof w->origin - 1 - have)) > 0)
        have += (size_t)n;
    close(out[0]);
    w->origin[strcspn(w->origin, "\n")] = 0;
    have = strlen(w->origin);
    while (have && w->origin[have - 1] == '/')
        w->origin[--have] = 0;
    return have ? 0 : -1;
}

static void stop_site(struct worker *w)
{
    if (w->site <= 0)
        return;
    kill(w->site, SIGTERM);
    waitpid(w->site, NULL, 0);
}

/* The engine, its threads and a connection, before the clock runs. */
static int warm_up(struct worker *w)
{
    struct cos_buf url = {.max = 256};
    struct cos_request req = {0};
    struct cos_page *page = NULL;
    struct cos_stat stat;
    int err = cos_buf_addf(&url, "%s/", w->origin);
    req.url = url.data;
    if (!err)
        err = cos_fetch(&req, &page, -1);
    cos_stat("/", &stat, -1);
    if (!err && w->cell.tidy)
        err = cos_tidy_open(&w->tidy, 0);
    cos_parser_setup(w->tidy);
    if (!err)
        err = cos_read_links(page, -1);
    cos_page_free(page);
    cos_buf_release(&url);
    return err;
}

/* After the engine is up: what a run may open is what is left. */
static int limit_files(const struct worker *w)
{
    struct rlimit few = {(rlim_t)w->work->nofile, (rlim_t)w->work->nofile};
    struct cos_fetch_setup setup = {.connections = -1};
    if (!w->work->nofile)
        return 0;
    if (setrlimit(RLIMIT_NOFILE, &few))
        return cos_err_from_errno(errno);
    return cos_fetch_setup(&setup);
}

/* --- files ------------------------------------------------------------------------------- */

static int64_t files;

static int count_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)path;
    (void)st;
    (void)ftw;
    files += type == FTW_F;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Names and digests of what the run left on the disk. */
static void check_files(struct worker *w)
{
    for (size_t i = 0; i < w->web.count; i++) {
        struct bench_page *page = &w->web.pages[i];
        struct cos_buf data = {.max = 1 << 22};
        uint64_t got[2], want[2];
        page->written = cos_file_read(page->file, &data, -1) == 0;
        cos_hash128(data.data ? data.data : "", data.len, got);
        cos_hash128(page->body.data, page->body.len, want);
        page->wrong = page->written && memcmp(got, want, sizeof got) != 0;
        cos_buf_release(&data);
    }
    files = 0;
    nftw(w->dir, count_file, 16, FTW_PHYS);
}

/* --- a run ----------------------------------------------------------------------------------- */

static int64_t cpu_clock(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000
           + ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void report(const char *url, int downloaded, int err, void *arg)
{
    (void)downloaded;
    (void)err;
    (void)arg;
    bench_task_end(url);
}

/* Tasks are timed where that does not show beside what a page costs. */
static void run_once(struct worker *w)
{
    struct spider spider = {.url = w->web.pages[0].url, .dir = w->dir, .nesting = w->web.nesting,
                            .concurrency = w->cell.concurrency};
    int64_t wall, cpu, late;
    bench_web_clear(&w->web);
    w->web.clocked = w->cell.leaves == BENCH_REAL;
    spider.report = w->web.clocked ? report : NULL;
    if (w->web.clocked)
        bench_lag_begin();
    wall = bench_clock();
    cpu = cpu_clock();
    w->sum.err = w->cell.style->run(&spider);
    w->sum.cpu_ns += cpu_clock() - cpu;
    w->sum.wall_ns += bench_clock() - wall;
    w->sum.runs++;
    late = w->web.clocked ? bench_lag_end() / 1000 : 0;
    w->sum.lag_us = late > w->sum.lag_us ? late : w->sum.lag_us;
    /* A leaf that is still under way will never call back. */
    w->sum.callbacks += w->web.callbacks + w->web.in_flight;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* µs that so many percent of the sorted times are within. */
static int64_t percentile(const int64_t *times, size_t n, size_t percent)
{
    return n ? (times[n * percent / 100] + 500) / 1000 : 0;
}

static void take_times(struct worker *w)
{
    const struct bench_web *web = &w->web;
    qsort(web->times, web->ntimes, sizeof *web->times, by_size);
    qsort(web->tasks, web->ntasks, sizeof *web->tasks, by_size);
    w->sum.p50_us = percentile(web->times, web->ntimes, 50);
    w->sum.p95_us = percentile(web->times, web->ntimes, 95);
    w->sum.p99_us = percentile(web->times, web->ntimes, 99);
    w->sum.task50_us = percentile(web->tasks, web->ntasks, 50);
    w->sum.task95_us = percentile(web->tasks, web->ntasks, 95);
    w->sum.task99_us = percentile(web->tasks, web->ntasks, 99);
}

static void take_probe(struct worker *w)
{
    const struct bench_probe *probe = &w->web.probe;
    if (!probe->on)
        return;
    if (w->web.peak >= MANY)
        w->sum.memory = probe->memory / w->web.peak;
    w->sum.stack = probe->stack;
    w->sum.fds = probe->fds;
}

/* What the last run did to the pages. */
static void take_pages(struct worker *w)
{
    struct bench_sample *s = &w->sum;
    int64_t found = 0;
    for (size_t i = 0; i < w->web.count; i++) {
        const struct bench_page *page = &w->web.pages[i];
        s->expected += page->expected;
        s->pages += page->expected && page->written;
        s->lost += page->expected && !page->written;
        s->extra += !page->expected && page->written;
        s->wrong += page->wrong;
        s->requests += page->requests;
        s->duplicates += page->requests > 1 ? page->requests - 1 : 0;
        found += page->written;
    }
    if (w->cell.leaves == BENCH_REAL)
        s->extra += files - found;
    s->steps = w->web.steps;
    s->in_flight = w->web.peak;
}

/* A page alone over the network is over before the clock has turned. */
static int enough(const struct worker *w, int repeat)
{
    if (repeat)
        return w->sum.runs >= repeat;
    if (w->cell.leaves == BENCH_REAL)
        return w->cell.shape != BENCH_ONE || w->sum.runs >= SINGLES;
    return w->sum.wall_ns >= LONG_ENOUGH_NS || w->sum.runs >= RUNS_MAX;
}

static void run_cell(struct worker *w)
{
    int repeat = w->work->probe || w->work->nofile ? 1 : w->work->repeat;
    if (w->work->probe)
        bench_probe_begin(&w->web.probe);
    if (!repeat && w->cell.leaves != BENCH_REAL) {
        run_once(w);
        w->sum = (struct bench_sample){0};
    }
    do {
        if (w->cell.leaves == BENCH_REAL && w->sum.runs)
            nftw(w->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        run_once(w);
    } while (!enough(w, repeat));
    w->sum.wall_ns /= w->sum.runs;
    w->sum.cpu_ns /= w->sum.runs;
    take_times(w);
    take_probe(w);
    if (w->cell.leaves == BENCH_REAL)
        check_files(w);
    take_pages(w);
}

static void print_sample(const struct bench_sample *s)
{
#define BENCH_FIELD(name) printf(#name " %lld\n", (long long)s->name);
    BENCH_FIELDS(BENCH_FIELD)
#undef BENCH_FIELD
}

/* --- counting --------------------------------------------------------------------------- */

/* Real leaves need a site, the same for all the cells of a process. */
static int prepare_count(struct worker *w, const char *name)
{
    int err = bench_cell_parse(name, &w->cell) || w->cell.leaves == BENCH_REPLAY ? COS_EINVAL : 0;
    if (!err && w->cell.leaves == BENCH_REAL && w->site <= 0)
        err = start_site(w) ? COS_ECONNREFUSED : warm_up(w);
    if (!err)
        err = bench_web_init(&w->web, w->cell.leaves, w->cell.shape, w->origin, w->dir);
    bench_web = &w->web;
    return err;
}

/* Not counted: files of the last run would be found there. */
static void remove_files(const struct worker *w)
{
    if (w->cell.leaves != BENCH_REAL)
        return;
    CALLGRIND_TOGGLE_COLLECT;
    nftw(w->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    CALLGRIND_TOGGLE_COLLECT;
}

/* A run to warm up, then COUNTED runs between two marks that callgrind
 * understands. Prints the steps and pages of one. A thread of the engine may
 * still be on its way back to sleep at a mark: some hundred instructions of
 * millions. */
static int count_one(struct worker *w, const char *name)
{
    int err = prepare_count(w, name);
    if (err)
        return err;
    run_once(w);
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i < BENCH_COUNTED; i++) {
        remove_files(w);
        run_once(w);
    }
    CALLGRIND_DUMP_STATS;
    if (w->cell.leaves == BENCH_REAL)
        check_files(w);
    remove_files(w);
    w->sum = (struct bench_sample){0};
    take_pages(w);
    printf("%s %lld %lld\n", name, (long long)w->sum.steps, (long long)w->sum.pages);
    bench_web_release(&w->web);
    return 0;
}

/* The same in a child, for memcheck tells at the end what a process allocated:
 * once after one run, once after WEIGHED more. */
static int weigh_one(struct worker *w, const char *name, int runs)
{
    int status = -1;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (prepare_count(w, name) || w->cell.leaves != BENCH_NULL)
            _exit(1);
        for (int i = 0; i < runs; i++)
            run_once(w);
        take_pages(w);
        printf("%s:%d %d %lld\n", name, runs, (int)getpid(), (long long)w->sum.pages);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static int weigh_both(struct worker *w, const char *name)
{
    int rc = weigh_one(w, name, 1);
    return rc ? rc : weigh_one(w, name, 1 + BENCH_WEIGHED);
}

int bench_count_worker(const struct bench_work *work, char *cells, int weigh)
{
    static struct worker w;
    int rc = BENCH_MARKS || weigh ? 0 : -1;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    snprintf(w.dir, sizeof w.dir, "%s/pages", work->dir);
    strcpy(w.origin, "http://bench.invalid");
    for (char *cell = strtok(cells, ","); cell && !rc; cell = strtok(NULL, ","))
        rc = weigh ? weigh_both(&w, cell) : count_one(&w, cell);
    stop_site(&w);
    cos_shutdown();
    return rc ? 1 : 0;
}

static int prepare(struct worker *w)
{
    int err = 0, real = w->cell.leaves == BENCH_REAL;
    snprintf(w->dir, sizeof w->dir, "%s/pages", w->work->dir);
    strcpy(w->origin, "http://bench.invalid");
    if (w->cell.tidy)
        err = cos_pool_prepare();
    if (!err && real)
        err = start_site(w) ? COS_ECONNREFUSED : warm_up(w);
    if (!err)
        err = bench_web_init(&w->web, w->cell.leaves, w->cell.shape, w->origin, w->dir);
    return err ? err : limit_files(w);
}

int bench_worker(const struct bench_work *work)
{
    static struct worker w;
    struct rusage usage;
    int err;
    w.work = work;
    if (bench_cell_parse(work->cell, &w.cell))
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    err = prepare(&w);
    if (err) {
        fprintf(stderr, "coscrawl bench: %s: %s\n", work->cell, cos_strerror(err));
        stop_site(&w);
        return 1;
    }
    bench_web = &w.web;
    run_cell(&w);
    stop_site(&w);
    cos_parser_setup(NULL);
    cos_shutdown();
    if (w.cell.leaves == BENCH_REAL)
        nftw(w.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    getrusage(RUSAGE_SELF, &usage);
    w.sum.rss_kb = usage.ru_maxrss;
    print_sample(&w.sum);
    bench_web_release(&w.web);
    return 0;
}
