/* ring.c - the ring of ring.h: a power-of-two array that doubles when full and
 * halves when an eighth is left, so a queue that was once long gives its memory
 * back. The gap between the two keeps a queue at the edge from resizing at
 * every push. */
#include "base/ring.h"

#include "base/err.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_MIN = 8, CAP_SHRINK = 1024 };

void cos_ring_init(struct cos_ring *ring, size_t size, size_t max)
{
    *ring = (struct cos_ring){.size = size, .max = max};
}

void cos_ring_release(struct cos_ring *ring)
{
    free(ring->items);
    *ring = (struct cos_ring){.size = ring->size, .max = ring->max};
}

void cos_ring_clear(struct cos_ring *ring)
{
    ring->head = ring->count = 0;
}

static char *slot(const struct cos_ring *ring, size_t at)
{
    return ring->items + ((ring->head + at) & (ring->cap - 1)) * ring->size;
}

static int resize(struct cos_ring *ring, size_t cap)
{
    size_t first = ring->cap - ring->head;
    char *items;
    if (!ring->size || cap > SIZE_MAX / 2 / ring->size)
        return COS_ENOMEM;
    items = malloc(cap * ring->size);
    if (!items)
        return COS_ENOMEM;
    if (first > ring->count)
        first = ring->count;
    if (ring->count) {
        memcpy(items, slot(ring, 0), first * ring->size);
        memcpy(items + first * ring->size, ring->items, (ring->count - first) * ring->size);
    }
    free(ring->items);
    ring->items = items;
    ring->cap = cap;
    ring->head = 0;
    return 0;
}

static int make_room(struct cos_ring *ring)
{
    if (ring->count >= ring->max)
        return COS_EFULL;
    if (ring->count < ring->cap)
        return 0;
    return resize(ring, ring->cap ? ring->cap * 2 : CAP_MIN);
}

static void give_back(struct cos_ring *ring)
{
    /* Shrinking is a favour: when it fails the larger array stays. */
    if (ring->cap > CAP_SHRINK && ring->count <= ring->cap / 8)
        (void)resize(ring, ring->cap / 2);
}

int cos_ring_push(struct cos_ring *ring, const void *item)
{
    int err = make_room(ring);
    if (err)
        return err;
    memcpy(slot(ring, ring->count), item, ring->size);
    ring->count++;
    return 0;
}

int cos_ring_push_front(struct cos_ring *ring, const void *item)
{
    int err = make_room(ring);
    if (err)
        return err;
    ring->head = (ring->head + ring->cap - 1) & (ring->cap - 1);
    memcpy(slot(ring, 0), item, ring->size);
    ring->count++;
    return 0;
}

int cos_ring_pop(struct cos_ring *ring, void *item)
{
    if (ring->count == 0)
        return COS_ENOENT;
    if (item)
        memcpy(item, slot(ring, 0), ring->size);
    ring->head = (ring->head + 1) & (ring->cap - 1);
    ring->count--;
    give_back(ring);
    return 0;
}

int cos_ring_pop_back(struct cos_ring *ring, void *item)
{
    if (ring->count == 0)
        return COS_ENOENT;
    ring->count--;
    if (item)
        memcpy(item, slot(ring, ring->count), ring->size);
    give_back(ring);
    return 0;
}

void *cos_ring_at(const struct cos_ring *ring, size_t at)
{
    return at < ring->count ? slot(ring, at) : NULL;
}
