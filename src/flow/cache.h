/* cache.h - at most one load per key at a time, and its result for a while.
 *
 * One map of futures does both: while a load is under way its future serves all
 * who ask (batching), afterwards it serves them from memory (cache). An error
 * reaches all who wait and is then forgotten. With a ttl of -1 this is memoize;
 * without any keeping (ttl 0) it is batching alone. Values may be 0 or NULL:
 * being there is what makes a hit. */
#ifndef COS_FLOW_CACHE_H
#define COS_FLOW_CACHE_H

#include "flow/future.h"

struct cos_flow_cache;

/* Zero fields are the defaults. */
struct cos_flow_cache_opts {
    int64_t ttl;      /* ms a value is kept, from its success; -1: for ever; 0: not at all */
    size_t max;       /* values kept: the least recently used goes; 1,000 */
    size_t max_loads; /* loads under way; beyond: COS_EFULL; 10,000 */
    /* Makes the value for key; may suspend. Not used by the callback face. */
    int (*load)(const char *key, void **value, void *arg);
    void (*drop)(void *value); /* frees a value that nobody holds any more */
    void *arg;
};

struct cos_flow_cache_stats {
    uint64_t hits, joins, loads, evicted, expired;
};

/* A new cache, or NULL when out of memory. */
struct cos_flow_cache *cos_flow_cache_new(const struct cos_flow_cache_opts *opts);
/* Ends it: cancels loads under way (their waiters get COS_ECANCELED). Loads of the callback
 * face run on, unheard (COS_ECLOSED); what they make is dropped. NULL is fine. Not from inside
 * load(). Suspends. */
void cos_flow_cache_free(struct cos_flow_cache *cache);
/* The value for key: kept, or joined to a load under way, or loaded now. 0 and
 * *out, a set future whose reference is the caller's (cos_future_get,
 * cos_future_free); or the load's error, COS_EFULL, COS_ETIMEDOUT, COS_ECANCELED.
 * A caller that gives up does not stop the load. Suspends. */
int cos_flow_cache_get(struct cos_flow_cache *cache, const char *key, struct cos_future **out,
                       int64_t deadline);
/* Forgets the key (NULL: all). A load under way still serves its waiters, but is
 * not kept. */
void cos_flow_cache_forget(struct cos_flow_cache *cache, const char *key);
/* How many values it keeps. */
size_t cos_flow_cache_size(const struct cos_flow_cache *cache);
/* What it did so far. */
struct cos_flow_cache_stats cos_flow_cache_stats(const struct cos_flow_cache *cache);

/* --- between the faces ------------------------------------------------------------ */

/* The future for key with a reference for the caller; *load is 1 when the caller
 * must now run the load and end it with cos__cache_loaded. NULL: *err says why. */
struct cos_future *cos__cache_find(struct cos_flow_cache *cache, const char *key, int *load,
                                   int *err);
/* A full cache refuses new keys with COS_EFULL and evicts nothing. */
void cos__cache_refuse(struct cos_flow_cache *cache);
/* Ends a load: the waiters are served, a success is kept. */
void cos__cache_loaded(struct cos_flow_cache *cache, const char *key, struct cos_future *future,
                       int err, void *value);

#endif
