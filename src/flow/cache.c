/* cache.c - the map of futures behind cache.h. May call future, base.
 *
 * Entries sit in chained buckets and in one list by last use. An entry leaves
 * the map before anything else happens to it, so an invalidation during a load
 * is just that: the future lives on with those who hold it. The load runs in a
 * coroutine of the cache's own bundle, not in the first caller: a caller that
 * is cancelled must not take the load of the others with it. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/cache.h"

#include "base/err.h"
#include "base/hash.h"

#include <errno.h>
#include <libdill.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, MAX = 1000, MAX_LOADS = 10000, KEY_MAX = 65536 };

struct entry {
    struct entry *next;              /* in its bucket */
    struct entry *older, *newer;     /* by last use; only when kept */
    struct cos_future *future;       /* a reference */
    int64_t expires;                 /* -1: never */
    uint8_t loading;
    char key[];
};

struct cos_flow_cache {
    struct cos_flow_cache_opts opts;
    struct cos_flow_cache_stats stats;
    struct entry *buckets[BUCKETS];
    struct entry oldest;             /* head of the ring by last use */
    size_t kept, loading;
    int bundle;
};

static struct entry **slot_of(struct cos_flow_cache *cache, const char *key)
{
    uint64_t hash = cos_hash_keyed(cos_hash_process_key(), key, strlen(key));
    struct entry **at = &cache->buckets[hash % BUCKETS];
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

static void unlink_use(struct entry *entry)
{
    entry->older->newer = entry->newer;
    entry->newer->older = entry->older;
}

static void link_use(struct cos_flow_cache *cache, struct entry *entry)
{
    entry->newer = &cache->oldest;
    entry->older = cache->oldest.older;
    entry->older->newer = entry;
    cache->oldest.older = entry;
}

static void remove_at(struct cos_flow_cache *cache, struct entry **at)
{
    struct entry *entry = *at;
    *at = entry->next;
    if (entry->loading) {
        cache->loading--;
    } else {
        unlink_use(entry);
        cache->kept--;
    }
    cos_future_free(entry->future);
    free(entry);
}

static void evict(struct cos_flow_cache *cache)
{
    while (cache->kept > cache->opts.max) {
        remove_at(cache, slot_of(cache, cache->oldest.newer->key));
        cache->stats.evicted++;
    }
}

/* --- life ------------------------------------------------------------------------ */

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
    cache->oldest.older = cache->oldest.newer = &cache->oldest;
    cache->bundle = -1;
    return cache;
}

void cos_flow_cache_forget(struct cos_flow_cache *cache, const char *key)
{
    struct entry **at;
    if (key) {
        at = slot_of(cache, key);
        if (*at)
            remove_at(cache, at);
        return;
    }
    for (size_t i = 0; i < BUCKETS; i++)
        while (cache->buckets[i])
            remove_at(cache, &cache->buckets[i]);
}

void cos_flow_cache_free(struct cos_flow_cache *cache)
{
    if (!cache)
        return;
    if (cache->bundle >= 0)
        dill_hclose(cache->bundle);
    cos_flow_cache_forget(cache, NULL);
    free(cache);
}

size_t cos_flow_cache_size(const struct cos_flow_cache *cache)
{
    return cache->kept;
}

struct cos_flow_cache_stats cos_flow_cache_stats(const struct cos_flow_cache *cache)
{
    return cache->stats;
}

/* --- look-up ----------------------------------------------------------------------- */

/* The live entry for key, or NULL; an expired one goes. */
static struct entry *live(struct cos_flow_cache *cache, const char *key)
{
    struct entry **at = slot_of(cache, key), *entry = *at;
    if (!entry || entry->loading || entry->expires < 0 || dill_now() < entry->expires)
        return entry;
    cache->stats.expired++;
    remove_at(cache, at);
    return NULL;
}

static struct entry *add_loading(struct cos_flow_cache *cache, const char *key)
{
    size_t len = strlen(key);
    struct entry **at = slot_of(cache, key), *entry = calloc(1, sizeof *entry + len + 1);
    if (!entry)
        return NULL;
    entry->future = cos_future_new(cache->opts.drop);
    if (!entry->future) {
        free(entry);
        return NULL;
    }
    memcpy(entry->key, key, len + 1);
    entry->loading = 1;
    *at = entry;
    cache->loading++;
    cache->stats.loads++;
    return entry;
}

struct cos_future *cos__cache_find(struct cos_flow_cache *cache, const char *key, int *load,
                                   int *err)
{
    struct entry *entry = live(cache, key);
    *load = 0;
    *err = 0;
    if (entry && entry->loading) {
        cache->stats.joins++;
    } else if (entry) {
        cache->stats.hits++;
        unlink_use(entry);
        link_use(cache, entry);
    } else if (strlen(key) > KEY_MAX) {
        *err = COS_ETOOBIG;
        return NULL;
    } else if (cache->loading >= cache->opts.max_loads) {
        *err = COS_EFULL;
        return NULL;
    } else {
        *load = 1;
        entry = add_loading(cache, key);
        if (!entry) {
            *err = COS_ENOMEM;
            return NULL;
        }
    }
    return cos_future_ref(entry->future);
}

void cos__cache_loaded(struct cos_flow_cache *cache, const char *key, struct cos_future *future,
                       int err, void *value)
{
    struct entry **at = slot_of(cache, key);
    cos_future_ref(future);
    /* Another future, or none: this one was forgotten while it loaded, and stays so. */
    if (!*at || (*at)->future != future) {
        ;
    } else if (err || cache->opts.ttl == 0) {
        remove_at(cache, at);
    } else {
        (*at)->loading = 0;
        (*at)->expires = cache->opts.ttl < 0 ? -1 : dill_now() + cache->opts.ttl;
        link_use(cache, *at);
        cache->loading--;
        cache->kept++;
        evict(cache);
    }
    /* Last: a listener may ask again at once and must find the new state. */
    cos_future_set(future, err, value);
    cos_future_free(future);
}

/* --- the coroutine face -------------------------------------------------------------- */

static dill_coroutine void run_load(struct cos_flow_cache *cache, struct cos_future *future,
                                    char *key)
{
    void *value = NULL;
    int err = cache->opts.load(key, &value, cache->opts.arg);
    cos__cache_loaded(cache, key, future, err, value);
    cos_future_free(future);
    free(key);
}

static int start_load(struct cos_flow_cache *cache, struct cos_future *future, const char *key)
{
    char *copy = strdup(key);
    int err = COS_ENOMEM;
    if (copy && cache->bundle < 0 && (cache->bundle = dill_bundle()) < 0)
        err = cos_err_from_errno(errno);
    else if (copy) {
        cos_future_ref(future);
        if (dill_bundle_go(cache->bundle, run_load(cache, future, copy)) == 0)
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
