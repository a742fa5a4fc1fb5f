/* load.c - `load url...`: how long servers take to answer when many ask at once,
 * a row for each URL, so that the modes of an example stand side by side. With
 * --beside=1 the first URL is asked for over and over, by one client, while the
 * others are measured: what does its work do to them? Coroutines only: a client
 * is a loop, and there are many of them. */
#include "example.h"

#include <coscrawl.h>
#include <coscrawl/libdill.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char usage[] =
    "usage: load [--clients=N] [--requests=N] [--beside=0|1] url...\n"
    "Asks N (200) times for each URL, N (20) clients at once, and prints the time for\n"
    "all, the median and the 99th percentile in milliseconds, and the failures. With\n"
    "--beside=1 the first URL is asked for all the while and not measured.\n";

static int64_t clients = 20, requests = 200, is_beside;

struct row {
    const char *url;
    double *times;
    int failures;
};

static double ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

/* 0, or 1 when there was no answer or none with status 200. */
static int ask(const char *url)
{
    struct cos_request req = {.url = url};
    struct cos_page *page = NULL;
    int err = cos_fetch(&req, &page, -1);
    int failed = err || page->status != 200;
    cos_page_free(page);
    return failed;
}

static int measure_one(const void *item, size_t index, void *result, void *arg)
{
    struct row *row = arg;
    double start = ms();
    (void)item, (void)result;
    row->failures += ask(row->url);
    row->times[index] = ms() - start;
    return 0;
}

static coroutine void ask_on(const char *url)
{
    while (!yield())
        ask(url);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(const char *url, int *failures)
{
    size_t n = (size_t)requests;
    struct row row = {.url = url, .times = calloc(n, sizeof *row.times)};
    double start = ms();
    int err = row.times ? 0 : COS_ENOMEM;
    if (!err)
        err = cos_flow_times(n, (int)clients, measure_one, NULL, 0, &row, -1);
    if (!err) {
        double all = ms() - start;
        qsort(row.times, n, sizeof *row.times, by_time);
        printf("%9.1f %9.2f %9.2f %9d  %s\n", all, row.times[n / 2], row.times[(n * 99 - 1) / 100],
               row.failures, url);
        fflush(stdout);
    }
    *failures += row.failures;
    free(row.times);
    return err;
}

int main(int argc, char **argv)
{
    const struct example_option options[] = {{"clients", &clients, 1, 1000},
                                             {"requests", &requests, 1, 1000000},
                                             {"beside", &is_beside, 0, 1}, {0}};
    struct example example = {.name = "load", .usage = usage, .options = options,
                              .min_operands = 1, .max_operands = -1};
    int beside = -1, failures = 0, err = 0;
    example_start(&example, argc, argv);
    if (is_beside && example.nargs < 2) {
        fputs("load: --beside=1 takes two URLs; try 'load --help'\n", stderr);
        return 2;
    }
    if (is_beside && (beside = go(ask_on(example.args[0]))) < 0)
        err = COS_ENOMEM;
    if (!err)
        printf("%9s %9s %9s %9s\n", "all ms", "median", "p99", "failed");
    for (int i = is_beside ? 1 : 0; !err && i < example.nargs; i++)
        err = measure(example.args[i], &failures);
    if (beside >= 0)
        hclose(beside);
    cos_shutdown();
    if (err)
        return example_fail(&example, "cannot measure", err);
    return example_flush(&example) || failures;
}
