/* frontier.c - the known URLs: nodes in chunks, a hash table of numbers, texts.
 *
 * Nothing moves when it grows except the table, which doubles at two thirds;
 * chunks are mapped, so that spilled texts really leave the process. */
#include "config.h"

#include "crawl/frontier.h"

#include "base/err.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    NODES = 8192,          /* in a chunk; cos_frontier_node() knows too */
    TEXT_CHUNK = 1 << 20,
    TEXT_BITS = 20,
    TEXT_CHUNKS = 4095,
    FIRST_SLOTS = 1024,
    ORIGINS_MAX = 1 << 30,
    IDS_MAX = (1 << 27) - 1, /* an id leaves five bits of a packed link */
};

_Static_assert(sizeof(struct cos_node) == 32, "a node is 32 bytes");

int cos_frontier_init(struct cos_frontier *f, const struct cos_polite_rules *polite,
                      size_t max_bytes)
{
    const uint64_t *key = cos_hash_process_key();
    *f = (struct cos_frontier){.polite = *polite, .max_bytes = max_bytes};
    memcpy(f->key, key, sizeof f->key);
    f->dice = (uint32_t)key[0] | 1;
    cos_set_init(&f->origins, sizeof(uint64_t), ORIGINS_MAX);
    f->slots = calloc(FIRST_SLOTS, sizeof *f->slots);
    if (!f->slots)
        return COS_ENOMEM;
    f->mask = FIRST_SLOTS - 1;
    f->bytes = FIRST_SLOTS * sizeof *f->slots;
    return 0;
}

void cos_frontier_release(struct cos_frontier *f)
{
    for (uint32_t i = 0; i < f->nchunks; i++)
        munmap(f->chunks[i], NODES * sizeof(struct cos_node));
    for (uint32_t i = 0; i < f->ntexts; i++)
        if (f->texts[i])
            munmap(f->texts[i], TEXT_CHUNK);
    for (uint32_t i = 0; i < f->nhosts; i++) {
        free(f->hosts[i]->origin);
        free(f->hosts[i]->down_why);
        free(f->hosts[i]->user);
        free(f->hosts[i]->password);
        free(f->hosts[i]);
    }
    free(f->chunks);
    free(f->texts);
    free(f->slots);
    free(f->hosts);
    free(f->heap);
    free(f->retries);
    cos_set_release(&f->origins);
    *f = (struct cos_frontier){0};
}

uint64_t cos_frontier_hash(const struct cos_frontier *f, const char *url, size_t len)
{
    uint64_t hash = cos_hash_keyed(f->key, url, len);
    return hash ? hash : 1;
}

/* --- the table -------------------------------------------------------------------- */

uint32_t cos_frontier_find(const struct cos_frontier *f, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (uint32_t at = (uint32_t)hash & f->mask; f->slots[at]; at = (at + 1) & f->mask) {
        uint32_t id = (uint32_t)f->slots[at];
        if ((uint32_t)(f->slots[at] >> 32) == tag && cos_frontier_node(f, id)->hash == hash)
            return id;
    }
    return 0;
}

void cos_frontier_prefetch(const struct cos_frontier *f, const uint64_t *hashes, size_t n)
{
    enum { AT_ONCE = 64 };
    if (n > AT_ONCE)
        n = AT_ONCE;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&f->slots[(uint32_t)hashes[i] & f->mask]);
    for (size_t i = 0; i < n; i++) {
        uint32_t id = (uint32_t)f->slots[(uint32_t)hashes[i] & f->mask];
        if (id)
            __builtin_prefetch(cos_frontier_node(f, id), 1);
    }
}

static void insert(uint64_t *slots, uint32_t mask, uint64_t hash, uint32_t id)
{
    uint32_t at = (uint32_t)hash & mask;
    while (slots[at])
        at = (at + 1) & mask;
    slots[at] = (hash >> 32) << 32 | id;
}

static int grow_table(struct cos_frontier *f)
{
    uint32_t room = (f->mask + 1) * 2;
    uint64_t *slots;
    if (f->count < (f->mask + 1) / 3 * 2)
        return 0;
    slots = room ? calloc(room, sizeof *slots) : NULL;
    if (!slots)
        return COS_ENOMEM;
    for (uint32_t id = 1; id <= f->count; id++)
        insert(slots, room - 1, cos_frontier_node(f, id)->hash, id);
    free(f->slots);
    f->slots = slots;
    f->bytes += (room - f->mask - 1) * sizeof *slots;
    f->mask = room - 1;
    return 0;
}

