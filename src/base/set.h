/* set.h - a set of strings, each with a small payload of fixed size; also a map
 * from string to payload. Made for millions of URLs: about 100 bytes for a
 * URL of 60, O(1), no long pause when it grows, keyed hashing so that a site cannot
 * aim its links at one bucket. */
#ifndef COS_BASE_SET_H
#define COS_BASE_SET_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum { COS_SET_SHARDS = 64, COS_SET_CLASSES = 80, COS_SET_KEY_MAX = 128 * 1024 };

struct cos__set_shard {
    struct cos__set_slot *slots;
    uint32_t mask;   /* slots - 1; 0 when there are none */
    uint32_t count;  /* live and dead slots */
    uint32_t dead;
};

struct cos_set {
    size_t count;          /* strings in the set */
    size_t max;            /* ceiling in bytes, all memory counted */
    size_t slot_bytes;
    size_t payload;        /* bytes per string, a multiple of 8 */
    uint64_t key[2];
    struct cos_arena arena;
    struct cos__set_shard shards[COS_SET_SHARDS];
    uint32_t spare[COS_SET_CLASSES];  /* records of removed strings, by size */
};

/* Nothing is allocated. payload: bytes kept with each string (0 is fine); max:
 * ceiling in bytes. A zeroed struct may be released. */
void cos_set_init(struct cos_set *set, size_t payload, size_t max);
/* Frees everything; payload and ceiling stay, so the set can be used again. */
void cos_set_release(struct cos_set *set);

/* Adds key[0..len), copied. 1 when it is new, 0 when it was there, COS_ETOOBIG
 * at the ceiling or for a key over COS_SET_KEY_MAX, COS_ENOMEM. *payload (may be
 * NULL) is set to the string's payload, zeroed when new, aligned to 8; it stays
 * where it is until the string is removed. */
int cos_set_add(struct cos_set *set, const char *key, size_t len, void **payload);
/* Whether it is there; *payload as above, NULL when it is not. */
int cos_set_has(const struct cos_set *set, const char *key, size_t len, void **payload);
/* Removes it; its memory serves later strings. 1, or 0 when it was not there. */
int cos_set_remove(struct cos_set *set, const char *key, size_t len);

/* Visits every string once, in no order: start with *pos = 0. The string (NUL-terminated),
 * its length and its payload may each be NULL. 1, or 0 at the end. Removing the
 * string just visited is fine; adding meanwhile is not. */
int cos_set_next(const struct cos_set *set, uint64_t *pos, const char **key, size_t *len,
                 void **payload);
/* All memory the set holds. */
size_t cos_set_bytes(const struct cos_set *set);

#endif
