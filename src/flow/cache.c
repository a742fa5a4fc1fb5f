/* cache.c - the map of futures behind cache.h. May call future, base.
 *
 * Entries sit in chained buckets, which double, and in one ring by last use. An entry leaves
 * the map before anything else happens to it, so an invalidation during a load
 * is just that: the future lives on with those who hold it. The load runs in a
 * coroutine of the cache's own bundle, not in the first caller: a caller that
 * is cancelled must not take the load of the others with it. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/cache.h"

#include "base/emit.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/loop.h"
#include "flow/flow_int.h"

#include <errno.h>
#include <libdill.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 64, BUCKETS_MAX = 1 << 24, MAX = 1000, MAX_LOADS = 10000, KEY_MAX = 65536 };

/* By last use: a ring whose head is the cache's own link. */
struct link {
    struct link *older, *newer;
};

struct entry {
    struct link use;                 /* only when kept */
    struct entry *next;              /* in its bucket */
    struct cos_future *future;       /* a reference */
    int64_t expires;                 /* -1: never */
    uint64_t hash;
    uint8_t loading;
    char key[];
};

struct cos_flow_cache {
    struct cos_flow_cache_opts opts;
    struct cos_flow_cache_stats stats;
    struct entry **buckets;
    size_t nbuckets;                 /* a power of two */
    size_t entries;
    struct link uses;                /* newer: the oldest; older: the newest */
    size_t kept;
    size_t loads;                    /* under way, forgotten ones too */
    int bundle;
    uint8_t refuse;                  /* full: an error instead of an eviction */
    uint8_t freed;                   /* goes with the last load */
};

static uint64_t hash_of(const char *key)
{
    return cos_hash_keyed(cos_hash_process_key(), key, strlen(key));
}

static struct entry **slot_of(const struct cos_flow_cache *cache, uint64_t hash, const char *key)
{
    struct entry **at = &cache->buckets[hash & (cache->nbuckets - 1)];
    while (*at && ((*at)->hash != hash || strcmp((*at)->key, key) != 0))
        at = &(*at)->next;
    return at;
}

/* Without memory for more buckets the chains grow instead. */
static void grow(struct cos_flow_cache *cache)
{
    size_t n = cache->nbuckets * 2;
    struct entry **buckets = n <= BUCKETS_MAX ? calloc(n, sizeof(struct entry *)) : NULL;
    struct entry *entry, *next;
    if (!buckets)
        return;
    for (size_t i = 0; i < cache->nbuckets; i++)
        for (entry = cache->buckets[i]; entry; entry = next) {
            next = entry->next;
            entry->next = buckets[entry->hash & (n - 1)];
            buckets[entry->hash & (n - 1)] = entry;
        }
    free(cache->buckets);
    cache->buckets = buckets;
    cache->nbuckets = n;
}

static void unlink_use(struct entry *entry)
{
    entry->use.older->newer = entry->use.newer;
    entry->use.newer->older = entry->use.older;
}

static void link_use(struct cos_flow_cache *cache, struct entry *entry)
{
    entry->use.newer = &cache->uses;
    entry->use.older = cache->uses.older;
    entry->use.older->newer = &entry->use;
    cache->uses.older = &entry->use;
}

static void remove_at(struct cos_flow_cache *cache, struct entry **at)
{
    struct entry *entry = *at;
    *at = entry->next; // NOLINT(clang-analyzer-core.NullDereference) callers found it
    cache->entries--;
    if (!entry->loading) {
        unlink_use(entry);
        cache->kept--;
    }
    cos_future_free(entry->future);
    free(entry);
}

static void evict(struct cos_flow_cache *cache)
{
    while (cache->kept > cache->opts.max) {
        struct entry *entry = (struct entry *)cache->uses.newer; /* use stands first */
        remove_at(cache, slot_of(cache, entry->hash, entry->key));
        cache->stats.evicted++;
    }
}

/* --- life ------------------------------------------------------------------------- */

struct cos_flow_cache *cos_flow_cache_new(const struct cos_flow_cache_opts *opts)
{
    struct cos_flow_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->opts = *opts;
    if (!cache->opts.max)
        cache->opts.max = MAX;
    if (!cache->opts.max_loads)
        cache->opts.max_loads = MAX_LOADS;
    cache->uses.older = cache->uses.newer = &cache->uses;
    cache->bundle = -1;
    cache->nbuckets = BUCKETS;
    cache->buckets = calloc(BUCKETS, sizeof(struct entry *));
    if (!cache->buckets) {
        free(cache);
        return NULL;
    }
    return cache;
}

void cos__cache_refuse(struct cos_flow_cache *cache)
{
    cache->refuse = 1;
}

void cos_flow_cache_forget(struct cos_flow_cache *cache, const char *key)
{
    struct entry **at;
    if (key) {
        at = slot_of(cache, hash_of(key), key);
        if (*at)
            remove_at(cache, at);
        return;
    }
    for (size_t i = 0; i < cache->nbuckets; i++)
        while (cache->buckets[i])
            remove_at(cache, &cache->buckets[i]);
}

static void destroy(struct cos_flow_cache *cache)
{
    free(cache->buckets);
    free(cache);
}

/* Loads that are not coroutines of the cache's cannot be stopped: whoever waits for them is told,
 * and the cache stays, empty, until the last has answered. */
void cos_flow_cache_free(struct cos_flow_cache *cache)
{
    if (!cache)
        return;
    if (cache->bundle >= 0)
        dill_hclose(cache->bundle);
    for (size_t i = 0; i < cache->nbuckets; i++)
        for (struct entry *entry = cache->buckets[i]; entry; entry = entry->next)
            if (entry->loading)
                cos_future_set(entry->future, COS_ECLOSED, NULL);
    cos_flow_cache_forget(cache, NULL);
    cache->freed = 1;
    if (!cache->loads)
        destroy(cache);
}

