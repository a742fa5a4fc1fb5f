/* pool_op.c - what one waits for at a pool, as operations (op.h), and the
 * coroutine face. A job is acquire, send, receive until "end", release, in one
 * operation: the holder cannot forget to release, and the job can be run again
 * on another worker when its own died. */
#include "base/pool_op.h"

#include "base/err.h"
#include "base/frame.h"
#include "base/pool_int.h"
#include "coscrawl.h"

#include <stdlib.h>
#include <string.h>

#define OWNER(ptr, type, field) ((type *)((char *)(ptr)-offsetof(type, field)))

static int fill(struct cos_message *message, const char *event, const char *data, size_t len)
{
    size_t n = strlen(event);
    memcpy(message->event, event, n < sizeof message->event ? n + 1 : 0);
    cos_buf_clear(&message->data);
    if (message->data.max < len)
        message->data.max = len;
    return cos_buf_add(&message->data, data, len);
}

/* --- acquire --- */

struct acquire_op {
    struct cos_op op;
    struct cos_pool *pool;
    struct cos__wait wait;
    struct cos_worker *worker;
};

static void acquired(struct cos__wait *wait, struct cos_worker *worker, int err)
{
    struct acquire_op *op = OWNER(wait, struct acquire_op, wait);
    op->worker = worker;
    cos__op_complete(&op->op, err);
}

static void acquire_start(struct cos_op *base)
{
    struct acquire_op *op = (struct acquire_op *)base;
    int err;
    op->wait.got = acquired;
    err = cos__pool_wait(op->pool, &op->wait);
    if (err)
        cos__op_complete(base, err);
}

static int acquire_cancel(struct cos_op *base)
{
    struct acquire_op *op = (struct acquire_op *)base;
    cos__pool_unwait(op->pool, &op->wait);
    return 0;
}

static void acquire_release(struct cos_op *base)
{
    cos_pool_release(((struct acquire_op *)base)->worker);
}

static const struct cos__op_type acquire_type = {
    .name = "pool acquire",
    .hook = COS_HOOK_POOL_JOB,
    .kind = COS__OP_ACQUIRE,
    .size = sizeof(struct acquire_op),
    .start = acquire_start,
    .cancel = acquire_cancel,
    .release = acquire_release,
};

struct cos_op *cos__pool_acquire_op(struct cos_pool *pool)
{
    struct acquire_op *op = (struct acquire_op *)cos__op_new(&acquire_type);
    if (!op)
        return NULL;
    op->pool = pool;
    return &op->op;
}

struct cos_worker *cos__pool_acquire_take(struct cos_op *base)
{
    struct acquire_op *op = (struct acquire_op *)base;
    struct cos_worker *worker = op->worker;
    op->worker = NULL;
    return worker;
}

/* --- send, receive and job share a struct: one free list --- */

struct pool_op {
    struct cos_op op;
    struct cos_pool *pool;
    struct cos_worker *worker;
    struct cos__wait wait;
    struct cos__ear ear;
    struct cos__flushed flushed;
    char event[COS_EVENT_MAX + 1];
    int bad_event;
    struct cos_buf data;        /* to send */
    struct cos_message message; /* received */
    cos_message_fn *each;
    void *each_arg;
    int tries, heard_any;
};

static void pool_op_release(struct cos_op *base)
{
    struct pool_op *op = (struct pool_op *)base;
    cos_buf_release(&op->data);
    cos_message_release(&op->message);
}

struct cos_message *cos__pool_message(struct cos_op *base)
{
    return &((struct pool_op *)base)->message;
}

static struct pool_op *make(const struct cos__op_type *type, const char *event, const void *data,
                            size_t len)
{
    struct pool_op *op = (struct pool_op *)cos__op_new(type);
    size_t n;
    if (!op)
        return NULL;
    n = strlen(event);
    op->bad_event = n > COS_EVENT_MAX;
    if (!op->bad_event)
        memcpy(op->event, event, n + 1);
    cos_buf_init(&op->data, len);
    if (cos_buf_add(&op->data, data, len)) {
        cos__op_free(&op->op);
        return NULL;
    }
    return op;
}

