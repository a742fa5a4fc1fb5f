/* probe.c - is it the page or the host? A page that was asked for in vain is
 * lost; a host that does not answer any more is left for another run, with
 * all that is queued for it. When the host has answered something else since,
 * it is the page. Otherwise its robots.txt is asked for, which every host that
 * is there answers in some way.
 *
 * Judging by silence alone was rejected: retries come before new URLs, so a
 * handful of bad pages can be all that a host is asked for a while. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>
#include <stdlib.h>

enum {
    SILENT_MS = 5000,   /* a host that was there must be gone this long to be down */
    AGAIN_MS = 1000,    /* between two probes until then */
    PROBE_MS = 1000,    /* between requests to a host that does not answer */
    ANSWER_MS = 10000,  /* for the answer to a probe */
    BODY_MAX = 1 << 16,
};

/* A host that does not answer at all is asked one request at a time, instead
 * of sending it all URLs three times in vain. */
void cos__heard(struct cos__crawl *c, struct cos_host *host, int status)
{
    if (status) {
        if (host->silences > (uint32_t)c->frontier.polite.cap)
            host->polite.taught = 0;
        host->silent_since = 0;
        host->silences = 0;
        return;
    }
    if (!host->silent_since)
        host->silent_since = c->now;
    if (++host->silences > (uint32_t)c->frontier.polite.cap && host->polite.taught < PROBE_MS)
        host->polite.taught = PROBE_MS;
}

/* --- the verdict --------------------------------------------------------------------- */

static void drop_queued(void *arg, uint32_t id)
{
    cos__put_off(arg, id, COS_SKIP_GONE, "the host does not answer any more", 0);
}

static void put_off_lost(struct cos__crawl *c, struct cos__visit *probe)
{
    cos__remember_error(c, cos_err_exit(probe->lost->err));
    cos__put_off(c, probe->id, COS_SKIP_GONE, cos_strerror(probe->lost->err), 0);
}

/* The page is what is wrong. */
static void fail_lost(struct cos__crawl *c, struct cos__visit *probe)
{
    struct cos__visit visit = {.crawl = c, .id = probe->id, .counted = probe->counted};
    visit.page = probe->lost;
    probe->lost = NULL;
    cos__failed(c, &visit, visit.page->err, visit.page->why);
    cos_page_free(visit.page);
}

/* The host was away and is back: the page gets another chance. */
static void try_lost(struct cos__crawl *c, struct cos__visit *probe)
{
    if (probe->counted)
        c->taken--;
    if (cos_frontier_retry(&c->frontier, probe->id, c->now))
        cos__abort(c, COS_ENOMEM, "out of memory");
}

/* No page can refuse a connection: the host was away in between. A host that comes
 * and goes has used up its chances when the page was tried twice as often as it may. */
static void judge_lost(struct cos__crawl *c, struct cos__visit *probe)
{
    if (probe->lost->err == COS_ECONNREFUSED && probe->lost->tries < 2 * c->limit.tries)
        try_lost(c, probe);
    else
        fail_lost(c, probe);
}

/* All probes of the host that still wait have their answer, too. */
static void for_all(struct cos__crawl *c, struct cos__visit *probe,
                    void (*verdict)(struct cos__crawl *, struct cos__visit *))
{
    struct cos__visit *other;
    verdict(c, probe);
    for (size_t n = c->errands.count; n && cos_ring_pop(&c->errands, &other) == 0; n--)
        if (other->kind == COS__VISIT_PROBE && other->host == probe->host) {
            verdict(c, other);
            cos__visit_free(other);
        } else {
            cos_ring_push(&c->errands, &other);
        }
}

static void host_down(struct cos__crawl *c, struct cos__visit *probe)
{
    struct cos_host *host = c->frontier.hosts[probe->host];
    int64_t left = c->put_off;
    host->down = 1;
    for_all(c, probe, put_off_lost);
    cos_frontier_drop_queue(&c->frontier, host, drop_queued, c);
    left = c->put_off - left;
    cos__say(c, COS_SAY_ERROR, "%s does not answer any more (%s): %lld URL%s left for another run",
             host->origin, cos_strerror(probe->lost->err), (long long)left,
             left == 1 ? " is" : "s are");
}

/* --- asking ---------------------------------------------------------------------------- */

static int ask_host(struct cos__crawl *c, struct cos_host *host, struct cos_page *lost, int level,
                    int counted)
{
    struct cos_buf url;
    struct cos__visit **probe;
    int err;
    cos_buf_init(&url, 4096);
    err = cos_buf_addf(&url, "%s/robots.txt", host->origin);
    if (!err)
        err = cos__add_errand(c, COS__VISIT_PROBE, url.data, (uint32_t)lost->id, host->number,
                              level);
    cos_buf_release(&url);
    if (err)
        return err;
    probe = cos_ring_at(&c->errands, c->errands.count - 1);
    (*probe)->lost = lost;
    (*probe)->counted = counted;
    return 0;
}

void cos__unanswered(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_host *host = c->frontier.hosts[visit->host];
    struct cos_page *page = visit->page;
    if (host->down) {
        cos__remember_error(c, cos_err_exit(page->err));
        cos__put_off(c, visit->id, COS_SKIP_GONE, cos_strerror(page->err), 0);
    } else if (!host->polite.answered || host->polite.answered >= visit->sent) {
        cos__failed(c, visit, page->err, page->why);
    } else if (ask_host(c, host, page, 0, visit->counted)) {
        cos__abort(c, COS_ENOMEM, "out of memory");
    } else {
        visit->page = NULL; /* it is with the probe */
    }
}

void cos__probe_work(struct cos__visit *visit)
{
    struct cos_request request = cos__request_for(visit->crawl, visit->page->url);
    request.max_body = BODY_MAX;
    if (request.idle_ms <= 0 || request.idle_ms > ANSWER_MS)
        request.idle_ms = ANSWER_MS;
    cos__get(visit->crawl, visit->page, &request);
    visit->ended = dill_now();
}

void cos__probe_arrived(struct cos__visit *visit)
{
    struct cos__crawl *c = visit->crawl;
    struct cos_host *host = c->frontier.hosts[visit->host];
    struct cos_page *lost = visit->lost;
    if (visit->page->status) {
        for_all(c, visit, visit->level ? try_lost : judge_lost);
    } else if (host->down) {
        put_off_lost(c, visit);
    } else if (c->now - host->silent_since >= SILENT_MS) {
        host_down(c, visit);
    } else if (ask_host(c, host, lost, visit->level + 1, visit->counted)) {
        cos__abort(c, COS_ENOMEM, "out of memory");
    } else {
        visit->lost = NULL;
        if (host->polite.next < c->now + AGAIN_MS)
            host->polite.next = c->now + AGAIN_MS;
    }
}
