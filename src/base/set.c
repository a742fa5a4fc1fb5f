/* set.c - the string set of set.h.
 * 64 tables by the top bits of the hash, each with open addressing and linear
 * probing. A slot is 8 bytes: 32 bits of the hash and a reference into the
 * arena, so growing never reads a string, and growing one table of 64 stops the
 * loop for a sixty-fourth of what one large table would (4 million URLs: 40 ms).
 * Records are {length, flags, payload, string, NUL} in the arena; removed ones
 * go to a list for their size. Rejected: a chained table with a pointer per
 * string (malloc's overhead alone is 16 bytes a string), a tree (log n misses),
 * a filter of hashes only (a false "seen" loses a page without a trace). */
#include "base/set.h"

#include "base/err.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct cos__set_slot {
    uint32_t hash;
    uint32_t ref;
};

struct record {
    uint32_t len;
    uint32_t size; /* of the whole record in bytes, a multiple of 8 */
    char data[];   /* payload, then the string */
};

enum { SLOTS_MIN = 8 };
/* Two references the arena never gives: it leaves its last chunk out. */
static const uint32_t EMPTY = 0xffffffff, DEAD = 0xfffffffe;

void cos_set_init(struct cos_set *set, size_t payload, size_t max)
{
    const uint64_t *key = cos_hash_process_key();
    *set = (struct cos_set){.payload = (payload + 7) / 8 * 8, .max = max};
    set->key[0] = key[0];
    set->key[1] = key[1];
    cos_arena_init(&set->arena, max);
    memset(set->spare, 0xff, sizeof set->spare);
}

void cos_set_release(struct cos_set *set)
{
    for (size_t i = 0; i < COS_SET_SHARDS; i++)
        free(set->shards[i].slots);
    cos_arena_release(&set->arena);
    cos_set_init(set, set->payload, set->max);
}

size_t cos_set_bytes(const struct cos_set *set)
{
    return set->arena.bytes + set->slot_bytes;
}

/* Exact sizes up to 512 bytes, powers of two above, so that every record can be
 * used again by another string of its class. */
static size_t class_of(size_t *size)
{
    size_t class = 64, whole = 1024;
    if (*size <= 512)
        return *size / 8 - 1;
    while (whole < *size) {
        whole *= 2;
        class++;
    }
    *size = whole;
    return class;
}

static size_t record_size(const struct cos_set *set, size_t len)
{
    return (sizeof(struct record) + set->payload + len + 1 + 7) / 8 * 8;
}

static struct record *record_at(const struct cos_set *set, uint32_t ref)
{
    return cos_arena_at(&set->arena, ref);
}

static struct cos__set_slot *find(const struct cos_set *set, uint64_t hash, const char *key,
                                  size_t len)
{
    const struct cos__set_shard *shard = &set->shards[hash >> 58];
    struct cos__set_slot *slot;
    struct record *rec;
    if (!shard->slots)
        return NULL;
    for (uint32_t at = (uint32_t)hash & shard->mask;; at = (at + 1) & shard->mask) {
        slot = &shard->slots[at];
        if (slot->ref == EMPTY)
            return NULL;
        if (slot->hash != (uint32_t)hash || slot->ref == DEAD)
            continue;
        rec = record_at(set, slot->ref);
        if (rec->len == len && !memcmp(rec->data + set->payload, key, len))
            return slot;
    }
}

static void place(struct cos__set_slot *slots, uint32_t mask, struct cos__set_slot item)
{
    uint32_t at = item.hash & mask;
    while (slots[at].ref != EMPTY)
        at = (at + 1) & mask;
    slots[at] = item;
}

/* Room for one more: grows at 3/4 full, or only sweeps when many are dead. */
static int make_room(struct cos_set *set, struct cos__set_shard *shard)
{
    size_t old = shard->slots ? (size_t)shard->mask + 1 : 0, room = old;
    struct cos__set_slot *slots;
    if (shard->count < old / 4 * 3)
        return 0;
    if (!old || shard->dead < old / 4)
        room = old ? old * 2 : SLOTS_MIN;
    if (room > UINT32_MAX / 2 ||
        cos_set_bytes(set) + (room - old) * sizeof *slots > set->max)
        return COS_ETOOBIG;
    slots = malloc(room * sizeof *slots);
    if (!slots)
        return COS_ENOMEM;
    memset(slots, 0xff, room * sizeof *slots);
    for (size_t i = 0; i < old; i++)
        if (shard->slots[i].ref < DEAD)
            place(slots, (uint32_t)room - 1, shard->slots[i]);
    free(shard->slots);
    *shard = (struct cos__set_shard){.slots = slots, .mask = (uint32_t)room - 1,
                                     .count = shard->count - shard->dead};
    set->slot_bytes += (room - old) * sizeof *slots;
    return 0;
}

