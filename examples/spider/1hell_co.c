/* 1hell_co.c - one page, coroutine face: the steps of callback hell in one
 * straight function. What to look at: it reads from top to bottom, each step
 * waits where it stands, and there is one place to clean up. */
#include "spider.h"

#include <stdlib.h>

int spider_hell_co(const struct spider *spider)
{
    struct cos_request req = {.url = spider->url};
    struct cos_page *page = NULL;
    struct cos_stat stat;
    int downloaded = 0;
    char *file = spider_file(spider, spider->url);
    int err = file ? cos_stat(file, &stat, -1) : COS_EURL;
    if (err == COS_ENOENT) {
        err = cos_fetch(&req, &page, -1);
        if (!err && page->status != 200)
            err = COS_EHTTP;
        if (!err)
            err = cos_file_write(file, page->body.data, page->body.len, COS_FILE_PARENTS, -1);
        downloaded = !err;
    }
    spider_tell(spider, spider->url, downloaded, err);
    cos_page_free(page);
    free(file);
    return err;
}
