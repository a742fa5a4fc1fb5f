/* file.c - file operations that never block the loop: each is one job on the
 * offload threads around a function of file_sync.h. The coroutine face is here,
 * the callback face in compat/cps_file.c.
 * What is written is copied when the operation is made: a write that runs on
 * after its caller gave up must not read the caller's memory. Who wants no copy
 * calls file_sync.h from a job that owns the data. */
#include "base/file.h"

#include "base/file_op.h"
#include "base/file_sync.h"
#include "base/offload.h"
#include "coscrawl.h"

#include <stdlib.h>
#include <string.h>

/* One struct for all of them: operations of one kind share a free list. */
struct file_op {
    struct cos__job job;
    char *path;
    struct cos_buf data;
    struct cos_dir dir;
    struct cos_stat stat;
    unsigned flags;
};

static int read_work(struct cos__job *job)
{
    struct file_op *op = (struct file_op *)job;
    return cos__file_read_sync(op->path, &op->data);
}

static int write_work(struct cos__job *job)
{
    struct file_op *op = (struct file_op *)job;
    return cos__file_write_sync(op->path, op->data.data, op->data.len, op->flags);
}

static int mkdir_work(struct cos__job *job)
{
    return cos__mkdir_p_sync(((struct file_op *)job)->path);
}

static int list_work(struct cos__job *job)
{
    struct file_op *op = (struct file_op *)job;
    return cos__list_dir_sync(op->path, &op->dir);
}

static int stat_work(struct cos__job *job)
{
    struct file_op *op = (struct file_op *)job;
    return cos__stat_sync(op->path, &op->stat);
}

static int remove_work(struct cos__job *job)
{
    return cos__file_remove_sync(((struct file_op *)job)->path);
}

static void file_release(struct cos_op *op)
{
    struct file_op *file = (struct file_op *)op;
    free(file->path);
    cos_buf_release(&file->data);
    cos_dir_release(&file->dir);
}

static const struct cos__op_type file_type = {
    .name = "file",
    .hook = COS_HOOK_FILE,
    .kind = COS__OP_FILE,
    .size = sizeof(struct file_op),
    .start = cos__job_start,
    .cancel = cos__job_cancel,
    .release = file_release,
};

static struct file_op *make(const char *path, int (*work)(struct cos__job *job))
{
    struct file_op *op = (struct file_op *)cos__op_new(&file_type);
    if (!op)
        return NULL;
    op->job.work = work;
    op->path = strdup(path);
    if (!op->path) {
        cos__op_free(&op->job.op);
        return NULL;
    }
    return op;
}

static struct cos_op *base(struct file_op *op)
{
    return op ? &op->job.op : NULL;
}

struct cos_op *cos__file_read_op(const char *path, size_t max)
{
    struct file_op *op = make(path, read_work);
    if (op)
        cos_buf_init(&op->data, max);
    return base(op);
}

struct cos_op *cos__file_write_op(const char *path, const void *data, size_t len, unsigned flags)
{
    struct file_op *op = make(path, write_work);
    if (!op)
        return NULL;
    op->flags = flags;
    cos_buf_init(&op->data, len);
    if (cos_buf_add(&op->data, data, len)) {
        cos__op_free(base(op));
        return NULL;
    }
    return base(op);
}

struct cos_op *cos__mkdir_p_op(const char *path)
{
    return base(make(path, mkdir_work));
}

struct cos_op *cos__list_dir_op(const char *path)
{
    return base(make(path, list_work));
}

struct cos_op *cos__stat_op(const char *path)
{
    return base(make(path, stat_work));
}

struct cos_op *cos__file_remove_op(const char *path)
{
    return base(make(path, remove_work));
}

struct cos_buf *cos__file_data(struct cos_op *op)
{
    return &((struct file_op *)op)->data;
}

struct cos_dir *cos__file_dir(struct cos_op *op)
{
    return &((struct file_op *)op)->dir;
}

struct cos_stat *cos__file_stat(struct cos_op *op)
{
    return &((struct file_op *)op)->stat;
}

/* --- the coroutine face ------------------------------------------------------ */

static int await(struct cos_op *op, int64_t deadline)
{
    return op ? cos__op_await(op, deadline) : COS_ENOMEM;
}

static int await_and_free(struct cos_op *op, int64_t deadline)
{
    int err = await(op, deadline);
    cos__op_free(op);
    return err;
}

int cos_file_read(const char *path, struct cos_buf *out, int64_t deadline)
{
    struct cos_op *op = cos__file_read_op(path, out->max);
    int err = await(op, deadline);
    if (!err) {
        cos_buf_release(out);
        *out = *cos__file_data(op);
        *cos__file_data(op) = (struct cos_buf){0};
    }
    cos__op_free(op);
    return err;
}

int cos_file_write(const char *path, const void *data, size_t len, unsigned flags,
                   int64_t deadline)
{
    return await_and_free(cos__file_write_op(path, data, len, flags), deadline);
}

int cos_mkdir_p(const char *path, int64_t deadline)
{
    return await_and_free(cos__mkdir_p_op(path), deadline);
}

int cos_list_dir(const char *path, struct cos_dir *out, int64_t deadline)
{
    struct cos_op *op = cos__list_dir_op(path);
    int err = await(op, deadline);
    if (!err) {
        *out = *cos__file_dir(op);
        *cos__file_dir(op) = (struct cos_dir){0};
    }
    cos__op_free(op);
    return err;
}

int cos_stat(const char *path, struct cos_stat *out, int64_t deadline)
{
    struct cos_op *op = cos__stat_op(path);
    int err = await(op, deadline);
    if (!err)
        *out = *cos__file_stat(op);
    cos__op_free(op);
    return err;
}

int cos_file_remove(const char *path, int64_t deadline)
{
    return await_and_free(cos__file_remove_op(path), deadline);
}

int cos_offload(int (*work)(void *data), void **data, void (*drop)(void *data), int64_t deadline)
{
    struct cos_op *op = cos__offload_op(work, *data, drop, NULL);
    int err;
    if (!op)
        return COS_ENOMEM;
    err = cos__op_await(op, deadline);
    *data = cos__offload_take(op);
    cos__op_free(op);
    return err;
}
