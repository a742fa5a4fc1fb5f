/* count.c - instructions and allocations, by callgrind: a busy machine cannot
 * change them. Null leaves are counted between marks in the worker. Real leaves,
 * whose threads may still be at work at a mark, are counted at two numbers of
 * runs; the difference leaves out start and end. Without valgrind nothing is
 * counted, and the output says so. */
#define DILL_DISABLE_RAW_NAMES
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FEW = 1, FAIR_MANY = 3, IDS_MAX = 1 << 16 };

struct count {
    double instructions, allocations;
};

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

/* --- a cell -------------------------------------------------------------------------------- */

static void count_file(const struct bench *bench, int runs, char file[96])
{
    snprintf(file, 96, "%s/callgrind-%d", bench->dir, runs);
}

static int start_runs(struct bench *bench, const struct bench_cell *cell, int runs,
                      struct bench_child *child)
{
    char name[96], worker[112], dir[96], repeat[32], file[96], to[128];
    const char *argv[] = {"valgrind", "--tool=callgrind", to, bench->program, "bench",
                          worker, dir, repeat, NULL};
    bench_cell_name(cell, name);
    snprintf(worker, sizeof worker, "--worker=%s", name);
    snprintf(dir, sizeof dir, "--worker-dir=%s/%d", bench->dir, runs);
    snprintf(repeat, sizeof repeat, "--worker-runs=%d", runs);
    count_file(bench, runs, file);
    snprintf(to, sizeof to, "--callgrind-out-file=%s", file);
    return bench_start(child, argv);
}

static int finish_runs(struct bench *bench, int runs, struct bench_child *child, struct count *out,
                       struct cos_buf *said)
{
    char file[96];
    int rc = bench_finish(child, said);
    count_file(bench, runs, file);
    if (!rc)
        rc = read_count(file, out);
    unlink(file);
    return rc;
}

/* Per run, and the steps and pages of one. Both counts at once: instructions do
 * not mind company. */
static int count_cell(struct bench *bench, const struct bench_cell *cell, int many,
                      struct count *out, long long *steps, long long *pages)
{
    struct cos_buf ignored = {.max = 1 << 16}, said = {.max = 1 << 16};
    struct bench_child one, other;
    struct count few = {0}, lot = {0};
    const char *at;
    int rc = start_runs(bench, cell, FEW, &one), rc2 = start_runs(bench, cell, many, &other);
    if (!rc)
        rc = finish_runs(bench, FEW, &one, &few, &ignored);
    if (!rc2)
        rc2 = finish_runs(bench, many, &other, &lot, &said);
    *steps = !rc2 && said.data && (at = strstr(said.data, "\nsteps ")) ? atoll(at + 7) : 0;
    *pages = !rc2 && said.data && (at = strstr(said.data, "\npages ")) ? atoll(at + 7) : 0;
    cos_buf_release(&said);
    cos_buf_release(&ignored);
    out->instructions = (lot.instructions - few.instructions) / (many - FEW);
    out->allocations = (lot.allocations - few.allocations) / (many - FEW);
    return rc || rc2 || *steps <= 0 || *pages <= 0 ? -1 : 0;
}

int bench_has_real(const struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++)
        if (bench->results[i].cell.leaves == BENCH_REAL)
            return 1;
    return 0;
}

/* The same steps on real leaves, one page after the other, on both faces. Not
 * discipline: it opens a callback runtime per page, and that is no leaf. */
void bench_count_fairness(struct bench *bench)
{
    struct bench_cell cell;
    struct count co, cps;
    long long steps, pages;
    bench_progress(bench, "counting instructions: the real leaves, both faces");
    if (bench_cell_parse("sequential/co/real/chain/0/1/scan", &cell)
        || count_cell(bench, &cell, FAIR_MANY, &co, &steps, &pages)
        || bench_cell_parse("sequential/cps/real/chain/0/1/scan", &cell)
        || count_cell(bench, &cell, FAIR_MANY, &cps, &steps, &pages))
        return;
    bench->fairness = (struct bench_fairness){1, co.instructions / (double)pages,
                                              cps.instructions / (double)pages};
}

/* --- the cells with null leaves ------------------------------------------------------------ */