static int post(struct pool_op *op)
{
    return op->bad_event ? COS_EINVAL
                         : cos__worker_post(op->worker, op->event, op->data.data, op->data.len);
}

/* --- send --- */

static void send_flushed(struct cos__flushed *flushed, int err)
{
    cos__op_complete(&OWNER(flushed, struct pool_op, flushed)->op, err);
}

static void send_start(struct cos_op *base)
{
    struct pool_op *op = (struct pool_op *)base;
    int err = post(op);
    op->flushed.flushed = send_flushed;
    if (!err)
        err = cos__worker_flush(op->worker, &op->flushed);
    if (err)
        cos__op_complete(base, err);
}

/* What is half written must be written to its end; only the wait is given up. */
static int send_cancel(struct cos_op *base)
{
    struct pool_op *op = (struct pool_op *)base;
    cos__worker_unflush(op->worker, &op->flushed);
    return 0;
}

static const struct cos__op_type send_type = {
    .name = "worker send",
    .hook = COS_HOOK_POOL_JOB,
    .kind = COS__OP_POOL,
    .size = sizeof(struct pool_op),
    .start = send_start,
    .cancel = send_cancel,
    .release = pool_op_release,
};

struct cos_op *cos__worker_send_op(struct cos_worker *worker, const char *event, const void *data,
                                   size_t len)
{
    struct pool_op *op = make(&send_type, event, data, len);
    if (!op)
        return NULL;
    op->worker = worker;
    return &op->op;
}

/* --- receive --- */

static void recv_heard(struct cos__ear *ear, int err, const char *event, const char *data,
                       size_t len)
{
    struct pool_op *op = OWNER(ear, struct pool_op, ear);
    int full = fill(&op->message, event, data, len);
    cos__op_complete(&op->op, err ? err : full);
}

static void recv_start(struct cos_op *base)
{
    struct pool_op *op = (struct pool_op *)base;
    int err;
    op->ear.heard = recv_heard;
    err = cos__worker_listen(op->worker, &op->ear);
    if (err)
        cos__op_complete(base, err);
}

static int recv_cancel(struct cos_op *base)
{
    struct pool_op *op = (struct pool_op *)base;
    cos__worker_unlisten(op->worker, &op->ear);
    return 0;
}

static const struct cos__op_type recv_type = {
    .name = "worker receive",
    .hook = COS_HOOK_POOL_JOB,
    .kind = COS__OP_POOL,
    .size = sizeof(struct pool_op),
    .start = recv_start,
    .cancel = recv_cancel,
    .release = pool_op_release,
};

struct cos_op *cos__worker_recv_op(struct cos_worker *worker)
{
    struct pool_op *op = make(&recv_type, "", "", 0);
    if (!op)
        return NULL;
    op->worker = worker;
    return &op->op;
}

/* --- job --- */

static void job_end(struct pool_op *op, int err)
{
    struct cos_worker *worker = op->worker;
    op->worker = NULL;
    cos_pool_release(worker);
    cos__op_complete(&op->op, err);
}

/* "error": a number at its beginning is one of ours, words are the worker's own. */
static int job_error(const char *data, size_t len)
{
    char number[8], *end;
    size_t n = len < sizeof number - 1 ? len : sizeof number - 1;
    long err;
    memcpy(number, data, n);
    number[n] = 0;
    err = strtol(number, &end, 10);
    return err >= 0 || (*end && *end != ' ') ? COS_EPARSE : (int)err;
}

static int try_again(struct pool_op *op, int err)
{
    struct cos_worker *worker = op->worker;
    if ((err != COS_ECRASHED && err != COS_EHUNG) || op->heard_any ||
        op->tries >= op->pool->setup.retries)
        return 0;
    op->tries++;
    op->worker = NULL;
    cos_pool_release(worker);
    return !cos__pool_wait(op->pool, &op->wait);
}

