/* timer.c - the clock and the deadlines.
 * A heap with four children a node: half as deep as a binary one, and the four
 * lie side by side. Its array is enlarged when a coroutine is launched, never
 * when one waits, so no wait fails for want of memory. Keys lie in the heap and
 * places in an array of their own: telling every coroutine its place would
 * touch a page per level. */
#include "hot.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST_TIMERS = 64, ARITY = 4 };

int64_t dill__clock_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t dill_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    int64_t ms = (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
    dill__tls.now = ms;
    return ms;
}

/* Thread the new ids onto the list of free ones. */
static void add_ids(struct dill_ctx *c, uint32_t from, uint32_t to)
{
    for (uint32_t id = from; id < to; id++) {
        c->places[id] = c->free_timer;
        c->free_timer = id;
    }
}

void dill__timers_init(struct dill_ctx *c)
{
    c->timers = c->few;
    c->places = c->few_places;
    c->captimers = DILL_FEW;
    add_ids(c, 1, DILL_FEW);
}

int dill__timers_grow(struct dill_ctx *c)
{
    bool few = c->timers == c->few;
    uint32_t n = few ? FIRST_TIMERS : c->captimers * 2;
    struct dill_timer *t = realloc(few ? NULL : c->timers, n * sizeof *t);
    if (!t)
        return dill__fail(ENOMEM);
    if (few)
        memcpy(t, c->few, sizeof c->few);
    c->timers = t;
    uint32_t *p = realloc(c->places == c->few_places ? NULL : c->places, n * sizeof *p);
    if (!p)
        return dill__fail(ENOMEM);
    if (c->places == c->few_places)
        memcpy(p, c->few_places, sizeof c->few_places);
    c->places = p;
    add_ids(c, c->captimers, n);
    c->captimers = n;
    return 0;
}

static inline bool before(const struct dill_timer *a, const struct dill_timer *b)
{
    return a->deadline < b->deadline ||
           (a->deadline == b->deadline && (int32_t)(a->seq - b->seq) < 0);
}

static inline void place(struct dill_ctx *c, uint32_t i, const struct dill_timer *t)
{
    c->timers[i] = *t;
    c->places[t->id] = i;
}

static inline uint32_t parent(uint32_t i)
{
    return (i - 2) / ARITY + 1;
}

static void sift_up(struct dill_ctx *c, uint32_t i, struct dill_timer t)
{
    while (i > 1 && before(&t, &c->timers[parent(i)])) {
        place(c, i, &c->timers[parent(i)]);
        i = parent(i);
    }
    place(c, i, &t);
}

static uint32_t first_child(const struct dill_ctx *c, uint32_t i)
{
    uint32_t k = (i - 1) * ARITY + 2;
    if (k > c->ntimers)
        return 0;
    uint32_t end = k + ARITY <= c->ntimers + 1 ? k + ARITY : c->ntimers + 1;
    for (uint32_t j = k + 1; j < end; j++)
        if (before(&c->timers[j], &c->timers[k]))
            k = j;
    return k;
}

static void sift_down(struct dill_ctx *c, uint32_t i, struct dill_timer t)
{
    uint32_t k;
    while ((k = first_child(c, i)) && before(&c->timers[k], &t)) {
        place(c, i, &c->timers[k]);
        i = k;
    }
    place(c, i, &t);
}

void dill__timer_add(struct dill_ctx *c, struct dill_cr *cr, int64_t deadline)
{
    uint32_t id = c->free_timer;
    c->free_timer = c->places[id];
    cr->timer = id;
    sift_up(c, ++c->ntimers, (struct dill_timer){deadline, cr, c->seq++, id});
}

void dill__timer_remove(struct dill_ctx *c, struct dill_cr *cr)
{
    uint32_t i = c->places[cr->timer];
    c->places[cr->timer] = c->free_timer;
    c->free_timer = cr->timer;
    cr->timer = 0;
    struct dill_timer last = c->timers[c->ntimers--];
    if (last.cr == cr)
        return;
    if (i > 1 && before(&last, &c->timers[parent(i)]))
        sift_up(c, i, last);
    else
        sift_down(c, i, last);
}

void dill__timers_expire(struct dill_ctx *c)
{
    while (c->ntimers && c->timers[1].deadline <= c->now) {
        /* The next one is among these, and its page is likely cold. */
        for (uint32_t i = 2; i < 2 + ARITY && i <= c->ntimers; i++)
            __builtin_prefetch(c->timers[i].cr, 1);
        dill__wake(c, c->timers[1].cr, ETIMEDOUT);
    }
}

void dill__timers_release(struct dill_ctx *c)
{
    if (c->timers != c->few)
        free(c->timers);
    if (c->places != c->few_places)
        free(c->places);
    c->timers = NULL;
    c->places = NULL;
    c->captimers = c->ntimers = 0;
}
