/* read_op.c - the links of a page, read on an offload thread, and the small URL
 * questions that every spider asks. May call links, tidy, url, base.
 *
 * The page passes to the thread and back. A caller that gives up while the
 * thread is at it must not see its page change under its hands: so the job works
 * on what it took out of the page and puts everything back when it completes.
 *
 * With tidy (cos_parser_setup) it takes three steps: a thread decodes the page, a
 * worker process parses it, a thread reads the outline that comes back. Neither
 * of them runs on the loop. */
#define DILL_DISABLE_RAW_NAMES
#include "web/read_op.h"

#include "base/offload.h"
#include "coscrawl.h"
#include "web/links.h"
#include "web/tidy.h"

#include <stdlib.h>
#include <string.h>

struct read_op {
    struct cos__job job;
    struct cos_page *page; /* the caller's; NULL once it gave up */
    struct cos_page *work; /* ours while the thread has it */
    /* with tidy */
    struct cos_pool *pool;
    struct tidying *tidying; /* NULL while a thread has it */
    struct cos_op *step;     /* the one under way */
    int stopped;
};

/* What passes from step to step. */
struct tidying {
    struct cos_links_ctx *ctx;
    struct cos_page *page;
    struct cos_text text;
    struct cos_tidied tidied;
    int html; /* 0: it was something else and has been read */
    int lack; /* COS_ECHARSET: as it is, ASCII links can be found */
};

static __thread struct cos_pool *parser; /* NULL: the scanner */

void cos_parser_setup(struct cos_pool *tidy)
{
    parser = tidy;
}

static int read_links(struct cos__job *job)
{
    struct read_op *read = (struct read_op *)job;
    struct cos_links_ctx *ctx = cos_links_ctx_new();
    int err = ctx ? cos_links_extract(ctx, read->work) : COS_ENOMEM;
    cos_links_ctx_free(ctx);
    return err;
}

/* --- with tidy ------------------------------------------------------------------- */

static void tidying_free(void *data)
{
    struct tidying *t = data;
    if (!t)
        return;
    cos_links_ctx_free(t->ctx);
    cos_page_free(t->page);
    cos_tidied_release(&t->tidied);
    free(t);
}

static int decode(void *data)
{
    struct tidying *t = data;
    int rc = cos_links_decode(t->ctx, t->page, &t->text);
    t->lack = rc == COS_ECHARSET ? rc : 0;
    t->html = rc > 0 || (t->lack && t->text.data);
    return t->html ? 0 : rc;
}

static int read_outline(void *data)
{
    struct tidying *t = data;
    const struct cos_buf *outline = &t->tidied.outline;
    int err = cos_links_read(t->ctx, t->page, outline->data ? outline->data : "", outline->len);
    return err ? err : t->lack;
}

static void end_tidy(struct read_op *read, int err)
{
    if (read->tidying) {
        read->work = read->tidying->page;
        read->tidying->page = NULL;
        tidying_free(read->tidying);
        read->tidying = NULL;
    } else {
        read->page = NULL; /* a thread has it for good */
    }
    if (!read->stopped)
        cos__op_complete(&read->job.op, err);
}

static void next_step(struct read_op *read, struct cos_op *step, void (*done)(struct cos_op *))
{
    if (!step) {
        end_tidy(read, COS_ENOMEM);
        return;
    }
    read->step = step;
    step->done = done;
    step->face = read;
    cos__op_start(step);
}

static void next_job(struct read_op *read, int (*work)(void *), void (*done)(struct cos_op *))
{
    struct cos_op *step = cos__offload_op(work, read->tidying, tidying_free, NULL);
    if (step)
        read->tidying = NULL;
    next_step(read, step, done);
}

/* The step is over; its error, or why there is no going on. */
static int end_job(struct cos_op *step)
{
    struct read_op *read = step->face;
    int err = step->err;
    read->tidying = cos__offload_take(step);
    read->step = NULL;
    cos__op_free(step);
    return err ? err : read->stopped ? COS_ECANCELED : 0;
}

static void outline_read(struct cos_op *step)
{
    struct read_op *read = step->face;
    end_tidy(read, end_job(step));
}

