/* map64.h - 64-bit keys, already hashed, to 32-bit numbers: what the archive
 * needs to find a URL or a digest among millions in 16 bytes each. */
#ifndef COS_STORE_MAP64_H
#define COS_STORE_MAP64_H

#include <stddef.h>
#include <stdint.h>

struct cos_map64 {
    uint64_t *keys; /* 0: free */
    uint32_t *values;
    size_t used, room;
};

/* A zeroed struct is an empty map. */
void cos_map64_release(struct cos_map64 *map);
/* The value's place, or NULL. */
uint32_t *cos_map64_find(const struct cos_map64 *map, uint64_t key);
/* The value's place, new ones are 0; NULL when out of memory. Valid until the
 * next call. */
uint32_t *cos_map64_add(struct cos_map64 *map, uint64_t key);

#endif
