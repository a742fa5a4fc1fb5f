/* 1hell_blocks.c - 1hell_cps.c once more, with clang's Blocks, for compilers
 * that have no nested functions. What to look at: the same pyramid, but these
 * are real closures. They capture rt, file and spider, so the struct that carried
 * everything is gone; and each has to be copied to the heap before it is passed
 * on, since the frame it was written in may be gone when it runs. That copy is
 * what a closure costs; `coscrawl bench --style=hell,discipline` in a build by
 * clang shows it. */
#include "spider.h"

#if defined __clang__ && defined __BLOCKS__

#include <Block.h>
#include <stdlib.h>

/* A callback is a function and a pointer: the function calls the Block that the
 * pointer is, and lets go of it, for it is called once. */
static void call_stat(int err, const struct cos_stat *stat, void *arg)
{
    void (^block)(int, const struct cos_stat *) = arg;
    block(err, stat);
    Block_release(block);
}

static void call_fetch(int err, struct cos_page *page, void *arg)
{
    void (^block)(int, struct cos_page *) = arg;
    block(err, page);
    Block_release(block);
}

static void call_plain(int err, void *arg)
{
    void (^block)(int) = arg;
    block(err);
    Block_release(block);
}

int spider_hell_cps(const struct spider *spider)
{
    char *file = spider_file(spider, spider->url);
    __block int failure = 0;
    struct cps_rt *rt;
    int err = cps_open(&rt);
    if (err) {
        free(file);
        return err;
    }
    if (!file) {
        failure = COS_EURL;
        spider_tell(spider, spider->url, 0, COS_EURL);
    } else {
        cps_stat(rt, file, -1, call_stat, Block_copy(^(int err1, const struct cos_stat *stat) {
            (void)stat;
            if (!err1) {
                spider_tell(spider, spider->url, 0, 0);
            } else if (err1 != COS_ENOENT) {
                failure = err1;
                spider_tell(spider, spider->url, 0, err1);
            } else {
                struct cos_request req = {.url = spider->url};
                cps_fetch(rt, &req, -1, call_fetch, Block_copy(^(int err2, struct cos_page *page) {
                    if (err2) {
                        failure = err2;
                        spider_tell(spider, spider->url, 0, err2);
                    } else if (page->status != 200) {
                        failure = COS_EHTTP;
                        spider_tell(spider, spider->url, 0, COS_EHTTP);
                    } else {
                        cps_file_write(rt, file, page->body.data, page->body.len,
                                       COS_FILE_PARENTS, -1, call_plain, Block_copy(^(int err3) {
                            if (err3) {
                                failure = err3;
                                spider_tell(spider, spider->url, 0, err3);
                            } else {
                                spider_tell(spider, spider->url, 1, 0);
                            }
                        }));
                    }
                }));
            }
        }));
    }
    err = cps_run(rt);
    cps_close(rt);
    free(file);
    return err ? err : failure;
}

#endif
