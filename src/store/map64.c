/* map64.c - open addressing, at most half full. Key 0 counts as 1. */
#include "store/map64.h"

#include <stdlib.h>

enum { FIRST = 256 };

void cos_map64_release(struct cos_map64 *map)
{
    free(map->keys);
    free(map->values);
    *map = (struct cos_map64){0};
}

static size_t place(const struct cos_map64 *map, uint64_t key)
{
    size_t at = (size_t)key & (map->room - 1);
    while (map->keys[at] && map->keys[at] != key)
        at = (at + 1) & (map->room - 1);
    return at;
}

uint32_t *cos_map64_find(const struct cos_map64 *map, uint64_t key)
{
    size_t at;
    key += !key;
    if (!map->room)
        return NULL;
    at = place(map, key);
    return map->keys[at] ? &map->values[at] : NULL;
}

static int grow(struct cos_map64 *map)
{
    struct cos_map64 more = {.room = map->room ? map->room * 2 : FIRST, .used = map->used};
    more.keys = calloc(more.room, sizeof *more.keys);
    more.values = calloc(more.room, sizeof *more.values);
    if (!more.keys || !more.values) {
        cos_map64_release(&more);
        return -1;
    }
    for (size_t i = 0; i < map->room; i++)
        if (map->keys[i]) {
            size_t at = place(&more, map->keys[i]);
            more.keys[at] = map->keys[i];
            more.values[at] = map->values[i];
        }
    cos_map64_release(map);
    *map = more;
    return 0;
}

uint32_t *cos_map64_add(struct cos_map64 *map, uint64_t key)
{
    size_t at;
    key += !key;
    if (map->used * 2 >= map->room && grow(map))
        return NULL;
    at = place(map, key);
    if (!map->keys[at]) {
        map->keys[at] = key;
        map->used++;
    }
    return &map->values[at];
}
