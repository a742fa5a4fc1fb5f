/* crawl.c - a page's path, on one screen:
 *
 *   seed → frontier → robots → fetch → scan → resolve → { store, frontier }
 *
 * A dispatcher takes from the frontier what may be asked for now and pushes it
 * into a bounded task queue; workers walk it through the network and an offload
 * thread; what they bring goes straight back into the frontier. Links never go
 * through the queue: one channel for work and for discovered work deadlocks.
 *
 * The crawl is over when nothing is open, not when the queue is empty. A page
 * holds its place in the limits until its row is committed, so a kill loses no
 * more work than was in flight. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/emit.h"
#include "base/err.h"
#include "coscrawl.h"
#include "flow/queue.h"
#include "web/robots.h"

#include <errno.h>
#include <libdill.h>
#include <stdlib.h>
#include <string.h>

enum { KICK_MS = 20, DRAIN_MS = 10000, CUT_MS = 1000, TEXTS_AT_ONCE = 256, REPLAY_UNSAVED = 256 };

/* --- the worker --------------------------------------------------------------- */

static int worth_reading(const struct cos_page *page)
{
    return !page->err && page->status >= 200 && page->status < 300;
}

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

static void wake(struct cos__crawl *c)
{
    /* Nobody stands there while the dispatcher runs: it looks for itself then. */
    dill_chsend(c->wake[1], NULL, 0, 0);
}

static void take_off(struct cos__crawl *c, struct cos__visit *visit)
{
    visit->prev = NULL;
    visit->next = c->flying;
    if (c->flying)
        c->flying->prev = visit;
    c->flying = visit;
}

static void land(struct cos__crawl *c, struct cos__visit *visit)
{
    if (visit->next)
        visit->next->prev = visit->prev;
    if (visit->prev)
        visit->prev->next = visit->next;
    else
        c->flying = visit->next;
    c->received += visit->kind == COS__VISIT_PAGE ? visit->bytes : 0;
}

/* What came in this run, with what is still coming. */
static int64_t bytes_so_far(const struct cos__crawl *c)
{
    int64_t sum = c->received;
    for (const struct cos__visit *v = c->flying; v; v = v->next)
        if (v->kind == COS__VISIT_PAGE)
            sum += v->page && !v->bytes ? v->page->body_len : v->bytes;
    return sum;
}

static void arrived(void *item, int err, void *arg)
{
    struct cos__crawl *c = arg;
    struct cos__visit *visit = item;
    c->out--;
    land(c, visit);
    c->now = dill_now();
    /* Given up: the URL stays queued in the database. */
    if (err || !visit->page || visit->page->err == COS_ECANCELED)
        c->stats.in_flight--;
    else
        cos__arrived(visit);
    cos__visit_free(visit);
    wake(c);
}

/* --- what is next --------------------------------------------------------------- */

static struct cos__visit *visit_of(struct cos__crawl *c, uint32_t id, const char *url)
{
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    struct cos__visit *visit = calloc(1, sizeof *visit);
    struct cos_page *page = cos_page_new(url);
    if (!visit || !page) {
        free(visit);
        cos_page_free(page);
        return NULL;
    }
    page->id = id;
    if (node->note < UINT8_MAX)
        node->note++;
    page->tries = node->note;
    *visit = (struct cos__visit){.crawl = c, .page = page, .id = id, .host = node->host};
    return visit;
}

/* The text was spilled: the host waits until the database has given back those
 * at the front of its queue. */
static void fetch_texts(struct cos__crawl *c, struct cos_host *host)
{
    uint32_t id = host->head;
    host->held = 1;
    for (int n = 0; id && n < TEXTS_AT_ONCE; n++) {
        if (!cos_frontier_text(&c->frontier, id)) {
            cos_db_ask(c->db, id);
            c->asked++;
            host->waits_for = id;
        }
        id = cos_frontier_node(&c->frontier, id)->next;
    }
    cos_frontier_touch(&c->frontier, host);
}

