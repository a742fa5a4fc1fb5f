/* shared.t - values that several processes share (C63), on both faces. The other
 * processes are this program again, told what to do by its arguments. */
#include "tap.h"

#include "base/op.h"
#include "coscrawl-cps.h"

#include <libdill.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 40, PROCESSES = 4, ANSWER = 64 };

static char path[256], self[256];
static struct cos_shared *shared;
static struct cps_rt *rt;

/* --- the other process ------------------------------------------------------------ */

static int made; /* values this process had to make itself */

/* A cache whose second level is the store: what nobody has is made, and offered. */
static int load(const char *key, void **value, void *arg)
{
    struct cos_buf buf;
    char mine[64];
    int err;
    (void)arg;
    cos_buf_init(&buf, 1000);
    err = cos_shared_get(shared, key, &buf, -1);
    if (err == COS_ENOENT) {
        made++;
        snprintf(mine, sizeof mine, "%s made by %d", key, (int)getpid());
        err = cos_shared_offer(shared, key, mine, strlen(mine) + 1, -1, &buf, -1);
        if (err == 0)
            err = cos_buf_add(&buf, mine, strlen(mine) + 1);
    }
    if (err >= 0)
        *value = cos_buf_take(&buf, NULL);
    cos_buf_release(&buf);
    return err < 0 ? err : 0;
}

static int ask_key(const void *item, size_t index, void *result, void *arg)
{
    struct cos_future *future = NULL;
    char key[32];
    void *value = NULL;
    int err;
    (void)item;
    snprintf(key, sizeof key, "key %zu", index);
    err = cos_flow_cache_get(arg, key, &future, -1);
    if (err)
        return err;
    cos_future_get(future, &value);
    snprintf(result, ANSWER, "%s", (char *)value);
    cos_future_free(future);
    return 0;
}

/* Asks for all keys, several at once. */
static char answers[KEYS][ANSWER];
static int ask_all(void)
{
    struct cos_flow_cache_opts opts = {.ttl = -1, .load = load, .drop = free};
    struct cos_flow_cache *cache = cos_flow_cache_new(&opts);
    int err = cos_flow_times(KEYS, 4, ask_key, answers, ANSWER, cache, -1);
    cos_flow_cache_free(cache);
    return err;
}

static int other(int argc, char **argv)
{
    struct cos_buf buf;
    int err = cos_shared_open(argv[1], NULL, &shared, -1);
    cos_buf_init(&buf, 1000);
    if (err) {
        printf("open: %s\n", cos_errname(err));
    } else if (!strcmp(argv[2], "get") && argc > 3) {
        err = cos_shared_get(shared, argv[3], &buf, -1);
        printf("%s\n", err ? cos_errname(err) : buf.data);
    } else if (!strcmp(argv[2], "put") && argc > 5) {
        err = cos_shared_put(shared, argv[3], argv[4], strlen(argv[4]) + 1, atoi(argv[5]), -1);
    } else if (!strcmp(argv[2], "forget") && argc > 3) {
        err = cos_shared_forget(shared, argv[3], -1);
    } else {
        err = ask_all();
        for (int i = 0; i < KEYS; i++)
            printf("%s\n", answers[i]);
    }
    cos_buf_release(&buf);
    cos_shared_close(shared);
    return err || cos_shutdown() ? 1 : 0;
}

static FILE *start(const char *words)
{
    char command[1024];
    snprintf(command, sizeof command, "%s %s %s", self, path, words);
    return popen(command, "r");
}

/* What the other process prints, in one text. */
static char *finish(FILE *f)
{
    static char text[2][8192];
    static int turn;
    char *to = text[turn ^= 1];
    size_t len = f ? fread(to, 1, sizeof text[0] - 1, f) : 0;
    to[len] = 0;
    if (f)
        pclose(f);
    if (len && to[len - 1] == '\n')
        to[len - 1] = 0;
    return to;
}

/* --- one at a time ---------------------------------------------------------------- */

static const char *get(const char *key)
{
    static struct cos_buf buf = {.max = 1000};
    int err = cos_shared_get(shared, key, &buf, -1);
    return err ? cos_errname(err) : buf.data;
}

