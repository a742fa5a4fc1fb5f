/* 5once_cps.c - the race of 4parallel fixed, callback face. What to look at: the
 * counter and the flag of 4parallel_cps.c, and between a page and its links one
 * more callback, for the look at `once` may have to wait for someone else's run;
 * its run has a callback of its own, and the level has to carry that, too. */
#include "spider.h"

#include <stdlib.h>

struct site {
    struct cps_rt *rt;
    const struct spider *spider;
    struct cos_flow_once *once;
    struct spider_depths *depths;
};

struct level {
    struct site *site;
    char *url;
    int nesting;
    enum spider_met met;
    size_t running;
    int told, ran, downloaded;
    struct spider_links links; /* this and the next two: of the run inside `once` */
    cps_cb *done;
    void *token;
    cps_cb *cb;
    void *arg;
};

static void walk(struct site *site, const char *url, int nesting, cps_cb *cb, void *arg);

static void tell(struct level *level, int err)
{
    if (level->told)
        return;
    level->told = 1;
    level->cb(err, level->arg);
}

static void let_go(struct level *level)
{
    if (level->running)
        return;
    tell(level, 0);
    free(level->url);
    free(level);
}

static void link_done(int err, void *arg)
{
    struct level *level = arg;
    level->running--;
    if (err)
        tell(level, err);
    let_go(level);
}

static void have_links(int err, int downloaded, struct spider_links *links, void *arg)
{
    struct level *level = arg;
    (void)downloaded;
    level->running = links->count;
    if (err)
        tell(level, err);
    for (size_t i = 0; i < links->count; i++)
        walk(level->site, links->urls[i], level->nesting - 1, link_done, level);
    let_go(level);
}

/* The file is there, whoever fetched it: its links are what counts now. */
static void have_file(int err, void *arg)
{
    struct level *level = arg;
    struct spider_links links = level->links;
    if (level->ran && level->met == SPIDER_MET_FIRST)
        spider_tell(level->site->spider, level->url, level->downloaded, err);
    if (err) {
        tell(level, err);
        let_go(level);
        return;
    }
    if (!level->ran) {
        spider_page_cps(level->site->rt, level->site->spider, level->url, level->nesting > 0,
                        have_links, level);
        return;
    }
    cos_flow_once_forget(level->site->once, level->url);
    have_links(0, level->downloaded, &links, level);
    spider_links_release(&links);
}

static void page_there(int err, int downloaded, struct spider_links *links, void *arg)
{
    struct level *level = arg;
    level->downloaded = downloaded;
    level->links = *links;
    *links = (struct spider_links){0};
    level->done(err, level->token);
}

static void get_page(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token)
{
    struct level *level = arg;
    (void)result;
    level->ran = 1;
    level->done = done;
    level->token = token;
    spider_page_cps(rt, level->site->spider, level->url, level->nesting > 0, page_there, level);
}

static void nothing_to_do(int err, void *arg)
{
    (void)err;
    let_go(arg);
}

static void walk(struct site *site, const char *url, int nesting, cps_cb *cb, void *arg)
{
    struct level *level = spider_new(sizeof *level);
    struct cps_flow_task get = {get_page, level};
    *level = (struct level){.site = site, .url = spider_copy(url), .nesting = nesting, .cb = cb,
                            .arg = arg};
    level->met = spider_depths_meet(site->depths, url, nesting);
    if (level->met)
        cps_flow_once_run(site->rt, site->once, url, &get, -1, have_file, level);
    else
        cps_defer(site->rt, nothing_to_do, level);
}

static void walked(int err, void *arg)
{
    *(int *)arg = err;
}

int spider_once_cps(const struct spider *spider)
{
    struct site site = {.spider = spider, .once = cos_flow_once_new(0),
                        .depths = spider_depths_new()};
    int outcome = 0, err = site.once && site.depths ? cps_open(&site.rt) : COS_ENOMEM;
    if (!err) {
        walk(&site, spider->url, spider->nesting, walked, &outcome);
        err = cps_run(site.rt);
        cps_close(site.rt);
    }
    spider_depths_free(site.depths);
    spider_end_once(spider, site.once);
    return err ? err : outcome;
}
