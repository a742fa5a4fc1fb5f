/* bench_fetch.c - what the two faces cost beside a bare curl_multi loop.
 *
 * One process runs the same list of URLs on loopback three ways: a callback loop
 * straight on curl's multi socket interface with an epoll set, the callback face
 * and the coroutine face. All three pool their handles and keep head and body
 * in memory. The server is this program again, started with --serve as a process
 * of its own, so that callgrind does not count it.
 *
 * CPU time comes from getrusage; instructions from callgrind, one dump per cell
 * (make bench-fetch runs both). Loop lag is how late a 1 ms timer of the same
 * loop fires. Bars, by instructions at concurrency 64: co and cps at most 1.05
 * of bare, co at most 1.03 of cps. */
#include "bench/bench_fetch.h"

#include <errno.h>
#include <libdill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "coscrawl-cps.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#include <valgrind/valgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name) ((void)(name))
#define RUNNING_ON_VALGRIND           0
#endif

static const int steps[] = {1, 16, 64, 256};
enum { STEPS = 4, LAG_MAX = 65536 };

/* --- the coroutine face ------------------------------------------------------------ */

struct co_run {
    const char *url;
    int left;
    uint64_t bytes;
};

static coroutine void co_worker(struct co_run *run)
{
    struct cos_request req = {.url = run->url};
    struct cos_page *page;
    while (run->left > 0) {
        run->left--;
        int err = cos_fetch(&req, &page, -1);
        if (err)
            bench_die("co", page && page->why ? page->why : cos_strerror(err));
        run->bytes += page->body.len;
        cos_page_free(page);
    }
}

static uint64_t run_co(const char *url, int n, int width)
{
    struct co_run run = {.url = url, .left = n};
    int workers = bundle();
    for (int i = 0; i < width; i++)
        if (bundle_go(workers, co_worker(&run)) < 0)
            bench_die("co", strerror(errno));
    if (bundle_wait(workers, -1) < 0)
        bench_die("co", strerror(errno));
    hclose(workers);
    return run.bytes;
}

/* --- the callback face --------------------------------------------------------------- */

struct cps_run_state {
    struct cps_rt *rt;
    struct cos_request req;
    int left;
    uint64_t bytes;
};

static void cps_next(struct cps_run_state *run);

static void cps_got(int err, struct cos_page *page, void *arg)
{
    struct cps_run_state *run = arg;
    if (err)
        bench_die("cps", page ? page->why : NULL);
    run->bytes += page->body.len;
    cps_next(run);
}

static void cps_next(struct cps_run_state *run)
{
    if (run->left-- > 0)
        cps_fetch(run->rt, &run->req, -1, cps_got, run);
}

static uint64_t run_cps(const char *url, int n, int width)
{
    struct cps_run_state run = {.req.url = url, .left = n};
    if (cps_open(&run.rt))
        bench_die("cps", "out of memory");
    for (int i = 0; i < width; i++)
        cps_next(&run);
    cps_run(run.rt);
    cps_close(run.rt);
    return run.bytes;
}

/* --- lag ------------------------------------------------------------------------------ */

static double lags[LAG_MAX];
static int nlags, lag_on;

static coroutine void lag_watch(void)
{
    while (lag_on && nlags < LAG_MAX) {
        double before = bench_seconds();
        if (msleep(now() + 1) < 0)
            return;
        lags[nlags++] = (bench_seconds() - before) * 1000 - 1;
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* --- cells ------------------------------------------------------------------------------ */

static const struct face {
    const char *name;
    uint64_t (*run)(const char *url, int n, int width);
} faces[] = {{"bare", bench_fetch_bare}, {"cps", run_cps}, {"co", run_co}};
enum { FACES = 3 };

static double cpu_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static void cell(const char *base, int n, int width, const struct face *face)
{
    char name[64], url[160];
    double cpu, wall;
    /* Slow motion: no answer may come while requests are still being sent. */
    snprintf(url, sizeof url, "%s%d/page.html", base, RUNNING_ON_VALGRIND ? 5 + 3 * width : 0);
    face->run(url, width * 2 < n ? width * 2 : n, width); /* connections and pools are warm */
    snprintf(name, sizeof name, "%s %d %d", face->name, width, n);
    cpu = cpu_seconds();
    wall = bench_seconds();
    CALLGRIND_ZERO_STATS;
    face->run(url, n, width);
    CALLGRIND_DUMP_STATS_AT(name);
    cpu = cpu_seconds() - cpu;
    wall = bench_seconds() - wall;
    printf("%-5s %5d %9.1f %12.0f\n", face->name, width, cpu * 1e6 / n, n / wall);
    fflush(stdout);
}

static void lag_cell(const char *url, int n)
{
    int watcher;
    nlags = 0;
    lag_on = 1;
    watcher = go(lag_watch());
    run_co(url, n, 64);
    lag_on = 0;
    hclose(watcher);
    if (!nlags)
        return;
    qsort(lags, (size_t)nlags, sizeof lags[0], by_size);
    printf("loop lag at 64: p50 %.2f ms, p99 %.2f ms, max %.2f ms (%d samples)\n",
           lags[nlags / 2], lags[nlags * 99 / 100], lags[nlags - 1], nlags);
}

int main(int argc, char **argv)
{
    int n = 20000, rounds = 1;
    char url[128];
    if (argc > 1 && !strcmp(argv[1], "--serve"))
        return bench_fetch_serve();
    if (argc > 1)
        n = atoi(argv[1]);
    if (argc > 2)
        rounds = atoi(argv[2]);
    if (n < 1 || rounds < 1)
        bench_die("usage", "bench_fetch [REQUESTS [ROUNDS]]");
    bench_fetch_spawn(argv[0], url, sizeof url);
    printf("face  width    cpu_us       req/s\n");
    for (int r = 0; r < rounds; r++)
        for (int s = 0; s < STEPS; s++)
            for (int f = 0; f < FACES; f++)
                cell(url, n, steps[s], &faces[(f + r) % FACES]);
    if (!RUNNING_ON_VALGRIND)
        lag_cell(url, n);
    if (cos_shutdown())
        bench_die("end", "operations left over");
    return 0;
}