/* A taken URL becomes a visit, or is skipped, or has to wait: then NULL. */
static struct cos__visit *ready(struct cos__crawl *c, uint32_t id)
{
    struct cos_host *host = cos_frontier_host(&c->frontier, id);
    const char *url = cos_frontier_text(&c->frontier, id), *rule;
    struct cos__visit *visit;
    if (c->limit.robots && host->robots_state != COS_ROBOTS_KNOWN) {
        cos_frontier_untake(&c->frontier, id);
        if (cos__ask_robots(c, host))
            cos__abort(c, COS_ENOMEM, "out of memory");
        return NULL;
    }
    if (host->down) {
        if (host->down == 2)
            cos__fail_url(c, id, host->down_err, host->down_why);
        else
            cos__put_off(c, id, COS_SKIP_GONE, "the host does not answer any more", 0);
        return NULL;
    }
    if (!url) {
        cos_frontier_untake(&c->frontier, id);
        fetch_texts(c, host);
        return NULL;
    }
    if (c->limit.robots && !cos__robots_allow(c, id, url, &rule)) {
        cos__skip(c, id, COS_SKIP_ROBOTS, rule);
        return NULL;
    }
    visit = visit_of(c, id, url);
    if (!visit) {
        cos_frontier_untake(&c->frontier, id);
        cos__abort(c, COS_ENOMEM, "out of memory");
        return NULL;
    }
    cos__phase_leaves(c, visit, host);
    cos_frontier_start(&c->frontier, host);
    c->taken++;
    visit->counted = 1;
    return visit;
}

static int may_start(const struct cos__crawl *c)
{
    if (c->stop != COS__RUNNING)
        return 0;
    /* One after the other out of an archive: the same order every time. */
    if (c->replay ? c->out || c->unsaved >= REPLAY_UNSAVED
                  : c->out + c->unsaved >= (size_t)c->limit.concurrency)
        return 0;
    return !c->limit.max_pages || c->taken < c->limit.max_pages;
}

/* The first errand whose host may be asked now. */
static struct cos__visit *next_errand(struct cos__crawl *c, int64_t *when)
{
    struct cos__visit *visit;
    for (size_t n = c->errands.count; n && cos_ring_pop(&c->errands, &visit) == 0; n--) {
        struct cos_host *host = c->frontier.hosts[visit->host];
        int64_t at = cos_polite_when(&host->polite, &c->frontier.polite, c->now);
        if (at <= c->now) {
            cos_frontier_start(&c->frontier, host);
            return visit;
        }
        if (at < *when)
            *when = at;
        cos_ring_push(&c->errands, &visit);
    }
    return NULL;
}

static struct cos__visit *next_visit(struct cos__crawl *c, int64_t *when)
{
    struct cos__visit *visit = NULL;
    int64_t errand = INT64_MAX;
    uint32_t id;
    *when = INT64_MAX;
    if ((double)c->now < c->next_start) {
        *when = (int64_t)c->next_start + 1;
        return NULL;
    }
    c->frontier.clock = c->now;
    if (c->stop == COS__RUNNING)
        visit = next_errand(c, &errand);
    while (!visit && may_start(c)) {
        id = cos_frontier_next(&c->frontier, c->now, when);
        if (!id)
            break;
        visit = ready(c, id);
        if (!visit && c->errands.count)
            visit = next_errand(c, &errand);
    }
    if (errand < *when)
        *when = errand;
    return visit;
}

/* --- the dispatcher ------------------------------------------------------------- */

static void send_off(struct cos__crawl *c, struct cos__visit *visit)
{
    int err;
    visit->sent = c->now;
    take_off(c, visit);
    c->out++;
    c->stats.in_flight++;
    c->stats.requests++;
    if (c->limit.start_every > 0)
        c->next_start = (c->next_start > (double)c->now ? c->next_start : (double)c->now) +
                        c->limit.start_every;
    err = cos_flow_queue_push(c->queue, visit, -1);
    if (!err)
        return;
    c->out--;
    land(c, visit);
    c->stats.in_flight--;
    cos__visit_free(visit);
    cos__abort(c, err, "%s", cos_strerror(err));
}

/* A small batch costs a transaction of its own; a large one makes pages wait
 * for their place. A quarter of what may be in flight is neither. */
static void kick(struct cos__crawl *c)
{
    size_t cap = (size_t)c->frontier.polite.cap * (c->frontier.nhosts ? c->frontier.nhosts : 1);
    size_t enough = (cap < (size_t)c->limit.concurrency ? cap : (size_t)c->limit.concurrency) / 4;
    size_t waiting = cos_db_waiting(c->db);
    /* While the thread is busy, its answer is what wakes us. */
    if (!waiting || cos_db_busy(c->db)) {
        c->kick_by = INT64_MAX;
        return;
    }
    if (c->kick_by == INT64_MAX)
        c->kick_by = c->now + KICK_MS;
    if (c->unkicked < enough && c->now < c->kick_by && c->out && !c->asked)
        return;
    cos_db_kick(c->db, 1);
    c->unkicked = 0;
    c->kick_by = INT64_MAX;
}

