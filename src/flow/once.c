/* once.c - at most one run per key.
 * Late callers wait for the first one's result instead of starting a second
 * run: checking "seen" and then fetching would leave a suspension between the
 * two, and that gap is the race. The map is a cache that keeps errors too: its
 * values are the outcomes. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/once.h"

#include "base/loop.h"
#include "flow/cache.h"
#include "flow/flow_int.h"

#include <stdint.h>
#include <stdlib.h>

enum { MAX = 1000000 };

struct cos_flow_once {
    struct cos_flow_cache *cache;
};

struct cos_flow_once *cos_flow_once_new(size_t max)
{
    struct cos_flow_once *once = calloc(1, sizeof *once);
    struct cos_flow_cache_opts opts = {.ttl = -1, .max = max ? max : MAX};
    if (!once)
        return NULL;
    opts.max_loads = opts.max;
    once->cache = cos_flow_cache_new(&opts);
    if (!once->cache) {
        free(once);
        return NULL;
    }
    cos__cache_refuse(once->cache);
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
    return cos__cache_find(once->cache, key, run, err);
}

struct cos_flow_cache *cos__once_cache(struct cos_flow_once *once)
{
    return once->cache;
}

/* To the cache every run is a success: its outcome is the value. Only one that
 * was cancelled has not run at all. */
void cos__once_ran(struct cos_flow_cache *cache, const char *key, struct cos_future *future,
                   int outcome)
{
    if (outcome == COS_ECANCELED)
        cos__cache_loaded(cache, key, future, COS_ECANCELED, NULL);
    else
        cos__cache_loaded(cache, key, future, 0, (void *)(intptr_t)outcome);
}

struct run {
    const struct cos_flow_task *task;
    int outcome;
};

static int note_outcome(void *result, void *arg)
{
    struct run *run = arg;
    (void)result;
    run->outcome = cos__outcome(run->task->run(NULL, run->task->arg));
    return run->outcome;
}

/* Here, in the caller's coroutine: the task may live on its stack. */
static int run_it(struct cos_flow_once *once, const char *key, struct cos_future *future,
                  const struct cos_flow_task *task, int64_t deadline)
{
    struct run run = {task, COS_ECANCELED};
    struct cos_flow_cache *cache = once->cache; /* outlives once while a run is under way */
    int err = cos_flow_series(&(struct cos_flow_task){note_outcome, &run}, 1, NULL, 0, deadline);
    cos__once_ran(cache, key, future, run.outcome);
    return err;
}

/* 1: the outcome is in *err. 0: the one who ran it was cancelled before the end;
 * whoever comes first takes its place. */
static int wait_for(struct cos_future *future, int64_t deadline, int *err)
{
    void *outcome = NULL;
    *err = cos_await(future, &outcome, deadline);
    if (*err)
        return cos_future_get(future, NULL) != COS_ECANCELED;
    *err = (int)(intptr_t)outcome;
    return 1;
}

int cos_flow_once_run(struct cos_flow_once *once, const char *key,
                      const struct cos_flow_task *task, int *ran, int64_t deadline)
{
    int run, err, known = 0;
    struct cos_future *future;
    if (cos__in_callback())
        return COS_ECONTEXT;
    while (!known) {
        future = cos__once_find(once, key, &run, &err);
        if (!future)
            return err;
        if (ran)
            *ran = run;
        if (run)
            err = run_it(once, key, future, task, deadline);
        known = run || wait_for(future, deadline, &err);
        cos_future_free(future);
    }
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
