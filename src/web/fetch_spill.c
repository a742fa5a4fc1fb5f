/* fetch_spill.c - see fetch_spill.h. The file belongs to one thread at a time: a
 * struct file travels to the thread with the buffer to write and comes back,
 * and who gives up while it is away leaves it to the thread to clean up. */
#include "config.h"

#include "web/fetch_spill.h"

#include "base/buf.h"
#include "base/file_sync.h"
#include "base/offload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file {
    int fd;
    char *path;         /* ends in XXXXXX until it is open */
    struct cos_buf out; /* what to write now */
};

struct cos__spill {
    struct file *file;  /* NULL while a thread has it */
    struct cos_op *op;  /* the thread's job, or NULL */
    struct cos_buf in;  /* what came meanwhile */
    int err, sending;
    void (*changed)(void *arg);
    void *arg;
};

/* --- on the thread ------------------------------------------------------------- */

static int open_file(struct file *file)
{
    file->fd = mkostemp(file->path, O_CLOEXEC);
    return file->fd < 0 ? cos_err_from_errno(errno) : 0;
}

static int write_out(void *data)
{
    struct file *file = data;
    size_t at = 0;
    int err = file->fd < 0 ? open_file(file) : 0;
    while (!err && at < file->out.len) {
        ssize_t n = write(file->fd, file->out.data + at, file->out.len - at);
        if (n > 0)
            at += (size_t)n;
        else if (n < 0 && errno != EINTR)
            err = cos_err_from_errno(errno);
    }
    cos_buf_clear(&file->out);
    return err;
}

static void file_free(void *data)
{
    struct file *file = data;
    if (file->fd >= 0) {
        close(file->fd);
        if (file->path)
            unlink(file->path);
    }
    free(file->path);
    cos_buf_release(&file->out);
    free(file);
}

/* --- on the loop ----------------------------------------------------------------- */

static void written(struct cos_op *op);

static int send_out(struct cos__spill *spill)
{
    struct cos_buf swap = spill->file->out;
    struct cos_op *op;
    spill->file->out = spill->in;
    spill->in = swap;
    op = cos__offload_op(write_out, spill->file, file_free, NULL);
    if (!op)
        return spill->err = COS_ENOMEM;
    op->done = written;
    op->face = spill;
    spill->op = op;
    spill->file = NULL;
    /* Refused at once, it is told by the return value alone: this may be
     * curl's stack, where changed() must not run. */
    spill->sending = 1;
    cos__op_start(op);
    spill->sending = 0;
    return spill->err;
}

static void written(struct cos_op *op)
{
    struct cos__spill *spill = op->face;
    int err = op->err;
    /* Given up: the job cleans up by itself. */
    if (!spill)
        return;
    spill->op = NULL;
    spill->file = cos__offload_take(op);
    cos__op_free(op);
    if (err && !spill->err)
        spill->err = err;
    if (spill->sending)
        return;
    if (!spill->err && spill->in.len)
        send_out(spill);
    spill->changed(spill->arg);
}

struct cos__spill *cos__spill_new(const char *dir, void (*changed)(void *), void *arg)
{
    struct cos__spill *spill = calloc(1, sizeof *spill);
    struct file *file = calloc(1, sizeof *file);
    if (!spill || !file || asprintf(&file->path, "%s/%sspill-XXXXXX", dir, COS__TEMP_PREFIX) < 0) {
        free(spill);
        free(file);
        return NULL;
    }
    file->fd = -1;
    spill->file = file;
    spill->changed = changed;
    spill->arg = arg;
    /* A paused sender still hands over what curl had read. */
    cos_buf_init(&spill->in, 64 * 1024 * 1024);
    cos_buf_init(&file->out, 64 * 1024 * 1024);
    return spill;
}

int cos__spill_add(struct cos__spill *spill, const void *data, size_t len)
{
    int err = spill->err ? spill->err : cos_buf_add(&spill->in, data, len);
    if (err)
        return err;
    return !spill->op && spill->in.len >= COS__SPILL_FULL / 4 ? send_out(spill) : 0;
}

int cos__spill_full(const struct cos__spill *spill)
{
    return spill->op && spill->in.len >= COS__SPILL_FULL;
}

int cos__spill_end(struct cos__spill *spill)
{
    if (!spill->err && !spill->op && spill->in.len)
        send_out(spill);
    return spill->op ? COS_EBUSY : spill->err;
}

char *cos__spill_take(struct cos__spill *spill)
{
    char *path = spill->file->path;
    spill->file->path = NULL;
    return path;
}

void cos__spill_free(struct cos__spill *spill)
{
    if (!spill)
        return;
    if (spill->op) {
        spill->op->face = NULL;
        cos__op_cancel(spill->op, COS_ECANCELED);
        cos__op_free(spill->op);
    }
    if (spill->file)
        file_free(spill->file);
    cos_buf_release(&spill->in);
    free(spill);
}
