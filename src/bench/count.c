/* count.c - instructions and allocations, by callgrind and memcheck: a busy
 * machine cannot change them. The worker runs its cells one after the other, for
 * a start under valgrind costs more than a cell, and sets marks; callgrind writes
 * a file at each. Without valgrind nothing is counted, and the output says so. */
#define DILL_DISABLE_RAW_NAMES
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IDS_MAX = 1 << 16, LIST_MAX = 1 << 16 };

struct count {
    double instructions, allocations;
};

/* The same steps on real leaves, one page after the other. Not discipline: it
 * opens a callback runtime per page, and that is no leaf. */
static const char fair_co[] = "sequential/co/real/chain/0/1/scan";
static const char fair_cps[] = "sequential/cps/real/chain/0/1/scan";

/* --- callgrind's file ------------------------------------------------------------------- */

static int allocates(const char *name)
{
    static const char *const names[] = {"malloc", "calloc", "realloc", "posix_memalign",
                                        "aligned_alloc", "memalign"};
    size_t len = strcspn(name, "'\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && !strncmp(name, names[i], len))
            return 1;
    return 0;
}

/* "(12) malloc" the first time, "(12)" later: the number, and ids[] learns. */
static long name_id(const char *text, char *ids)
{
    char *end;
    long id = *text == '(' ? strtol(text + 1, &end, 10) : -1;
    if (id < 0 || id >= IDS_MAX)
        return -1;
    if (end[0] == ')' && end[1] == ' ')
        ids[id] = (char)allocates(end + 2);
    return id;
}

static int read_count(const char *file, struct count *out)
{
    static char ids[IDS_MAX];
    char line[4096];
    long callee = -1;
    FILE *in = fopen(file, "r");
    *out = (struct count){0};
    memset(ids, 0, sizeof ids);
    while (in && fgets(line, sizeof line, in)) {
        if (!strncmp(line, "fn=", 3))
            name_id(line + 3, ids);
        else if (!strncmp(line, "cfn=", 4))
            callee = name_id(line + 4, ids);
        else if (!strncmp(line, "calls=", 6) && callee >= 0 && ids[callee])
            out->allocations += strtod(line + 6, NULL);
        else if (!strncmp(line, "totals:", 7))
            out->instructions = strtod(line + 7, NULL);
    }
    if (in)
        fclose(in);
    return out->instructions > 0 ? 0 : -1;
}

/* --- counts ---------------------------------------------------------------------------------- */

static void count_file(const struct bench *bench, const struct bench_job *job, char file[96])
{
    snprintf(file, 96, "%s/callgrind-%d", bench->dir, job->number);
}

static int start_count(struct bench *bench, struct bench_job *job, const char *cells)
{
    char dir[96], file[96], to[128];
    const char *argv[] = {"valgrind", "--tool=callgrind", to, bench->program, "bench", dir, cells,
                          NULL};
    snprintf(dir, sizeof dir, "--worker-dir=%s/%d", bench->dir, job->number);
    count_file(bench, job, file);
    snprintf(to, sizeof to, "--callgrind-out-file=%s", file);
    return bench_start(job, argv);
}

struct page_cost {
    double instructions, allocations; /* a page */
    double instructions_step;
};

/* What callgrind wrote at the nth mark, about the cell of this name; 0 or -1. */
static int take_cost(const struct bench *bench, const struct bench_job *job, int nth,
                     const char *name, struct page_cost *out)
{
    char base[96], file[128];
    struct count count;
    long long steps = 0, pages = 0;
    const char *at = job->said.data ? strstr(job->said.data, name) : NULL;
    count_file(bench, job, base);
    snprintf(file, sizeof file, "%s.%d", base, nth);
    if (!at || sscanf(at + strlen(name), " %lld %lld", &steps, &pages) != 2 || steps <= 0
        || pages <= 0 || read_count(file, &count))
        return -1;
    out->instructions = count.instructions / BENCH_COUNTED / (double)pages;
    out->allocations = count.allocations / BENCH_COUNTED / (double)pages;
    out->instructions_step = count.instructions / BENCH_COUNTED / (double)steps;
    return 0;
}

/* --- the real leaves, both faces ---------------------------------------------------------------- */

static int start_fair(struct bench *bench, struct bench_job *job)
{
    char cells[128];
    snprintf(cells, sizeof cells, "--worker-count=%s,%s", fair_co, fair_cps);
    bench_progress(bench, "counting instructions: the real leaves, both faces");
    return start_count(bench, job, cells);
}

static void end_fair(struct bench *bench, struct bench_job *job, int failed)
{
    struct page_cost co, cps;
    bench->cut |= job->stopped;
    if (failed || take_cost(bench, job, 1, fair_co, &co) || take_cost(bench, job, 2, fair_cps, &cps))
        return;
    bench->fairness = (struct bench_fairness){1, co.instructions, cps.instructions};
}

/* --- the cells with null leaves ------------------------------------------------------------ */

/* The option with their names; 0, or -1 when there is none. */
static int null_cells(const struct bench *bench, const char *option, struct cos_buf *list)
{
    int n = 0, err = cos_buf_adds(list, option);
    for (size_t i = 0; i < bench->count && !err; i++)
        if (bench->results[i].cell.leaves == BENCH_NULL) {
            char name[96];
            bench_cell_name(&bench->results[i].cell, name);
            err = cos_buf_addf(list, "%s%s", n++ ? "," : "", name);
        }
    return err || !n ? -1 : 0;
}

static int start_null(struct bench *bench, struct bench_job *job)
{
    struct cos_buf list = {.max = LIST_MAX};
    int rc = null_cells(bench, "--worker-count=", &list);
    bench_progress(bench, "counting instructions: null leaves");
    if (!rc)
        rc = start_count(bench, job, list.data);
    cos_buf_release(&list);
    return rc;
}

static void end_null(struct bench *bench, struct bench_job *job, int failed)
{
    int nth = 1;
    bench->cut |= job->stopped;
    if (failed)
        bench->uncounted = job->stopped ? "no time was left"
                           : "valgrind could not run this program; after clang it wants -gdwarf-4";
    for (size_t i = 0; !failed && i < bench->count; i++) {
        struct bench_result *r = &bench->results[i];
        struct page_cost cost;
        char name[96];
        bench_cell_name(&r->cell, name);
        if (r->cell.leaves != BENCH_NULL || take_cost(bench, job, nth++, name, &cost))
            continue;
        r->instructions_page = cost.instructions;
        r->instructions_step = cost.instructions_step;
        r->allocations_page = cost.allocations;
    }
}

/* --- bytes, by memcheck --------------------------------------------------------------------- */

/* "total heap usage: 1,234 allocs, 1,200 frees, 56,789 bytes allocated": the last
 * number. 0 when there is none. */
static double heap_total(const char *file)
{
    char line[512];
    double bytes = 0;
    FILE *in = fopen(file, "r");
    while (in && fgets(line, sizeof line, in)) {
        const char *at = strstr(line, "total heap usage:");
        for (int commas = 0; at && *at && strncmp(at, " bytes", 6) != 0; at++) {
            if (*at == ',' && at[1] == ' ')
                bytes = 0, commas++;
            else if (*at >= '0' && *at <= '9' && commas == 2)
                bytes = bytes * 10 + (*at - '0');
        }
    }
    if (in)
        fclose(in);
    return bytes;
}

/* What was allocated up to the end of so many runs; *pages of one. */
static double weight(const struct bench *bench, const struct bench_cell *cell, int runs,
                     const char *said, long long *pages)
{
    char name[96], key[112], file[128];
    const char *at;
    int pid;
    bench_cell_name(cell, name);
    snprintf(key, sizeof key, "%s:%d ", name, runs);
    at = said ? strstr(said, key) : NULL;
    if (!at || sscanf(at + strlen(key), "%d %lld", &pid, pages) != 2 || *pages <= 0)
        return 0;
    snprintf(file, sizeof file, "%s/heap.%d", bench->dir, pid);
    return heap_total(file);
}

static int start_weigh(struct bench *bench, struct bench_job *job)
{
    struct cos_buf list = {.max = LIST_MAX};
    char to[128];
    const char *argv[] = {"valgrind", "--leak-check=no", "--undef-value-errors=no", to,
                          bench->program, "bench", NULL, NULL};
    int rc = null_cells(bench, "--worker-weigh=", &list);
    snprintf(to, sizeof to, "--log-file=%s/heap.%%p", bench->dir);
    argv[6] = list.data;
    bench_progress(bench, "weighing allocations: null leaves");
    if (!rc)
        rc = bench_start(job, argv);
    cos_buf_release(&list);
    return rc;
}

static void end_weigh(struct bench *bench, struct bench_job *job, int failed)
{
    bench->cut |= job->stopped;
    for (size_t i = 0; !failed && i < bench->count; i++) {
        struct bench_result *r = &bench->results[i];
        long long pages = 0;
        double few = weight(bench, &r->cell, 1, job->said.data, &pages);
        double many = weight(bench, &r->cell, 1 + BENCH_WEIGHED, job->said.data, &pages);
        if (few > 0 && many > few)
            r->bytes_page = (many - few) / BENCH_WEIGHED / (double)pages;
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static int has(const struct bench *bench, enum bench_leaves leaves)
{
    for (size_t i = 0; i < bench->count; i++)
        if (bench->results[i].cell.leaves == leaves)
            return 1;
    return 0;
}

static int start_version(struct bench *bench, struct bench_job *job)
{
    const char *const argv[] = {"valgrind", "--version", NULL};
    (void)bench;
    return bench_start(job, argv);
}

static void end_version(struct bench *bench, struct bench_job *job, int failed)
{
    (void)job;
    bench->uncounted = failed ? "no valgrind here" : NULL;
}

size_t bench_count_jobs(struct bench *bench, struct bench_job *jobs)
{
    struct bench_job version = {.start = start_version, .end = end_version};
    size_t n = 0;
    bench->uncounted = "not asked for";
    if (!bench->opt.no_instructions)
        bench_run_jobs(bench, &version, 1, 1, INT64_MAX);
    if (bench->uncounted)
        return 0;
    /* A minute is too short to weigh as well. */
    if (has(bench, BENCH_NULL) && !bench->opt.quick)
        jobs[n++] = (struct bench_job){.start = start_weigh, .end = end_weigh};
    if (has(bench, BENCH_NULL))
        jobs[n++] = (struct bench_job){.start = start_null, .end = end_null};
    if (has(bench, BENCH_REAL))
        jobs[n++] = (struct bench_job){.start = start_fair, .end = end_fair};
    return n;
}
