/* out_json.c - the results for programs: one JSON object, or one CSV line a
 * cell. Numbers that were not measured are null, or empty. */
#include "bench/bench.h"

#include "base/json.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void put_str(struct cos_json *j, const char *key, const char *value)
{
    cos_json_key(j, key);
    cos_json_str(j, value);
}

static void put_int(struct cos_json *j, const char *key, int64_t value)
{
    cos_json_key(j, key);
    cos_json_int(j, value);
}

/* 0 was not measured. */
static void put_double(struct cos_json *j, const char *key, double value)
{
    cos_json_key(j, key);
    if (value > 0)
        cos_json_double(j, value);
    else
        cos_json_null(j);
}

static void put_bool(struct cos_json *j, const char *key, int value)
{
    cos_json_key(j, key);
    cos_json_bool(j, value);
}

static void put_axes(struct cos_json *j, const struct bench_result *r)
{
    put_str(j, "style", r->cell.style->name);
    put_str(j, "face", r->cell.style->face);
    put_str(j, "leaves", bench_leaves_name(r->cell.leaves));
    put_str(j, "shape", bench_shape_name(r->cell.shape));
    cos_json_key(j, "latency_ms");
    if (r->cell.latency == BENCH_TAIL)
        cos_json_str(j, "tail");
    else
        cos_json_int(j, r->cell.latency);
    cos_json_key(j, "concurrency");
    if (!strcmp(r->cell.style->name, "queue"))
        cos_json_int(j, r->cell.concurrency);
    else
        cos_json_null(j);
    put_str(j, "parser", r->cell.leaves == BENCH_NULL ? NULL : r->cell.tidy ? "tidy" : "scan");
}

static void put_cell(struct cos_json *j, const struct bench_result *r)
{
    int real = r->cell.leaves == BENCH_REAL;
    cos_json_object(j);
    put_axes(j, r);
    put_int(j, "rounds", r->rounds);
    put_bool(j, "valid", r->valid);
    put_str(j, "reason", *r->reason ? r->reason : NULL);
    cos_json_key(j, "rank");
    if (r->rank)
        cos_json_int(j, r->rank);
    else
        cos_json_null(j);
    put_int(j, "expected", r->median.expected);
    put_int(j, "pages", r->median.pages);
    put_int(j, "requests", r->median.requests);
    put_int(j, "duplicates", r->median.duplicates);
    put_int(j, "lost", r->median.lost);
    put_int(j, "steps", r->median.steps);
    put_int(j, "in_flight_peak", r->median.in_flight);
    put_double(j, "pages_s", r->pages_s);
    put_double(j, "cpu_ns_page", r->cpu_ns_page);
    put_double(j, "cpu_ns_step", r->cpu_ns_step);
    put_double(j, "instructions_step", r->instructions_step);
    put_double(j, "instructions_page", r->instructions_page);
    put_double(j, "allocations_page", r->allocations_page);
    put_double(j, "bytes_page", r->bytes_page);
    put_str(j, "ratio_of", real ? "time" : "cpu");
    put_double(j, "ratio", r->ratio);
    put_double(j, "ratio_low", r->ratio_low);
    put_double(j, "ratio_high", r->ratio_high);
    put_double(j, "fetch_p50_us", (double)r->median.p50_us);
    put_double(j, "fetch_p95_us", (double)r->median.p95_us);
    put_double(j, "fetch_p99_us", (double)r->median.p99_us);
    put_double(j, "task_p50_us", (double)r->median.task50_us);
    put_double(j, "task_p95_us", (double)r->median.task95_us);
    put_double(j, "task_p99_us", (double)r->median.task99_us);
    put_double(j, "loop_lag_us", (double)r->median.lag_us);
    put_int(j, "callbacks_not_once", r->median.callbacks);
    put_double(j, "memory_task_bytes", (double)r->median.memory);
    put_double(j, "stack_bytes", (double)r->median.stack);
    put_double(j, "descriptors", (double)r->median.fds);
    put_double(j, "rss_kb", (double)r->median.rss_kb);
    cos_json_end(j);
}

static void put_source(struct cos_json *j, const struct bench_source *s)
{
    struct bench_metrics m;
    bench_measure_source(s->text, &m);
    cos_json_object(j);
    put_str(j, "style", s->style);
    put_str(j, "face", s->face);
    put_str(j, "file", s->file);
    put_int(j, "lines", m.lines);
    put_int(j, "tokens", m.tokens);
    put_int(j, "functions", m.functions);
    put_int(j, "depth", m.depth);
    put_int(j, "complexity", m.complexity);
    put_int(j, "error_checks", m.errors);
    cos_json_end(j);
}

