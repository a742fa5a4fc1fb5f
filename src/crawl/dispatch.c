/* dispatch.c - the one coroutine that decides: it sends visits off, gives the
 * database its batches, and sleeps until something wakes it: a page that came, a
 * row that is committed, a host that may be asked again. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/emit.h"
#include "base/err.h"
#include "flow/queue.h"

#include <errno.h>
#include <libdill.h>

enum { KICK_MS = 20 };

void cos__wake(struct cos__crawl *c)
{
    /* Nobody stands there while the dispatcher runs: it looks for itself then. */
    dill_chsend(c->wake[1], NULL, 0, 0);
}

/* --- in flight ------------------------------------------------------------------ */

static void take_off(struct cos__crawl *c, struct cos__visit *visit)
{
    visit->prev = NULL;
    visit->next = c->flying;
    if (c->flying)
        c->flying->prev = visit;
    c->flying = visit;
}

void cos__land(struct cos__crawl *c, struct cos__visit *visit)
{
    if (visit->next)
        visit->next->prev = visit->prev;
    if (visit->prev)
        visit->prev->next = visit->next;
    else
        c->flying = visit->next;
    c->received += visit->kind == COS__VISIT_PAGE ? visit->bytes : 0;
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
    cos__land(c, visit);
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

void cos__dispatch(struct cos__crawl *c)
{
    struct cos__visit *visit;
    int64_t when = INT64_MAX;
    while (c->stop != COS_STOP_ERROR) {
        c->now = dill_now();
        if (c->now >= c->next_tick)
            cos__tick(c);
        if (c->new_cookies)
            cos__keep_cookies(c, 0);
        cos__check_limits(c);
        if (cos__over(c))
            break;
        visit = cos__next(c, &when);
        if (visit) {
            send_off(c, visit);
            continue;
        }
        cos__ask_texts(c);
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
    cos__wake(c);
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
    cos__wake(c);
}

void cos__db_events_init(struct cos__crawl *c, struct cos_db_events *events)
{
    *events = (struct cos_db_events){.arg = c, .saved = on_saved, .answer = on_answer};
}
