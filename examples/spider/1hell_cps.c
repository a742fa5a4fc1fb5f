/* 1hell_cps.c - one page, callback face, as callback hell: every callback is
 * written where it is passed, inside the one before. What to look at: the
 * pyramid on the left; the error check that repeats at every level; that nothing
 * in it can be used again; and the struct that carries everything because these
 * functions capture nothing. What runs last stands in the middle.
 *
 * The functions in place are GNU C nested functions through FN(). They use no
 * variable of the function around them, so gcc makes plain functions of them; at
 * -O0 it would build trampolines on an executable stack all the same, hence the
 * attribute. clang has no nested functions: there 1hell_blocks.c is used. */
#include "spider.h"

#if !defined __clang__

#include <stdlib.h>

#define FN(name, arguments, ...) __extension__({ void name arguments __VA_ARGS__ name; })

struct hell {
    const struct spider *spider;
    struct cps_rt *rt;
    char *file;
    int err;
};

__attribute__((optimize("O1"))) int spider_hell_cps(const struct spider *spider)
{
    struct hell hell = {.spider = spider};
    int err = cps_open(&hell.rt);
    if (err)
        return err;
    hell.file = spider_file(spider, spider->url);
    if (!hell.file) {
        hell.err = COS_EURL;
        spider_tell(spider, spider->url, 0, COS_EURL);
    } else {
        cps_stat(hell.rt, hell.file, -1,
                 FN(looked, (int err1, const struct cos_stat *stat, void *arg1), {
            struct hell *h = arg1;
            (void)stat;
            if (!err1) {
                spider_tell(h->spider, h->spider->url, 0, 0);
            } else if (err1 != COS_ENOENT) {
                h->err = err1;
                spider_tell(h->spider, h->spider->url, 0, err1);
            } else {
                struct cos_request req = {.url = h->spider->url};
                cps_fetch(h->rt, &req, -1,
                          FN(fetched, (int err2, struct cos_page *page, void *arg2), {
                    struct hell *h2 = arg2;
                    if (err2) {
                        h2->err = err2;
                        spider_tell(h2->spider, h2->spider->url, 0, err2);
                    } else if (page->status != 200) {
                        h2->err = COS_EHTTP;
                        spider_tell(h2->spider, h2->spider->url, 0, COS_EHTTP);
                    } else {
                        cps_file_write(h2->rt, h2->file, page->body.data, page->body.len,
                                       COS_FILE_PARENTS, -1, FN(saved, (int err3, void *arg3), {
                            struct hell *h3 = arg3;
                            if (err3) {
                                h3->err = err3;
                                spider_tell(h3->spider, h3->spider->url, 0, err3);
                            } else {
                                spider_tell(h3->spider, h3->spider->url, 1, 0);
                            }
                        }), h2);
                    }
                }), h);
            }
        }), &hell);
    }
    err = cps_run(hell.rt);
    cps_close(hell.rt);
    free(hell.file);
    return err ? err : hell.err;
}

#endif
