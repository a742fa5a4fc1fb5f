/* fetch.c - one HTTP exchange as a leaf operation (fetch.h): made with a handle
 * from the pool and all options set, started by giving the handle to the pump,
 * ended by the pump, by a stall, or by its caller. May call base, the pump and
 * the resolver. No curl call here: its verbs are in the files named fetch_*. */
#include "web/fetch.h"

#include "web/fetch_int.h"
#include "web/url.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_IDLE_MS = 30000 };
#define MIB ((int64_t)1024 * 1024)

/* Everything but the page goes back: the handle, the lookup, the file. */
static void give_back(struct cos__fetch *fetch)
{
    cos__fetch_phase(fetch, COS__PHASE_NONE);
    cos__fetch_name_stop(fetch);
    if (fetch->wire_spill && !fetch->page->wire->spill)
        fetch->page->wire->cut = 1;
    cos__spill_free(fetch->spill);
    cos__spill_free(fetch->wire_spill);
    fetch->spill = fetch->wire_spill = NULL;
    if (!fetch->easy)
        return;
    cos__engine_remove(cos__engine(), fetch);
    cos__easy_put(cos__engine(), fetch->easy);
    fetch->easy = NULL;
}

static void end(struct cos__fetch *fetch, int err)
{
    fetch->page->err = err;
    if (err && COS__HOOK_LIVE(fetch->op.hook))
        cos__fetch_phase_failed(fetch, err);
    give_back(fetch);
    cos__op_complete(&fetch->op, err);
}

/* --- the way ----------------------------------------------------------------- */

void cos__fetch_named(struct cos__fetch *fetch, int err)
{
    if (!err)
        err = cos__engine_add(cos__engine(), fetch);
    if (err)
        end(fetch, err);
}

static void start(struct cos_op *op)
{
    struct cos__fetch *fetch = (struct cos__fetch *)op;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    fetch->page->timing.started_at = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    if (fetch->host)
        cos__fetch_name_start(cos__engine(), fetch);
    else
        cos__fetch_named(fetch, 0);
}

/* --- the ends ------------------------------------------------------------------ */

/* The answer is whole when its last byte is in the file, or in both. */
static void end_spilled(struct cos__fetch *fetch)
{
    int err = fetch->spill ? cos__spill_end(fetch->spill) : 0;
    int wire = fetch->wire_spill ? cos__spill_end(fetch->wire_spill) : 0;
    if (err == COS_EBUSY || wire == COS_EBUSY)
        return;
    err = err ? err : wire;
    if (err && !fetch->stop_err)
        fetch->stop_err = err;
    err = cos__fetch_finish(fetch, fetch->code);
    if (!err && fetch->spill)
        fetch->page->spill = cos__spill_take(fetch->spill);
    if (!err && fetch->wire_spill)
        fetch->page->wire->spill = cos__spill_take(fetch->wire_spill);
    end(fetch, err);
}

void cos__fetch_ended(struct cos__fetch *fetch, int code)
{
    fetch->code = code;
    fetch->ended = 1;
    if ((fetch->spill || fetch->wire_spill) && !code) {
        cos__fetch_phase(fetch, COS__PHASE_NONE);
        end_spilled(fetch);
        return;
    }
    end(fetch, cos__fetch_finish(fetch, code));
}

void cos__fetch_spilled(void *arg)
{
    struct cos__fetch *fetch = arg;
    int code;
    if (fetch->ended) {
        end_spilled(fetch);
    } else if (fetch->paused) {
        fetch->paused = 0;
        fetch->active_at = cos__loop_now(fetch->op.loop);
        code = cos__easy_resume(fetch->easy);
        if (code)
            cos__fetch_ended(fetch, code);
    }
}

static void stop(struct cos__fetch *fetch, int err)
{
    fetch->stop_err = err;
    if (fetch->easy)
        cos__fetch_finish(fetch, 0);
}

void cos__fetch_stalled(struct cos__fetch *fetch)
{
    if (fetch->paused || fetch->ended)
        return;
    stop(fetch, COS_ESLOW);
    end(fetch, COS_ESLOW);
}

static int cancel(struct cos_op *op)
{
    stop((struct cos__fetch *)op, COS_ECANCELED);
    give_back((struct cos__fetch *)op);
    return 0;
}

static void release(struct cos_op *op)
{
    struct cos__fetch *fetch = (struct cos__fetch *)op;
    give_back(fetch);
    free(fetch->host);
    free(fetch->spill_dir);
    if (fetch->own_page)
        cos_page_free(fetch->page);
}

static const struct cos__op_type fetch_type = {
    .name = "fetch", .hook = COS_HOOK_FETCH, .kind = COS__OP_FETCH,
    .size = sizeof(struct cos__fetch),
    .start = start, .cancel = cancel, .release = release};

/* --- making ----------------------------------------------------------------- */

static int64_t or_else(int64_t value, int64_t fallback)
{
    return value < 0 ? INT64_MAX : value ? value : fallback;
}

static int limits(struct cos__fetch *fetch, const struct cos_request *req)
{
    fetch->max_body = or_else(req->max_body, req->spill_dir ? INT64_MAX : 64 * MIB);
    fetch->max_inflated = or_else(req->max_inflated, 64 * MIB);
    if (fetch->max_inflated > fetch->max_body)
        fetch->max_inflated = fetch->max_body;
    fetch->spill_at = or_else(req->spill_at, 1 * MIB);
    fetch->idle_ms = req->idle_ms ? req->idle_ms : DEFAULT_IDLE_MS;
    /* How much is kept is counted in max_body: it holds for spilled bodies, too. */
    fetch->page->body.max = SIZE_MAX / 2;
    if (req->spill_dir && !(fetch->spill_dir = strdup(req->spill_dir)))
        return COS_ENOMEM;
    if (req->keep_wire && !(fetch->page->wire = cos_wire_new()))
        return COS_ENOMEM;
    return 0;
}

/* A host that curl might read in another way than a browser does goes through
 * the URL parser first, so that both the lookup and curl see the same name. */
static int apply(struct cos__engine *engine, struct cos__fetch *fetch,
                 const struct cos_request *req)
{
    struct cos__host host;
    struct cos_url normal;
    const char *url = fetch->page->url;
    int err = cos__host_of(url, &host);
    cos_url_init(&normal);
    if (!err && !host.plain) {
        err = cos_url_parse(&normal, url, strlen(url), NULL);
        url = normal.href.data;
        err = err ? err : cos__host_of(url, &host);
    }
    if (!err)
        err = cos__easy_apply(engine, fetch->easy, url, req);
    if (!err)
        err = cos__fetch_name_plan(engine, fetch, &host, req);
    cos_url_release(&normal);
    return err;
}

static struct cos_op *make(struct cos_page *page, const struct cos_request *req, int own)
{
    struct cos__engine *engine = cos__engine();
    struct cos__fetch *fetch = engine ? (struct cos__fetch *)cos__op_new(&fetch_type) : NULL;
    if (!fetch)
        return NULL;
    fetch->page = page;
    fetch->easy = cos__easy_get(engine);
    if (!fetch->easy || limits(fetch, req)) {
        cos__op_free(&fetch->op);
        return NULL;
    }
    fetch->easy->fetch = fetch;
    if (COS__HOOK_LIVE(fetch->op.hook) != fetch->easy->watched)
        cos__easy_watch(fetch->easy, !fetch->easy->watched);
    fetch->own_page = (uint8_t)own;
    fetch->op.doom = apply(engine, fetch, req);
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
    cos_page_reset(page);
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
