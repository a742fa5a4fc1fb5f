/* ring.h - a queue of fixed-size items with both ends open, in O(1), growing up
 * to a ceiling. Items are copied in and out, so whoever pops an item owns it. */
#ifndef COS_BASE_RING_H
#define COS_BASE_RING_H

#include <stddef.h>

struct cos_ring {
    char *items;
    size_t size;  /* of one item */
    size_t head;  /* index of the first item */
    size_t count;
    size_t cap;   /* items there is room for: 0 or a power of two */
    size_t max;   /* count never exceeds this */
};

/* Nothing is allocated. size is that of one item, max the ceiling in items. */
void cos_ring_init(struct cos_ring *ring, size_t size, size_t max);
/* Frees the room, not what the items point to; size and ceiling stay. */
void cos_ring_release(struct cos_ring *ring);
/* Forgets all items, keeps the room. */
void cos_ring_clear(struct cos_ring *ring);
/* 0, COS_EFULL at the ceiling, COS_ENOMEM. A failed push leaves the item with
 * the caller. */
int cos_ring_push(struct cos_ring *ring, const void *item);
int cos_ring_push_front(struct cos_ring *ring, const void *item);
/* Copies the first (last) item to *item, which may be NULL, and drops it.
 * 0 or COS_ENOENT. */
int cos_ring_pop(struct cos_ring *ring, void *item);
int cos_ring_pop_back(struct cos_ring *ring, void *item);
/* The item at a position counted from the front, in place; NULL when there is
 * none. Good until the next push or pop. */
void *cos_ring_at(const struct cos_ring *ring, size_t at);

#endif