size_t cos_flow_cache_size(const struct cos_flow_cache *cache)
{
    return cache->kept;
}

struct cos_flow_cache_stats cos_flow_cache_stats(const struct cos_flow_cache *cache)
{
    return cache->stats;
}

/* --- look-up ---------------------------------------------------------------------- */

/* The live entry for key, or NULL; an expired one goes. */
static struct entry *live(struct cos_flow_cache *cache, uint64_t hash, const char *key)
{
    struct entry **at = slot_of(cache, hash, key), *entry = *at;
    if (!entry || entry->loading || entry->expires < 0 || dill_now() < entry->expires)
        return entry;
    cache->stats.expired++;
    remove_at(cache, at);
    return NULL;
}

static struct entry *add_loading(struct cos_flow_cache *cache, uint64_t hash, const char *key)
{
    size_t len = strlen(key);
    struct entry *entry = calloc(1, sizeof *entry + len + 1), **at;
    if (!entry)
        return NULL;
    entry->future = cos_future_new(cache->opts.drop);
    if (!entry->future) {
        free(entry);
        return NULL;
    }
    if (cache->entries >= cache->nbuckets)
        grow(cache);
    memcpy(entry->key, key, len + 1);
    entry->hash = hash;
    entry->loading = 1;
    at = &cache->buckets[hash & (cache->nbuckets - 1)];
    entry->next = *at;
    *at = entry;
    cache->entries++;
    cache->loads++;
    cache->stats.loads++;
    return entry;
}

/* 0, or why no load may start for this key. */
static int may_load(const struct cos_flow_cache *cache, const char *key)
{
    if (strlen(key) > KEY_MAX)
        return COS_ETOOBIG;
    if (cache->loads >= cache->opts.max_loads)
        return COS_EFULL;
    return cache->refuse && cache->entries >= cache->opts.max ? COS_EFULL : 0;
}

struct cos_future *cos__cache_find(struct cos_flow_cache *cache, const char *key, int *load,
                                   int *err)
{
    uint64_t hash = hash_of(key);
    struct entry *entry = live(cache, hash, key);
    *load = !entry;
    *err = 0;
    if (entry && entry->loading) {
        cache->stats.joins++;
    } else if (entry) {
        cache->stats.hits++;
        unlink_use(entry);
        link_use(cache, entry);
    } else {
        *err = may_load(cache, key);
        entry = *err ? NULL : add_loading(cache, hash, key);
        if (!entry && !*err)
            *err = COS_ENOMEM;
    }
    return entry ? cos_future_ref(entry->future) : NULL;
}

/* Keeps the value whose load has just succeeded. */
static void keep(struct cos_flow_cache *cache, struct entry *entry)
{
    entry->loading = 0;
    entry->expires = cos__after(cache->opts.ttl);
    link_use(cache, entry);
    cache->kept++;
    evict(cache);
}

void cos__cache_loaded(struct cos_flow_cache *cache, const char *key, struct cos_future *future,
                       int err, void *value)
{
    struct entry **at = slot_of(cache, hash_of(key), key);
    cos_future_ref(future);
    cache->loads--;
    /* Another future, or none: this one was forgotten while it loaded, and stays so. */
    if (*at && (*at)->future == future) {
        if (err || cache->opts.ttl == 0)
            remove_at(cache, at);
        else
            keep(cache, *at);
    }
    /* Last: a listener may ask again at once and must find the new state. Set
     * already: the cache was freed meanwhile, and nobody wants the value. */
    if (cos_future_set(future, err, value) < 0 && value && cache->opts.drop)
        cache->opts.drop(value);
    cos_future_free(future);
    if (cache->freed && !cache->loads)
        destroy(cache);
}

/* --- the coroutine face ----------------------------------------------------------- */

static dill_coroutine void run_load(struct cos_flow_cache *cache, struct cos_future *future,
                                    char *key)
{
    struct cos_hook_wait self;
    void *value = NULL;
    int err;
    COS_HOOK(co_begin, &self);
    err = cos__outcome(cache->opts.load(key, &value, cache->opts.arg));
    cos__cache_loaded(cache, key, future, err, value);
    cos_future_free(future);
    free(key);
    COS_HOOK(co_end, &self);
}

static int start_load(struct cos_flow_cache *cache, struct cos_future *future, const char *key)
{
    char *copy = strdup(key);
    struct cos_hook_wait wait;
    int err = COS_ENOMEM, rc;
    if (copy && cache->bundle < 0 && (cache->bundle = dill_bundle()) < 0)
        err = cos_err_from_errno(errno);
    else if (copy) {
        cos_future_ref(future);
        COS_HOOK(pause, &wait);
        rc = dill_bundle_go(cache->bundle, run_load(cache, future, copy));
        COS_HOOK(resume, &wait);
        if (rc == 0)
            return 0;
        err = cos_err_from_errno(errno);
        cos_future_free(future);
    }
    free(copy);
    cos__cache_loaded(cache, key, future, err, NULL);
    return err;
}

int cos_flow_cache_get(struct cos_flow_cache *cache, const char *key, struct cos_future **out,
                       int64_t deadline)
{
    int load, err;
    struct cos_future *future;
    if (!cache->opts.load)
        return COS_EINVAL;
    if (cos__in_callback())
        return COS_ECONTEXT;
    future = cos__cache_find(cache, key, &load, &err);
    if (!future)
        return err;
    if (load)
        err = start_load(cache, future, key);
    if (!err)
        err = cos_await(future, NULL, deadline);
    if (err)
        cos_future_free(future);
    else
        *out = future;
    return err;
}
