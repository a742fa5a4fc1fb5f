/* 6queue_cps.c - one queue with one limit for the whole site, callback face.
 * What to look at: with the queue the callback version has neither counter nor
 * flag nor recursion left, and of all pairs this is the one least apart. What it
 * still has is the struct that carries a task from callback to callback. */
#include "spider.h"

#include <stdlib.h>
#include <string.h>

struct site {
    struct cps_rt *rt;
    const struct spider *spider;
    struct cos_flow_once *once;
    struct spider_depths *depths;
    int err;
};

struct task {
    struct site *site;
    struct cps_flow_queue *queue;
    int nesting, ran, downloaded;
    enum spider_met met;
    struct spider_links links; /* when it ran */
    cps_cb *run_done, *done;
    void *run_token, *token;
    char url[];
};

static int add(struct cps_flow_queue *queue, struct site *site, const char *url, int nesting)
{
    enum spider_met met = spider_depths_meet(site->depths, url, nesting);
    struct task *task;
    int err;
    if (!met)
        return 0;
    task = spider_new(sizeof *task + strlen(url) + 1);
    task->site = site;
    task->nesting = nesting;
    task->met = met;
    strcpy(task->url, url);
    err = cps_flow_queue_add(queue, task, 0);
    if (err)
        free(task);
    return err;
}

static void have_links(int err, int downloaded, struct spider_links *links, void *arg)
{
    struct task *task = arg;
    (void)downloaded;
    for (size_t i = 0; !err && i < links->count; i++)
        err = add(task->queue, task->site, links->urls[i], task->nesting - 1);
    task->done(err, task->token);
}

static void have_file(int err, void *arg)
{
    struct task *task = arg;
    struct spider_links links = task->links;
    if (task->ran && task->met == SPIDER_MET_FIRST)
        spider_tell(task->site->spider, task->url, task->downloaded, err);
    if (err) {
        task->done(err, task->token);
        return;
    }
    if (!task->ran) {
        spider_page_cps(task->site->rt, task->site->spider, task->url, task->nesting > 0,
                        have_links, task);
        return;
    }
    cos_flow_once_forget(task->site->once, task->url);
    have_links(0, task->downloaded, &links, task);
    spider_links_release(&links);
}

static void page_there(int err, int downloaded, struct spider_links *links, void *arg)
{
    struct task *task = arg;
    task->downloaded = downloaded;
    task->links = *links;
    *links = (struct spider_links){0};
    task->run_done(err, task->run_token);
}

static void get_page(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token)
{
    struct task *task = arg;
    (void)result;
    task->ran = 1;
    task->run_done = done;
    task->run_token = token;
    spider_page_cps(rt, task->site->spider, task->url, task->nesting > 0, page_there, task);
}

static void work(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done, void *token)
{
    struct task *task = item;
    struct cps_flow_task get = {get_page, task};
    (void)arg;
    task->queue = queue;
    task->done = done;
    task->token = token;
    cps_flow_once_run(task->site->rt, task->site->once, task->url, &get, -1, have_file, task);
}

static void task_done(void *item, int err, void *arg)
{
    struct site *site = arg;
    if (err)
        site->err = err;
    free(item);
}

static void drained(int err, void *arg)
{
    (void)err;
    cps_flow_queue_free(arg);
}

int spider_queue_cps(const struct spider *spider)
{
    struct site site = {.spider = spider, .once = cos_flow_once_new(0),
                        .depths = spider_depths_new()};
    struct cps_flow_queue_opts opts = {.concurrency = spider->concurrency, .work = work,
                                       .done = task_done, .arg = &site};
    struct cps_flow_queue *queue = NULL;
    int err = site.once && site.depths ? cps_open(&site.rt) : COS_ENOMEM;
    if (!err && !(err = cps_flow_queue_new(site.rt, &opts, &queue))) {
        err = add(queue, &site, spider->url, spider->nesting);
        cps_flow_queue_drain(queue, -1, drained, queue);
    }
    if (site.rt) {
        int run = cps_run(site.rt);
        err = err ? err : run;
        cps_close(site.rt);
    }
    spider_depths_free(site.depths);
    spider_end_once(spider, site.once);
    return err ? err : site.err;
}
