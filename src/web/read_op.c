/* read_op.c - the links of a page, read on an offload thread, and the small URL
 * questions that every spider asks. May call links, url, base.
 *
 * The page passes to the thread and back. A caller that gives up while the
 * thread is at it must not see its page change under its hands: so the job works
 * on what it took out of the page and puts everything back when it completes. */
#define DILL_DISABLE_RAW_NAMES
#include "web/read_op.h"

#include "base/offload.h"
#include "coscrawl.h"
#include "web/links.h"

#include <stdlib.h>
#include <string.h>

struct read_op {
    struct cos__job job;
    struct cos_page *page; /* the caller's; NULL once it gave up */
    struct cos_page *work; /* ours while the thread has it */
};

static int read_links(struct cos__job *job)
{
    struct read_op *read = (struct read_op *)job;
    struct cos_links_ctx *ctx = cos_links_ctx_new();
    int err = ctx ? cos_links_extract(ctx, read->work) : COS_ENOMEM;
    cos_links_ctx_free(ctx);
    return err;
}

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
    else
        cos__job_start(op);
}

static int read_cancel(struct cos_op *op)
{
    struct read_op *read = (struct read_op *)op;
    int rc = cos__job_cancel(op);
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

static const struct cos__op_type read_type = {.name = "parse", .kind = COS__OP_PARSE,
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
