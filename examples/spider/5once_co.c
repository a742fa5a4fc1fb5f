/* 5once_co.c - the race of 4parallel fixed, coroutine face. What to look at:
 * `once` runs the download of a URL at most once, and a late caller waits for
 * that run instead of starting its own. A URL that went well is forgotten: its
 * file is the guard now. The table of depths is kept, for a page may be met
 * again by a shorter way and must then be expanded further. */
#include "spider.h"

struct site {
    const struct spider *spider;
    struct cos_flow_once *once;
    struct spider_depths *depths;
};

struct level {
    struct site *site;
    int nesting;
};

struct page {
    const struct spider *spider;
    const char *url;
    struct cos_buf body;
    int downloaded;
};

static int get_page(void *result, void *arg)
{
    struct page *page = arg;
    (void)result;
    return spider_page_co(page->spider, page->url, &page->body, &page->downloaded);
}

static int walk(struct site *site, const char *url, int nesting);

static int walk_link(const void *item, size_t index, void *result, void *arg)
{
    const struct level *level = arg;
    (void)index;
    (void)result;
    return walk(level->site, *(char *const *)item, level->nesting);
}

static int walk(struct site *site, const char *url, int nesting)
{
    struct page page = {.spider = site->spider, .url = url, .body = {.max = SPIDER_PAGE_MAX}};
    struct cos_flow_task get = {get_page, &page};
    struct spider_links links = {0};
    struct level level = {site, nesting - 1};
    enum spider_met met = spider_depths_meet(site->depths, url, nesting);
    int ran, err;
    if (!met)
        return 0;
    err = cos_flow_once_run(site->once, url, &get, &ran, -1);
    if (ran && met == SPIDER_MET_FIRST)
        spider_tell(site->spider, url, page.downloaded, err);
    if (!err && ran)
        cos_flow_once_forget(site->once, url);
    if (!err && !ran)
        err = get_page(NULL, &page);
    if (!err && nesting > 0)
        err = spider_read_co(url, &page.body, &links);
    if (!err)
        err = cos_flow_each(&(struct cos_flow_list){links.urls, links.count, sizeof(char *), 0, 0},
                            COS_FLOW_ALL, walk_link, &level, -1);
    spider_links_release(&links);
    cos_buf_release(&page.body);
    return err;
}

int spider_once_co(const struct spider *spider)
{
    struct site site = {spider, cos_flow_once_new(0), spider_depths_new()};
    int err = site.once && site.depths ? walk(&site, spider->url, spider->nesting) : COS_ENOMEM;
    spider_depths_free(site.depths);
    spider_end_once(spider, site.once);
    return err;
}
