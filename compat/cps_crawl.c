/* cps_crawl.c - a whole crawl as one operation of the callback face.
 *
 * The crawl itself is written once, as coroutines; here one of them runs it, and
 * its end completes the operation. This is the exception among the cps
 * functions: a coroutine per crawl, where the others start a leaf and have none.
 *
 * A crawl cannot be stopped at once, since it has pages in flight and rows to
 * commit. Cancelled, its callback is told at once, its events fall silent, and
 * it drains behind the scenes: the directory is left fit to be resumed. */
#define DILL_DISABLE_RAW_NAMES
#include "cps.h"

#include "base/err.h"
#include "base/loop.h"
#include "crawl/options_copy.h"

#include <libdill.h>
#include <stddef.h>
#include <stdlib.h>

struct crawl_op {
    struct cos_op op;
    struct cos__options_copy options;
    struct cos_crawl_events events; /* the user's */
    struct cos_crawl_result result;
    struct cos__task begin, end;
    int bundle;
    int silent; /* cancelled: the user's events are not called any more */
};

#define OF(ptr, member) ((struct crawl_op *)((char *)(ptr) - offsetof(struct crawl_op, member)))

/* --- events, while the user still listens ------------------------------------------ */

#define FORWARD(crawl, event, ...)                                                                 \
    do {                                                                                           \
        if (!(crawl)->silent && (crawl)->events.event)                                             \
            (crawl)->events.event((crawl)->events.arg, __VA_ARGS__);                               \
    } while (0)

static void on_page(void *arg, const struct cos_crawl_page *page)
{
    struct crawl_op *crawl = arg;
    FORWARD(crawl, page, page);
}

static void on_would(void *arg, const char *url, const char *referrer, int depth)
{
    struct crawl_op *crawl = arg;
    FORWARD(crawl, would, url, referrer, depth);
}

static void on_skip(void *arg, const struct cos_crawl_skip *skip)
{
    struct crawl_op *crawl = arg;
    FORWARD(crawl, skip, skip);
}

static void on_failure(void *arg, const struct cos_crawl_failure *failure)
{
    struct crawl_op *crawl = arg;
    FORWARD(crawl, failure, failure);
}

static void on_say(void *arg, int level, const char *text)
{
    struct crawl_op *crawl = arg;
    FORWARD(crawl, say, level, text);
}

static int on_tick(void *arg, const struct cos_crawl_stats *stats)
{
    struct crawl_op *crawl = arg;
    if (crawl->silent)
        return COS_CRAWL_DRAIN;
    return crawl->events.tick ? crawl->events.tick(crawl->events.arg, stats) : COS_CRAWL_GO;
}

/* --- the operation -------------------------------------------------------------------- */

static dill_coroutine void run(struct crawl_op *crawl)
{
    struct cos_crawl_events events = {.arg = crawl,
                                      .page = on_page,
                                      .would = on_would,
                                      .skip = on_skip,
                                      .failure = on_failure,
                                      .say = on_say,
                                      .tick = on_tick,
                                      .tick_ms = crawl->events.tick_ms};
    struct cos_hook_wait self;
    COS_HOOK(co_begin, &self);
    cos_crawl(&crawl->options.options, &events, &crawl->result);
    COS_HOOK(co_end, &self);
    cos__loop_defer(crawl->op.loop, &crawl->end);
}

/* By now the coroutine has returned: it ran on after asking for this. */
static void end(struct cos__task *task)
{
    struct crawl_op *crawl = OF(task, end);
    dill_hclose(crawl->bundle);
    crawl->bundle = -1;
    cos__op_complete(&crawl->op, crawl->result.err);
}

/* Not in start(): that may be inside a callback, where nothing suspends. */
static void begin(struct cos__task *task)
{
    struct crawl_op *crawl = OF(task, begin);
    struct cos_hook_wait wait;
    int rc;
    crawl->bundle = dill_bundle();
    if (crawl->bundle < 0) {
        cos__op_complete(&crawl->op, COS_ENOMEM);
        return;
    }
    COS_HOOK(pause, &wait);
    rc = dill_bundle_go(crawl->bundle, run(crawl));
    COS_HOOK(resume, &wait);
    if (rc < 0) {
        dill_hclose(crawl->bundle);
        crawl->bundle = -1;
        cos__op_complete(&crawl->op, COS_ENOMEM);
    }
}

static void start(struct cos_op *op)
{
    struct crawl_op *crawl = (struct crawl_op *)op;
    crawl->begin.run = begin;
    crawl->end.run = end;
    cos__loop_defer(op->loop, &crawl->begin);
}

static int cancel(struct cos_op *op)
{
    ((struct crawl_op *)op)->silent = 1;
    return COS_EBUSY;
}

static void release(struct cos_op *op)
{
    cos__options_copy_release(&((struct crawl_op *)op)->options);
}

static const struct cos__op_type type = {.name = "crawl", .hook = COS_HOOK_CPS_REQUEST,
                                         .kind = COS__OP_OTHER,
                                         .size = sizeof(struct crawl_op),
                                         .start = start,
                                         .cancel = cancel,
                                         .release = release};

static struct cos_op *make(const struct cos_crawl_options *options,
                           const struct cos_crawl_events *events)
{
    struct crawl_op *crawl = (struct crawl_op *)cos__op_new(&type);
    if (!crawl)
        return NULL;
    if (cos__options_copy(&crawl->options, options)) {
        cos__op_free(&crawl->op);
        return NULL;
    }
    if (events)
        crawl->events = *events;
    crawl->bundle = -1;
    return &crawl->op;
}

static void deliver(struct cos_op *op)
{
    int known = op->type == &type && cos__op_mine(op);
    ((cps_crawl_cb *)op->cb)(op->err, known ? &((struct crawl_op *)op)->result : NULL, op->arg);
}

int64_t cps_crawl(struct cps_rt *rt, const struct cos_crawl_options *options,
                  const struct cos_crawl_events *events, int64_t deadline, cps_crawl_cb *cb,
                  void *arg)
{
    return cps__begin(rt, make(options, events), deadline, deliver, (cps__fn *)cb, arg);
}