static struct record *take_record(struct cos_set *set, size_t len, uint32_t *ref)
{
    size_t size = record_size(set, len), class = class_of(&size);
    struct record *rec;
    if (set->spare[class] != EMPTY) {
        *ref = set->spare[class];
        rec = record_at(set, *ref);
        memcpy(&set->spare[class], rec->data, sizeof *ref);
        return rec;
    }
    set->arena.max = set->max > set->slot_bytes ? set->max - set->slot_bytes : 0;
    rec = cos_arena_alloc(&set->arena, size, ref);
    if (rec)
        rec->size = (uint32_t)size;
    return rec;
}

/* A new chunk may need a longer list of chunks as well. */
static int at_ceiling(const struct cos_set *set, size_t len)
{
    size_t list = (set->arena.room + 8) * sizeof(char *);
    return cos_set_bytes(set) + record_size(set, len) + list > set->max;
}

static void fill(const struct cos_set *set, struct record *rec, const char *key, size_t len)
{
    rec->len = (uint32_t)len;
    memset(rec->data, 0, set->payload);
    if (len)
        memcpy(rec->data + set->payload, key, len);
    rec->data[set->payload + len] = 0;
}

int cos_set_add(struct cos_set *set, const char *key, size_t len, void **payload)
{
    uint64_t hash = cos_hash_keyed(set->key, key, len);
    struct cos__set_shard *shard = &set->shards[hash >> 58];
    struct cos__set_slot *slot = find(set, hash, key, len), item = {.hash = (uint32_t)hash};
    struct record *rec;
    int err;
    if (slot) {
        if (payload)
            *payload = record_at(set, slot->ref)->data;
        return 0;
    }
    if (len > COS_SET_KEY_MAX)
        return COS_ETOOBIG;
    err = make_room(set, shard);
    if (err)
        return err;
    rec = take_record(set, len, &item.ref);
    if (!rec)
        return at_ceiling(set, len) ? COS_ETOOBIG : COS_ENOMEM;
    fill(set, rec, key, len);
    place(shard->slots, shard->mask, item);
    shard->count++;
    set->count++;
    if (payload)
        *payload = rec->data;
    return 1;
}

int cos_set_has(const struct cos_set *set, const char *key, size_t len, void **payload)
{
    struct cos__set_slot *slot = find(set, cos_hash_keyed(set->key, key, len), key, len);
    if (payload)
        *payload = slot ? record_at(set, slot->ref)->data : NULL;
    return slot != NULL;
}

int cos_set_remove(struct cos_set *set, const char *key, size_t len)
{
    uint64_t hash = cos_hash_keyed(set->key, key, len);
    struct cos__set_slot *slot = find(set, hash, key, len);
    struct record *rec;
    size_t size, class;
    if (!slot)
        return 0;
    rec = record_at(set, slot->ref);
    size = rec->size;
    class = class_of(&size);
    memcpy(rec->data, &set->spare[class], sizeof slot->ref);
    set->spare[class] = slot->ref;
    slot->ref = DEAD;
    set->shards[hash >> 58].dead++;
    set->count--;
    return 1;
}

int cos_set_next(const struct cos_set *set, uint64_t *pos, const char **key, size_t *len,
                 void **payload)
{
    uint32_t shard = (uint32_t)(*pos >> 32), at = (uint32_t)*pos;
    for (; shard < COS_SET_SHARDS; shard++, at = 0) {
        const struct cos__set_shard *s = &set->shards[shard];
        while (s->slots && at <= s->mask && s->slots[at].ref >= DEAD)
            at++;
        if (!s->slots || at > s->mask)
            continue;
        struct record *rec = record_at(set, s->slots[at].ref);
        *pos = (uint64_t)shard << 32 | (at + 1);
        if (key)
            *key = rec->data + set->payload;
        if (len)
            *len = rec->len;
        if (payload)
            *payload = rec->data;
        return 1;
    }
    *pos = (uint64_t)COS_SET_SHARDS << 32;
    return 0;
}
