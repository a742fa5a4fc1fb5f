/* limits.c - too few descriptors: the styles that fetch many pages at once, each
 * in a worker that may open only BENCH_NOFILE files, the engine's own limit of
 * connections off. In a crowd, few pages with many links between them, it is the
 * duplicates that are too many; a star has so many pages that only a limit helps.
 * Not timed, not ranked. */
#include "bench/bench.h"

#include <string.h>

static const char *const styles[] = {"parallel", "once", "queue"};
static const char *const faces[] = {"cps", "co"};
static const enum bench_shape shapes[] = {BENCH_CROWD, BENCH_STAR};

/* So long that even a slow machine has begun all requests before the first ends. */
enum { LATENCY = 100 };

static void run_limit(struct bench *bench, struct bench_limit *limit)
{
    char name[96], cell[112], dir[80], files[40];
    const char *argv[] = {bench->program, "bench", cell, dir, files, NULL};
    struct cos_buf out = {.max = 1 << 16};
    struct bench_child child;
    bench_cell_name(&limit->cell, name);
    snprintf(cell, sizeof cell, "--worker=%s", name);
    snprintf(dir, sizeof dir, "--worker-dir=%s", bench->dir);
    snprintf(files, sizeof files, "--worker-nofile=%d", BENCH_NOFILE);
    limit->have = !bench_start(&child, argv) && !bench_finish(&child, &out)
                  && !bench_parse_sample(out.data, &limit->sample);
    cos_buf_release(&out);
}

void bench_limits(struct bench *bench)
{
    const char *list = bench->opt.styles;
    bench_progress(bench, "with %d descriptors", BENCH_NOFILE);
    for (size_t shape = 0; shape < 2; shape++)
        for (size_t style = 0; style < 3; style++)
            for (size_t face = 0; face < 2 && !bench_stopped(bench); face++) {
                struct bench_limit *limit = &bench->limits[bench->nlimits];
                char name[96];
                snprintf(name, sizeof name, "%s/%s/real/%s/%d/%d/scan", styles[style], faces[face],
                         bench_shape_name(shapes[shape]), LATENCY, BENCH_JOBS);
                if (!bench_listed(list, styles[style])
                    || !bench_listed(bench->opt.faces, faces[face])
                    || !bench_listed(bench->opt.shapes, bench_shape_name(shapes[shape]))
                    || bench_cell_parse(name, &limit->cell))
                    continue;
                bench->nlimits++;
                run_limit(bench, limit);
            }
}
