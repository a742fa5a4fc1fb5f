/* arena.h - memory that is handed out piece by piece and freed all at once.
 * Pieces never move, so pointers into an arena stay good until it is cleared.
 * Each piece also has a 32-bit reference, half the size of a pointer, for
 * tables with millions of entries. */
#ifndef COS_BASE_ARENA_H
#define COS_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct cos_arena {
    char **chunks;
    uint32_t nchunks;
    uint32_t room;    /* length of the chunks array */
    size_t used;      /* bytes in use in the last chunk */
    size_t cap;       /* size of the last chunk */
    size_t bytes;     /* allocated in all, chunks and array */
    size_t max;       /* bytes never exceeds this */
};

/* Nothing is allocated. A zeroed struct is an arena with ceiling 0. */
void cos_arena_init(struct cos_arena *arena, size_t max);
/* Frees everything; the ceiling stays, so the arena can be used again. */
void cos_arena_release(struct cos_arena *arena);
/* Takes size bytes, aligned to 8, not zeroed. NULL at the ceiling or when out
 * of memory: the arena is as before. *ref (may be NULL) is the reference. */
void *cos_arena_alloc(struct cos_arena *arena, size_t size, uint32_t *ref);
/* A NUL-terminated copy of s[0..len). NULL as above. */
char *cos_arena_dup(struct cos_arena *arena, const char *s, size_t len);

enum { COS_ARENA_UNIT = 8, COS_ARENA_BITS = 15 };

/* The piece behind a reference that cos_arena_alloc gave. */
static inline void *cos_arena_at(const struct cos_arena *arena, uint32_t ref)
{
    uint32_t unit = ref & ((1u << COS_ARENA_BITS) - 1);
    return arena->chunks[ref >> COS_ARENA_BITS] + (size_t)unit * COS_ARENA_UNIT;
}

#endif
