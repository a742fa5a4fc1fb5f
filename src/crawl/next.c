/* next.c - what may be asked for now. A taken URL needs the rules of its host, its
 * text, and a place in the limits; without them it waits or ends here. May call
 * frontier, politeness, robots and settle. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "web/robots.h"

#include <stdlib.h>

enum { TEXTS_AT_ONCE = 256, REPLAY_UNSAVED = 256 };

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

struct cos__visit *cos__next(struct cos__crawl *c, int64_t *when)
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

void cos__ask_texts(struct cos__crawl *c)
{
    uint32_t id;
    while (c->asked < TEXTS_AT_ONCE && cos_ring_pop(&c->again, &id) == 0) {
        cos_db_ask(c->db, id);
        c->asked++;
    }
}
