/* 3sequential_co.c - follow links, one page at a time, coroutine face. What to
 * look at: recursion is a loop with a call in it; the first error ends it by
 * return. Each page is read from its file first, so a run that was killed goes
 * on where it stopped: links come from the content, not from the fetch. */
#include "spider.h"

#include <stdlib.h>

int spider_page_co(const struct spider *spider, const char *url, struct cos_buf *body,
                   int *downloaded)
{
    char *file = spider_file(spider, url);
    int err = file ? cos_file_read(file, body, -1) : COS_EURL;
    *downloaded = 0;
    if (err == COS_ENOENT) {
        err = spider_download_co(url, file, body);
        *downloaded = !err;
    }
    free(file);
    return err;
}

int spider_read_co(const char *url, struct cos_buf *body, struct spider_links *out)
{
    struct cos_page *page = cos_page_new(url);
    int err = page ? 0 : COS_ENOMEM;
    *out = (struct spider_links){0};
    if (!err) {
        page->body = *body;
        *body = (struct cos_buf){.max = body->max};
        err = cos_read_links(page, -1);
    }
    if (!err)
        err = spider_links_of(page, out);
    cos_page_free(page);
    return err;
}

static int walk(const struct spider *spider, const char *url, int nesting)
{
    struct cos_buf body = {.max = SPIDER_PAGE_MAX};
    struct spider_links links = {0};
    int downloaded, err = spider_page_co(spider, url, &body, &downloaded);
    spider_tell(spider, url, downloaded, err);
    if (!err && nesting > 0)
        err = spider_read_co(url, &body, &links);
    for (size_t i = 0; !err && i < links.count; i++)
        err = walk(spider, links.urls[i], nesting - 1);
    spider_links_release(&links);
    cos_buf_release(&body);
    return err;
}

int spider_sequential_co(const struct spider *spider)
{
    return walk(spider, spider->url, spider->nesting);
}
