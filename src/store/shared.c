/* shared.c - the shared store (shared.h): its operations and the coroutine face.
 * The database is one thread's (a lane); every call is a job for it that brings
 * its own copies, so a caller who gives up leaves nothing behind. May call base
 * and shared_sql. */
#include "store/shared_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

enum { MAX = 100000, VALUE_MAX = 1 << 20, VALUE_LIMIT = 1 << 28 };

/* --- life ------------------------------------------------------------------------------ */

static void unref(struct cos_shared *shared)
{
    if (!shared || --shared->refs)
        return;
    cos__offload_lane_free(shared->lane);
    cos__shared_sql_close(shared);
    free(shared->path);
    free(shared);
}

static struct cos_shared *make(const char *path, const struct cos_shared_opts *opts)
{
    struct cos_shared *shared = calloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    shared->refs = 1;
    shared->max = opts && opts->max ? opts->max : MAX;
    shared->value_max = opts && opts->value_max ? opts->value_max : VALUE_MAX;
    shared->path = strdup(path);
    shared->lane = shared->path ? cos__offload_lane(NULL, NULL) : NULL;
    if (!shared->lane) {
        unref(shared);
        return NULL;
    }
    return shared;
}

void cos_shared_close(struct cos_shared *shared)
{
    unref(shared);
}

/* --- operations --------------------------------------------------------------------------- */

static void op_release(struct cos_op *op)
{
    struct cos__shared_op *call = (struct cos__shared_op *)op;
    cos_buf_release(&call->value);
    free(call->key);
    free(call->data);
    unref(call->shared);
}

static const struct cos__op_type shared_type = {.name = "shared store", .hook = COS_HOOK_FILE,
                                                .kind = COS__OP_SHARED,
                                                .size = sizeof(struct cos__shared_op),
                                                .start = cos__job_start,
                                                .cancel = cos__job_cancel, .release = op_release};

/* Takes over the caller's reference in open; in all other calls adds its own. */
static struct cos__shared_op *call_new(struct cos_shared *shared, int (*work)(struct cos__job *))
{
    struct cos__shared_op *call = (struct cos__shared_op *)cos__op_new(&shared_type);
    if (!call)
        return NULL;
    call->shared = shared;
    call->job.work = work;
    call->job.lane = shared->lane;
    cos_buf_init(&call->value, shared->value_max);
    return call;
}

static struct cos__shared_op *call_key(struct cos_shared *shared, const char *key,
                                       int (*work)(struct cos__job *))
{
    struct cos__shared_op *call = call_new(shared, work);
    if (!call)
        return NULL;
    shared->refs++;
    if (strlen(key) > COS_SHARED_KEY_MAX) {
        call->job.op.doom = COS_ETOOBIG;
    } else if (!(call->key = strdup(key))) {
        cos__op_free(&call->job.op);
        return NULL;
    }
    return call;
}

static struct cos_op *call_data(struct cos_shared *shared, const char *key, const void *data,
                                size_t len, int64_t ttl, int (*work)(struct cos__job *))
{
    struct cos__shared_op *call = call_key(shared, key, work);
    if (!call)
        return NULL;
    call->ttl = ttl;
    call->len = len;
    if (len > shared->value_max) {
        call->job.op.doom = COS_ETOOBIG;
    } else if (len && !(call->data = malloc(len))) {
        cos__op_free(&call->job.op);
        return NULL;
    } else if (len) {
        memcpy(call->data, data, len);
    }
    return &call->job.op;
}

struct cos_op *cos__shared_open_op(const char *path, const struct cos_shared_opts *opts)
{
    struct cos_shared *shared = make(path, opts);
    struct cos__shared_op *call = shared ? call_new(shared, cos__shared_sql_open) : NULL;
    if (!call) {
        unref(shared);
        return NULL;
    }
    if (!*path || shared->value_max > VALUE_LIMIT || shared->max > INT64_MAX)
        call->job.op.doom = COS_EINVAL;
    return &call->job.op;
}

