/* numbers.c - from samples to what is shown: medians, a ratio per round against
 * the baseline of the same round, an interval by bootstrap, and whether the cell
 * counts at all. Means were rejected: one descheduled worker moves them. */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t n)
{
    if (!n)
        return 0;
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* --- the medians of a cell ---------------------------------------------------------------- */

/* A sample is a row of numbers. */
enum { FIELDS = sizeof(struct bench_sample) / sizeof(int64_t) };

static void take_median(struct bench_result *r, size_t field)
{
    double values[BENCH_ROUNDS_MAX];
    size_t n = 0;
    for (int i = 0; i < BENCH_ROUNDS_MAX; i++)
        if (r->have[i])
            values[n++] = (double)((const int64_t *)&r->samples[i])[field];
    ((int64_t *)&r->median)[field] = (int64_t)bench_median(values, n);
}

static void take_medians(struct bench_result *r)
{
    for (size_t field = 0; field < FIELDS; field++)
        take_median(r, field);
    if (r->probed) {
        r->median.memory = r->probe.memory;
        r->median.stack = r->probe.stack;
        r->median.fds = r->probe.fds;
    }
    if (!r->median.pages || !r->median.steps || !r->median.wall_ns)
        return;
    r->wall_ns_page = (double)r->median.wall_ns / (double)r->median.pages;
    r->pages_s = 1e9 / r->wall_ns_page;
    r->cpu_ns_page = (double)r->median.cpu_ns / (double)r->median.pages;
    r->cpu_ns_step = (double)r->median.cpu_ns / (double)r->median.steps;
}

/* --- valid or not --------------------------------------------------------------------------- */

/* The worst round decides: a style that loses pages now and then loses pages. */
static void judge(struct bench_result *r)
{
    int64_t lost = 0, wrong = 0, extra = 0, err = 0, callbacks = 0;
    for (int i = 0; i < BENCH_ROUNDS_MAX; i++) {
        const struct bench_sample *s = &r->samples[i];
        if (!r->have[i])
            continue;
        lost = s->lost > lost ? s->lost : lost;
        wrong = s->wrong > wrong ? s->wrong : wrong;
        extra = s->extra > extra ? s->extra : extra;
        err = s->err ? s->err : err;
        callbacks = s->callbacks > callbacks ? s->callbacks : callbacks;
    }
    r->median.lost = lost;
    r->median.callbacks = callbacks;
    r->valid = r->rounds && !r->died && !lost && !wrong && !extra && !callbacks;
    if (r->died)
        snprintf(r->reason, sizeof r->reason, "%d runs crashed or hung", r->died);
    else if (!r->rounds)
        snprintf(r->reason, sizeof r->reason, "not run");
    else if (lost)
        snprintf(r->reason, sizeof r->reason, "lost %lld of %lld pages%s%s", (long long)lost,
                 (long long)r->median.expected, err ? ": ended by " : "",
                 err ? cos_strerror((int)err) : "");
    else if (wrong || extra)
        snprintf(r->reason, sizeof r->reason, "%lld pages differ, %lld are too many",
                 (long long)wrong, (long long)extra);
    else if (callbacks)
        snprintf(r->reason, sizeof r->reason, "%lld callbacks ran twice or never",
                 (long long)callbacks);
    else if (r->median.duplicates)
        snprintf(r->reason, sizeof r->reason, "the same pages, but %lld requests too many",
                 (long long)r->median.duplicates);
}

/* --- ratios ---------------------------------------------------------------------------------- */

/* What is compared: processor time where nothing waits, else time. */
static double cost(const struct bench_result *r, int round)
{
    const struct bench_sample *s = &r->samples[round];
    double ns = (double)(r->cell.leaves == BENCH_REAL ? s->wall_ns : s->cpu_ns);
    return s->pages ? ns / (double)s->pages : 0;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void bootstrap(const double *ratios, size_t n, double *low, double *high)
{
    static double medians[RESAMPLES];
    double drawn[BENCH_ROUNDS_MAX];
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < RESAMPLES; i++) {
        for (size_t k = 0; k < n; k++)
            drawn[k] = ratios[next_random(&state) % n];
        medians[i] = bench_median(drawn, n);
    }
    qsort(medians, RESAMPLES, sizeof *medians, by_value);
    *low = medians[RESAMPLES * 25 / 1000];
    *high = medians[RESAMPLES * 975 / 1000 - 1];
}

static void compare(const struct bench *bench, struct bench_result *r)
{
    const struct bench_result *base = bench_baseline(bench, r);
    double ratios[BENCH_ROUNDS_MAX], copy[BENCH_ROUNDS_MAX];
    size_t n = 0;
    for (int i = 0; base && i < BENCH_ROUNDS_MAX; i++)
        if (r->have[i] && base->have[i] && cost(base, i) > 0 && cost(r, i) > 0)
            ratios[n++] = cost(r, i) / cost(base, i);
    if (!n)
        return;
    memcpy(copy, ratios, n * sizeof *copy);
    r->ratio = bench_median(copy, n);
    bootstrap(ratios, n, &r->ratio_low, &r->ratio_high);
}

/* 1 when every valid cell of the table has its instructions. */
static int counted(const struct bench *bench, const struct bench_cell *cell)
{
    for (size_t i = 0; i < bench->count; i++) {
        const struct bench_result *other = &bench->results[i];
        if (other->valid && bench_same_table(&other->cell, cell) && other->instructions_page <= 0)
            return 0;
    }
    return 1;
}

/* Among the valid cells of a table: by instructions where they were counted,
 * for those do not depend on the day; else by what the ratio compares. */
static double standing(const struct bench *bench, const struct bench_result *r)
{
    if (counted(bench, &r->cell))
        return r->instructions_page;
    return r->cell.leaves == BENCH_REAL ? r->wall_ns_page : r->cpu_ns_page;
}

static void rank(struct bench *bench, struct bench_result *r)
{
    if (!r->valid)
        return;
    r->rank = 1;
    for (size_t i = 0; i < bench->count; i++) {
        const struct bench_result *other = &bench->results[i];
        if (other->valid && bench_same_table(&other->cell, &r->cell)
            && standing(bench, other) < standing(bench, r))
            r->rank++;
    }
}

void bench_summarise(struct bench *bench)
{
    for (size_t i = 0; i < bench->count; i++) {
        take_medians(&bench->results[i]);
        judge(&bench->results[i]);
    }
    for (size_t i = 0; i < bench->count; i++)
        compare(bench, &bench->results[i]);
    for (size_t i = 0; i < bench->count; i++)
        rank(bench, &bench->results[i]);
}

/* --- how complete it is ----------------------------------------------------------------------- */

void bench_put_rounds(const struct bench *bench, FILE *out)
{
    if (bench->rounds == bench->opt.rounds)
        fprintf(out, "%d round%s each", bench->rounds, bench->rounds == 1 ? "" : "s");
    else if (bench->rounds)
        fprintf(out, "%d of %d rounds each", bench->rounds, bench->opt.rounds);
    else
        fputs("no whole round: one for the tables that were finished", out);
    if (bench->interrupted)
        fputs(" (interrupted)", out);
    else if (bench->cut)
        fputs(" (there was no time for more)", out);
}

const char *bench_unfair(const struct bench *bench)
{
    return bench->uncounted ? bench->uncounted
           : bench->interrupted ? "interrupted"
           : bench->cut ? "no time was left" : "no cell has real leaves";
}
