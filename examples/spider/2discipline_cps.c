/* 2discipline_cps.c - one page, callback face, with discipline: named callbacks,
 * early return, small functions, and two helpers that others can use. What to
 * look at: the same steps as 1hell_cps.c, nowhere nested deeper than one if. */
#include "spider.h"

#include <stdlib.h>

/* --- save_file: the directories, then the file ----------------------------------------- */

void spider_save_file_cps(struct cps_rt *rt, const char *file, const struct cos_buf *body,
                          cps_cb *cb, void *arg)
{
    cps_file_write(rt, file, body->data ? body->data : "", body->len, COS_FILE_PARENTS, -1, cb,
                   arg);
}

/* --- download: fetch, then save_file ------------------------------------------------------ */

struct download {
    struct cps_rt *rt;
    char *file;
    struct cos_buf body;
    spider_body_cb *cb;
    void *arg;
};

static void end_download(struct download *download, int err)
{
    download->cb(err, &download->body, download->arg);
    cos_buf_release(&download->body);
    free(download->file);
    free(download);
}

static void saved(int err, void *arg)
{
    end_download(arg, err);
}

static void fetched(int err, struct cos_page *page, void *arg)
{
    struct download *download = arg;
    if (err) {
        end_download(download, err);
        return;
    }
    if (page->status != 200) {
        end_download(download, COS_EHTTP);
        return;
    }
    download->body.data = cos_buf_take(&page->body, &download->body.len);
    spider_save_file_cps(download->rt, download->file, &download->body, saved, download);
}

void spider_download_cps(struct cps_rt *rt, const char *url, const char *file, spider_body_cb *cb,
                         void *arg)
{
    struct cos_request req = {.url = url};
    struct download *download = spider_new(sizeof *download);
    *download = (struct download){.rt = rt, .file = spider_copy(file), .cb = cb, .arg = arg};
    cps_fetch(rt, &req, -1, fetched, download);
}

/* --- the spider ----------------------------------------------------------------------------- */

struct discipline {
    const struct spider *spider;
    struct cps_rt *rt;
    char *file;
    int err;
};

static void finish(struct discipline *run, int downloaded, int err)
{
    run->err = err;
    spider_tell(run->spider, run->spider->url, downloaded, err);
}

static void downloaded(int err, struct cos_buf *body, void *arg)
{
    (void)body;
    finish(arg, !err, err);
}

static void looked(int err, const struct cos_stat *stat, void *arg)
{
    struct discipline *run = arg;
    (void)stat;
    if (err != COS_ENOENT) {
        finish(run, 0, err);
        return;
    }
    spider_download_cps(run->rt, run->spider->url, run->file, downloaded, run);
}

static void look(struct discipline *run)
{
    run->file = spider_file(run->spider, run->spider->url);
    if (!run->file) {
        finish(run, 0, COS_EURL);
        return;
    }
    cps_stat(run->rt, run->file, -1, looked, run);
}

int spider_discipline_cps(const struct spider *spider)
{
    struct discipline run = {.spider = spider};
    int err = cps_open(&run.rt);
    if (err)
        return err;
    look(&run);
    err = cps_run(run.rt);
    cps_close(run.rt);
    free(run.file);
    return err ? err : run.err;
}
