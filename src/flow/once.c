/* once.c - at most one run per key.
 * Late callers wait for the first one's result instead of starting a second
 * run: checking "seen" and then fetching would leave a suspension between the
 * two, and that gap is the race. The map is a cache that keeps errors too: its
 * values are the outcomes. */
#include "flow/once.h"

#include "base/err.h"
#include "flow/cache.h"

#include <stdint.h>
#include <stdlib.h>

enum { MAX = 1000000 };

struct cos_flow_once {
    struct cos_flow_cache *cache;
    size_t max;
};

struct cos_flow_once *cos_flow_once_new(size_t max)
{
    struct cos_flow_once *once = calloc(1, sizeof *once);
    struct cos_flow_cache_opts opts = {.ttl = -1, .max = SIZE_MAX};
    if (!once)
        return NULL;
    once->max = max ? max : MAX;
    once->cache = cos_flow_cache_new(&opts);
    if (!once->cache) {
        free(once);
        return NULL;
    }
    return once;
}

void cos_flow_once_free(struct cos_flow_once *once)
{
    if (!once)
        return;
    cos_flow_cache_free(once->cache);
    free(once);
}

struct cos_future *cos__once_find(struct cos_flow_once *once, const char *key, int *run, int *err)
{
    if (cos_flow_cache_size(once->cache) >= once->max) {
        *err = COS_EFULL;
        return NULL;
    }
    return cos__cache_find(once->cache, key, run, err);
}

/* To the cache every run is a success: its outcome is the value. */
void cos__once_ran(struct cos_flow_once *once, const char *key, struct cos_future *future,
                   int outcome)
{
    cos__cache_loaded(once->cache, key, future, 0, (void *)(intptr_t)outcome);
}

int cos_flow_once_run(struct cos_flow_once *once, const char *key,
                      const struct cos_flow_task *task, int *ran, int64_t deadline)
{
    int run, err;
    void *outcome = NULL;
    struct cos_future *future = cos__once_find(once, key, &run, &err);
    if (!future)
        return err;
    if (ran)
        *ran = run;
    if (run) {
        err = cos_flow_series(task, 1, NULL, 0, deadline);
        cos__once_ran(once, key, future, err);
    } else {
        err = cos_await(future, &outcome, deadline);
        if (!err)
            err = (int)(intptr_t)outcome;
    }
    cos_future_free(future);
    return err;
}

void cos_flow_once_forget(struct cos_flow_once *once, const char *key)
{
    cos_flow_cache_forget(once->cache, key);
}

size_t cos_flow_once_size(const struct cos_flow_once *once)
{
    return cos_flow_cache_size(once->cache);
}
