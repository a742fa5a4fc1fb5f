/* flow_recipes.t - results that live on between calls, on both faces: batching,
 * caching, futures. */
#include "tap.h"

#include "coscrawl-cps.h"

#include <libdill.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct cps_rt *rt;
static char trace[256];
static int crew = -1; /* coroutines of a test */

static void run_all(void)
{
    for (int i = 0; i < 40; i++)
        yield();
    cps_run(rt);
    for (int i = 0; i < 40; i++)
        yield();
}

static void add_int(const char *name, int n)
{
    snprintf(trace + strlen(trace), sizeof trace - strlen(trace), "%s%d ", name, n);
}

/* --- C60–C62: batching and cache -------------------------------------------------- */

static int loads, drops, results_wrong;
static int load_err, load_ms = 3;

static void drop_value(void *value)
{
    drops++;
    free(value);
}

static int make_value(const char *key, void **value)
{
    char *copy = strdup(key);
    *value = *key == '0' ? NULL : copy;
    if (!*value)
        free(copy);
    return load_err;
}

static int load(const char *key, void **value, void *arg)
{
    (void)arg;
    loads++;
    if (msleep(now() + load_ms) < 0)
        return COS_ECANCELED;
    return make_value(key, value);
}

struct loading {
    cps_cb *done;
    void *token;
    void **value;
    const char *key;
};

static void loaded(int err, void *arg)
{
    struct loading l = *(struct loading *)arg;
    free(arg);
    l.done(err ? err : make_value(l.key, l.value), l.token);
}

static void cps_load(struct cps_rt *r, const char *key, void **value, void *arg, cps_cb *done,
                     void *token)
{
    struct loading *l = malloc(sizeof *l);
    (void)arg;
    *l = (struct loading){done, token, value, key};
    loads++;
    cps_sleep(r, now() + load_ms, loaded, l);
}

static struct cos_flow_cache *cache;
static int served, failed, again;
static coroutine void get(const char *key)
{
    struct cos_future *future = NULL;
    void *value = NULL;
    int err = cos_flow_cache_get(cache, key, &future, -1);
    served += !err;
    failed += err != 0;
    if (err)
        return;
    cos_future_get(future, &value);
    results_wrong += *key == '0' ? value != NULL : !value || strcmp(value, key) != 0;
    cos_future_free(future);
    if (again-- > 0)
        get(key);
}

static int in_call;
static void cps_got(int err, void *value, void *arg)
{
    const char *key = arg;
    served += !err;
    failed += err != 0;
    results_wrong += in_call;
    if (!err)
        results_wrong += *key == '0' ? value != NULL : !value || strcmp(value, key) != 0;
    if (again-- > 0)
        cps_flow_cache_get(rt, cache, key, cps_load, NULL, -1, cps_got, arg);
}

static char key_k[] = "k", key_l[] = "l", key_m[] = "m", key_0[] = "0";

/* n calls on a face; how many loads they took. */
static int get_many(int cps, char *key, int n)
{
    loads = served = failed = 0;
    for (int i = 0; i < n; i++) {
        if (!cps) {
            bundle_go(crew, get(key));
            continue;
        }
        in_call = 1;
        cps_flow_cache_get(rt, cache, key, cps_load, NULL, -1, cps_got, key);
        in_call = 0;
    }
    bundle_wait(crew, -1);
    cps_run(rt);
    return loads;
}

static void batching(int cps)
{
    const char *face = cps ? "cps" : "co";
    struct cos_flow_cache_opts opts = {.load = load, .drop = drop_value};
    cache = cos_flow_cache_new(&opts);
    drops = results_wrong = load_err = again = 0;
    load_ms = 50; /* starting twenty coroutines takes its time under a sanitizer */
    ok(get_many(cps, key_k, 20) == 1 && served == 20, "C60 %s: 20 calls, 1 load, 20 results", face);
    load_ms = 3;
    cmp_ok(drops, "==", 1, "C60 %s: the value goes with its last user", face);
    cmp_ok(get_many(cps, key_k, 1), "==", 1, "C60 %s: batching alone keeps nothing", face);
    again = 1;
    ok(get_many(cps, key_k, 1) == 2 && served == 2,
       "C60 %s: a call made from a listener starts a new load", face);
    again = 0;
    load_err = COS_EIO;
    ok(get_many(cps, key_k, 3) == 1 && failed == 3, "C60 %s: an error reaches all", face);
    load_err = 0;
    cos_flow_cache_free(cache);
    cmp_ok(results_wrong, "==", 0, "C60 %s: each got its value, never inside the call", face);
}

