/* cps_shared.c - the shared store in callbacks. May call the makers of store and
 * cps.h. */
#include "cps.h"

#include "cps_shared.h"
#include "store/shared_int.h"

static void deliver_store(struct cos_op *op)
{
    ((cps_shared_open_cb *)op->cb)(op->err, op->err ? NULL : cos__shared_take(op), op->arg);
}

static void deliver_value(struct cos_op *op)
{
    ((cps_shared_get_cb *)op->cb)(op->err, op->err ? NULL : cos__shared_value(op), op->arg);
}

static void deliver_offer(struct cos_op *op)
{
    int other = !op->err && cos__shared_other(op);
    ((cps_shared_get_cb *)op->cb)(op->err, other ? cos__shared_value(op) : NULL, op->arg);
}

static void deliver_plain(struct cos_op *op)
{
    ((cps_cb *)op->cb)(op->err, op->arg);
}

int64_t cps_shared_open(struct cps_rt *rt, const char *path, const struct cos_shared_opts *opts,
                        int64_t deadline, cps_shared_open_cb *cb, void *arg)
{
    return cps__begin(rt, cos__shared_open_op(path, opts), deadline, deliver_store, (cps__fn *)cb,
                      arg);
}

int64_t cps_shared_get(struct cps_rt *rt, struct cos_shared *shared, const char *key,
                       int64_t deadline, cps_shared_get_cb *cb, void *arg)
{
    return cps__begin(rt, cos__shared_get_op(shared, key), deadline, deliver_value, (cps__fn *)cb,
                      arg);
}

int64_t cps_shared_put(struct cps_rt *rt, struct cos_shared *shared, const char *key,
                       const void *data, size_t len, int64_t ttl, int64_t deadline, cps_cb *cb,
                       void *arg)
{
    return cps__begin(rt, cos__shared_put_op(shared, key, data, len, ttl), deadline, deliver_plain,
                      (cps__fn *)cb, arg);
}

int64_t cps_shared_offer(struct cps_rt *rt, struct cos_shared *shared, const char *key,
                         const void *data, size_t len, int64_t ttl, int64_t deadline,
                         cps_shared_get_cb *cb, void *arg)
{
    return cps__begin(rt, cos__shared_offer_op(shared, key, data, len, ttl), deadline,
                      deliver_offer, (cps__fn *)cb, arg);
}

int64_t cps_shared_forget(struct cps_rt *rt, struct cos_shared *shared, const char *key,
                          int64_t deadline, cps_cb *cb, void *arg)
{
    return cps__begin(rt, cos__shared_forget_op(shared, key), deadline, deliver_plain,
                      (cps__fn *)cb, arg);
}