static void take_count(const struct bench *bench, int nth, const char *said,
                       struct bench_result *result)
{
    char name[96], file[128];
    struct count count;
    long long steps = 0, pages = 0;
    const char *at;
    bench_cell_name(&result->cell, name);
    snprintf(file, sizeof file, "%s/callgrind.%d", bench->dir, nth);
    at = said ? strstr(said, name) : NULL;
    if (!at || sscanf(at + strlen(name), " %lld %lld", &steps, &pages) != 2 || !steps || !pages
        || read_count(file, &count))
        return;
    result->instructions_step = count.instructions / BENCH_COUNTED / (double)steps;
    result->instructions_page = count.instructions / BENCH_COUNTED / (double)pages;
    result->allocations_page = count.allocations / BENCH_COUNTED / (double)pages;
}

/* Adds the names of these cells to the option; how many, or an error. */
static int add_names(const struct bench *bench, struct cos_buf *list)
{
    char name[96];
    int n = 0, err = 0;
    for (size_t i = 0; i < bench->count && !err; i++)
        if (bench->results[i].cell.leaves == BENCH_NULL) {
            bench_cell_name(&bench->results[i].cell, name);
            err = cos_buf_addf(list, "%s%s", n++ ? "," : "", name);
        }
    return err ? err : n;
}

/* All in one process, since its start costs most; callgrind writes a file at each
 * mark. */
static void count_null(struct bench *bench)
{
    struct cos_buf list = {.max = 1 << 16}, said = {.max = 1 << 16};
    struct bench_child child;
    char to[128];
    const char *argv[] = {"valgrind", "--tool=callgrind", to, bench->program, "bench", NULL, NULL};
    int rc = -1, n = cos_buf_adds(&list, "--worker-count=") ? 0 : add_names(bench, &list);
    snprintf(to, sizeof to, "--callgrind-out-file=%s/callgrind", bench->dir);
    argv[5] = list.data;
    if (n > 0 && !bench_start(&child, argv))
        rc = bench_finish(&child, &said);
    if (n > 0 && rc)
        bench->uncounted = bench_stopped(bench) ? "interrupted"
                           : "valgrind could not run this program; after clang it wants -gdwarf-4";
    for (size_t i = 0, nth = 1; !rc && i < bench->count; i++)
        if (bench->results[i].cell.leaves == BENCH_NULL)
            take_count(bench, (int)nth++, said.data, &bench->results[i]);
    cos_buf_release(&list);
    cos_buf_release(&said);
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

static void weigh_null(struct bench *bench)
{
    struct cos_buf list = {.max = 1 << 16}, said = {.max = 1 << 17};
    struct bench_child child;
    char to[128];
    const char *argv[] = {"valgrind", "--leak-check=no", "--undef-value-errors=no", to,
                          bench->program, "bench", NULL, NULL};
    int n = cos_buf_adds(&list, "--worker-weigh=") ? 0 : add_names(bench, &list);
    snprintf(to, sizeof to, "--log-file=%s/heap.%%p", bench->dir);
    argv[6] = list.data;
    if (n > 0 && !bench_start(&child, argv) && !bench_finish(&child, &said))
        for (size_t i = 0; i < bench->count; i++) {
            struct bench_result *r = &bench->results[i];
            long long pages = 0;
            double few = weight(bench, &r->cell, 1, said.data, &pages);
            double many = weight(bench, &r->cell, 1 + BENCH_COUNTED, said.data, &pages);
            if (few > 0 && many > few)
                r->bytes_page = (many - few) / BENCH_COUNTED / (double)pages;
        }
    cos_buf_release(&list);
    cos_buf_release(&said);
}

void bench_count(struct bench *bench)
{
    const char *const argv[] = {"valgrind", "--version", NULL};
    struct cos_buf said = {.max = 4096};
    struct bench_child child;
    int none = bench_start(&child, argv) || bench_finish(&child, &said);
    cos_buf_release(&said);
    bench->uncounted = none ? "no valgrind here" : NULL;
    bench_progress(bench, "counting instructions and allocations");
    if (!none)
        count_null(bench);
    if (!bench->uncounted)
        weigh_null(bench);
    if (bench->uncounted)
        bench_progress(bench, "instructions are not counted: %s", bench->uncounted);
}
