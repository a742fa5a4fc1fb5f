/* flow_recipes.t - things that live on between calls, on both faces: the three
 * ways to use something that must be initialised first, the gate, batching and
 * caching, futures, once. */
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

/* --- C57: a speaker that must be initialised before it can say anything ------------------------- */

static int ready, said_something;
static struct cos_future *is_ready; /* for the way that asks at every call */

static int initialise(void *result, void *arg)
{
    (void)result, (void)arg;
    if (msleep(now() + 2) < 0)
        return COS_ECANCELED;
    ready = 1;
    return 0;
}

static void initialised(int err, void *arg);
struct answer {
    cps_cb *done;
    void *token;
};

static void cps_initialise(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    struct answer *a = malloc(sizeof *a);
    (void)result, (void)arg;
    *a = (struct answer){done, token};
    cps_sleep(r, now() + 2, initialised, a);
}

static void initialised(int err, void *arg)
{
    struct answer a = *(struct answer *)arg;
    free(arg);
    ready = 1;
    a.done(err, a.token);
}

/* The operation itself: it needs what was initialised, and says so. */
static int say(void)
{
    said_something += ready;
    return ready ? 200 : 500;
}

/* 1: every caller checks, and waits if it must. */
static coroutine void check_then_wait(int *status)
{
    if (!ready)
        cos_await(is_ready, NULL, -1);
    *status = say();
}

static void cps_check_waited(int err, void *value, void *status)
{
    (void)err, (void)value;
    *(int *)status = say();
}

static void now_ready(int err, void *arg)
{
    (void)arg;
    cos_future_set(is_ready, err, NULL);
}

/* 2: whoever uses it is made only when it is there. */
struct user {
    int *speaker;
};

static int use(struct user *user)
{
    return *user->speaker ? say() : 500;
}

static coroutine void inject(int *status)
{
    struct user user = {.speaker = NULL};
    if (initialise(NULL, NULL) == 0)
        user.speaker = &ready;
    *status = use(&user);
}

static void cps_injected(int err, void *status)
{
    struct user user = {.speaker = &ready};
    *(int *)status = err ? err : use(&user);
}

/* 3: the gate keeps the calls. */
static struct cos_flow_gate *gate;
static coroutine void through_gate(int *status)
{
    int err = cos_flow_gate_pass(gate, -1);
    *status = err ? err : say();
}

static void cps_through_gate(int err, void *status)
{
    *(int *)status = err ? err : say();
}

static void begin_ways(void)
{
    ready = said_something = 0;
    is_ready = cos_future_new(NULL);
    gate = cos_flow_gate_new(0);
}

static void end_ways(void)
{
    cos_future_free(is_ready);
    cos_flow_gate_free(gate);
}

static void three_ways(void)
{
    struct cos_flow_task init = {initialise, NULL};
    struct cps_flow_task cps_init = {cps_initialise, NULL};
    int status[3] = {0};
    begin_ways();
    cmp_ok(say(), "==", 500, "C57 co: before it is initialised a bare call fails");
    bundle_go(crew, check_then_wait(&status[0]));
    initialise(NULL, NULL);
    cos_future_set(is_ready, 0, NULL);
    run_all();
    cmp_ok(status[0], "==", 200, "C57 co: check, then wait");
    ready = 0;
    bundle_go(crew, inject(&status[1]));
    bundle_wait(crew, -1);
    cmp_ok(status[1], "==", 200, "C57 co: the user is given what is ready");
    ready = 0;
    bundle_go(crew, through_gate(&status[2]));
    cmp_ok(cos_flow_gate_init(gate, &init, -1), "==", 0, "C57 co: the gate opens");
    cmp_ok(status[2], "==", 200, "C57 co: and the call it kept went through");
    end_ways();

    begin_ways();
    memset(status, 0, sizeof status);
    cmp_ok(say(), "==", 500, "C57 cps: before it is initialised a bare call fails");
    cps_await(rt, is_ready, -1, cps_check_waited, &status[0]);
    cps_initialise(rt, NULL, NULL, now_ready, NULL);
    cps_run(rt);
    cmp_ok(status[0], "==", 200, "C57 cps: check, then wait");
    ready = 0;
    cps_initialise(rt, NULL, NULL, cps_injected, &status[1]);
    cps_run(rt);
    cmp_ok(status[1], "==", 200, "C57 cps: the user is given what is ready");
    ready = 0;
    cps_flow_gate_pass(rt, gate, -1, cps_through_gate, &status[2]);
    cps_flow_gate_init(rt, gate, &cps_init, -1, cps_through_gate, &status[0]);
    cps_run(rt);
    cmp_ok(status[2], "==", 200, "C57 cps: the call the gate kept went through");
    end_ways();
}