static void tidied(struct cos_op *step)
{
    struct read_op *read = step->face;
    int err = cos__tidy_take(step, &read->tidying->tidied);
    read->step = NULL;
    cos__op_free(step);
    if (err || read->stopped)
        end_tidy(read, err);
    else
        next_job(read, read_outline, outline_read);
}

static void decoded(struct cos_op *step)
{
    struct read_op *read = step->face;
    int err = end_job(step);
    if (err || !read->tidying->html) {
        end_tidy(read, err);
        return;
    }
    next_step(read, cos__tidy_op(read->pool, read->tidying->text.data, read->tidying->text.len,
                                 COS_TIDY_OUTLINE), tidied);
}

static void start_tidy(struct read_op *read)
{
    struct tidying *t = calloc(1, sizeof *t);
    if (t)
        t->ctx = cos_links_ctx_new();
    if (!t || !t->ctx) {
        free(t);
        cos__op_complete(&read->job.op, COS_ENOMEM);
        return;
    }
    t->page = read->work;
    read->work = NULL;
    read->tidying = t;
    next_job(read, decode, decoded);
}

/* --- the operation ------------------------------------------------------------------ */

/* Swaps back what the page lent. */
static void give_back(struct read_op *read)
{
    struct cos_page swap;
    if (!read->work || !read->page)
        return;
    swap = *read->page;
    *read->page = *read->work;
    *read->work = swap;
    read->page = NULL;
}

static void read_start(struct cos_op *op)
{
    struct read_op *read = (struct read_op *)op;
    read->work = cos_page_take(read->page);
    if (!read->work)
        cos__op_complete(op, COS_ENOMEM);
    else if (read->pool)
        start_tidy(read);
    else
        cos__job_start(op);
}

static int read_cancel(struct cos_op *op)
{
    struct read_op *read = (struct read_op *)op;
    int rc;
    if (read->pool) {
        read->stopped = 1;
        cos__op_cancel(read->step, COS_ECANCELED);
        return 0;
    }
    rc = cos__job_cancel(op);
    if (rc)
        read->page = NULL; /* the thread has it for good; the caller's page stays empty */
    return rc;
}

static void read_release(struct cos_op *op)
{
    struct read_op *read = (struct read_op *)op;
    give_back(read);
    cos_page_free(read->work);
}

static const struct cos__op_type read_type = {.name = "parse", .hook = COS_HOOK_PARSE,
                                              .kind = COS__OP_PARSE,
                                              .size = sizeof(struct read_op), .start = read_start,
                                              .cancel = read_cancel, .release = read_release};

void cos__read_links_end(struct cos_op *op)
{
    if (op->type == &read_type && cos__op_mine(op))
        give_back((struct read_op *)op);
}

struct cos_op *cos__read_links_op(struct cos_page *page)
{
    struct read_op *read = (struct read_op *)cos__op_new(&read_type);
    if (!read)
        return NULL;
    read->job.work = read_links;
    read->page = page;
    read->pool = parser;
    return &read->job.op;
}

int cos_read_links(struct cos_page *page, int64_t deadline)
{
    struct cos_op *op = cos__read_links_op(page);
    int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
    cos__op_free(op);
    return err;
}

int cos_same_host(const char *a, const char *b)
{
    struct cos_url one, two;
    int same = 0;
    cos_url_init(&one);
    cos_url_init(&two);
    if (!cos_url_parse(&one, a, strlen(a), NULL) && !cos_url_parse(&two, b, strlen(b), NULL))
        same = cos_url_same_host(&one, &two);
    cos_url_release(&one);
    cos_url_release(&two);
    return same;
}

int cos_url_key(const char *url, struct cos_buf *out)
{
    struct cos_url parsed;
    int err;
    cos_url_init(&parsed);
    err = cos_url_parse(&parsed, url, strlen(url), NULL);
    if (!err) {
        cos_url_drop_fragment(&parsed);
        cos_buf_clear(out);
        err = cos_buf_add(out, parsed.href.data, parsed.href.len);
    }
    cos_url_release(&parsed);
    return err;
}
