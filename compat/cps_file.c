/* cps_file.c - the callback twins of the file operations and of cos_offload().
 * May call the makers of base and cps.h. */
#include "cps.h"

#include "base/file_op.h"
#include "base/offload.h"

static void deliver_plain(struct cos_op *op)
{
    ((cps_cb *)op->cb)(op->err, op->arg);
}

static void deliver_data(struct cos_op *op)
{
    ((cps_file_read_cb *)op->cb)(op->err, op->err ? NULL : cos__file_data(op), op->arg);
}

static void deliver_dir(struct cos_op *op)
{
    ((cps_list_dir_cb *)op->cb)(op->err, op->err ? NULL : cos__file_dir(op), op->arg);
}

static void deliver_stat(struct cos_op *op)
{
    ((cps_stat_cb *)op->cb)(op->err, op->err ? NULL : cos__file_stat(op), op->arg);
}

/* An error may be the job's own, with the data back; or there is no job. */
static void deliver_job(struct cos_op *op)
{
    void *data = op->type->kind == COS__OP_JOB ? cos__offload_take(op) : NULL;
    ((cps_offload_cb *)op->cb)(op->err, data, op->arg);
}

int64_t cps_file_read(struct cps_rt *rt, const char *path, size_t max, int64_t deadline,
                      cps_file_read_cb *cb, void *arg)
{
    return cps__begin(rt, cos__file_read_op(path, max), deadline, deliver_data, (cps__fn *)cb,
                      arg);
}

int64_t cps_file_write(struct cps_rt *rt, const char *path, const void *data, size_t len,
                       unsigned flags, int64_t deadline, cps_cb *cb, void *arg)
{
    return cps__begin(rt, cos__file_write_op(path, data, len, flags), deadline, deliver_plain,
                      (cps__fn *)cb, arg);
}

int64_t cps_file_remove(struct cps_rt *rt, const char *path, int64_t deadline, cps_cb *cb,
                        void *arg)
{
    return cps__begin(rt, cos__file_remove_op(path), deadline, deliver_plain, (cps__fn *)cb, arg);
}

int64_t cps_mkdir_p(struct cps_rt *rt, const char *path, int64_t deadline, cps_cb *cb, void *arg)
{
    return cps__begin(rt, cos__mkdir_p_op(path), deadline, deliver_plain, (cps__fn *)cb, arg);
}

int64_t cps_list_dir(struct cps_rt *rt, const char *path, int64_t deadline, cps_list_dir_cb *cb,
                     void *arg)
{
    return cps__begin(rt, cos__list_dir_op(path), deadline, deliver_dir, (cps__fn *)cb, arg);
}

int64_t cps_stat(struct cps_rt *rt, const char *path, int64_t deadline, cps_stat_cb *cb,
                 void *arg)
{
    return cps__begin(rt, cos__stat_op(path), deadline, deliver_stat, (cps__fn *)cb, arg);
}

int64_t cps_offload(struct cps_rt *rt, int (*work)(void *data), void *data,
                    void (*drop)(void *data), int64_t deadline, cps_offload_cb *cb, void *arg)
{
    struct cos_op *op = cos__offload_op(work, data, drop, NULL);
    if (!op && drop)
        drop(data);
    return cps__begin(rt, op, deadline, deliver_job, (cps__fn *)cb, arg);
}
