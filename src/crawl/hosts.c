/* hosts.c - the frontier's queues: one per host, a heap of hosts by the time
 * they may be asked next, and a heap of URLs that wait for another try.
 *
 * A host is in the heap exactly when it could be asked at some known time. One
 * that is at its cap, held or empty is not: the event that changes that calls
 * update(). */
#include "config.h"

#include "crawl/frontier.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

struct cos_frontier_retry {
    int64_t at;
    uint32_t id;
};

static uint32_t roll(struct cos_frontier *f)
{
    f->dice ^= f->dice << 13;
    f->dice ^= f->dice >> 17;
    f->dice ^= f->dice << 5;
    return f->dice;
}

/* --- hosts by origin ------------------------------------------------------------- */

size_t cos_frontier_origin_len(const char *url, size_t len)
{
    const char *start = memchr(url, ':', len), *slash;
    if (!start || start + 3 > url + len)
        return len;
    start += 3;
    slash = memchr(start, '/', (size_t)(url + len - start));
    return slash ? (size_t)(slash - url) : len;
}

static int room_for_host(struct cos_frontier *f)
{
    uint32_t room = f->host_room ? f->host_room * 2 : 16;
    struct cos_host **hosts;
    uint32_t *heap;
    if (f->nhosts < f->host_room)
        return 0;
    if (f->nhosts >= 0xffffff)
        return COS_EFULL;
    hosts = realloc(f->hosts, room * sizeof *hosts);
    if (!hosts)
        return COS_ENOMEM;
    f->hosts = hosts;
    heap = realloc(f->heap, (room + 1) * sizeof *heap);
    if (!heap)
        return COS_ENOMEM;
    f->heap = heap;
    f->host_room = room;
    return 0;
}

static struct cos_host *new_host(struct cos_frontier *f, const char *origin, size_t len)
{
    struct cos_host *host;
    if (room_for_host(f))
        return NULL;
    host = calloc(1, sizeof *host);
    if (!host || !(host->origin = strndup(origin, len))) {
        free(host);
        return NULL;
    }
    cos_polite_init(&host->polite, &f->polite);
    host->number = f->nhosts;
    f->hosts[f->nhosts++] = host;
    f->bytes += sizeof *host + 2 * len + 64;
    return host;
}

/* The links of a page mostly lead to one host: the last one is tried first. */
struct cos_host *cos_frontier_origin(struct cos_frontier *f, const char *url, size_t len,
                                     uint32_t *number)
{
    size_t n = cos_frontier_origin_len(url, len);
    struct cos_host *host = f->nhosts ? f->hosts[f->last_host] : NULL;
    void *payload = NULL;
    uint64_t at;
    if (!host || strncmp(host->origin, url, n) != 0 || host->origin[n]) {
        int added = cos_set_add(&f->origins, url, n, &payload);
        if (added < 0)
            return NULL;
        if (added) {
            at = f->nhosts;
            if (!new_host(f, url, n)) {
                cos_set_remove(&f->origins, url, n);
                return NULL;
            }
            memcpy(payload, &at, sizeof at);
        }
        memcpy(&at, payload, sizeof at);
        f->last_host = (uint32_t)at;
        host = f->hosts[at];
    }
    if (number)
        *number = f->last_host;
    return host;
}

struct cos_host *cos_frontier_host(const struct cos_frontier *f, uint32_t id)
{
    return f->hosts[cos_frontier_node(f, id)->host];
}

/* --- the heap of hosts -------------------------------------------------------------- */

static int before(const struct cos_frontier *f, uint32_t a, uint32_t b)
{
    const struct cos_host *x = f->hosts[a], *y = f->hosts[b];
    return x->when != y->when ? x->when < y->when : x->turn < y->turn;
}

static void put(struct cos_frontier *f, uint32_t at, uint32_t host)
{
    f->heap[at] = host;
    f->hosts[host]->slot = at;
}

static void sift(struct cos_frontier *f, uint32_t at)
{
    uint32_t host = f->heap[at];
    for (; at > 1 && before(f, host, f->heap[at / 2]); at /= 2)
        put(f, at, f->heap[at / 2]);
    for (;;) {
        uint32_t child = at * 2;
        if (child > f->heaped)
            break;
        if (child < f->heaped && before(f, f->heap[child + 1], f->heap[child]))
            child++;
        if (!before(f, f->heap[child], host))
            break;
        put(f, at, f->heap[child]);
        at = child;
    }
    put(f, at, host);
}

static void leave_heap(struct cos_frontier *f, struct cos_host *host)
{
    uint32_t at = host->slot, last = f->heap[f->heaped--];
    host->slot = 0;
    if (at <= f->heaped) {
        put(f, at, last);
        sift(f, at);
    }
}

static void update(struct cos_frontier *f, uint32_t number, int64_t now)
{
    struct cos_host *host = f->hosts[number];
    int64_t when = INT64_MAX;
    if (host->queued && !host->held &&
        host->polite.flight + (int64_t)host->unsaved < f->polite.cap)
        when = cos_polite_when(&host->polite, &f->polite, now);
    if (when == INT64_MAX) {
        if (host->slot)
            leave_heap(f, host);
        return;
    }
    host->when = when;
    host->turn = ++f->turns;
    if (!host->slot)
        put(f, ++f->heaped, number);
    sift(f, host->slot);
}

