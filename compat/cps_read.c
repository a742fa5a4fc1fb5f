/* cps_read.c - reading a page's links, in callbacks. */
#include "cps.h"

#include "web/read_op.h"

static void deliver(struct cos_op *op)
{
    cos__read_links_end(op);
    ((cps_cb *)op->cb)(op->err, op->arg);
}

int64_t cps_read_links(struct cps_rt *rt, struct cos_page *page, int64_t deadline, cps_cb *cb,
                       void *arg)
{
    return cps__begin(rt, cos__read_links_op(page), deadline, deliver, (cps__fn *)cb, arg);
}
