/* cps_names.c - the callback twin of cos_resolve(). */
#include "cps.h"

#include "web/resolve.h"

static void deliver(struct cos_op *op)
{
    ((cps_resolve_cb *)op->cb)(op->err, op->err ? NULL : cos__resolve_result(op), op->arg);
}

int64_t cps_resolve(struct cps_rt *rt, const char *host, int family, int64_t deadline,
                    cps_resolve_cb *cb, void *arg)
{
    return cps__begin(rt, cos__resolve_op(host, family), deadline, deliver, (cps__fn *)cb, arg);
}
