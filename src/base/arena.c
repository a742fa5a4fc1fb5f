/* arena.c - the chunks behind arena.h.
 * A reference is a chunk number (17 bits) and an offset in units of 8 bytes (15
 * bits): 32 GB in all. Chunks start at 4 KB and double up to 256 KB, so a small
 * arena stays small. A piece larger than a chunk gets a chunk of its own. One
 * large growing block was rejected: growing would move what others point to. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_MIN = 4096, CHUNK_MAX = COS_ARENA_UNIT << COS_ARENA_BITS };

void cos_arena_init(struct cos_arena *arena, size_t max)
{
    *arena = (struct cos_arena){.max = max};
}

void cos_arena_release(struct cos_arena *arena)
{
    for (uint32_t i = 0; i < arena->nchunks; i++)
        free(arena->chunks[i]);
    free(arena->chunks);
    *arena = (struct cos_arena){.max = arena->max};
}

static int grow_array(struct cos_arena *arena)
{
    uint32_t room = arena->room ? arena->room * 2 : 8;
    size_t more = (room - arena->room) * sizeof(char *);
    char **chunks;
    if (arena->nchunks < arena->room)
        return 0;
    if (arena->bytes > arena->max || more > arena->max - arena->bytes)
        return -1;
    chunks = realloc(arena->chunks, room * sizeof *chunks);
    if (!chunks)
        return -1;
    arena->bytes += more;
    arena->chunks = chunks;
    arena->room = room;
    return 0;
}

static size_t chunk_size(const struct cos_arena *arena, size_t need)
{
    size_t size = arena->nchunks < 6 ? (size_t)CHUNK_MIN << arena->nchunks : CHUNK_MAX;
    size_t left = arena->max > arena->bytes ? arena->max - arena->bytes : 0;
    if (size > left)
        size = left / COS_ARENA_UNIT * COS_ARENA_UNIT;
    if (size < need)
        size = need;
    return size > left ? 0 : size;
}

static int add_chunk(struct cos_arena *arena, size_t need)
{
    size_t size;
    char *chunk;
    /* The last chunk number is never given: its references mark empty slots. */
    if (arena->nchunks == (1u << (32 - COS_ARENA_BITS)) - 1 || grow_array(arena))
        return -1;
    size = chunk_size(arena, need);
    if (!size || !(chunk = malloc(size)))
        return -1;
    arena->chunks[arena->nchunks++] = chunk;
    arena->bytes += size;
    arena->cap = size;
    arena->used = 0;
    return 0;
}

void *cos_arena_alloc(struct cos_arena *arena, size_t size, uint32_t *ref)
{
    char *at;
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + COS_ARENA_UNIT - 1) / COS_ARENA_UNIT * COS_ARENA_UNIT;
    if (!size)
        size = COS_ARENA_UNIT;
    if (size > arena->cap - arena->used && add_chunk(arena, size))
        return NULL;
    at = arena->chunks[arena->nchunks - 1] + arena->used;
    if (ref)
        *ref = (arena->nchunks - 1) << COS_ARENA_BITS | (uint32_t)(arena->used / COS_ARENA_UNIT);
    arena->used += size;
    return at;
}

char *cos_arena_dup(struct cos_arena *arena, const char *s, size_t len)
{
    char *copy = len < SIZE_MAX ? cos_arena_alloc(arena, len + 1, NULL) : NULL;
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, s, len);
    copy[len] = 0;
    return copy;
}
