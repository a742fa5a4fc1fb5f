/* seen.h - a set of byte strings that live in someone else's memory.
 *
 * For "was this link on this page already": an entry is an offset and a length
 * in a text that the caller names at each call (it may move as it grows), and a
 * tag that must match too. Emptying it costs nothing. */
#ifndef COS_WEB_SEEN_H
#define COS_WEB_SEEN_H

#include <stddef.h>
#include <stdint.h>

struct cos__seen_slot {
    uint32_t hash;
    uint32_t round; /* in use when it is the set's */
    uint32_t at, len;
    uint32_t tag;
    uint32_t value; /* the caller's */
};

/* Zeroed = empty. */
struct cos__seen {
    struct cos__seen_slot *slots;
    size_t size; /* a power of two, or 0 */
    size_t room; /* slots there is memory for */
    size_t used;
    uint32_t round;
};

void cos__seen_release(struct cos__seen *seen);
void cos__seen_clear(struct cos__seen *seen);
/* What find and add want to know of a key. */
uint32_t cos__seen_hash(const char *key, size_t len);
/* The slot of key, or NULL when it is not in the set. */
struct cos__seen_slot *cos__seen_find(const struct cos__seen *seen, uint32_t hash,
                                      const char *text, const char *key, size_t len, uint32_t tag);
/* Adds text[at..at+len), which is not in the set. When there is no room the set
 * stays as it is: what it cannot hold is taken for new again. */
void cos__seen_add(struct cos__seen *seen, uint32_t hash, size_t at, size_t len, uint32_t tag,
                   uint32_t value);

#endif
