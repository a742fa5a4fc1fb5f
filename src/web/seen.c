/* seen.c - open addressing with a ceiling on everything: on slots, and on the
 * probes of one search. A page made to collide costs its own duplicates some
 * work twice and nobody any time; so the hash needs no secret.
 *
 * Each page begins with few slots again, whatever the page before needed: a table
 * that stays as large as its largest page misses the cache at every link. */
#include "web/seen.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 128, MAX_SIZE = 1 << 21, KEEP_SIZE = 1 << 16, MAX_PROBES = 24 };

uint32_t cos__seen_hash(const char *key, size_t len)
{
    uint64_t hash = len * 0x9e3779b97f4a7c15, word;
    for (; len >= 8; key += 8, len -= 8) {
        memcpy(&word, key, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccd;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, key, len);
    hash = (hash ^ word) * 0xc4ceb9fe1a85ec53;
    return (uint32_t)(hash >> 32);
}

void cos__seen_release(struct cos__seen *seen)
{
    free(seen->slots);
    *seen = (struct cos__seen){0};
}

void cos__seen_clear(struct cos__seen *seen)
{
    /* One huge page must not cost its memory for the rest of the crawl. */
    if (seen->room > KEEP_SIZE || seen->round > UINT32_MAX / 2)
        cos__seen_release(seen);
    if (seen->size)
        seen->size = FIRST_SIZE;
    seen->used = 0;
    seen->round++;
}

struct cos__seen_slot *cos__seen_find(const struct cos__seen *seen, uint32_t hash,
                                      const char *text, const char *key, size_t len, uint32_t tag)
{
    if (!seen->size)
        return NULL;
    for (size_t i = 0; i < MAX_PROBES; i++) {
        struct cos__seen_slot *slot = &seen->slots[(hash + i) & (seen->size - 1)];
        if (slot->round != seen->round)
            return NULL;
        if (slot->hash == hash && slot->len == len && slot->tag == tag &&
            !memcmp(text + slot->at, key, len))
            return slot;
    }
    return NULL;
}

static void put(struct cos__seen *seen, const struct cos__seen_slot *entry)
{
    for (size_t i = 0; i < MAX_PROBES; i++) {
        struct cos__seen_slot *slot = &seen->slots[(entry->hash + i) & (seen->size - 1)];
        if (slot->round != seen->round) {
            *slot = *entry;
            seen->used++;
            return;
        }
    }
}

/* Twice the slots, in the memory that is there if it is enough. */
static int grow(struct cos__seen *seen)
{
    size_t size = seen->size ? seen->size * 2 : FIRST_SIZE, n = 0;
    struct cos__seen_slot *old, *slots = NULL;
    if (size > MAX_SIZE || !(old = malloc((seen->used + 1) * sizeof *old)))
        return 0;
    if (size > seen->room && !(slots = calloc(size, sizeof *slots))) {
        free(old);
        return 0;
    }
    for (size_t i = 0; i < seen->size; i++)
        if (seen->slots[i].round == seen->round)
            old[n++] = seen->slots[i];
    if (slots) {
        free(seen->slots);
        seen->slots = slots;
        seen->room = size;
    }
    seen->size = size;
    seen->used = 0;
    seen->round++;
    for (size_t i = 0; i < n; i++) {
        old[i].round = seen->round;
        put(seen, &old[i]);
    }
    free(old);
    return 1;
}

void cos__seen_add(struct cos__seen *seen, uint32_t hash, size_t at, size_t len, uint32_t tag,
                   uint32_t value)
{
    struct cos__seen_slot entry = {.hash = hash, .at = (uint32_t)at, .len = (uint32_t)len,
                                   .tag = tag, .value = value};
    if (at > UINT32_MAX || len > UINT32_MAX)
        return;
    if (seen->used * 2 >= seen->size && !grow(seen) && seen->used * 8 >= seen->size * 7)
        return;
    entry.round = seen->round;
    put(seen, &entry);
}
