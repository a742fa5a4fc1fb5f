/* 2discipline_co.c - one page, coroutine face, cut into functions that can be
 * used again. What to look at: save_file and download are plain functions; later
 * styles call them and never know that they wait. */
#include "spider.h"

#include <stdlib.h>

int spider_save_file_co(const char *file, const struct cos_buf *body)
{
    return cos_file_write(file, body->data ? body->data : "", body->len, COS_FILE_PARENTS, -1);
}

/* An answer that is no page is an error here. */
static int get(const char *url, struct cos_page **page)
{
    struct cos_request req = {.url = url};
    int err = cos_fetch(&req, page, -1);
    if (!err && (*page)->status != 200)
        err = COS_EHTTP;
    return err;
}

static void hand_over(struct cos_buf *from, struct cos_buf *to)
{
    if (!to)
        return;
    cos_buf_release(to);
    to->data = cos_buf_take(from, &to->len);
}

int spider_download_co(const char *url, const char *file, struct cos_buf *body)
{
    struct cos_page *page = NULL;
    int err = get(url, &page);
    if (!err)
        err = spider_save_file_co(file, &page->body);
    if (!err)
        hand_over(&page->body, body);
    cos_page_free(page);
    return err;
}

int spider_discipline_co(const struct spider *spider)
{
    struct cos_stat stat;
    int downloaded = 0;
    char *file = spider_file(spider, spider->url);
    int err = file ? cos_stat(file, &stat, -1) : COS_EURL;
    if (err == COS_ENOENT) {
        err = spider_download_co(spider->url, file, NULL);
        downloaded = !err;
    }
    spider_tell(spider, spider->url, downloaded, err);
    free(file);
    return err;
}
