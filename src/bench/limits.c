/* limits.c - too few descriptors: the styles that fetch many pages at once, each
 * in a worker that may open only BENCH_NOFILE files, the engine's own limit of
 * connections off. In a crowd, few pages with many links between them, it is the
 * duplicates that are too many; a star has so many pages that only a limit helps.
 * Not timed, not ranked. */
#include "bench/bench.h"

static const char *const styles[] = {"parallel", "once", "queue"};
static const char *const faces[] = {"cps", "co"};
static const enum bench_shape shapes[] = {BENCH_CROWD, BENCH_STAR};

/* So long that even a slow machine, busy with the other jobs of jobs.c, has begun
 * all requests before the first ends. */
enum { LATENCY = 200 };

static int start_limit(struct bench *bench, struct bench_job *job)
{
    const struct bench_limit *limit = job->of;
    char files[40], name[96];
    snprintf(files, sizeof files, "--worker-nofile=%d", BENCH_NOFILE);
    bench_cell_name(&limit->cell, name);
    bench_progress(bench, "with %d descriptors: %s", BENCH_NOFILE, name);
    return bench_start_worker(bench, job, &limit->cell, files);
}

static void end_limit(struct bench *bench, struct bench_job *job, int failed)
{
    struct bench_limit *limit = job->of;
    limit->have = !failed && !bench_parse_sample(job->said.data, &limit->sample);
    bench->cut |= job->stopped;
}

static int wanted(const struct bench *bench, const struct bench_cell *cell)
{
    return bench_listed(bench->opt.styles, cell->style->name)
           && bench_listed(bench->opt.faces, cell->style->face)
           && bench_listed(bench->opt.leaves, "real")
           && bench_listed(bench->opt.shapes, bench_shape_name(cell->shape));
}

size_t bench_limit_jobs(struct bench *bench, struct bench_job *jobs)
{
    for (size_t i = 0; i < BENCH_LIMITS; i++) {
        struct bench_limit *limit = &bench->limits[bench->nlimits];
        char name[96];
        snprintf(name, sizeof name, "%s/%s/real/%s/%d/%d/scan", styles[i / 2 % 3], faces[i % 2],
                 bench_shape_name(shapes[i / 6]), LATENCY, BENCH_JOBS);
        if (bench_cell_parse(name, &limit->cell) || !wanted(bench, &limit->cell))
            continue;
        jobs[bench->nlimits++] = (struct bench_job){.start = start_limit, .end = end_limit,
                                                    .of = limit};
    }
    return bench->nlimits;
}
