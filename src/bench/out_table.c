/* out_table.c - the results for a terminal: one table per web, the sources, and
 * what the numbers do and do not say. */
#include "bench/bench.h"

#include <string.h>

/* Instructions are counted with null leaves only; tasks take time and need
 * descriptors with real ones only. */
static void print_names(const struct bench_cell *cell, FILE *out)
{
    fprintf(out, "%4s %-10s %-4s %4s %8s %8s %7s %5s", "rank", "style", "face", "jobs", "pages/s",
            "cpu ns/p", "request", "dup");
    if (cell->leaves == BENCH_REAL)
        fprintf(out, " %6s %6s %6s %6s %4s", "p50ms", "p95ms", "p99ms", "lag ms", "fds");
    else
        fprintf(out, " %8s %7s %7s %6s", "instr/p", "instr/s", "alloc/p", "B/p");
    fprintf(out, " %4s %8s %6s  %s\n", "peak", "B/task", "stack", "ratio [95 %]");
}

static void print_head(const struct bench_result *first, FILE *out)
{
    const struct bench_cell *cell = &first->cell;
    char latency[16];
    struct cos_site_options opt;
    int nesting;
    bench_latency_name(cell->latency, latency);
    bench_shape_options(cell->shape, &opt, &nesting);
    fprintf(out, "\n%s leaves, %s (%lld pages, nesting %d)", bench_leaves_name(cell->leaves),
            cell->shape == BENCH_ONE ? "a single page" : bench_shape_name(cell->shape),
            (long long)opt.pages, nesting);
    if (cell->leaves == BENCH_REAL)
        fprintf(out, ", latency %s%s%s", latency, cell->latency == BENCH_TAIL ? "" : " ms",
                cell->tidy ? ", parsed by tidy" : "");
    fprintf(out, "; rounds: %d; ratio: %s a page against %s co\n", first->rounds,
            cell->leaves == BENCH_REAL ? "time" : "processor time",
            cell->shape == BENCH_ONE ? "discipline" : "queue");
    print_names(cell, out);
}

static void print_optional(FILE *out, int width, double value, const char *fmt)
{
    char text[32];
    snprintf(text, sizeof text, value > 0 ? fmt : "-", value);
    fprintf(out, " %*s", width, text);
}

static void print_numbers(const struct bench_result *r, FILE *out)
{
    const struct bench_sample *m = &r->median;
    if (r->cell.leaves == BENCH_REAL) {
        print_optional(out, 6, (double)m->task50_us / 1e3, "%.1f");
        print_optional(out, 6, (double)m->task95_us / 1e3, "%.1f");
        print_optional(out, 6, (double)m->task99_us / 1e3, "%.1f");
        print_optional(out, 6, (double)m->lag_us / 1e3, "%.1f");
        print_optional(out, 4, (double)m->fds, "%.0f");
    } else {
        print_optional(out, 8, r->instructions_page, "%.0f");
        print_optional(out, 7, r->instructions_step, "%.0f");
        print_optional(out, 7, r->allocations_page, "%.1f");
        print_optional(out, 6, r->bytes_page, "%.0f");
    }
    fprintf(out, " %4lld", (long long)m->in_flight);
    print_optional(out, 8, (double)m->memory, "%.0f");
    print_optional(out, 6, (double)m->stack, "%.0f");
}

static void print_row(const struct bench_result *r, FILE *out)
{
    char rank[8] = "-", jobs[16] = "";
    if (r->valid)
        snprintf(rank, sizeof rank, "%d", r->rank);
    if (!strcmp(r->cell.style->name, "queue"))
        snprintf(jobs, sizeof jobs, "%d", r->cell.concurrency);
    fprintf(out, "%4s %-10s %-4s %4s", rank, r->cell.style->name, r->cell.style->face, jobs);
    print_optional(out, 8, r->pages_s, "%.0f");
    print_optional(out, 8, r->cpu_ns_page, "%.0f");
    fprintf(out, " %7lld %5lld", (long long)r->median.requests, (long long)r->median.duplicates);
    print_numbers(r, out);
    if (r->ratio > 0)
        fprintf(out, "  %.2f [%.2f, %.2f]", r->ratio, r->ratio_low, r->ratio_high);
    if (*r->reason)
        fprintf(out, "  %s%s", r->valid || !r->rounds ? "" : "INVALID: ", r->reason);
    fputc('\n', out);
}

static void print_limits(const struct bench *bench, FILE *out)
{
    if (!bench->nlimits)
        return;
    fprintf(out, "\nwith %d descriptors, real leaves, the engine's own limit off\n%-10s %-4s %-6s "
                 "%7s %7s  %s\n", BENCH_NOFILE, "style", "face", "shape", "pages", "request",
            "outcome");
    for (size_t i = 0; i < bench->nlimits; i++) {
        const struct bench_limit *l = &bench->limits[i];
        char pages[32];
        snprintf(pages, sizeof pages, "%lld/%lld", (long long)l->sample.pages,
                 (long long)l->sample.expected);
        fprintf(out, "%-10s %-4s %-6s %7s %7lld  %s\n", l->cell.style->name, l->cell.style->face,
                bench_shape_name(l->cell.shape), pages, (long long)l->sample.requests,
                !l->have ? "not run" : l->sample.err ? cos_errname((int)l->sample.err)
                                                     : "completes");
    }
}

static void print_sources(FILE *out)
{
    fprintf(out, "\nsources (examples/spider)\n%-10s %-4s %6s %7s %10s %8s %11s %7s\n", "style",
            "face", "lines", "tokens", "functions", "nesting", "complexity", "if err");
    for (const struct bench_source *s = bench_sources; s->file; s++) {
        struct bench_metrics m;
        bench_measure_source(s->text, &m);
        fprintf(out, "%-10s %-4s %6d %7d %10d %8d %11d %7d\n", s->style, s->face, m.lines, m.tokens,
                m.functions, m.depth, m.complexity, m.errors);
    }
}

static void print_fairness(const struct bench *bench, FILE *out)
{
    const struct bench_fairness *f = &bench->fairness;
    double more = f->measured ? (f->cps / f->co - 1) * 100 : 0;
    if (!f->measured) {
        fprintf(out, "\nfairness: not measured: %s\n", bench_unfair(bench));
        return;
    }
    fprintf(out,
            "\nfairness: sequential on a chain of real leaves, %.0f instructions a page on the\n"
            "coroutine face, %.0f on the callback face: %+.1f %%, %s the 3 %% aimed at\n",
            f->co, f->cps, more, more <= 3 && more >= -3 ? "within" : "NOT within");
}

int bench_write_table(const struct bench *bench, FILE *out)
{
    for (size_t i = 0; i < bench->count; i++) {
        const struct bench_result *r = &bench->results[i];
        if (i == 0 || !bench_same_table(&r->cell, &bench->results[i - 1].cell))
            print_head(r, out);
        print_row(r, out);
    }
    print_limits(bench, out);
    print_sources(out);
    print_fairness(bench, out);
    fprintf(out, "\n%zu cells in %.0f s, ", bench->count, bench->seconds);
    bench_put_rounds(bench, out);
    fputs(". Ranks are by instructions a page where they were counted, else by time;\n"
          "an invalid cell has none. A step (s) is one leaf call, p a page; B/p: bytes allocated a\n"
          "page; a task is one page from the first look to its report; peak: steps in flight;\n"
          "B/task: memory at the peak a step in flight; stack: the deepest at a leaf, bytes; lag: the\n"
          "worst delay of a timer.\n", out);
    return ferror(out) ? COS_EIO : 0;
}
