/* cps_shared.h - the callback twins of store/shared.h. coscrawl-cps.h includes
 * this. */
#ifndef COS_COMPAT_CPS_SHARED_H
#define COS_COMPAT_CPS_SHARED_H

#include "coscrawl-cps.h"
#include "store/shared.h"

/* The store is the callback's (cos_shared_close); NULL on error. */
typedef void cps_shared_open_cb(int err, struct cos_shared *shared, void *arg);
/* The value is lent: cos_buf_take(value, &len) keeps it. NULL on error. */
typedef void cps_shared_get_cb(int err, struct cos_buf *value, void *arg);

/* See cos_shared_open(). */
int64_t cps_shared_open(struct cps_rt *rt, const char *path, const struct cos_shared_opts *opts,
                        int64_t deadline, cps_shared_open_cb *cb, void *arg);
/* See cos_shared_get(). */
int64_t cps_shared_get(struct cps_rt *rt, struct cos_shared *shared, const char *key,
                       int64_t deadline, cps_shared_get_cb *cb, void *arg);
/* See cos_shared_put(). */
int64_t cps_shared_put(struct cps_rt *rt, struct cos_shared *shared, const char *key,
                       const void *data, size_t len, int64_t ttl, int64_t deadline, cps_cb *cb,
                       void *arg);
/* See cos_shared_offer(): value is NULL when the caller's own counts. */
int64_t cps_shared_offer(struct cps_rt *rt, struct cos_shared *shared, const char *key,
                         const void *data, size_t len, int64_t ttl, int64_t deadline,
                         cps_shared_get_cb *cb, void *arg);
/* See cos_shared_forget(). */
int64_t cps_shared_forget(struct cps_rt *rt, struct cos_shared *shared, const char *key,
                          int64_t deadline, cps_cb *cb, void *arg);

#endif
