/* crawl.c - a page's path, on one screen:
 *
 *   seed → frontier → robots → fetch → scan → resolve → { store, frontier }
 *
 * The dispatcher (dispatch.c) takes from the frontier what may be asked for now
 * (next.c) and pushes it into a bounded task queue; workers walk it through the
 * network and an offload thread; what they bring goes straight back into the
 * frontier (found.c). Links never go through the queue: one channel for work and
 * for discovered work deadlocks.
 *
 * The crawl is over when nothing is open, not when the queue is empty (stop.c). A
 * page holds its place in the limits until its row is committed, so a kill loses
 * no more work than was in flight. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "crawl/crawl_int.h"

#include "coscrawl.h"
#include "flow/queue.h"

#include <errno.h>
#include <libdill.h>

/* --- the worker --------------------------------------------------------------- */

/* No part was asked for, so a part is not the page. */
static int worth_reading(const struct cos_page *page)
{
    return !page->err && page->status >= 200 && page->status < 300 && page->status != 206;
}

/* The page belongs to its worker until arrived(); scan, resolve and the file are
 * the digest's, on an offload thread, the row is cos__arrived()'s. */
static void page_work(struct cos__visit *visit)
{
    struct cos_request request = cos__request_for(visit->crawl, visit->page->url);
    cos__recall(visit, &request);
    visit->ceiling = cos__quota_ceiling(visit->crawl, &request);
    cos__phase_fetches(visit);
    cos__get(visit->crawl, visit->page, &request);
    visit->ended = dill_now();
    visit->bytes = visit->page->body_len;
    cos__phase_fetched(visit);
    cos__recall_page(visit);
    if (worth_reading(visit->page) && !cos__markup(visit)) {
        cos__digest(visit);
        cos__phase_digested(visit);
    }
    if (visit->page && visit->page->spill) {
        void *page = visit->page;
        cos_offload(cos__drop_spill, &page, (void (*)(void *))cos_page_free, -1);
        visit->page = page;
    }
}

static int work(struct cos_flow_queue *queue, void *item, void *arg)
{
    struct cos__visit *visit = item;
    (void)queue, (void)arg;
    if (visit->kind == COS__VISIT_PAGE)
        page_work(visit);
    else if (visit->kind == COS__VISIT_ROBOTS)
        cos__robots_work(visit);
    else if (visit->kind == COS__VISIT_PROBE)
        cos__probe_work(visit);
    else
        cos__sitemap_work(visit);
    return 0;
}

static void arrived(void *item, int err, void *arg)
{
    struct cos__crawl *c = arg;
    struct cos__visit *visit = item;
    c->out--;
    cos__land(c, visit);
    c->now = dill_now();
    /* Given up: the URL stays queued in the database. */
    if (err || !visit->page || visit->page->err == COS_ECANCELED)
        c->stats.in_flight--;
    else
        cos__arrived(visit);
    cos__visit_free(visit);
    cos__wake(c);
}

/* --- the whole ------------------------------------------------------------------------ */

static int run(struct cos__crawl *c)
{
    struct cos_flow_queue_opts opts = {.concurrency = c->limit.concurrency,
                                       .capacity = (size_t)c->limit.concurrency,
                                       .work = work,
                                       .done = arrived,
                                       .arg = c};
    int err = cos_flow_queue_new(&opts, &c->queue);
    if (err)
        return err;
    cos__dispatch(c);
    cos_flow_queue_free(c->queue);
    c->queue = NULL;
    return 0;
}

int cos_crawl(const struct cos_crawl_options *options, const struct cos_crawl_events *events,
              struct cos_crawl_result *result)
{
    struct cos__crawl c = {.opt = options, .result = result, .stop = COS__RUNNING};
    int err = cos__markup_open(&c);
    *result = (struct cos_crawl_result){0};
    if (events)
        c.ev = *events;
    c.started = c.now = dill_now();
    c.kick_by = INT64_MAX;
    if (dill_chmake(c.wake) < 0) {
        result->err = errno == ECANCELED ? COS_ECANCELED : COS_ENOMEM;
        result->stop = COS_STOP_ERROR;
        cos__markup_close(&c);
        return result->err;
    }
    c.next_tick = c.now;
    if (!err)
        err = cos__open(&c);
    if (!err && c.stop == COS__RUNNING)
        err = run(&c);
    if (!err)
        err = cos__after(&c);
    if (err && c.stop != COS_STOP_ERROR)
        cos__abort(&c, err, "%s", cos_strerror(err));
    err = cos__close(&c);
    if (err && c.stop != COS_STOP_ERROR)
        cos__abort(&c, err, "crawl database: %s", cos_strerror(err));
    cos__conclude(&c);
    dill_hclose(c.wake[0]);
    dill_hclose(c.wake[1]);
    return result->err;
}
