/* 6queue_co.c - one queue with one limit for the whole site, coroutine face.
 * What to look at: the recursion is gone. A task is a URL; its links are pushed
 * as further tasks; the end is "the queue is empty". An error concerns its own
 * page only, and no more than `concurrency` pages are under way, wherever in the
 * tree they are. */
#include "spider.h"

#include <stdlib.h>
#include <string.h>

struct task {
    int nesting;
    enum spider_met met;
    char url[];
};

struct site {
    const struct spider *spider;
    struct cos_flow_once *once;
    struct spider_depths *depths;
    int err;
};

struct page {
    const struct spider *spider;
    const char *url;
    struct cos_buf body;
    int downloaded;
};

static int add(struct cos_flow_queue *queue, struct site *site, const char *url, int nesting)
{
    enum spider_met met = spider_depths_meet(site->depths, url, nesting);
    struct task *task;
    int err;
    if (!met)
        return 0;
    task = spider_new(sizeof *task + strlen(url) + 1);
    task->nesting = nesting;
    task->met = met;
    strcpy(task->url, url);
    err = cos_flow_queue_push(queue, task, -1);
    if (err)
        free(task);
    return err;
}

static int get_page(void *result, void *arg)
{
    struct page *page = arg;
    (void)result;
    return spider_page_co(page->spider, page->url, &page->body, &page->downloaded);
}

/* The same URL may come twice at once, by a longer and a shorter way. */
static int get_once(struct site *site, const struct task *task, struct page *page)
{
    struct cos_flow_task get = {get_page, page};
    int ran, err = cos_flow_once_run(site->once, task->url, &get, &ran, -1);
    if (ran && task->met == SPIDER_MET_FIRST)
        spider_tell(site->spider, task->url, page->downloaded, err);
    if (!err && ran)
        cos_flow_once_forget(site->once, task->url);
    if (!err && !ran)
        err = get_page(NULL, page);
    return err;
}

static int work(struct cos_flow_queue *queue, void *item, void *arg)
{
    struct task *task = item;
    struct site *site = arg;
    struct page page = {.spider = site->spider, .url = task->url,
                        .body = {.max = SPIDER_PAGE_MAX}};
    struct spider_links links = {0};
    int err = get_once(site, task, &page);
    if (!err && task->nesting > 0)
        err = spider_read_co(task->url, &page.body, &links);
    for (size_t i = 0; !err && i < links.count; i++)
        err = add(queue, site, links.urls[i], task->nesting - 1);
    spider_links_release(&links);
    cos_buf_release(&page.body);
    return err;
}

static void task_done(void *item, int err, void *arg)
{
    struct site *site = arg;
    if (err)
        site->err = err;
    free(item);
}

int spider_queue_co(const struct spider *spider)
{
    struct site site = {spider, cos_flow_once_new(0), spider_depths_new(), 0};
    struct cos_flow_queue_opts opts = {.concurrency = spider->concurrency, .work = work,
                                       .done = task_done, .arg = &site};
    struct cos_flow_queue *queue = NULL;
    int err = site.once && site.depths ? cos_flow_queue_new(&opts, &queue) : COS_ENOMEM;
    if (!err)
        err = add(queue, &site, spider->url, spider->nesting);
    if (!err)
        err = cos_flow_queue_drain(queue, -1);
    cos_flow_queue_free(queue);
    spider_depths_free(site.depths);
    spider_end_once(spider, site.once);
    return err ? err : site.err;
}