static void caching(int cps)
{
    const char *face = cps ? "cps" : "co";
    struct cos_flow_cache_opts opts = {.ttl = 150, .max = 2, .load = load, .drop = drop_value};
    cache = cos_flow_cache_new(&opts);
    results_wrong = again = 0;
    load_err = COS_EIO;
    get_many(cps, key_k, 1);
    load_err = 0;
    cmp_ok(get_many(cps, key_k, 1), "==", 1, "C61 %s: an error is not cached", face);
    cmp_ok(get_many(cps, key_k, 5), "==", 0, "C61 %s: a value is", face);
    ok(get_many(cps, key_0, 1) == 1 && get_many(cps, key_0, 1) == 0, "C61 %s: NULL is one, too",
       face);
    msleep(now() + 170);
    load_ms = 200;
    cmp_ok(get_many(cps, key_k, 1), "==", 1, "C61 %s: until its time is over", face);
    load_ms = 3;
    cmp_ok(get_many(cps, key_k, 1), "==", 0, "C61 %s: which counts from the success", face);
    cos_flow_cache_free(cache);

    opts.ttl = -1;
    cache = cos_flow_cache_new(&opts);
    get_many(cps, key_k, 1);
    get_many(cps, key_l, 1);
    get_many(cps, key_k, 1);
    get_many(cps, key_m, 1);
    ok(get_many(cps, key_k, 1) == 0 && get_many(cps, key_l, 1) == 1,
       "C62 %s: the least recently used goes, not the oldest", face);
    cmp_ok(cos_flow_cache_size(cache), "==", 2, "C62 %s: and only so many stay", face);
    cos_flow_cache_forget(cache, "k");
    cos_flow_cache_forget(cache, "l");
    cmp_ok(get_many(cps, key_l, 1), "==", 1, "C62 %s: what is forgotten is loaded anew", face);
    cmp_ok(results_wrong, "==", 0, "C61 %s: each got its value, never inside the call", face);
    cos_flow_cache_free(cache);
}

/* Invalidated while it loads: those who wait get it, nobody else does. */
static void invalidation(int cps)
{
    const char *face = cps ? "cps" : "co";
    struct cos_flow_cache_opts opts = {.ttl = -1, .max_loads = 2, .load = load,
                                       .drop = drop_value};
    struct cos_flow_cache_stats stats;
    cache = cos_flow_cache_new(&opts);
    loads = served = failed = drops = results_wrong = 0;
    for (int i = 0; i < 3; i++) {
        if (cps)
            cps_flow_cache_get(rt, cache, key_k, cps_load, NULL, -1, cps_got, key_k);
        else
            bundle_go(crew, get(key_k));
        cos_flow_cache_forget(cache, "k");
    }
    bundle_wait(crew, -1);
    cps_run(rt);
    ok(loads == 2 && served == 2, "C62 %s: forgotten during its load, it still serves who waits",
       face);
    cmp_ok(failed, "==", 1, "C62 %s: and counts as a load under way", face);
    cmp_ok(drops, "==", 2, "C62 %s: but it is not kept", face);
    stats = cos_flow_cache_stats(cache);
    ok(stats.loads == 2 && !stats.hits, "C62 %s: the statistics say so", face);
    cos_flow_cache_free(cache);
}

static void freed_while_loading(void)
{
    struct cos_flow_cache_opts opts = {.ttl = -1, .load = load, .drop = drop_value};
    loads = served = failed = drops = 0;
    cache = cos_flow_cache_new(&opts);
    bundle_go(crew, get(key_k));
    cos_flow_cache_free(cache);
    bundle_wait(crew, -1);
    ok(failed == 1 && !served, "C62 co: freed during a load, those who wait are told");
    failed = 0;
    cache = cos_flow_cache_new(&opts);
    cps_flow_cache_get(rt, cache, key_k, cps_load, NULL, -1, cps_got, key_k);
    cos_flow_cache_free(cache);
    cps_run(rt);
    ok(failed == 1 && !served, "C62 cps: freed during a load, those who wait are told");
    cmp_ok(drops, "==", 1, "C62 cps: what the load made is dropped");
}

static void many_keys(void)
{
    struct cos_flow_cache_opts opts = {.ttl = -1, .max = 50000};
    char key[16];
    int found = 0, made, err;
    cache = cos_flow_cache_new(&opts);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 50000; i++) {
            struct cos_future *future;
            snprintf(key, sizeof key, "%d", i);
            future = cos__cache_find(cache, key, &made, &err);
            if (made)
                cos__cache_loaded(cache, key, future, 0, NULL);
            found += !made;
            cos_future_free(future);
        }
    cmp_ok(found, "==", 50000, "C61 fifty thousand keys are all found again");
    cos_flow_cache_free(cache);
}

/* --- C64, C65: futures ------------------------------------------------------------ */

static coroutine void listen(struct cos_future *future, int i)
{
    void *value = NULL;
    int err = cos_await(future, &value, -1);
    add_int(err ? "e" : value == trace ? "v" : "?", i);
}

static void cps_listen(int err, void *value, void *i)
{
    add_int(err ? "e" : value == trace ? "v" : "?", (int)(intptr_t)i);
}

static int64_t slow_done;
static int slow_value(void *result, void *arg)
{
    if (msleep(now() + 2) < 0)
        return COS_ECANCELED;
    *(void **)result = trace;
    slow_done = now();
    return arg ? COS_EIO : 0;
}