struct cos_op *cos__shared_get_op(struct cos_shared *shared, const char *key)
{
    struct cos__shared_op *call = call_key(shared, key, cos__shared_sql_get);
    return call ? &call->job.op : NULL;
}

struct cos_op *cos__shared_put_op(struct cos_shared *shared, const char *key, const void *data,
                                  size_t len, int64_t ttl)
{
    return call_data(shared, key, data, len, ttl, cos__shared_sql_put);
}

struct cos_op *cos__shared_offer_op(struct cos_shared *shared, const char *key, const void *data,
                                    size_t len, int64_t ttl)
{
    return call_data(shared, key, data, len, ttl, cos__shared_sql_offer);
}

struct cos_op *cos__shared_forget_op(struct cos_shared *shared, const char *key)
{
    struct cos__shared_op *call = key ? call_key(shared, key, cos__shared_sql_forget)
                                      : call_new(shared, cos__shared_sql_forget);
    if (call && !key)
        shared->refs++;
    return call ? &call->job.op : NULL;
}

struct cos_shared *cos__shared_take(struct cos_op *op)
{
    struct cos__shared_op *call = (struct cos__shared_op *)op;
    struct cos_shared *shared = call->shared;
    call->shared = NULL;
    return shared;
}

struct cos_buf *cos__shared_value(struct cos_op *op)
{
    return &((struct cos__shared_op *)op)->value;
}

int cos__shared_other(const struct cos_op *op)
{
    return ((const struct cos__shared_op *)op)->other;
}

/* --- the coroutine face ----------------------------------------------------------------------- */

/* Waits for the operation; it is the caller's to free. */
static int await(struct cos_op *op, int64_t deadline)
{
    return op ? cos__op_await(op, deadline) : COS_ENOMEM;
}

/* Moves what was found into the caller's buffer, whose ceiling may be lower. */
static int hand_out(struct cos_op *op, struct cos_buf *out)
{
    struct cos_buf *value = cos__shared_value(op);
    size_t before = out->len;
    int err;
    if (value->len > out->max)
        return COS_ETOOBIG;
    out->len = 0;
    err = value->len ? cos_buf_add(out, value->data, value->len) : 0;
    if (err)
        out->len = before;
    else if (!value->len && out->data)
        out->data[0] = 0;
    return err;
}

int cos_shared_open(const char *path, const struct cos_shared_opts *opts, struct cos_shared **out,
                    int64_t deadline)
{
    struct cos_op *op = cos__shared_open_op(path, opts);
    int err = await(op, deadline);
    if (!err)
        *out = cos__shared_take(op);
    cos__op_free(op);
    return err;
}

int cos_shared_get(struct cos_shared *shared, const char *key, struct cos_buf *out,
                   int64_t deadline)
{
    struct cos_op *op = cos__shared_get_op(shared, key);
    int err = await(op, deadline);
    if (!err)
        err = hand_out(op, out);
    cos__op_free(op);
    return err;
}

int cos_shared_put(struct cos_shared *shared, const char *key, const void *data, size_t len,
                   int64_t ttl, int64_t deadline)
{
    struct cos_op *op = cos__shared_put_op(shared, key, data, len, ttl);
    int err = await(op, deadline);
    cos__op_free(op);
    return err;
}

int cos_shared_offer(struct cos_shared *shared, const char *key, const void *data, size_t len,
                     int64_t ttl, struct cos_buf *out, int64_t deadline)
{
    struct cos_op *op = cos__shared_offer_op(shared, key, data, len, ttl);
    int err = await(op, deadline);
    if (!err && cos__shared_other(op)) {
        err = hand_out(op, out);
        if (!err)
            err = 1;
    }
    cos__op_free(op);
    return err;
}

int cos_shared_forget(struct cos_shared *shared, const char *key, int64_t deadline)
{
    struct cos_op *op = cos__shared_forget_op(shared, key);
    int err = await(op, deadline);
    cos__op_free(op);
    return err;
}