static void agreeing(void)
{
    struct cos_buf buf;
    cos_buf_init(&buf, 1000);
    cmp_ok(cos_shared_open(path, NULL, &shared, -1), "==", 0, "C63 a new store");
    is(get("k"), "ENOENT", "C63 knows nothing");
    cos_shared_put(shared, "k", "one", 4, -1, -1);
    is(finish(start("get k")), "one", "C63 what one process stores another finds");
    finish(start("put k two -1"));
    is(get("k"), "two", "C63 and the other way round, the latest counts");
    cmp_ok(cos_shared_offer(shared, "k", "three", 6, -1, &buf, -1), "==", 1,
           "C63 an offer comes too late");
    is(buf.data, "two", "C63 and is told what counts");
    finish(start("forget k"));
    is(get("k"), "ENOENT", "C63 forgotten by one, forgotten by all");
    cmp_ok(cos_shared_offer(shared, "k", "four", 5, -1, &buf, -1), "==", 0, "C63 the first offer");
    is(finish(start("get k")), "four", "C63 counts for all");
    finish(start("put t five 300"));
    is(get("t"), "five", "C63 a value with a time to live");
    msleep(now() + 350);
    is(get("t"), "ENOENT", "C63 is gone for all when it is over");
    is(finish(start("get t")), "ENOENT", "C63 for all");
    cmp_ok(cos_shared_offer(shared, "t", "six", 4, -1, &buf, -1), "==", 0,
           "C63 and its place is free");
    cos_shared_put(shared, "nothing", NULL, 0, -1, -1);
    cmp_ok(cos_shared_get(shared, "nothing", &buf, -1), "==", 0, "C63 an empty value is one");
    cmp_ok(buf.len, "==", 0, "C63 and empty");
    cos_shared_forget(shared, NULL, -1);
    is(get("t"), "ENOENT", "C63 everything forgotten");
    cos_buf_release(&buf);
}

static void several_at_once(void)
{
    FILE *f[PROCESSES];
    char *first = NULL;
    int same = 1, lines = 0;
    cos_shared_close(shared);
    unlink(path);
    for (int i = 0; i < PROCESSES; i++)
        f[i] = start("all");
    for (int i = 0; i < PROCESSES; i++) {
        char *said = finish(f[i]);
        if (!first)
            first = strdup(said);
        same &= !strcmp(first, said);
    }
    for (char *p = first; p; p = strchr(p + 1, '\n'))
        lines++;
    cmp_ok(lines, "==", KEYS, "C63 four processes make a store at once and ask for all keys");
    ok(same, "C63 and agree on every value, whoever made it");
    if (!same)
        diag("first: %.300s", first);
    free(first);
    cmp_ok(cos_shared_open(path, NULL, &shared, -1), "==", 0, "C63 it is still there");
    made = 0;
    ask_all();
    cmp_ok(made, "==", 0, "C63 a later process makes nothing");
}

static void limits(void)
{
    struct cos_shared_opts opts = {.max = 10, .value_max = 8};
    struct cos_shared *small;
    struct cos_buf buf;
    char *key = malloc(COS_SHARED_KEY_MAX + 2), name[16];
    int found = 0;
    cos_buf_init(&buf, 2);
    memset(key, 'x', COS_SHARED_KEY_MAX + 1);
    key[COS_SHARED_KEY_MAX + 1] = 0;
    cmp_ok(cos_shared_open(path, &opts, &small, -1), "==", 0, "C63 the same file, smaller bounds");
    cmp_ok(cos_shared_put(small, "k", "123456789", 9, -1, -1), "==", COS_ETOOBIG,
           "a value too big");
    cmp_ok(cos_shared_put(small, key, "1", 1, -1, -1), "==", COS_ETOOBIG, "a key too long");
    cmp_ok(cos_shared_get(small, key, &buf, -1), "==", COS_ETOOBIG, "here, too");
    for (int i = 0; i < 25; i++) {
        snprintf(name, sizeof name, "n%d", i);
        cos_shared_put(small, name, "1234", 4, -1, -1);
    }
    for (int i = 0; i < 25; i++) {
        snprintf(name, sizeof name, "n%d", i);
        found += cos_shared_get(small, name, &buf, -1) == COS_ETOOBIG;
    }
    cmp_ok(found, "==", 10, "only so many are kept, and the buffer's ceiling holds");
    cmp_ok(cos_shared_get(small, "n0", &buf, -1), "==", COS_ENOENT, "the oldest went first");
    cos_shared_close(small);
    cmp_ok(cos_shared_open("/nowhere/at/all.db", NULL, &small, -1), "==", COS_ENOENT,
           "no such directory");
    cmp_ok(cos_shared_open(self, NULL, &small, -1), "==", COS_EDB, "not a store at all");
    cmp_ok(cos_shared_open("", NULL, &small, -1), "==", COS_EINVAL, "no name");
    cmp_ok(cos_shared_get(shared, "k", &buf, 0), "==", COS_ETIMEDOUT, "deadline 0 does not wait");
    cos_buf_release(&buf);
    free(key);
}

