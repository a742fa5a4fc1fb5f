/* leaf.h - the leaf calls of the benchmark, one for one those of coscrawl.h and
 * coscrawl-cps.h that the spiders use.
 *
 * null and replay suspend once and answer from memory: by dill_yield() on the
 * coroutine face and by cps_defer() on the callback face, the cheapest way each
 * face has to let others run. What is left is the cost of the style. real passes
 * the call on. All of them count. */
#ifndef COS_BENCH_LEAF_H
#define COS_BENCH_LEAF_H

#include <coscrawl-cps.h>

int bench_cos_fetch(const struct cos_request *req, struct cos_page **out, int64_t deadline);
int bench_cos_file_read(const char *path, struct cos_buf *out, int64_t deadline);
int bench_cos_file_write(const char *path, const void *data, size_t len, unsigned flags,
                         int64_t deadline);
int bench_cos_stat(const char *path, struct cos_stat *out, int64_t deadline);
int bench_cos_read_links(struct cos_page *page, int64_t deadline);

int64_t bench_cps_fetch(struct cps_rt *rt, const struct cos_request *req, int64_t deadline,
                        cps_fetch_cb *cb, void *arg);
int64_t bench_cps_file_read(struct cps_rt *rt, const char *path, size_t max, int64_t deadline,
                            cps_file_read_cb *cb, void *arg);
int64_t bench_cps_file_write(struct cps_rt *rt, const char *path, const void *data, size_t len,
                             unsigned flags, int64_t deadline, cps_cb *cb, void *arg);
int64_t bench_cps_stat(struct cps_rt *rt, const char *path, int64_t deadline, cps_stat_cb *cb,
                       void *arg);
int64_t bench_cps_read_links(struct cps_rt *rt, struct cos_page *page, int64_t deadline,
                             cps_cb *cb, void *arg);

#endif
