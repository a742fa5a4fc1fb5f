/* 4parallel_cps.c - follow all links of a page at once, callback face. What to
 * look at: a counter of what still runs and a flag "told already", because the
 * callback must run at the first failure and exactly once. What else is under way
 * then goes on, unlike in the twin: each level would have to keep the tickets of
 * its operations to cancel them. The race of 4parallel_co.c is here too, on
 * purpose. */
#include "spider.h"

#include <stdlib.h>

struct level {
    struct cps_rt *rt;
    const struct spider *spider;
    char *url;
    int nesting;
    size_t running;
    int told;
    cps_cb *cb;
    void *arg;
};

static void walk(struct cps_rt *rt, const struct spider *spider, const char *url, int nesting,
                 cps_cb *cb, void *arg);

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

static void have_page(int err, int downloaded, struct spider_links *links, void *arg)
{
    struct level *level = arg;
    spider_tell(level->spider, level->url, downloaded, err);
    level->running = links->count;
    if (err)
        tell(level, err);
    for (size_t i = 0; i < links->count; i++)
        walk(level->rt, level->spider, links->urls[i], level->nesting - 1, link_done, level);
    let_go(level);
}

static void walk(struct cps_rt *rt, const struct spider *spider, const char *url, int nesting,
                 cps_cb *cb, void *arg)
{
    struct level *level = spider_new(sizeof *level);
    *level = (struct level){.rt = rt, .spider = spider, .url = spider_copy(url),
                            .nesting = nesting, .cb = cb, .arg = arg};
    spider_page_cps(rt, spider, url, nesting > 0, have_page, level);
}

static void walked(int err, void *arg)
{
    *(int *)arg = err;
}

int spider_parallel_cps(const struct spider *spider)
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