/* --- memory ------------------------------------------------------------------------ */

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static int more(void *list, uint32_t count, uint32_t *room)
{
    uint32_t wider = *room ? *room * 2 : 16;
    void **items, **grown;
    memcpy(&items, list, sizeof items);
    if (count < *room)
        return 0;
    grown = realloc(items, wider * sizeof *grown);
    if (!grown)
        return COS_ENOMEM;
    *room = wider;
    memcpy(list, &grown, sizeof grown);
    // cppcheck-suppress memleak ; the list has it now
    return 0;
}

static int grow_nodes(struct cos_frontier *f)
{
    struct cos_node *chunk;
    if ((f->count + 1) >> 13 < f->nchunks)
        return 0;
    if (more(&f->chunks, f->nchunks, &f->chunk_room))
        return COS_ENOMEM;
    chunk = map(NODES * sizeof *chunk);
    if (!chunk)
        return COS_ENOMEM;
    f->chunks[f->nchunks++] = chunk;
    return 0;
}

/* --- texts -------------------------------------------------------------------------- */

static int grow_texts(struct cos_frontier *f, size_t len)
{
    char *chunk;
    if (f->ntexts && f->texts[f->ntexts - 1] && f->text_used + len + 1 <= TEXT_CHUNK)
        return 0;
    if (f->ntexts >= TEXT_CHUNKS || len + 1 > TEXT_CHUNK)
        return COS_EFULL;
    if (more(&f->texts, f->ntexts, &f->text_room))
        return COS_ENOMEM;
    chunk = map(TEXT_CHUNK);
    if (!chunk)
        return COS_ENOMEM;
    f->texts[f->ntexts++] = chunk;
    f->text_used = 0;
    return 0;
}

const char *cos_frontier_text(const struct cos_frontier *f, uint32_t id)
{
    uint32_t ref = cos_frontier_node(f, id)->text;
    const char *chunk = f->texts[ref >> TEXT_BITS];
    return chunk ? chunk + (ref & (TEXT_CHUNK - 1)) : NULL;
}

int cos_frontier_set_text(struct cos_frontier *f, uint32_t id, const char *url, size_t len)
{
    int err = grow_texts(f, len);
    char *to;
    if (err)
        return err;
    to = f->texts[f->ntexts - 1] + f->text_used;
    memcpy(to, url, len);
    to[len] = 0;
    cos_frontier_node(f, id)->text =
        (f->ntexts - 1) << TEXT_BITS | (uint32_t)f->text_used;
    f->text_used += len + 1;
    f->bytes += len + 1;
    return 0;
}

size_t cos_frontier_spill(struct cos_frontier *f)
{
    size_t freed = 0;
    for (uint32_t i = 0; i < f->ntexts; i++) {
        if (!f->texts[i])
            continue;
        munmap(f->texts[i], TEXT_CHUNK);
        f->texts[i] = NULL;
        freed += i + 1 < f->ntexts ? TEXT_CHUNK : f->text_used;
    }
    if (freed > f->bytes)
        freed = f->bytes;
    f->bytes -= freed;
    return freed;
}

/* --- adding --------------------------------------------------------------------------- */

int cos_frontier_add(struct cos_frontier *f, uint64_t hash, const char *url, size_t len,
                     uint32_t *id)
{
    uint32_t host = 0;
    struct cos_node *node;
    int err;
    if (f->count >= IDS_MAX)
        return COS_EFULL;
    if ((err = grow_table(f)) || (err = grow_nodes(f)))
        return err;
    if (!cos_frontier_origin(f, url, len, &host))
        return COS_ENOMEM;
    node = cos_frontier_node(f, f->count + 1);
    *node = (struct cos_node){.hash = hash, .host = host & 0xffffff, .depth = UINT16_MAX,
                              .rank = UINT32_MAX};
    if ((err = cos_frontier_set_text(f, f->count + 1, url, len)))
        return err;
    *id = ++f->count;
    insert(f->slots, f->mask, hash, *id);
    f->bytes += sizeof *node;
    return 0;
}

int cos_frontier_offer(struct cos_frontier *f, uint32_t id, int depth, uint32_t referrer,
                       uint32_t rank, int hops)
{
    struct cos_node *node = cos_frontier_node(f, id);
    int changed = 0;
    if (depth > node->depth || (depth == node->depth && rank >= node->rank))
        return 0;
    if (depth < node->depth)
        changed |= COS_OFFER_DEPTH;
    if (referrer != node->referrer)
        changed |= COS_OFFER_REFERRER;
    node->depth = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX - 1);
    node->referrer = referrer;
    node->rank = rank;
    node->hops = (unsigned)(hops < 127 ? hops : 127) & 127;
    if (changed && node->written)
        node->stale = 1;
    return changed;
}