/* --- the callback face ------------------------------------------------------------ */

static struct cos_shared *cps_store;
static char trace[256];
static int early;

static void tell(const char *what, int err)
{
    early += trace[0] == '<';
    snprintf(trace + strlen(trace), sizeof trace - strlen(trace), "%s:%s ", what,
             err ? cos_errname(err) : "ok");
}

static void opened(int err, struct cos_shared *store, void *arg)
{
    cps_store = store;
    tell(arg, err);
}

static void done(int err, void *arg)
{
    tell(arg, err);
}

static void got(int err, struct cos_buf *value, void *arg)
{
    char text[64];
    snprintf(text, sizeof text, "%s %s", (char *)arg, value ? value->data : "-");
    tell(text, err);
}

/* Nothing may be heard before the call has returned. */
#define CALL(call)                                                                                 \
    do {                                                                                           \
        strcpy(trace, "<");                                                                        \
        ticket = call;                                                                             \
        trace[0] = 0;                                                                              \
        cps_run(rt);                                                                               \
    } while (0)

static void callbacks(void)
{
    char open_[] = "open", put[] = "put", get_[] = "get", offer[] = "offer", forget[] = "forget";
    int64_t ticket;
    CALL(cps_shared_open(rt, path, NULL, -1, opened, open_));
    is(trace, "open:ok ", "C63 cps: open");
    CALL(cps_shared_put(rt, cps_store, "c", "see", 4, -1, -1, done, put));
    is(finish(start("get c")), "see", "C63 cps: what callbacks store another process finds");
    CALL(cps_shared_get(rt, cps_store, "c", -1, got, get_));
    is(trace, "get see:ok ", "C63 cps: get");
    CALL(cps_shared_offer(rt, cps_store, "c", "sea", 4, -1, -1, got, offer));
    is(trace, "offer see:ok ", "C63 cps: an offer too late is told what counts");
    CALL(cps_shared_forget(rt, cps_store, "c", -1, done, forget));
    CALL(cps_shared_get(rt, cps_store, "c", -1, got, get_));
    is(trace, "get -:ENOENT ", "C63 cps: forgotten");
    CALL(cps_shared_offer(rt, cps_store, "c", "sea", 4, -1, -1, got, offer));
    is(trace, "offer -:ok ", "C63 cps: the first offer counts");
    is(get("c"), "sea", "C63 both faces see the same");
    CALL(cps_shared_get(rt, cps_store, "c", 0, got, get_));
    is(trace, "get -:ETIMEDOUT ", "C63 cps: deadline 0 does not wait");
    strcpy(trace, "<");
    ticket = cps_shared_put(rt, cps_store, "c", "x", 2, -1, -1, done, put);
    cps_cancel(rt, ticket);
    cos_shared_close(cps_store);
    trace[0] = 0;
    cps_run(rt);
    is(trace, "put:ECANCELED ", "C63 cps: cancelled, and closed while it was under way");
    cmp_ok(early, "==", 0, "C13 no callback before its call had returned");
}

static coroutine void give_up(int *err)
{
    struct cos_shared *store = NULL;
    *err = cos_shared_open(path, NULL, &store, -1);
    if (store)
        cos_shared_close(store);
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/shared.t.XXXXXX", file[300];
    int err = 77, h;
    if (argc > 2)
        return other(argc, argv);
    plan(NO_PLAN);
    if (!mkdtemp(dir) || cps_open(&rt))
        BAIL_OUT("no directory or no runtime");
    snprintf(path, sizeof path, "%s/shared.db", dir);
    snprintf(self, sizeof self, "%s", argv[0]);
    agreeing();
    several_at_once();
    limits();
    callbacks();
    h = go(give_up(&err));
    hclose(h);
    cmp_ok(err, "==", COS_ECANCELED, "an open that is given up leaves nothing behind");
    cos_shared_close(shared);
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    for (int i = 0; i < 200 && cos__op_count(); i++)
        cos_sleep(now() + 5);
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    snprintf(file, sizeof file, "rm -rf %s", dir);
    if (system(file))
        diag("could not remove %s", dir);
    done_testing();
}
