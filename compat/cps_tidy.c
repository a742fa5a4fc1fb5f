/* cps_tidy.c - the callback twin of cos_tidy(). */
#include "cps.h"

#include "web/tidy.h"

static void deliver(struct cos_op *op)
{
    struct cos_tidied tidied = {0};
    int err = op->type->kind == COS__OP_POOL ? cos__tidy_take(op, &tidied) : op->err;
    ((cps_tidy_cb *)op->cb)(err, &tidied, op->arg);
    cos_tidied_release(&tidied);
}

int64_t cps_tidy(struct cps_rt *rt, struct cos_pool *pool, const char *html, size_t len,
                 unsigned what, int64_t deadline, cps_tidy_cb *cb, void *arg)
{
    return cps__begin(rt, cos__tidy_op(pool, html, len, what), deadline, deliver, (cps__fn *)cb,
                      arg);
}
