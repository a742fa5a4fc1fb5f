/* 4parallel_co.c - follow all links of a page at once, coroutine face. What to
 * look at: the loop of 3sequential_co.c has become cos_flow_each() without a
 * limit; with a limit of 1 it would be that loop again. The first failure cancels
 * what else is under way and is returned. And the race, kept on purpose: two
 * pages that link to a third both find its file missing and both fetch it, since
 * between the look and the write they wait. */
#include "spider.h"

struct level {
    const struct spider *spider;
    int nesting;
};

static int walk(const struct spider *spider, const char *url, int nesting);

static int walk_link(const void *item, size_t index, void *result, void *arg)
{
    const struct level *level = arg;
    (void)index;
    (void)result;
    return walk(level->spider, *(char *const *)item, level->nesting);
}

static int walk(const struct spider *spider, const char *url, int nesting)
{
    struct cos_buf body = {.max = SPIDER_PAGE_MAX};
    struct spider_links links = {0};
    struct level level = {spider, nesting - 1};
    int downloaded, err = spider_page_co(spider, url, &body, &downloaded);
    spider_tell(spider, url, downloaded, err);
    if (!err && nesting > 0)
        err = spider_read_co(url, &body, &links);
    if (!err)
        err = cos_flow_each(&(struct cos_flow_list){links.urls, links.count, sizeof(char *), 0, 0},
                            COS_FLOW_ALL, walk_link, &level, -1);
    spider_links_release(&links);
    cos_buf_release(&body);
    return err;
}

int spider_parallel_co(const struct spider *spider)
{
    return walk(spider, spider->url, spider->nesting);
}