void cos_frontier_touch(struct cos_frontier *f, struct cos_host *host)
{
    update(f, host->number, f->clock);
}

/* --- queues -------------------------------------------------------------------------- */

static void push(struct cos_frontier *f, uint32_t id, int front)
{
    struct cos_node *node = cos_frontier_node(f, id);
    struct cos_host *host = f->hosts[node->host];
    node->state = COS_URL_QUEUED;
    node->next = front ? host->head : 0;
    if (!host->head)
        host->head = host->tail = id;
    else if (front)
        host->head = id;
    else {
        cos_frontier_node(f, host->tail)->next = id;
        host->tail = id;
    }
    host->queued++;
    /* Only a host that was not in the heap can become due by this. */
    if (!host->slot)
        update(f, node->host, f->clock);
}

static uint32_t pop(struct cos_frontier *f, struct cos_host *host)
{
    uint32_t id = host->head;
    host->head = cos_frontier_node(f, id)->next;
    if (!host->head)
        host->tail = 0;
    host->queued--;
    return id;
}

void cos_frontier_queue(struct cos_frontier *f, uint32_t id)
{
    cos_frontier_node(f, id)->note = 0;
    f->open++;
    f->queued++;
    push(f, id, 0);
}

void cos_frontier_park(struct cos_frontier *f, uint32_t id)
{
    struct cos_node *node = cos_frontier_node(f, id);
    node->state = COS_URL_QUEUED;
    node->note = 0;
    f->open++;
    f->queued++;
}

/* --- another try ----------------------------------------------------------------------- */

static void sift_retries(struct cos_frontier *f, size_t at)
{
    struct cos_frontier_retry item = f->retries[at], *heap = f->retries;
    for (; at && item.at < heap[(at - 1) / 2].at; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= f->nretries)
            break;
        if (child + 1 < f->nretries && heap[child + 1].at < heap[child].at)
            child++;
        if (heap[child].at >= item.at)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

int cos_frontier_retry(struct cos_frontier *f, uint32_t id, int64_t at)
{
    if (f->nretries == f->retry_room) {
        size_t room = f->retry_room ? f->retry_room * 2 : 64;
        struct cos_frontier_retry *more = realloc(f->retries, room * sizeof *more);
        if (!more)
            return COS_ENOMEM;
        f->retries = more;
        f->retry_room = room;
    }
    f->retries[f->nretries++] = (struct cos_frontier_retry){at, id};
    sift_retries(f, f->nretries - 1);
    cos_frontier_node(f, id)->state = COS_URL_QUEUED;
    cos_frontier_host(f, id)->retrying++;
    f->flight--;
    f->queued++;
    return 0;
}

static void due_retries(struct cos_frontier *f, int64_t now)
{
    while (f->nretries && f->retries[0].at <= now) {
        uint32_t id = f->retries[0].id;
        f->retries[0] = f->retries[--f->nretries];
        if (f->nretries)
            sift_retries(f, 0);
        cos_frontier_host(f, id)->retrying--;
        push(f, id, 1);
    }
}

/* --- taking and giving back --------------------------------------------------------------- */

uint32_t cos_frontier_next(struct cos_frontier *f, int64_t now, int64_t *when)
{
    struct cos_host *host;
    uint32_t number, id;
    f->clock = now;
    due_retries(f, now);
    *when = f->nretries ? f->retries[0].at : INT64_MAX;
    if (!f->heaped)
        return 0;
    number = f->heap[1];
    host = f->hosts[number];
    if (host->when > now) {
        if (host->when < *when)
            *when = host->when;
        return 0;
    }
    id = pop(f, host);
    cos_frontier_node(f, id)->state = COS_URL_FLIGHT;
    f->queued--;
    f->flight++;
    if (!host->queued)
        leave_heap(f, host);
    return id;
}

void cos_frontier_start(struct cos_frontier *f, struct cos_host *host)
{
    cos_polite_start(&host->polite, &f->polite, f->clock, roll(f));
    update(f, host->number, f->clock);
}

void cos_frontier_untake(struct cos_frontier *f, uint32_t id)
{
    f->queued++;
    f->flight--;
    push(f, id, 1);
}

void cos_frontier_answered(struct cos_frontier *f, struct cos_host *host, int64_t now,
                           const struct cos_polite_answer *answer)
{
    cos_polite_end(&host->polite, &f->polite, now, answer);
    update(f, host->number, now);
}

void cos_frontier_settle(struct cos_frontier *f, uint32_t id, int state)
{
    struct cos_node *node = cos_frontier_node(f, id);
    if (node->state == COS_URL_FLIGHT)
        f->flight--;
    else
        f->queued--;
    node->state = (unsigned)state & 7;
    f->open--;
}

void cos_frontier_unsaved(struct cos_frontier *f, uint32_t id, int more)
{
    uint32_t number = cos_frontier_node(f, id)->host;
    f->hosts[number]->unsaved += (uint32_t)more;
    update(f, number, f->clock);
}

void cos_frontier_drop_queue(struct cos_frontier *f, struct cos_host *host,
                             void (*each)(void *arg, uint32_t id), void *arg)
{
    while (host->queued)
        each(arg, pop(f, host));
    if (host->slot)
        leave_heap(f, host);
}