static void put_limits(struct cos_json *j, const struct bench *bench)
{
    cos_json_key(j, "descriptors_64");
    cos_json_array(j);
    for (size_t i = 0; i < bench->nlimits; i++) {
        const struct bench_limit *l = &bench->limits[i];
        if (!l->have)
            continue;
        cos_json_object(j);
        put_str(j, "style", l->cell.style->name);
        put_str(j, "face", l->cell.style->face);
        put_str(j, "shape", bench_shape_name(l->cell.shape));
        put_str(j, "error", l->sample.err ? cos_errname((int)l->sample.err) : NULL);
        put_int(j, "pages", l->sample.pages);
        put_int(j, "expected", l->sample.expected);
        put_int(j, "requests", l->sample.requests);
        cos_json_end(j);
    }
    cos_json_end(j);
}

static void put_machine(struct cos_json *j, const struct bench *bench)
{
    struct utsname name = {0};
    uname(&name);
    cos_json_key(j, "machine");
    cos_json_object(j);
    put_str(j, "system", name.sysname);
    put_str(j, "release", name.release);
    put_str(j, "architecture", name.machine);
    put_int(j, "processors", sysconf(_SC_NPROCESSORS_ONLN));
    put_str(j, "compiler", __VERSION__);
    cos_json_end(j);
    cos_json_key(j, "fairness");
    cos_json_object(j);
    put_bool(j, "measured", bench->fairness.measured);
    put_double(j, "instructions_page_co", bench->fairness.co);
    put_double(j, "instructions_page_cps", bench->fairness.cps);
    put_double(j, "ratio", bench->fairness.measured ? bench->fairness.cps / bench->fairness.co : 0);
    cos_json_end(j);
    put_str(j, "instructions_not_counted", bench->uncounted);
    put_int(j, "rounds_asked", bench->opt.rounds);
    put_int(j, "rounds", bench->rounds);
    put_bool(j, "interrupted", bench->interrupted);
    put_bool(j, "partial", bench_is_partial(bench));
    put_double(j, "seconds", bench->seconds);
}

int bench_write_json(const struct bench *bench, FILE *out)
{
    struct cos_buf text = {.max = 16 << 20};
    struct cos_json j;
    int err;
    cos_json_init(&j, &text);
    cos_json_object(&j);
    cos_json_key(&j, "cells");
    cos_json_array(&j);
    for (size_t i = 0; i < bench->count; i++)
        put_cell(&j, &bench->results[i]);
    cos_json_end(&j);
    cos_json_key(&j, "sources");
    cos_json_array(&j);
    for (const struct bench_source *s = bench_sources; s->file; s++)
        put_source(&j, s);
    cos_json_end(&j);
    put_limits(&j, bench);
    put_machine(&j, bench);
    cos_json_end(&j);
    err = cos_json_done(&j);
    if (!err && (fwrite(text.data, 1, text.len, out) != text.len || fputc('\n', out) == EOF))
        err = COS_EIO;
    cos_buf_release(&text);
    return err;
}

static void put_field(FILE *out, double value, int end)
{
    if (value > 0)
        fprintf(out, "%.6g", value);
    fputc(end, out);
}

int bench_write_csv(const struct bench *bench, FILE *out)
{
    fputs("style,face,leaves,shape,latency_ms,concurrency,parser,rounds,valid,reason,pages,"
          "requests,duplicates,lost,steps,pages_s,cpu_ns_page,cpu_ns_step,instructions_step,"
          "instructions_page,allocations_page,bytes_page,task_p50_us,task_p95_us,task_p99_us,loop_lag_us,"
          "memory_task_bytes,stack_bytes,descriptors,ratio,ratio_low,ratio_high\n",
          out);
    for (size_t i = 0; i < bench->count; i++) {
        const struct bench_result *r = &bench->results[i];
        const struct bench_sample *m = &r->median;
        char latency[16];
        bench_latency_name(r->cell.latency, latency);
        fprintf(out, "%s,%s,%s,%s,%s,%d,%s,%d,%d,\"%s\",%lld,%lld,%lld,%lld,%lld,",
                r->cell.style->name, r->cell.style->face, bench_leaves_name(r->cell.leaves),
                bench_shape_name(r->cell.shape), latency, r->cell.concurrency,
                r->cell.leaves == BENCH_NULL ? "" : r->cell.tidy ? "tidy" : "scan", r->rounds,
                r->valid,
                r->reason, (long long)m->pages, (long long)m->requests, (long long)m->duplicates,
                (long long)m->lost, (long long)m->steps);
        put_field(out, r->pages_s, ',');
        put_field(out, r->cpu_ns_page, ',');
        put_field(out, r->cpu_ns_step, ',');
        put_field(out, r->instructions_step, ',');
        put_field(out, r->instructions_page, ',');
        put_field(out, r->allocations_page, ',');
        put_field(out, r->bytes_page, ',');
        put_field(out, (double)m->task50_us, ',');
        put_field(out, (double)m->task95_us, ',');
        put_field(out, (double)m->task99_us, ',');
        put_field(out, (double)m->lag_us, ',');
        put_field(out, (double)m->memory, ',');
        put_field(out, (double)m->stack, ',');
        put_field(out, (double)m->fds, ',');
        put_field(out, r->ratio, ',');
        put_field(out, r->ratio_low, ',');
        put_field(out, r->ratio_high, '\n');
    }
    return ferror(out) ? COS_EIO : 0;
}