/* --- C58: the gate's edges ------------------------------------------------------------------------- */

static int pass_err[4];
static coroutine void pass_and_tell(int i, int64_t deadline)
{
    pass_err[i] = cos_flow_gate_pass(gate, deadline);
    add_int("p", i);
}

static void cps_pass_told(int err, void *i)
{
    pass_err[(intptr_t)i] = err;
    add_int("p", (int)(intptr_t)i);
}

static void init_told(int err, void *arg)
{
    *(int *)arg = err;
    strcat(trace, "init ");
}

static int hang(void *result, void *arg)
{
    (void)result, (void)arg;
    return msleep(-1) < 0 ? COS_ECANCELED : 0;
}

static cps_cb *hanging;
static void *hanging_token;
static void cps_hang(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r, (void)result, (void)arg;
    hanging = done;
    hanging_token = token;
}

static void gate_edges(void)
{
    struct cos_flow_task hangs = {hang, NULL};
    struct cps_flow_task cps_hangs = {cps_hang, NULL};
    int err = 77;
    int64_t ticket;
    gate = cos_flow_gate_new(2);
    for (int i = 0; i < 4; i++)
        pass_err[i] = 77;
    bundle_go(crew, pass_and_tell(0, now() + 1));
    bundle_go(crew, pass_and_tell(1, -1));
    cmp_ok(cos_flow_gate_pass(gate, -1), "==", COS_EFULL, "C58 co: a gate keeps so many calls");
    msleep(now() + 3);
    cmp_ok(pass_err[0], "==", COS_ETIMEDOUT, "C58 co: a kept call has its deadline");
    cmp_ok(cos_flow_gate_init(gate, &hangs, now() + 2), "==", COS_ETIMEDOUT,
           "C58 co: an init that takes too long");
    run_all();
    cmp_ok(pass_err[1], "==", COS_ETIMEDOUT, "C58 co: fails what was kept");
    cmp_ok(cos_flow_gate_pass(gate, -1), "==", COS_ETIMEDOUT, "C58 co: and what comes later");
    cos_flow_gate_free(gate);
    gate = cos_flow_gate_new(0);
    bundle_go(crew, pass_and_tell(2, -1));
    cos_flow_gate_free(gate);
    run_all();
    cmp_ok(pass_err[2], "==", COS_ECLOSED, "C58 co: freed, it sends the kept call away");

    gate = cos_flow_gate_new(2);
    trace[0] = 0;
    for (intptr_t i = 0; i < 3; i++)
        cps_flow_gate_pass(rt, gate, -1, cps_pass_told, (void *)i);
    cps_flow_gate_init(rt, gate, &cps_hangs, now() + 2, init_told, &err);
    cps_run(rt);
    cmp_ok(pass_err[2], "==", COS_EFULL, "C58 cps: a gate keeps so many calls");
    ok(pass_err[0] == COS_ETIMEDOUT && err == COS_ETIMEDOUT, "C58 cps: an init takes too long");
    is(trace, "p2 p0 p1 init ", "C58 cps: the kept calls hear of it first");
    cos_flow_gate_free(gate);
    hanging(0, hanging_token);
    gate = cos_flow_gate_new(0);
    trace[0] = 0;
    cps_flow_gate_pass(rt, gate, -1, cps_pass_told, (void *)0);
    ticket = cps_flow_gate_init(rt, gate, &cps_hangs, -1, init_told, &err);
    cps_cancel(rt, ticket);
    hanging(0, hanging_token);
    cps_run(rt);
    ok(err == COS_ECANCELED && pass_err[0] == COS_ECANCELED && !cos_flow_gate_is_open(gate),
       "C58 cps: a cancelled init fails the gate, whatever it answers later");
    cos_flow_gate_free(gate);
}

