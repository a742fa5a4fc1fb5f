/* leaf_cps.c - the leaves on the callback face; see leaf.h. What a call must
 * remember until its callback runs is a record from a list of free ones, as an
 * engine would keep it: the benchmark's own malloc must not blur the styles'. */
#define DILL_DISABLE_RAW_NAMES
#include "bench/leaf.h"
#include "bench/web.h"

#include <stdlib.h>
#include <string.h>

struct leaf {
    struct leaf *next;
    struct bench_page *page;
    struct cos_page *links; /* read_links: the caller's */
    const char *url;        /* fetch: the page's own, or a copy */
    char *copy;
    size_t max;
    int live; /* its callback has not run */
    int64_t since;
    union {
        cps_cb *plain;
        cps_fetch_cb *fetch;
        cps_file_read_cb *read;
        cps_stat_cb *stat;
    } cb;
    void *arg;
};

static struct leaf *unused;

static struct leaf *leaf_new(struct bench_page *page, void *arg)
{
    struct leaf *leaf = unused;
    if (leaf)
        unused = leaf->next;
    else if (!(leaf = malloc(sizeof *leaf)))
        return NULL;
    *leaf = (struct leaf){.page = page, .arg = arg, .live = 1};
    bench_step_begin();
    return leaf;
}

/* Before the callback: what it starts may have the record. */
static struct leaf leaf_end(struct leaf *leaf)
{
    struct leaf was = *leaf;
    bench_web->callbacks += !leaf->live;
    leaf->live = 0;
    leaf->next = unused;
    unused = leaf;
    bench_step_end();
    return was;
}

static int64_t started(struct leaf *leaf, int64_t ticket)
{
    if (ticket < 0) {
        free(leaf->copy);
        leaf_end(leaf);
        return ticket;
    }
    return ticket ? ticket : 1;
}

/* --- fetch ------------------------------------------------------------------------ */

static void fetched(int err, struct cos_page *page, void *arg)
{
    struct leaf was = leaf_end(arg);
    bench_took(was.since);
    was.cb.fetch(err, page, was.arg);
}

static void fetch_later(int err, void *arg)
{
    struct leaf was = leaf_end(arg);
    struct cos_page *page = bench_answer(was.page, was.url);
    (void)err;
    was.cb.fetch(page ? 0 : COS_ENOMEM, page, was.arg);
    cos_page_free(page);
    free(was.copy);
}

int64_t bench_cps_fetch(struct cps_rt *rt, const struct cos_request *req, int64_t deadline,
                        cps_fetch_cb *cb, void *arg)
{
    struct leaf *leaf = leaf_new(bench_asked(req->url), arg);
    if (!leaf)
        return COS_ENOMEM;
    leaf->cb.fetch = cb;
    if (bench_web->leaves == BENCH_REAL) {
        leaf->since = bench_clock();
        return started(leaf, cps_fetch(rt, req, deadline, fetched, leaf));
    }
    if (!leaf->page && !(leaf->copy = strdup(req->url)))
        return started(leaf, COS_ENOMEM);
    leaf->url = leaf->page ? leaf->page->url : leaf->copy;
    return started(leaf, cps_defer(rt, fetch_later, leaf));
}

/* --- files ------------------------------------------------------------------------- */

static void file_was_read(int err, struct cos_buf *data, void *arg)
{
    struct leaf was = leaf_end(arg);
    was.cb.read(err, data, was.arg);
}

static void read_later(int err, void *arg)
{
    struct leaf was = leaf_end(arg);
    struct cos_buf data = {.max = was.max};
    err = bench_saved(was.page, &data);
    was.cb.read(err, err ? NULL : &data, was.arg);
    cos_buf_release(&data);
}

int64_t bench_cps_file_read(struct cps_rt *rt, const char *path, size_t max, int64_t deadline,
                            cps_file_read_cb *cb, void *arg)
{
    int real = bench_web->leaves == BENCH_REAL;
    struct leaf *leaf = leaf_new(real ? NULL : bench_web_file(bench_web, path), arg);
    if (!leaf)
        return COS_ENOMEM;
    bench_task_begin(path);
    leaf->cb.read = cb;
    leaf->max = max;
    if (real)
        return started(leaf, cps_file_read(rt, path, max, deadline, file_was_read, leaf));
    return started(leaf, cps_defer(rt, read_later, leaf));
}

static void plain_done(int err, void *arg)
{
    struct leaf was = leaf_end(arg);
    was.cb.plain(err, was.arg);
}

static void write_later(int err, void *arg)
{
    struct leaf was = leaf_end(arg);
    if (was.page)
        was.page->written = 1;
    was.cb.plain(err, was.arg);
}

int64_t bench_cps_file_write(struct cps_rt *rt, const char *path, const void *data, size_t len,
                             unsigned flags, int64_t deadline, cps_cb *cb, void *arg)
{
    int real = bench_web->leaves == BENCH_REAL, was;
    struct leaf *leaf = leaf_new(real ? NULL : bench_web_file(bench_web, path), arg);
    if (!leaf)
        return COS_ENOMEM;
    leaf->cb.plain = cb;
    if (real)
        return started(leaf,
                       cps_file_write(rt, path, data, len, flags, deadline, plain_done, leaf));
    /* The bytes are compared now, while they are lent; the file is there later. */
    was = leaf->page ? leaf->page->written : 0;
    bench_save(leaf->page, data, len);
    if (leaf->page)
        leaf->page->written = was;
    return started(leaf, cps_defer(rt, write_later, leaf));
}

static void looked(int err, const struct cos_stat *stat, void *arg)
{
    struct leaf was = leaf_end(arg);
    was.cb.stat(err, stat, was.arg);
}

static void stat_later(int err, void *arg)
{
    struct leaf was = leaf_end(arg);
    struct cos_stat stat = {.type = COS_FILE_REGULAR};
    err = was.page && was.page->written ? 0 : COS_ENOENT;
    was.cb.stat(err, err ? NULL : &stat, was.arg);
}

int64_t bench_cps_stat(struct cps_rt *rt, const char *path, int64_t deadline, cps_stat_cb *cb,
                       void *arg)
{
    int real = bench_web->leaves == BENCH_REAL;
    struct leaf *leaf = leaf_new(real ? NULL : bench_web_file(bench_web, path), arg);
    if (!leaf)
        return COS_ENOMEM;
    bench_task_begin(path);
    leaf->cb.stat = cb;
    if (real)
        return started(leaf, cps_stat(rt, path, deadline, looked, leaf));
    return started(leaf, cps_defer(rt, stat_later, leaf));
}

/* --- links --------------------------------------------------------------------------- */

static void links_later(int err, void *arg)
{
    struct leaf was = leaf_end(arg);
    err = bench_links(was.links);
    was.cb.plain(err, was.arg);
}

int64_t bench_cps_read_links(struct cps_rt *rt, struct cos_page *page, int64_t deadline,
                             cps_cb *cb, void *arg)
{
    struct leaf *leaf = leaf_new(NULL, arg);
    if (!leaf)
        return COS_ENOMEM;
    leaf->cb.plain = cb;
    leaf->links = page;
    if (bench_web->leaves == BENCH_REAL)
        return started(leaf, cps_read_links(rt, page, deadline, plain_done, leaf));
    return started(leaf, cps_defer(rt, links_later, leaf));
}
