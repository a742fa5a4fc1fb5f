/* leaf.c - what a leaf of the benchmark does, the same for both faces. May call
 * web, base. */
#define DILL_DISABLE_RAW_NAMES
#include "bench/web.h"
#include "web/links.h"

#include <string.h>
#include <time.h>

struct bench_web *bench_web;

int64_t bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bench_step_begin(void)
{
    bench_web->steps++;
    if (++bench_web->in_flight > bench_web->peak)
        bench_web->peak = bench_web->in_flight;
    if (__builtin_expect(bench_web->probe.on, 0))
        bench_probe_step(&bench_web->probe, bench_web->in_flight);
}

void bench_step_end(void)
{
    bench_web->in_flight--;
}

struct bench_page *bench_asked(const char *url)
{
    struct bench_page *page = bench_web_url(bench_web, url);
    if (page)
        page->requests++;
    return page;
}

void bench_took(int64_t since_ns)
{
    if (bench_web->ntimes < BENCH_TIMES_MAX)
        bench_web->times[bench_web->ntimes++] = bench_clock() - since_ns;
}

void bench_task_begin(const char *path)
{
    struct bench_page *page = bench_web->clocked ? bench_web_file(bench_web, path) : NULL;
    if (page && !page->since)
        page->since = bench_clock();
}

void bench_task_end(const char *url)
{
    struct bench_page *page = bench_web_url(bench_web, url);
    if (!page || !page->since)
        return;
    if (bench_web->ntasks < BENCH_TIMES_MAX)
        bench_web->tasks[bench_web->ntasks++] = bench_clock() - page->since;
    page->since = 0;
}

struct cos_page *bench_answer(const struct bench_page *page, const char *url)
{
    struct cos_page *answer = cos_page_new(url);
    if (!answer)
        return NULL;
    answer->status = page ? page->status : 404;
    cos_buf_init(&answer->body, SIZE_MAX / 2);
    if (page && cos_buf_add(&answer->body, page->body.data, page->body.len)) {
        cos_page_free(answer);
        return NULL;
    }
    return answer;
}

int bench_saved(const struct bench_page *page, struct cos_buf *out)
{
    if (!page || !page->written)
        return COS_ENOENT;
    return cos_buf_add(out, page->body.data, page->body.len);
}

void bench_save(struct bench_page *page, const void *data, size_t len)
{
    if (!page)
        return;
    page->written = 1;
    page->wrong |= len != page->body.len || memcmp(data, page->body.data, len) != 0;
}

/* null: the links are known, no parser runs. */
static int known_links(struct cos_page *page)
{
    const struct bench_page *known = bench_web_url(bench_web, page->url);
    int64_t to, from = known ? known - bench_web->pages : -1;
    int err = 0;
    for (int64_t n = 0; known && !err; n++) {
        const char *url;
        if ((to = cos__site_link(&bench_web->site, from, n)) < 0)
            break;
        url = bench_web->pages[to].url;
        err = cos_page_add_link(page, url, strlen(url), COS_LINK_A, 0);
    }
    return err;
}

int bench_links(struct cos_page *page)
{
    struct cos_links_ctx *ctx;
    int err;
    if (bench_web->leaves == BENCH_NULL)
        return known_links(page);
    ctx = cos_links_ctx_new();
    err = ctx ? cos_links_extract(ctx, page) : COS_ENOMEM;
    cos_links_ctx_free(ctx);
    return err;
}