static void job_heard(struct cos__ear *ear, int err, const char *event, const char *data,
                      size_t len)
{
    struct pool_op *op = OWNER(ear, struct pool_op, ear);
    int is_end = !strcmp(event, "end"), is_error = !strcmp(event, "error"), full;
    if (err && try_again(op, err))
        return;
    if (err || is_end || is_error) {
        full = fill(&op->message, event, data, len);
        job_end(op, err ? err : full ? full : is_error ? job_error(data, len) : 0);
        return;
    }
    op->heard_any = 1;
    err = op->each ? op->each(op->each_arg, event, data, len) : 0;
    if (!err)
        err = cos__worker_listen(op->worker, &op->ear);
    if (err)
        job_end(op, err);
}

static void job_got(struct cos__wait *wait, struct cos_worker *worker, int err)
{
    struct pool_op *op = OWNER(wait, struct pool_op, wait);
    op->worker = worker;
    if (!err)
        err = post(op);
    if (!err)
        err = cos__worker_listen(worker, &op->ear);
    if (err)
        job_end(op, err);
}

static void job_start(struct cos_op *base)
{
    struct pool_op *op = (struct pool_op *)base;
    int err;
    op->wait.got = job_got;
    op->ear.heard = job_heard;
    err = cos__pool_wait(op->pool, &op->wait);
    if (err)
        cos__op_complete(base, err);
}

static int job_cancel(struct cos_op *base)
{
    struct pool_op *op = (struct pool_op *)base;
    struct cos_worker *worker = op->worker;
    op->worker = NULL;
    cos__pool_unwait(op->pool, &op->wait);
    cos_pool_release(worker);
    return 0;
}

static const struct cos__op_type job_type = {
    .name = "pool job",
    .hook = COS_HOOK_POOL_JOB,
    .kind = COS__OP_POOL,
    .size = sizeof(struct pool_op),
    .start = job_start,
    .cancel = job_cancel,
    .release = pool_op_release,
};

struct cos_op *cos__pool_job_op(struct cos_pool *pool, const char *event, const void *data,
                                size_t len, cos_message_fn *each, void *each_arg)
{
    struct pool_op *op = make(&job_type, event, data, len);
    if (!op)
        return NULL;
    op->pool = pool;
    op->each = each;
    op->each_arg = each_arg;
    return &op->op;
}

/* --- the coroutine face --- */

int cos_pool_acquire(struct cos_pool *pool, struct cos_worker **out, int64_t deadline)
{
    struct cos_op *op = cos__pool_acquire_op(pool);
    int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    if (!err)
        *out = cos__pool_acquire_take(op);
    cos__op_free(op);
    return err;
}

int cos_worker_send(struct cos_worker *worker, const char *event, const void *data, size_t len,
                    int64_t deadline)
{
    struct cos_op *op = cos__worker_send_op(worker, event, data, len);
    int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    cos__op_free(op);
    return err;
}

/* The caller's message takes what the operation received, also after an error:
 * it says why. */
static int take_message(struct cos_op *op, struct cos_message *out, int64_t deadline)
{
    int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    if (op && out) {
        cos_message_release(out);
        *out = *cos__pool_message(op);
        *cos__pool_message(op) = (struct cos_message){{0}, {0}};
    }
    cos__op_free(op);
    return err;
}

int cos_worker_recv(struct cos_worker *worker, struct cos_message *out, int64_t deadline)
{
    return take_message(cos__worker_recv_op(worker), out, deadline);
}

int cos_pool_job(struct cos_pool *pool, const char *event, const void *data, size_t len,
                 cos_message_fn *each, void *each_arg, struct cos_message *out, int64_t deadline)
{
    return take_message(cos__pool_job_op(pool, event, data, len, each, each_arg), out, deadline);
}
