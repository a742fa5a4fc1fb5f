/* 3sequential_cps.c - follow links, one page at a time, callback face. What to
 * look at: the loop over the links has become a counter in a struct and a
 * function that calls itself through callbacks; the recursion needs a heap
 * object per level, since no stack frame lives that long. */
#include "spider.h"

#include <stdlib.h>

/* --- one page: its file or a download, then its links ------------------------------------- */

struct page_job {
    struct cps_rt *rt;
    char *url, *file;
    struct cos_page *page;
    int wanted, downloaded;
    spider_page_cb *cb;
    void *arg;
};

static void end_page(struct page_job *job, int err)
{
    struct spider_links links = {0};
    if (!err && job->wanted)
        err = spider_links_of(job->page, &links);
    job->cb(err, job->downloaded, &links, job->arg);
    spider_links_release(&links);
    cos_page_free(job->page);
    free(job->file);
    free(job->url);
    free(job);
}

static void links_read(int err, void *arg)
{
    end_page(arg, err);
}

static void got_body(struct page_job *job, struct cos_buf *body)
{
    if (!job->wanted) {
        end_page(job, 0);
        return;
    }
    job->page = cos_page_new(job->url);
    if (!job->page) {
        end_page(job, COS_ENOMEM);
        return;
    }
    job->page->body.data = cos_buf_take(body, &job->page->body.len);
    cps_read_links(job->rt, job->page, -1, links_read, job);
}

static void page_downloaded(int err, struct cos_buf *body, void *arg)
{
    struct page_job *job = arg;
    job->downloaded = !err;
    if (err) {
        end_page(job, err);
        return;
    }
    got_body(job, body);
}

static void file_read(int err, struct cos_buf *body, void *arg)
{
    struct page_job *job = arg;
    if (err == COS_ENOENT) {
        spider_download_cps(job->rt, job->url, job->file, page_downloaded, job);
        return;
    }
    if (err) {
        end_page(job, err);
        return;
    }
    got_body(job, body);
}

/* A callback never runs before the call that it was given to has returned: even
 * what is known at once is told later. */
static void no_file(int err, void *arg)
{
    (void)err;
    end_page(arg, COS_EURL);
}

void spider_page_cps(struct cps_rt *rt, const struct spider *spider, const char *url, int wanted,
                     spider_page_cb *cb, void *arg)
{
    struct page_job *job = spider_new(sizeof *job);
    *job = (struct page_job){.rt = rt, .url = spider_copy(url), .file = spider_file(spider, url),
                             .wanted = wanted, .cb = cb, .arg = arg};
    if (job->file)
        cps_file_read(rt, job->file, SPIDER_PAGE_MAX, -1, file_read, job);
    else
        cps_defer(rt, no_file, job);
}

/* --- the walk --------------------------------------------------------------------------------- */

struct walk {
    struct cps_rt *rt;
    const struct spider *spider;
    char *url;
    int nesting;
    struct spider_links links;
    size_t next;
    cps_cb *cb;
    void *arg;
};

static void walk(struct cps_rt *rt, const struct spider *spider, const char *url, int nesting,
                 cps_cb *cb, void *arg);

static void end_walk(struct walk *walk, int err)
{
    walk->cb(err, walk->arg);
    spider_links_release(&walk->links);
    free(walk->url);
    free(walk);
}

static void next_link(int err, void *arg)
{
    struct walk *at = arg;
    if (err || at->next == at->links.count) {
        end_walk(at, err);
        return;
    }
    walk(at->rt, at->spider, at->links.urls[at->next++], at->nesting - 1, next_link, at);
}

static void have_page(int err, int downloaded, struct spider_links *links, void *arg)
{
    struct walk *at = arg;
    spider_tell(at->spider, at->url, downloaded, err);
    at->links = *links;
    *links = (struct spider_links){0};
    next_link(err, at);
}

static void walk(struct cps_rt *rt, const struct spider *spider, const char *url, int nesting,
                 cps_cb *cb, void *arg)
{
    struct walk *at = spider_new(sizeof *at);
    *at = (struct walk){.rt = rt, .spider = spider, .url = spider_copy(url), 
                        .nesting = nesting, .cb = cb, .arg = arg};
    spider_page_cps(rt, spider, url, nesting > 0, have_page, at);
}

static void walked(int err, void *arg)
{
    *(int *)arg = err;
}

int spider_sequential_cps(const struct spider *spider)
{
    struct cps_rt *rt;
    int outcome = 0, err = cps_open(&rt);
    if (err)
        return err;
    walk(rt, spider, spider->url, spider->nesting, walked, &outcome);
    err = cps_run(rt);
    cps_close(rt);
    return err ? err : outcome;
}
