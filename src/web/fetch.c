/* fetch.c - one HTTP exchange as a leaf operation (fetch.h): made with a handle
 * from the pool and all options set, started by giving the handle to the pump,
 * ended by the pump, by a stall, or by its caller. May call base, the pump and
 * the resolver. No curl call here: its verbs are in the files named fetch_*. */
#include "web/fetch.h"

#include "web/fetch_int.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_IDLE_MS = 30000 };
#define MIB ((int64_t)1024 * 1024)

static void give_back(struct cos__fetch *fetch)
{
    if (!fetch->easy)
        return;
    cos__engine_remove(cos__engine(), fetch);
    cos__easy_put(cos__engine(), fetch->easy);
    fetch->easy = NULL;
}

static void start(struct cos_op *op)
{
    struct cos__fetch *fetch = (struct cos__fetch *)op;
    struct timespec now;
    int err;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    fetch->page->timing.started_at = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    err = cos__engine_add(cos__engine(), fetch);
    if (err)
        cos__op_complete(op, err);
}

static void end(struct cos__fetch *fetch, int err)
{
    fetch->page->err = err;
    give_back(fetch);
    cos__op_complete(&fetch->op, err);
}

void cos__fetch_ended(struct cos__fetch *fetch, int code)
{
    end(fetch, cos__fetch_finish(fetch, code));
}

void cos__fetch_stalled(struct cos__fetch *fetch)
{
    fetch->stop_err = COS_ESLOW;
    cos__fetch_finish(fetch, 0);
    end(fetch, COS_ESLOW);
}

static int cancel(struct cos_op *op)
{
    struct cos__fetch *fetch = (struct cos__fetch *)op;
    fetch->stop_err = COS_ECANCELED;
    cos__fetch_finish(fetch, 0);
    give_back(fetch);
    return 0;
}

static void release(struct cos_op *op)
{
    struct cos__fetch *fetch = (struct cos__fetch *)op;
    give_back(fetch);
    if (fetch->own_page)
        cos_page_free(fetch->page);
}

static const struct cos__op_type fetch_type = {
    .name = "fetch", .kind = COS__OP_FETCH, .size = sizeof(struct cos__fetch),
    .start = start, .cancel = cancel, .release = release};

/* --- making ----------------------------------------------------------------- */

static void limits(struct cos__fetch *fetch, const struct cos_request *req)
{
    int64_t memory = req->max_body > 0 ? req->max_body : 64 * MIB;
    fetch->max_body = memory;
    fetch->max_inflated = req->max_inflated > 0 ? req->max_inflated : 64 * MIB;
    fetch->idle_ms = req->idle_ms ? req->idle_ms : DEFAULT_IDLE_MS;
    fetch->page->body.max = (size_t)memory;
}

static struct cos_op *make(struct cos_page *page, const struct cos_request *req, int own)
{
    struct cos__engine *engine = cos__engine();
    struct cos__fetch *fetch = engine ? (struct cos__fetch *)cos__op_new(&fetch_type) : NULL;
    if (!fetch)
        return NULL;
    fetch->easy = cos__easy_get(engine);
    if (!fetch->easy) {
        cos__op_free(&fetch->op);
        return NULL;
    }
    fetch->easy->fetch = fetch;
    fetch->page = page;
    fetch->own_page = (uint8_t)own;
    limits(fetch, req);
    fetch->op.doom = cos__easy_apply(engine, fetch->easy, page->url, req);
    if (fetch->op.doom)
        page->err = fetch->op.doom;
    return &fetch->op;
}

struct cos_op *cos__fetch_op(const struct cos_request *req)
{
    struct cos_page *page = cos_page_new(req->url ? req->url : "");
    struct cos_op *op = page ? make(page, req, 1) : NULL;
    if (!op)
        cos_page_free(page);
    return op;
}

struct cos_op *cos__fetch_into_op(struct cos_page *page, const struct cos_request *req)
{
    return make(page, req, 0);
}

struct cos_page *cos__fetch_page(struct cos_op *op)
{
    return op->type == &fetch_type ? ((struct cos__fetch *)op)->page : NULL;
}

struct cos_page *cos__fetch_take(struct cos_op *op)
{
    struct cos_page *page = cos__fetch_page(op);
    if (page)
        ((struct cos__fetch *)op)->own_page = 0;
    return page;
}

/* --- the coroutine face --------------------------------------------------------- */

int cos_fetch(const struct cos_request *req, struct cos_page **out, int64_t deadline)
{
    struct cos_op *op = cos__fetch_op(req);
    int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    *out = op && err != COS_ECONTEXT ? cos__fetch_take(op) : NULL;
    if (*out)
        (*out)->err = err;
    cos__op_free(op);
    return err;
}

int cos_fetch_into(struct cos_page *page, const struct cos_request *req, int64_t deadline)
{
    struct cos_op *op = cos__fetch_into_op(page, req);
    int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    if (err != COS_ECONTEXT)
        page->err = err;
    cos__op_free(op);
    return err;
}
