/* cps_leaf.c - the callback twins of the leaf operations: a line to start each
 * and a line to hand its result over. May call the makers of base and web and
 * cps.h. */
#include "cps.h"

#include "base/sleep.h"
#include "web/fetch.h"
#include "web/fetch_cookies.h"

static void deliver_plain(struct cos_op *op)
{
    ((cps_cb *)op->cb)(op->err, op->arg);
}

int64_t cps_sleep(struct cps_rt *rt, int64_t deadline, cps_cb *cb, void *arg)
{
    return cps__begin(rt, cos__sleep_op(deadline), -1, deliver_plain, (cps__fn *)cb, arg);
}

static void deliver_page(struct cos_op *op)
{
    struct cos_page *page = cos__fetch_page(op);
    if (page)
        page->err = op->err;
    ((cps_fetch_cb *)op->cb)(op->err, page, op->arg);
}

int64_t cps_fetch(struct cps_rt *rt, const struct cos_request *req, int64_t deadline,
                  cps_fetch_cb *cb, void *arg)
{
    return cps__begin(rt, cos__fetch_op(req), deadline, deliver_page, (cps__fn *)cb, arg);
}

int64_t cps_fetch_into(struct cps_rt *rt, struct cos_page *page, const struct cos_request *req,
                       int64_t deadline, cps_fetch_cb *cb, void *arg)
{
    return cps__begin(rt, cos__fetch_into_op(page, req), deadline, deliver_page, (cps__fn *)cb,
                      arg);
}

int64_t cps_cookies_load(struct cps_rt *rt, const char *path, int64_t deadline, cps_cb *cb,
                         void *arg)
{
    return cps__begin(rt, cos__cookies_load_op(path), deadline, deliver_plain, (cps__fn *)cb, arg);
}

int64_t cps_cookies_save(struct cps_rt *rt, const char *path, int64_t deadline, cps_cb *cb,
                         void *arg)
{
    return cps__begin(rt, cos__cookies_save_op(path), deadline, deliver_plain, (cps__fn *)cb, arg);
}
