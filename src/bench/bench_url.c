/* bench_url.c - what a resolve costs. `bench_url` times the references below,
 * each against one base; `bench_url ROUNDS` only runs them, so that callgrind
 * can count (src/bench/instructions.sh).
 *
 * Wall time over short batches: the least is the cost on a quiet machine, the
 * median what this machine gave just now. The least still moves by half when
 * others are busy; the instruction count is the number to compare. */
#include "config.h"

#include "web/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The mix of a news site's front page, roughly: most are absolute paths. */
static const char *const refs[] = {
    "/articles/2023/12/another-title-of-an-article/",
    "/css/site.css?v=20240102",
    "about.html",
    "../img/logo.png",
    "images/photo-0001.jpg",
    "?page=3",
    "#top",
    "https://www.example.org/articles/2024/01/some-long-title-here.html?ref=home&page=2",
    "//cdn.example.net/lib/app.min.js?v=1.2.3",
    "https://Social.Example/share?u=https%3A%2F%2Fwww.example.org%2F",
};
enum { REFS = sizeof refs / sizeof refs[0], BATCH = 500, BATCHES = 1001 };

static const char base_text[] = "https://www.example.org/articles/2024/01/index.html?x=1";
static struct cos_url base, url;

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static long resolve(const char *ref, long rounds)
{
    size_t len = strlen(ref);
    long bytes = 0;
    for (long i = 0; i < rounds; i++)
        if (!cos_url_parse(&url, ref, len, &base))
            bytes += (long)url.href.len;
    return bytes;
}

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Microseconds for one resolve of ref: the least, and the median. */
static double time_one(const char *ref, double *median)
{
    static double took[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        double start = now();
        resolve(ref, BATCH);
        took[i] = (now() - start) * 1e6 / BATCH;
    }
    qsort(took, BATCHES, sizeof took[0], by_size);
    *median = took[BATCHES / 2];
    return took[0];
}

static void time_all(void)
{
    double sum = 0, medians = 0, worst = 0, median;
    for (int i = 0; i < REFS; i++) {
        double least = time_one(refs[i], &median);
        printf("%.3f us (median %.3f)  %s\n", least, median, refs[i]);
        sum += least;
        medians += median;
        worst = median > worst ? median : worst;
    }
    printf("resolve: %.3f us on average (median %.3f), %.3f us for the dearest (median)\n",
           sum / REFS, medians / REFS, worst);
}

int main(int argc, char **argv)
{
    cos_url_init(&base);
    cos_url_init(&url);
    if (cos_url_parse(&base, base_text, strlen(base_text), NULL))
        return 1;
    if (argc > 1) {
        for (int i = 0; i < REFS; i++)
            resolve(refs[i], atol(argv[1]));
        printf("%d\n", REFS);
    } else {
        time_all();
    }
    cos_url_release(&base);
    cos_url_release(&url);
    return 0;
}