struct slow {
    void **result;
    void *arg;
    cps_cb *done;
    void *token;
};

static void slow_over(int err, void *arg)
{
    struct slow s = *(struct slow *)arg;
    free(arg);
    (void)err;
    *s.result = trace;
    s.done(s.arg ? COS_EIO : 0, s.token);
}

static void cps_slow_value(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    struct slow *s = malloc(sizeof *s);
    *s = (struct slow){result, arg, done, token};
    cps_sleep(r, now() + 2, slow_over, s);
}

/* Listeners on both faces of one future, before and after. */
static void one_future(struct cos_future *future, const char *want, const char *late,
                       const char *what)
{
    trace[0] = 0;
    for (int i = 0; i < 3; i++)
        bundle_go(crew, listen(future, i));
    for (intptr_t i = 3; i < 6; i++)
        cps_await(rt, future, -1, cps_listen, (void *)i);
    cmp_ok(strlen(trace), "==", 0, "C65 %s: nobody is served before it is set", what);
    cps_run(rt);
    run_all();
    for (const char *p = want; *p; p += 3)
        ok(strstr(trace, (char[]){p[0], p[1], ' ', 0}), "C65 %s: listener %c is served", what,
           p[1]);
    cmp_ok(strlen(trace), "==", strlen(want), "C65 %s: each once", what);
    trace[0] = 0;
    cps_await(rt, future, -1, cps_listen, (void *)6);
    cmp_ok(strlen(trace), "==", 0, "C65 %s: a late one is not served inside the call", what);
    cps_run(rt);
    is(trace, late, "C65 %s: but later", what);
    cos_future_free(future);
}

static void futures(void)
{
    struct cos_flow_task good = {slow_value, NULL}, bad = {slow_value, trace};
    struct cps_flow_task cps_good = {cps_slow_value, NULL}, cps_bad = {cps_slow_value, trace};
    struct cos_future *future;
    int64_t began = now();
    one_future(cos_future_from(&good, NULL), "v0 v1 v2 v3 v4 v5 ", "v6 ",
               "a value from a coroutine");
    one_future(cos_future_from(&bad, NULL), "e0 e1 e2 e3 e4 e5 ", "e6 ",
               "an error from a coroutine");
    one_future(cps_future_from(rt, &cps_good, NULL), "v0 v1 v2 v3 v4 v5 ", "v6 ",
               "a value from callbacks");
    one_future(cps_future_from(rt, &cps_bad, NULL), "e0 e1 e2 e3 e4 e5 ", "e6 ",
               "an error from callbacks");
    future = cos_future_new(NULL);
    cmp_ok(cos_await(future, NULL, now() + 1), "==", COS_ETIMEDOUT, "C64 await has a deadline");
    ok(now() > began && cos_future_get(future, NULL) == COS_EBUSY, "C64 and gives up alone");
    cmp_ok(cos_future_set(future, 0, NULL), "==", 0, "C64 a future is set");
    cmp_ok(cos_future_set(future, 0, NULL), "==", COS_ESTATE, "C64 once");
    cos_future_free(future);
}

/* Leaving the line from its middle, in any order. */
static void leaving(void)
{
    struct cos_future *future = cos_future_new(NULL);
    int64_t tickets[5];
    trace[0] = 0;
    for (intptr_t i = 0; i < 5; i++)
        tickets[i] = cps_await(rt, future, -1, cps_listen, (void *)i);
    cps_cancel(rt, tickets[2]);
    cps_cancel(rt, tickets[4]);
    cps_cancel(rt, tickets[0]);
    cos_future_set(future, 0, trace);
    cps_run(rt);
    is(trace, "e2 e4 e0 v1 v3 ", "C65 who leaves is told so, who stays is served");
    cos_future_free(future);
}

/* The map of futures is batch and cache at once: C60 and C61 with cps_future_from. */
static void future_map(void)
{
    struct cps_flow_task make = {cps_slow_value, NULL}, fail = {cps_slow_value, trace};
    struct cos_future *map = NULL;
    int made = 0;
    trace[0] = 0;
    for (intptr_t i = 0; i < 20; i++) {
        if (!map) {
            map = cps_future_from(rt, &make, NULL);
            made++;
        }
        cps_await(rt, map, -1, cps_listen, (void *)(i % 10));
    }
    cps_run(rt);
    ok(made == 1 && strlen(trace) == 60, "C64 one future serves twenty, one load");
    cos_future_free(map);
    map = cps_future_from(rt, &fail, NULL);
    trace[0] = 0;
    cps_await(rt, map, -1, cps_listen, (void *)1);
    cps_await(rt, map, -1, cps_listen, (void *)2);
    cps_run(rt);
    is(trace, "e1 e2 ", "C64 a failure reaches all waiters");
    cos_future_free(map);
}

int main(void)
{
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    crew = bundle();
    for (int cps = 0; cps < 2; cps++) {
        batching(cps);
        caching(cps);
        invalidation(cps);
    }
    freed_while_loading();
    many_keys();
    futures();
    leaving();
    future_map();
    hclose(crew);
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
