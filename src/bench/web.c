/* web.c - pages, links and the reference of a cell, made by the same code as
 * `coscrawl site`: replay and real hold the same bytes. May call site, web, base.
 *
 * The reference is worked out from the graph, not from a spider: a benchmark
 * that takes one of its cells for the truth cannot see that cell's faults. */
#define DILL_DISABLE_RAW_NAMES
#include "bench/web.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX = 1 << 20, ERRORS_PERCENT = 5 };

static const struct {
    enum cos_site_shape shape;
    int pages, links, nesting, errors;
} shapes[BENCH_SHAPES] = {
    [BENCH_ONE] = {COS_SITE_TREE, 1, 1, 0, 0},
    [BENCH_CHAIN] = {COS_SITE_CHAIN, 50, 1, 49, 0},
    [BENCH_TREE] = {COS_SITE_TREE, 156, 5, 3, 0},
    [BENCH_CROSS] = {COS_SITE_CROSS, 60, 3, 4, 0},
    [BENCH_STAR] = {COS_SITE_STAR, 100, 1, 1, 0},
    [BENCH_LOST] = {COS_SITE_LOST, 6, 2, 3, 0},
    [BENCH_ERRORS] = {COS_SITE_TREE, 156, 5, 3, ERRORS_PERCENT},
    [BENCH_CROWD] = {COS_SITE_CROSS, 40, 12, 2, 0},
};

void bench_shape_options(enum bench_shape shape, struct cos_site_options *out, int *nesting)
{
    *out = (struct cos_site_options){.seed = 1,
                                     .shape = shapes[shape].shape,
                                     .pages = shapes[shape].pages,
                                     .links = shapes[shape].links,
                                     .errors = shapes[shape].errors};
    *nesting = shapes[shape].nesting;
    cos__site_settle(out);
}

/* --- finding a page by its URL or its file ---------------------------------------- */

static size_t hash(const char *text)
{
    uint64_t h = 1469598103934665603u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

static struct bench_page **url_place(const struct bench_web *web, const char *url)
{
    size_t at = hash(url) & web->mask;
    while (web->by_url[at] && strcmp(web->by_url[at]->url, url) != 0)
        at = (at + 1) & web->mask;
    return &web->by_url[at];
}

static struct bench_page **file_place(const struct bench_web *web, const char *path)
{
    size_t at = hash(path) & web->mask;
    while (web->by_file[at] && strcmp(web->by_file[at]->file, path) != 0)
        at = (at + 1) & web->mask;
    return &web->by_file[at];
}

struct bench_page *bench_web_url(const struct bench_web *web, const char *url)
{
    return *url_place(web, url);
}

struct bench_page *bench_web_file(const struct bench_web *web, const char *path)
{
    return *file_place(web, path);
}

/* --- making it ------------------------------------------------------------------------ */

/* As the site decides it. */
static int status_of(const struct cos__site *site, int64_t page)
{
    uint64_t r = cos__site_random(site, page, 7);
    if (page == 0 || r % 100 >= (uint64_t)site->opt.errors)
        return 200;
    return r / 100 % 2 ? 500 : 404;
}

static int name_page(struct bench_web *web, struct bench_page *page, const char *origin,
                     const char *dir)
{
    struct cos_buf url = {.max = 4096}, name = {.max = 4096}, file = {.max = 8192};
    int err = cos_buf_adds(&url, origin);
    if (!err)
        err = cos__site_add_path(&web->site, &url, page - web->pages);
    if (!err)
        err = cos_url_file(url.data, &name);
    if (!err)
        err = cos_buf_addf(&file, "%s/%s", dir, name.data);
    page->url = cos_buf_take(&url, NULL);
    page->file = cos_buf_take(&file, NULL);
    cos_buf_release(&name);
    return err;
}

static int make_page(struct bench_web *web, size_t n, const char *origin, const char *dir)
{
    struct bench_page *page = &web->pages[n];
    int err;
    page->status = status_of(&web->site, (int64_t)n);
    cos_buf_init(&page->body, PAGE_MAX);
    err = name_page(web, page, origin, dir);
    if (!err)
        err = web->leaves == BENCH_NULL ? cos_buf_adds(&page->body, "x")
                                        : cos__site_render(&web->site, (int64_t)n, &page->body);
    if (err)
        return err;
    *url_place(web, page->url) = page;
    *file_place(web, page->file) = page;
    return 0;
}

/* Level by level from the first page: a broken page is asked for and leads
 * nowhere. */
static int expect(struct bench_web *web)
{
    int64_t *queue = calloc(web->count, sizeof *queue);
    int *depth = calloc(web->count, sizeof *depth);
    size_t head = 0, tail = 1;
    int err = queue && depth ? 0 : COS_ENOMEM;
    if (!err)
        depth[0] = 1;
    while (!err && head < tail) {
        int64_t page = queue[head++], to;
        web->pages[page].expected = web->pages[page].status == 200;
        if (depth[page] > web->nesting || !web->pages[page].expected)
            continue;
        for (int64_t n = 0; (to = cos__site_link(&web->site, page, n)) >= 0; n++)
            if (!depth[to]) {
                depth[to] = depth[page] + 1;
                queue[tail++] = to;
            }
    }
    free(depth);
    free(queue);
    return err;
}

int bench_web_init(struct bench_web *web, enum bench_leaves leaves, enum bench_shape shape,
                   const char *origin, const char *dir)
{
    size_t places = 64;
    int err = 0;
    *web = (struct bench_web){.leaves = leaves};
    bench_shape_options(shape, &web->site.opt, &web->nesting);
    web->count = (size_t)web->site.opt.pages;
    while (places < web->count * 4)
        places *= 2;
    web->mask = places - 1;
    web->pages = calloc(web->count, sizeof *web->pages);
    web->by_url = calloc(places, sizeof(void *));
    web->by_file = calloc(places, sizeof(void *));
    web->times = calloc(BENCH_TIMES_MAX, sizeof *web->times);
    web->tasks = calloc(BENCH_TIMES_MAX, sizeof *web->tasks);
    if (!web->pages || !web->by_url || !web->by_file || !web->times || !web->tasks)
        err = COS_ENOMEM;
    if (!err && leaves != BENCH_NULL) /* its text is long to make, above all under callgrind */
        err = cos__site_pages_init(&web->site);
    for (size_t n = 0; !err && n < web->count; n++)
        err = make_page(web, n, origin, dir);
    if (!err)
        err = expect(web);
    if (err)
        bench_web_release(web);
    return err;
}

void bench_web_release(struct bench_web *web)
{
    for (size_t n = 0; web->pages && n < web->count; n++) {
        free(web->pages[n].url);
        free(web->pages[n].file);
        cos_buf_release(&web->pages[n].body);
    }
    cos__site_pages_release(&web->site);
    free(web->pages);
    free(web->by_url);
    free(web->by_file);
    free(web->times);
    free(web->tasks);
    *web = (struct bench_web){0};
}

void bench_web_clear(struct bench_web *web)
{
    for (size_t n = 0; n < web->count; n++) {
        web->pages[n].written = web->pages[n].wrong = 0;
        web->pages[n].requests = web->pages[n].since = 0;
    }
    web->steps = web->in_flight = web->peak = 0;
    web->ntimes = web->ntasks = 0;
    web->callbacks = 0;
}
