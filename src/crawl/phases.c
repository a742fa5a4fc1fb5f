/* phases.c - what a page waited for before its request: in its host's queue, and
 * for politeness. Only kept when somebody wants to know (options.phases): a
 * number per URL and one per host. May call base; the crawl calls it at the
 * points where a page changes its phase.
 *
 * The time between a URL's discovery and its request is split at the moment its
 * host could have been asked: from the host's last request, or the discovery, to
 * the end of the pause is politeness; the rest is the queue. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "crawl/crawl_int.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cos__phases {
    uint32_t *since;   /* by id: ms after the crawl's start, plus 1; 0: from its start on */
    int64_t *started;  /* by host: the last request */
    uint32_t ids, hosts;
};

static int64_t microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Room for that index in an array; what is new is zero. 0: out of memory, and
 * the phase is not known then. */
static int room_for(void **array, uint32_t *room, uint32_t index, size_t size)
{
    uint32_t more = *room ? *room : 1024;
    void *at;
    if (index < *room)
        return 1;
    while (more <= index)
        more *= 2;
    at = realloc(*array, more * size);
    if (!at)
        return 0;
    memset((char *)at + *room * size, 0, (more - *room) * size);
    *array = at;
    *room = more;
    return 1;
}

void cos__phase_queued(struct cos__crawl *c, uint32_t id)
{
    struct cos__phases *p = c->phases;
    if (!c->opt->phases || (!p && !(p = c->phases = calloc(1, sizeof *p))))
        return;
    if (room_for((void **)&p->since, &p->ids, id, sizeof *p->since))
        p->since[id] = (uint32_t)(c->now - c->started + 1);
}

void cos__phase_leaves(struct cos__crawl *c, struct cos__visit *visit, struct cos_host *host)
{
    struct cos__phases *p = c->phases;
    int64_t since = c->started, from, until;
    visit->queue_us = visit->wait_us = -1;
    if (!c->opt->phases || !p ||
        !room_for((void **)&p->started, &p->hosts, host->number, sizeof *p->started))
        return;
    if (visit->id < p->ids && p->since[visit->id])
        since += p->since[visit->id] - 1;
    from = p->started[host->number] > since ? p->started[host->number] : since;
    until = host->polite.next < c->now ? host->polite.next : c->now;
    visit->wait_us = until > from ? (until - from) * 1000 : 0;
    visit->queue_us = (c->now - since) * 1000 - visit->wait_us;
    p->started[host->number] = c->now;
}

void cos__phase_fetches(struct cos__visit *visit)
{
    visit->began_us = visit->crawl->opt->phases ? microseconds() : 0;
}

void cos__phase_fetched(struct cos__visit *visit)
{
    struct cos_timing *t = &visit->page->timing;
    if (!visit->began_us)
        return;
    t->queue = visit->queue_us;
    t->wait = visit->wait_us;
    t->began = visit->began_us;
    t->fetched = t->digested = microseconds();
    /* It did not get beyond the name. */
    if (!t->total) {
        t->name = t->fetched - t->began;
        t->connect = t->tls = t->first_byte = t->transfer = -1;
    }
}

void cos__phase_digested(struct cos__visit *visit)
{
    if (visit->began_us && visit->page)
        visit->page->timing.digested = microseconds();
}

void cos__phases_free(struct cos__crawl *c)
{
    if (!c->phases)
        return;
    free(c->phases->since);
    free(c->phases->started);
    free(c->phases);
    c->phases = NULL;
}
