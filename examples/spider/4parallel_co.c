/* 4parallel_co.c - follow all links of a page at once, coroutine face. What to
 * look at: one word differs from 3sequential_co.c, the limit of the loop. And
 * the race, kept on purpose: two pages that link to a third both find its file
 * missing and both fetch it, since between the look and the write they wait. */
#include "spider.h"

#include <stdlib.h>

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
    int downloaded = 0;
    char *file = spider_file(spider, url);
    int err = file ? spider_page_co(url, file, &body, &downloaded) : COS_EURL;
    spider_tell(spider, url, downloaded, err);
    if (!err && nesting > 0)
        err = spider_read_co(url, &body, &links);
    if (!err)
        err = cos_flow_each(&(struct cos_flow_list){links.urls, links.count, sizeof(char *), 0, 0},
                            COS_FLOW_ALL, walk_link, &level, -1);
    spider_links_release(&links);
    cos_buf_release(&body);
    free(file);
    return err;
}

int spider_parallel_co(const struct spider *spider)
{
    return walk(spider, spider->url, spider->nesting);
}
