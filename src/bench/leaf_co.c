/* leaf_co.c - the leaves on the coroutine face; see leaf.h. */
#define DILL_DISABLE_RAW_NAMES
#include "bench/leaf.h"
#include "bench/web.h"

#include <libdill.h>

/* The one suspension of a leaf that answers from memory. */
static int turn(void)
{
    int err;
    bench_step_begin();
    err = dill_yield() ? COS_ECANCELED : 0;
    bench_step_end();
    return err;
}

int bench_cos_fetch(const struct cos_request *req, struct cos_page **out, int64_t deadline)
{
    struct bench_page *page = bench_asked(req->url);
    int64_t since;
    int err;
    if (bench_web->leaves != BENCH_REAL) {
        if ((err = turn()))
            return err;
        *out = bench_answer(page, req->url);
        return *out ? 0 : COS_ENOMEM;
    }
    since = bench_clock();
    bench_step_begin();
    err = cos_fetch(req, out, deadline);
    bench_step_end();
    bench_took(since);
    return err;
}

int bench_cos_file_read(const char *path, struct cos_buf *out, int64_t deadline)
{
    struct bench_page *page;
    int err;
    bench_task_begin(path);
    if (bench_web->leaves != BENCH_REAL) {
        page = bench_web_file(bench_web, path);
        err = turn();
        return err ? err : bench_saved(page, out);
    }
    bench_step_begin();
    err = cos_file_read(path, out, deadline);
    bench_step_end();
    return err;
}

int bench_cos_file_write(const char *path, const void *data, size_t len, unsigned flags,
                         int64_t deadline)
{
    struct bench_page *page;
    int err;
    if (bench_web->leaves != BENCH_REAL) {
        page = bench_web_file(bench_web, path);
        err = turn();
        if (!err)
            bench_save(page, data, len);
        return err;
    }
    bench_step_begin();
    err = cos_file_write(path, data, len, flags, deadline);
    bench_step_end();
    return err;
}

int bench_cos_stat(const char *path, struct cos_stat *out, int64_t deadline)
{
    struct bench_page *page;
    int err;
    bench_task_begin(path);
    if (bench_web->leaves != BENCH_REAL) {
        page = bench_web_file(bench_web, path);
        err = turn();
        if (!err && !(page && page->written))
            err = COS_ENOENT;
        *out = (struct cos_stat){.type = COS_FILE_REGULAR};
        return err;
    }
    bench_step_begin();
    err = cos_stat(path, out, deadline);
    bench_step_end();
    return err;
}

int bench_cos_read_links(struct cos_page *page, int64_t deadline)
{
    int err;
    if (bench_web->leaves != BENCH_REAL) {
        err = turn();
        return err ? err : bench_links(page);
    }
    bench_step_begin();
    err = cos_read_links(page, deadline);
    bench_step_end();
    return err;
}