static void ask_again(struct cos__crawl *c)
{
    uint32_t id;
    while (c->asked < TEXTS_AT_ONCE && cos_ring_pop(&c->again, &id) == 0) {
        cos_db_ask(c->db, id);
        c->asked++;
    }
}

static void check_limits(struct cos__crawl *c)
{
    const struct cos__limits *l = &c->limit;
    if (c->stop != COS__RUNNING || c->frontier.open == 0)
        return;
    if (l->max_time && c->now - c->started >= l->max_time) {
        c->stop = COS_STOP_TIME;
        c->drain_by = c->now + CUT_MS;
    } else if (l->max_failures && c->stats.failed - c->failed_before >= l->max_failures) {
        c->stop = COS_STOP_FAILURES;
    } else if (l->quota && bytes_so_far(c) >= l->quota) {
        c->stop = COS_STOP_QUOTA;
        c->drain_by = c->now + CUT_MS;
    } else if (l->max_pages && c->taken >= l->max_pages && !c->out) {
        c->stop = COS_STOP_PAGES;
    }
    if (c->stop != COS__RUNNING && !c->drain_by)
        c->drain_by = c->now + DRAIN_MS;
}

static int over(struct cos__crawl *c)
{
    if (c->out)
        return c->stop != COS__RUNNING && c->drain_by && c->now >= c->drain_by;
    if (c->stop != COS__RUNNING)
        return 1;
    return c->frontier.open == 0 && !c->errands.count && !c->asked;
}

static int64_t earliest(const struct cos__crawl *c, int64_t when)
{
    int64_t at = when < c->next_tick ? when : c->next_tick;
    if (c->kick_by < at)
        at = c->kick_by;
    if (c->stop != COS__RUNNING && c->drain_by && c->drain_by < at)
        at = c->drain_by;
    /* A deadline that has passed would not let anybody else run. */
    return at > c->now ? at : c->now + 1;
}

static void dispatch(struct cos__crawl *c)
{
    struct cos__visit *visit;
    int64_t when = INT64_MAX;
    while (c->stop != COS_STOP_ERROR) {
        c->now = dill_now();
        if (c->now >= c->next_tick)
            cos__tick(c);
        if (c->new_cookies)
            cos__keep_cookies(c, 0);
        check_limits(c);
        if (over(c))
            break;
        visit = next_visit(c, &when);
        if (visit) {
            send_off(c, visit);
            continue;
        }
        ask_again(c);
        kick(c);
        if (cos_db_err(c->db, NULL)) {
            struct cos_buf why;
            cos_buf_init(&why, 400);
            cos_db_err(c->db, &why);
            cos__abort(c, cos_db_err(c->db, NULL), "%s", why.data);
            cos_buf_release(&why);
        } else if (COS_WAIT(dill_chrecv(c->wake[0], NULL, 0, earliest(c, when))) < 0 &&
                   errno == ECANCELED) {
            c->stop = COS_STOP_ERROR;
            c->result->err = COS_ECANCELED;
        }
    }
}

/* --- what the database says -------------------------------------------------------- */

static void on_saved(void *arg, uint32_t id)
{
    struct cos__crawl *c = arg;
    c->unsaved--;
    if (!c->replay)
        cos_frontier_unsaved(&c->frontier, id, -1);
    wake(c);
}

static void on_answer(void *arg, uint32_t id, const char *url, size_t len, const uint32_t *links,
                      size_t n)
{
    struct cos__crawl *c = arg;
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    struct cos_host *host = cos_frontier_host(&c->frontier, id);
    c->asked--;
    if (!url || !len) {
        cos__abort(c, COS_EDB, "crawl database: row %u is missing", id);
    } else if (node->again) {
        node->again = 0;
        c->frontier.open--;
        cos__found_again(c, id, url, len, links, n);
    } else {
        if (!cos_frontier_text(&c->frontier, id) &&
            cos_frontier_set_text(&c->frontier, id, url, len))
            cos__abort(c, COS_ENOMEM, "out of memory");
        if (host->waits_for == id) {
            host->waits_for = 0;
            host->held = 0;
            cos_frontier_touch(&c->frontier, host);
        }
    }
    wake(c);
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
    dispatch(c);
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

void cos__db_events_init(struct cos__crawl *c, struct cos_db_events *events)
{
    *events = (struct cos_db_events){.arg = c, .saved = on_saved, .answer = on_answer};
}