/* --- C60–C62: batching and cache ---------------------------------------------------------------------- */

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

/* --- C64, C65: futures --------------------------------------------------------------------------------- */

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
    one_future(cos_future_from(&good, NULL), "v0 v1 v2 v3 v4 v5 ", "v6 ", "a value from a coroutine");
    one_future(cos_future_from(&bad, NULL), "e0 e1 e2 e3 e4 e5 ", "e6 ", "an error from a coroutine");
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

/* --- once ------------------------------------------------------------------------------------------------- */

static int once_runs, once_outcome[3];
static int once_task(void *result, void *arg)
{
    (void)result;
    once_runs++;
    if (msleep(now() + (int64_t)(intptr_t)arg) < 0)
        return COS_ECANCELED;
    return COS_EIO;
}

static coroutine void run_once(struct cos_flow_once *once, int i, int64_t deadline)
{
    struct cos_flow_task task = {once_task, (void *)(intptr_t)(i ? 1 : 1000)};
    once_outcome[i] = cos_flow_once_run(once, "k", &task, NULL, deadline);
}

static void once_told(int err, void *i)
{
    once_outcome[(intptr_t)i] = err;
}

static void onces(void)
{
    struct cos_flow_once *once = cos_flow_once_new(1);
    struct cos_flow_task task = {once_task, NULL};
    struct cps_flow_task hangs = {cps_hang, NULL};
    int ran = 77;
    once_runs = 0;
    bundle_go(crew, run_once(once, 0, now() + 3));
    bundle_go(crew, run_once(once, 1, -1));
    bundle_go(crew, run_once(once, 2, -1));
    bundle_wait(crew, -1);
    ok(once_outcome[0] == COS_ETIMEDOUT && once_runs == 2,
       "C16 co: when the one who runs gives up, the next takes its place");
    ok(once_outcome[1] == COS_EIO && once_outcome[2] == COS_EIO, "C16 co: one outcome for all");
    cmp_ok(cos_flow_once_run(once, "k", &task, &ran, -1), "==", COS_EIO, "C16 co: remembered");
    cmp_ok(ran, "==", 0, "C16 co: not run again, and a full set still knows its keys");
    cmp_ok(cos_flow_once_run(once, "l", &task, &ran, -1), "==", COS_EFULL, "C16 co: it is full");
    cos_flow_once_forget(once, "k");
    cmp_ok(cos_flow_once_run(once, "k", &task, &ran, -1), "==", COS_EIO, "C16 co: forgotten");
    cmp_ok(ran, "==", 1, "C16 co: it runs anew");
    cos_flow_once_free(once);
    once = cos_flow_once_new(0);
    for (intptr_t i = 0; i < 3; i++)
        cps_flow_once_run(rt, once, "k", &hangs, -1, once_told, (void *)i);
    cos_flow_once_free(once);
    cps_run(rt);
    hanging(0, hanging_token);
    ok(once_outcome[0] == COS_ECLOSED && once_outcome[2] == COS_ECLOSED,
       "C16 cps: freed during a run, those who wait are told");
}

int main(void)
{
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    crew = bundle();
    three_ways();
    gate_edges();
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
    onces();
    hclose(crew);
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
