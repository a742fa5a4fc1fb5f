/* hook.t - the async hooks on both faces: the life of an operation, who ran and
 * who caused it, enabling and removing, local values, long stacks. The log
 * checker is held to its rules first; the whole suite runs under it with
 * make check-hooks. */
#define COS_SITES
#include "tap.h"

#include "base/emit.h"
#include "base/hook_check.h"
#include "base/op.h"
#include "coscrawl-cps.h"
#include "cps_flow.h"
#include "flow/future_int.h"
#include "site/http.h"

#include <libdill.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- a hook that writes a log ------------------------------------------------------- */

struct log {
    struct cos_buf text;
    uint64_t base;      /* ids are shown from here on */
    uint64_t ids[4096]; /* in the order of init */
    int n, destroyed;
    int types[COS_HOOK_TYPE_COUNT];
    uint64_t exec, trigger; /* at the last before */
    struct cos_hook *hook;
};

static int number(const struct log *log, uint64_t id)
{
    for (int i = 0; i < log->n; i++)
        if (log->ids[i] == id)
            return i + 1;
    return 0;
}

static int on_init(void *arg, uint64_t id, enum cos_hook_type type, uint64_t trigger)
{
    struct log *log = arg;
    if (log->n < 4096)
        log->ids[log->n++] = id;
    log->types[type]++;
    return cos_buf_addf(&log->text, "init %s %d by %d; ", cos_hook_type_name(type), log->n,
                        number(log, trigger));
}

static int on_before(void *arg, uint64_t id, int entry)
{
    struct log *log = arg;
    log->exec = cos_hook_execution();
    log->trigger = cos_hook_trigger();
    return cos_buf_addf(&log->text, "before %d%s; ", number(log, id), entry ? "" : " inside");
}

static int on_after(void *arg, uint64_t id, int failed)
{
    return cos_buf_addf(&((struct log *)arg)->text, "after %d%s; ", number(arg, id),
                        failed ? " failed" : "");
}

static int on_destroy(void *arg, uint64_t id)
{
    struct log *log = arg;
    log->destroyed++;
    return cos_buf_addf(&log->text, "destroy %d; ", number(arg, id));
}

static struct log *log_new(uint32_t types)
{
    struct log *log = calloc(1, sizeof *log);
    struct cos_hook_calls calls = {.name = "log", .types = types, .arg = log, .init = on_init,
                                   .before = on_before, .after = on_after,
                                   .destroy = on_destroy};
    cos_buf_init(&log->text, 1 << 22);
    if (cos_hook_new(&log->hook, &calls))
        BAIL_OUT("out of memory");
    return log;
}

static const char *text(struct log *log)
{
    return log->text.len ? log->text.data : "";
}

static void log_free(struct log *log)
{
    cos_hook_free(log->hook);
    cos_buf_release(&log->text);
    free(log);
}

static void log_clear(struct log *log)
{
    cos_buf_clear(&log->text);
    log->n = log->destroyed = 0;
    memset(log->types, 0, sizeof log->types);
}

/* --- small things to run ---------------------------------------------------------------- */

static struct cps_rt *rt;
static int dropped;
static int called;
static uint64_t seen_exec, seen_trigger;

static void count_cb(int err, void *arg)
{
    (void)err, (void)arg;
    called++;
    seen_exec = cos_hook_execution();
    seen_trigger = cos_hook_trigger();
}

static void run(void)
{
    if (cps_run(rt))
        BAIL_OUT("cps_run");
}

static const char SLEEP_LIFE[] = "init timer 1 by 0; before 1; after 1; destroy 1; ";

/* --- C35: the checker -------------------------------------------------------------------- */

/* "i5f0 b5 a5 d5": i ID TYPE TRIGGER, b and B (entry 0), a, d. Where it ends. */
static const char *checked(const char *events)
{
    static char why[200];
    struct cos__check *check = cos__check_new();
    int err = 0;
    for (const char *at = events; *at && !err; at += strcspn(at, " "), at += *at == ' ') {
        uint64_t id = strtoull(at + 1, NULL, 10);
        size_t digits = 1 + strspn(at + 1, "0123456789");
        if (*at == 'i')
            err = cos__check_init(check, id, at[digits] == 'h' ? COS_HOOK_LISTENER : COS_HOOK_FETCH,
                                  strtoull(at + digits + 1, NULL, 10));
        else if (*at == 'b' || *at == 'B')
            err = cos__check_before(check, id, *at == 'b');
        else if (*at == 'a')
            err = cos__check_after(check, id, 0);
        else
            err = cos__check_destroy(check, id);
    }
    snprintf(why, sizeof why, "%s", err ? cos__check_why(check) : "fine");
    cos__check_free(check);
    return why;
}

static void test_checker(void)
{
    is(checked("i5f0 b5 a5 d5"), "fine", "C35 a request: init, before, after, destroy");
    is(checked("i5h0 d5"), "fine", "C35 a handle may never run");
    is(checked("i5h0 b5 a5 b5 a5 d5"), "fine", "C35 or several times");
    is(checked("i5f0 i6f5 b5 B6 a6 a5 d6 d5"), "fine", "C35 runs inside each other");
    is(checked("i5f0 b5 a5 d5 i6f5 b6 a6 d6"), "fine", "C35 a trigger may have ended");
    is(checked("i5f0 i5f0"), "id 5 after 5", "C35 an id twice is found");
    is(checked("i5f0 i6f4"), "fetch 6: trigger 4 is not known", "C35 so is an unknown trigger");
    is(checked("i5f0 d5"), "fetch 5 ran 0 times", "C35 a request that never ran");
    is(checked("i5f0 b5 a5 b5 a5 d5"), "fetch 5 ran 2 times", "C35 one that ran twice");
    is(checked("i5f0 b5 d5"), "destroy 5, which runs", "C35 a destroy inside a run");
    is(checked("b5"), "before 5, which does not live", "C35 a before without an init");
    is(checked("i5f0 b5 a5 d5 a5"), "after 5, but 0 runs", "C35 an after without a before");
    is(checked("i5f0 i6f0 b5 B6 a5"), "after 5, but 6 runs", "C35 pairs that cross");
    is(checked("i5f0 i6f0 b5 b6"), "before 6: entry is 1 inside 1 runs", "C35 a wrong entry");
}

/* --- C36 to C41: lives ------------------------------------------------------------------------ */

static void test_lives(void)
{
    struct log *log = log_new(0);
    cos_sleep(dill_now());
    cps_sleep(rt, dill_now(), count_cb, NULL);
    run();
    is(text(log), "", "C41 nothing is emitted before enable");
    cps_sleep(rt, dill_now() + 5, count_cb, NULL);
    cmp_ok(cos_hook_enable(log->hook), "==", 0, "enabled");
    run();
    is(text(log), "", "C41 not even of what was begun before");
    cos_sleep(dill_now());
    is(text(log), SLEEP_LIFE, "C36 co: init, before, after, destroy");
    log_clear(log);
    cps_sleep(rt, dill_now(), count_cb, NULL);
    is(text(log), "init timer 1 by 0; ", "C36 cps: init at the call");
    run();
    is(text(log), SLEEP_LIFE, "C37 cps: the rest from cps_run, before and after around it");
    log_clear(log);
    cps_cancel(rt, cps_sleep(rt, -1, count_cb, NULL));
    run();
    is(text(log), "init timer 1 by 0; before 1; after 1 failed; destroy 1; ",
       "C38 cps: cancelled is failed");
    log_clear(log);
    struct cos_addrs addrs;
    cos_resolve("not a name", 0, &addrs, -1);
    is(text(log), "init dns 1 by 0; before 1; after 1; destroy 1; ",
       "C38 an error of its own is not failed");
    log_free(log);
}

static int64_t ticket;
static void destroys_itself(int err, void *arg)
{
    (void)err, (void)arg;
    called++;
    cps_cancel(rt, ticket);
}

static void test_after_always(void)
{
    struct log *log = log_new(0);
    struct cos__hook *hook;
    cos_hook_enable(log->hook);
    ticket = cps_sleep(rt, dill_now(), destroys_itself, NULL);
    run();
    is(text(log), SLEEP_LIFE, "C38 after comes when the callback cancels its own operation");
    log_clear(log);
    COS_HOOK(init, &hook, COS_HOOK_LISTENER, NULL, NULL);
    COS_HOOK(before, hook, 1);
    struct cos__hook *same = hook;
    COS_HOOK(destroy, &hook);
    is(text(log), "init listener 1 by 0; before 1; ", "C39 destroy waits for the run's end");
    COS_HOOK(after, same, 0);
    is(text(log), "init listener 1 by 0; before 1; after 1; destroy 1; ",
       "C38 after comes when the callback destroys its operation");
    log_free(log);
}

/* --- C40, C42 to C44: instances --------------------------------------------------------------- */

static void test_instances(void)
{
    struct log *a = log_new(0), *b = log_new(0);
    struct cos_hook *empty, *more[40];
    struct cos_hook_calls none = {.name = "empty"};
    int rc = 0, n = 0;
    cos_hook_new(&empty, &none);
    cos_hook_enable(empty);
    cos_hook_enable(a->hook);
    cos_sleep(dill_now());
    cos_hook_enable(b->hook);
    cos_hook_disable(a->hook);
    cos_sleep(dill_now());
    is(text(a), SLEEP_LIFE, "C40 one hook sees its time");
    is(text(b), SLEEP_LIFE, "C40 another one its own; and one without callbacks none");
    cos_hook_free(empty);
    while (n < 40 && !cos_hook_new(&more[n], &none) && !(rc = cos_hook_enable(more[n])))
        n++;
    cmp_ok(rc, "==", COS_EFULL, "C40 the 33rd hook of a thread is refused");
    cmp_ok(n, ">=", 29, "C40 and not an earlier one");
    for (int i = 0; i <= n; i++)
        cos_hook_free(more[i]);
    log_free(a);
    log_free(b);
}

static void chain_cb(int err, void *arg)
{
    int *left = arg;
    (void)err;
    if (--*left)
        cps_sleep(rt, dill_now(), chain_cb, left);
}

static void test_disable(void)
{
    struct log *log = log_new(0);
    int left = 3;
    cos_hook_enable(log->hook);
    cps_sleep(rt, dill_now(), chain_cb, &left);
    cos_hook_disable(log->hook);
    cps_sleep(rt, dill_now(), count_cb, NULL);
    run();
    cmp_ok(log->types[COS_HOOK_TIMER], "==", 3,
           "C42 disabled: the chain that was begun is seen to its end, a new root is not");
    cmp_ok(log->destroyed, "==", 3, "C42 with its destroys");
    log_clear(log);
    left = 3;
    cos_hook_enable(log->hook);
    cps_sleep(rt, dill_now(), chain_cb, &left);
    cos_hook_off();
    run();
    cmp_ok(log->n + log->destroyed, "==", 1, "C42 off: chains are cut, too");
    ok(!cos__hooks_on || getenv("COS_HOOK_CHECK"), "C42 and the emission points are off");
    log_free(log);
}

static void scope_cb(int err, void *arg)
{
    struct log *log = arg;
    (void)err;
    cos_hook_scope(log->hook);
    cps_sleep(rt, dill_now(), count_cb, NULL);
}

static void later_cb(int err, void *arg)
{
    (void)err, (void)arg;
    cps_sleep(rt, dill_now(), count_cb, NULL);
}

static void test_scope(void)
{
    struct log *log = log_new(0);
    cps_defer(rt, scope_cb, log);
    cps_defer(rt, later_cb, NULL);
    run();
    cmp_ok(log->types[COS_HOOK_TIMER], "==", 1, "C43 cps: a scope ends with its callback");
    log_clear(log);
    cos_hook_scope(log->hook);
    cos_sleep(dill_now());
    cos_sleep(dill_now());
    cmp_ok(log->types[COS_HOOK_TIMER], "==", 1, "C43 co: a scope ends with the first wait");
    cmp_ok(log->destroyed, "==", 1, "C43 and what it saw is seen to its end");
    log_free(log);
}

static struct log *victim;
static void remove_cb(int err, void *arg)
{
    (void)err, (void)arg;
    cos_hook_remove(victim->hook);
}

static void test_remove(void)
{
    victim = log_new(0);
    cos_hook_enable(victim->hook);
    cps_sleep(rt, dill_now(), remove_cb, NULL);
    cps_sleep(rt, dill_now() + 2, count_cb, NULL);
    run();
    is(text(victim), "init timer 1 by 0; init timer 2 by 0; before 1; ",
       "C44 removed between before and after: no after, and never again");
    log_clear(victim);
    cos_hook_enable(victim->hook);
    cos_sleep(dill_now());
    is(text(victim), SLEEP_LIFE, "C44 until enabled anew");
    log_free(victim);
}

/* --- C45 to C48 ----------------------------------------------------------------------------- */

struct looker {
    uint64_t id;
    int at_init, at_before, at_destroy, found;
};

static int look(uint64_t id)
{
    const struct cos_hook_op *op = cos_hook_find(id);
    return !op ? -1 : op->id == id && op->type == COS_HOOK_TIMER ? op->complete : -2;
}

static int look_init(void *arg, uint64_t id, enum cos_hook_type type, uint64_t trigger)
{
    struct looker *l = arg;
    (void)type, (void)trigger;
    l->id = id;
    l->at_init = look(id);
    return 0;
}

static int look_before(void *arg, uint64_t id, int entry)
{
    (void)entry;
    ((struct looker *)arg)->at_before = look(id);
    return 0;
}

static int look_destroy(void *arg, uint64_t id)
{
    ((struct looker *)arg)->at_destroy = look(id);
    return 0;
}

static void test_find(void)
{
    struct looker l = {0};
    struct cos_hook_calls calls = {.name = "look", .arg = &l, .init = look_init,
                                   .before = look_before, .destroy = look_destroy};
    struct cos_hook *hook;
    cos_hook_new(&hook, &calls);
    cos_hook_enable(hook);
    cps_sleep(rt, dill_now(), count_cb, NULL);
    cmp_ok(look(l.id), "==", 1, "C45 complete once it is made");
    run();
    cmp_ok(l.at_init, "==", 0, "C45 found in init, not complete");
    cmp_ok(l.at_before, "==", 1, "C45 complete in before");
    cmp_ok(l.at_destroy, "==", 0, "C45 found in destroy, not complete any more");
    ok(!cos_hook_find(l.id), "C45 NULL afterwards");
    ok(!cos_hook_find(0) && !cos_hook_find(UINT64_MAX), "C45 and for what is no id");
    cos_hook_free(hook);
}

static void test_types(void)
{
    static const char *const names[] = {
        "coroutine", "timer", "fd", "channel", "fetch", "dns", "connect", "tls", "transfer",
        "file", "parse", "pool job", "queue task", "future", "listener", "connection",
        "cps request"};
    struct log *log = log_new(1u << COS_HOOK_FILE | 1u << COS_HOOK_FUTURE);
    struct cos_stat st;
    int right = 0;
    for (int i = 0; i < COS_HOOK_TYPE_COUNT; i++)
        right += !strcmp(cos_hook_type_name(i), names[i]);
    cmp_ok(right, "==", 17, "C46 17 types, by name");
    is(cos_hook_type_name(1000), "unknown", "C46 and a name for what is none");
    cos_hook_enable(log->hook);
    cos_sleep(dill_now());
    cos_stat("/", &st, -1);
    is(text(log), "init file 1 by 0; before 1; after 1; destroy 1; ", "C46 a filter by type");
    log_free(log);
}

static void *many_ids(void *arg)
{
    struct log *log = log_new(0);
    uint64_t *ids = arg, last = 0;
    cos_hook_enable(log->hook);
    for (int i = 0; i < 20000; i++) {
        struct cos__hook *hook;
        COS_HOOK(init, &hook, COS_HOOK_LISTENER, NULL, NULL);
        log->text.len = 0;
        ids[i] = log->ids[log->n - 1];
        if (ids[i] <= last)
            ids[i] = 0;
        last = ids[i];
        log->n = 0;
        COS_HOOK(destroy, &hook);
    }
    log_free(log);
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void test_ids(void)
{
    enum { THREADS = 4, EACH = 20000 };
    uint64_t *ids = calloc(THREADS * EACH, sizeof *ids);
    pthread_t thread[THREADS];
    int twice = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, many_ids, ids + (size_t)i * EACH);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    qsort(ids, THREADS * EACH, sizeof *ids, by_number);
    for (int i = 1; i < THREADS * EACH; i++)
        twice += ids[i] == ids[i - 1];
    ok(ids[0] && !twice, "C47 80,000 ids in 4 threads, each counting up, none twice");
    ok(ids[THREADS * EACH - 1] < (uint64_t)1 << 53, "C47 below 2^53");
    free(ids);
}

static void outer_cb(int err, void *arg)
{
    uint64_t *ids = arg;
    (void)err;
    ids[0] = cos_hook_execution();
    ids[1] = cos_hook_trigger();
    cps_sleep(rt, dill_now(), count_cb, NULL);
}

static coroutine void sleeper(uint64_t *ids)
{
    struct cos_hook_wait self;
    cos_co_begin(&self);
    ids[0] = cos_hook_execution();
    ids[1] = cos_hook_trigger();
    cos_sleep(dill_now());
    ids[2] = cos_hook_execution();
    cos_co_end(&self);
}

static void test_two_ids(void)
{
    struct log *log = log_new(0);
    struct cos_hook_wait wait;
    uint64_t ids[3] = {0};
    int h;
    cos_hook_enable(log->hook);
    cps_sleep(rt, dill_now(), outer_cb, ids);
    run();
    ok(ids[0] == log->ids[0] && ids[1] == 0, "C48 cps: the first callback runs, nothing caused it");
    ok(seen_exec == log->ids[1] && seen_trigger == log->ids[0],
       "C48 the second one runs, the first one caused it");
    ok(cos_hook_execution() == 0, "C48 outside nothing runs");
    log_clear(log);
    cos_co_pause(&wait);
    h = dill_go(sleeper(ids));
    cos_co_resume(&wait);
    cos_sleep(dill_now() + 2);
    dill_hclose(h);
    ok(ids[0] == log->ids[0] && ids[2] == ids[0],
       "C48 co: a coroutine runs as itself, before and after a wait");
    like(text(log), "init coroutine 1 by 0; before 1; init timer 2 by 1; after 1; ",
         "C48 and causes what it starts");
    log_free(log);
}

/* --- C49 to C51 ----------------------------------------------------------------------------- */

static int hello(struct cos_http_conn *conn, const struct cos_http_req *req, void *arg)
{
    uint64_t *ids = arg;
    ids[0] = cos_hook_execution();
    ids[1] = cos_hook_trigger();
    return cos_http_reply(conn, req,
                          &(struct cos_http_reply){.status = 200, .body = "hello", .len = 5});
}

static void test_listener(void)
{
    struct log *log = log_new(1u << COS_HOOK_LISTENER | 1u << COS_HOOK_CONNECTION
                              | 1u << COS_HOOK_FETCH | 1u << COS_HOOK_TRANSFER);
    uint64_t ids[2] = {0};
    struct cos_http_server server = {.handle = hello, .arg = ids};
    struct cos_page *page;
    char url[64], *again;
    int h;
    cos_hook_enable(log->hook);
    ok(!cos_http_listen(&server, "127.0.0.1", 0), "a listener");
    cos_http_release(&server);
    is(text(log), "init listener 1 by 0; destroy 1; ", "C35 listen, then close: init and destroy");
    log_clear(log);
    if (cos_http_listen(&server, "127.0.0.1", 0))
        BAIL_OUT("no listener");
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server.port);
    h = dill_go(cos_http_serve(&server));
    for (int i = 0; i < 2; i++) {
        struct cos_request req = {.url = url};
        if (cos_fetch(&req, &page, dill_now() + 5000))
            diag("fetch failed");
        cos_page_free(page);
    }
    ok(ids[0] && cos_hook_find(ids[0]) && cos_hook_find(ids[0])->type == COS_HOOK_CONNECTION,
       "C50 the connection's callback runs as the connection");
    ok(ids[1] == log->ids[0], "C50 caused by the listener");
    cmp_ok(log->types[COS_HOOK_FETCH], "==", 2, "C49 two fetches through one pooled handle");
    again = strstr(text(log), "init fetch");
    again = again ? strstr(again + 1, "init fetch") : NULL;
    ok(again && strstr(text(log), "destroy 2") && strstr(text(log), "destroy 2") < again,
       "C49 the first id ends before the handle is used under a new one");
    dill_hclose(h);
    cos_http_release(&server);
    log_free(log);
}

static void test_sleepers(void)
{
    struct log *log = log_new(0);
    int h = dill_bundle();
    static uint64_t ids[3];
    cos_hook_enable(log->hook);
    for (int i = 0; i < 1000; i++)
        cps_sleep(rt, dill_now() + i % 7, count_cb, NULL);
    cmp_ok(log->n, "==", 1000, "C51 cps: 1,000 sleepers have 1,000 ids, the shared heap none");
    run();
    cmp_ok(log->destroyed, "==", 1000, "C51 and each ends");
    log_clear(log);
    for (int i = 0; i < 1000; i++)
        dill_bundle_go(h, sleeper(ids));
    dill_bundle_wait(h, -1);
    cmp_ok(log->types[COS_HOOK_TIMER], "==", 1000, "C51 co: the same");
    cmp_ok(log->types[COS_HOOK_COROUTINE], "==", 1000,
           "C49 a stack used again is a coroutine with an id of its own");
    cmp_ok(log->destroyed, "==", 2000, "C51 and each ends");
    dill_hclose(h);
    log_free(log);
}

/* --- C52 ------------------------------------------------------------------------------------ */

static void at_exit(void)
{
    fprintf(stderr, "atexit ran\n");
}

static int fails(void *arg, uint64_t id, int entry)
{
    (void)arg, (void)id, (void)entry;
    return COS_EIO;
}

static void test_failing(void)
{
    char said[512] = "";
    int fd[2], status = 0;
    size_t n = 0;
    ssize_t got;
    pid_t pid;
    if (pipe(fd))
        BAIL_OUT("pipe");
    fflush(stdout);
    pid = fork();
    if (!pid) {
        struct cos_hook_calls calls = {.name = "bad", .before = fails};
        struct cos_hook *hook;
        close(STDOUT_FILENO);
        dup2(fd[1], STDERR_FILENO);
        atexit(at_exit);
        cos_hook_new(&hook, &calls);
        cos_hook_enable(hook);
        struct cos__hook *op;
        COS_HOOK(init, &op, COS_HOOK_FETCH, NULL, NULL);
        COS_HOOK(before, op, 1);
        _exit(99);
    }
    close(fd[1]);
    while (n < sizeof said - 1 && (got = read(fd[0], said + n, sizeof said - 1 - n)) > 0)
        n += (size_t)got;
    close(fd[0]);
    waitpid(pid, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 1, "C52 a failing hook ends the process");
    like(said, "hook 'bad' failed in before", "C52 with a clear message");
    like(said, "atexit ran", "C52 and atexit handlers run");
}

/* --- C54, C55 ------------------------------------------------------------------------------- */

static void future_cb(int err, void *value, void *arg)
{
    (void)value;
    count_cb(err, arg);
}

static void test_futures(void)
{
    struct log *log = log_new(1u << COS_HOOK_FUTURE);
    struct cos_future *future = cos_future_new(NULL);
    void *value;
    cos_hook_enable(log->hook);
    cps_await(rt, future, -1, future_cb, NULL);
    cps_await(rt, future, -1, future_cb, NULL);
    cos_future_set(future, 0, &dropped);
    run();
    is(text(log), "init future 1 by 0; init future 2 by 0; before 1; after 1; destroy 1; "
       "before 2; after 2; destroy 2; ", "C54 each listener of a future has its run");
    log_clear(log);
    cps_await(rt, future, -1, future_cb, NULL);
    run();
    is(text(log), "init future 1 by 0; before 1; after 1; destroy 1; ",
       "C54 cps: one that is served at once has a full life");
    log_clear(log);
    cos_await(future, &value, -1);
    struct cos_op *op = cos__future_op(future);
    cos__op_await(op, -1);
    cos__op_free(op);
    is(text(log), "init future 1 by 0; before 1; after 1; destroy 1; ",
       "C54 co: so has one that completes inline");
    cos_future_free(future);
    log_free(log);
}

static coroutine void receiver(int ch)
{
    struct cos_hook_wait self;
    char x;
    cos_co_begin(&self);
    (void)cos_co_wait(COS_HOOK_CHANNEL, dill_chrecv(ch, &x, 1, -1));
    cos_co_end(&self);
}

static int forget_to_tell(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue, (void)item, (void)arg;
    dill_msleep(dill_now() + 1);
    return 0;
}

static void test_coroutines(void)
{
    struct log *log = log_new(0);
    struct cos__check *check = cos__check_new();
    struct cos_hook_calls calls = {.name = "check", .arg = check, .init = cos__check_init,
                                   .before = cos__check_before, .after = cos__check_after,
                                   .destroy = cos__check_destroy};
    struct cos_flow_queue_opts opts = {.concurrency = 3, .work = forget_to_tell};
    struct cos_flow_queue *queue;
    struct cos_hook *hook;
    struct cos_hook_wait wait;
    int ch[2], h;
    cos_hook_enable(log->hook);
    dill_chmake(ch);
    cos_co_pause(&wait);
    h = dill_go(receiver(ch[0]));
    cos_co_resume(&wait);
    dill_chsend(ch[1], "x", 1, -1);
    cos_sleep(dill_now());
    is(text(log), "init coroutine 1 by 0; before 1; init channel 2 by 1; after 1; "
       "init timer 3 by 0; before 2; after 2; destroy 2; before 1; after 1; destroy 1; "
       "before 3; after 3; destroy 3; ",
       "C55 a coroutine and its wait at a channel");
    dill_hclose(h);
    dill_hclose(ch[0]);
    dill_hclose(ch[1]);
    log_clear(log);
    ch[0] = ch[1] = -1;
    dill_chmake(ch);
    h = dill_go(receiver(ch[0]));
    dill_hclose(h);
    like(text(log), "after 2 failed; destroy 2; ", "C38 co: closed while it waits is failed");
    dill_hclose(ch[0]);
    dill_hclose(ch[1]);
    log_free(log);
    cos_hook_new(&hook, &calls);
    cos_hook_enable(hook);
    if (cos_flow_queue_new(&opts, &queue))
        BAIL_OUT("queue");
    for (int i = 0; i < 20; i++)
        cos_flow_queue_push(queue, NULL, -1);
    cos_flow_queue_drain(queue, -1);
    cos_flow_queue_free(queue);
    ok(cos__check_seen(check) >= 23 && !cos__check_live(check),
       "C55 pairs nest even around waits that nobody told of");
    cos_hook_remove(hook);
    cos_hook_free(hook);
    cos__check_free(check);
}

/* --- C55b: local values --------------------------------------------------------------------- */

static void drop(void *value)
{
    (void)value;
    dropped++;
}

#define W(text) ((void *)(uintptr_t)(text))
static const struct cos_local name = {"name", drop}, other = {"other", NULL};
static struct cos_buf told;

static void tell(const char *who)
{
    const char *value = cos_local_get(&name);
    cos_buf_addf(&told, "%s=%s ", who, value ? value : "-");
}

static void tell_cb(int err, void *arg)
{
    (void)err;
    tell(arg);
}

static void set_cb(int err, void *arg)
{
    (void)err;
    tell("set");
    cps_sleep(rt, dill_now(), tell_cb, W("earlier"));
    cos_local_set(&name, arg);
    cps_sleep(rt, dill_now() + 2, tell_cb, W("later"));
    cps_defer(rt, tell_cb, W("deferred"));
}

static coroutine void child(const char *who)
{
    struct cos_hook_wait self;
    cos_co_begin(&self);
    tell(who);
    cos_local_set(&name, W(who));
    cos_sleep(dill_now() + 1);
    tell(who);
    cos_co_end(&self);
}

static int in_run(void *arg)
{
    tell(arg);
    cos_sleep(dill_now());
    tell(arg);
    return 7;
}

static int queue_work(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue, (void)arg;
    cos_sleep(dill_now());
    tell(item);
    return 0;
}

static void test_local(void)
{
    struct cos_flow_queue_opts opts = {.concurrency = 1, .work = queue_work};
    struct cos_flow_queue *queue;
    struct cos_hook_wait wait;
    int h[2];
    cos_buf_init(&told, 4096);
    ok(!cos_local_get(&name), "C55b nothing is set at first");
    cps_sleep(rt, dill_now(), set_cb, W("A"));
    cps_sleep(rt, dill_now() + 100, tell_cb, W("root"));
    run();
    is(told.data, "set=- deferred=A earlier=- later=A root=- ",
       "C55b cps: what is created after the setting has the value, nothing else");
    cos_buf_clear(&told);
    cos_local_set(&name, W("main"));
    cos_co_pause(&wait);
    h[0] = dill_go(child("a"));
    cos_co_resume(&wait);
    cos_co_pause(&wait);
    h[1] = dill_go(child("b"));
    cos_co_resume(&wait);
    cos_sleep(dill_now() + 3);
    tell("main");
    is(told.data, "a=main b=main a=a b=b main=main ",
       "C55b co: a coroutine inherits at its creation, and what it sets is its own");
    dill_hclose(h[0]);
    dill_hclose(h[1]);
    cos_buf_clear(&told);
    if (cos_flow_queue_new(&opts, &queue))
        BAIL_OUT("queue");
    for (const char *const *at = (const char *const[]){"x", "y", NULL}; *at; at++) {
        cos_local_set(&name, W(*at));
        cos_flow_queue_push(queue, W(*at), -1);
    }
    cos_flow_queue_drain(queue, -1);
    cos_flow_queue_free(queue);
    is(told.data, "x=x y=y ", "C55b a queue's task has the values of who pushed it");
    cos_buf_clear(&told);
    cmp_ok(cos_local_run(&name, W("in"), in_run, W("fn")), "==", 7, "C55b a value for one call");
    tell("out");
    is(told.data, "fn=in fn=in out=y ", "C55b and the one before it again");
    for (int i = 0; i < 1000; i++)
        cos_local_set(&name, W("z"));
    cmp_ok(dropped, "==", 1006, "C55b a value that nobody can reach is dropped");
    ok(!cos_local_get(&other), "C55b another key has none");
    cos_local_clear();
    cmp_ok(dropped, "==", 1007, "C55b cleared");
    ok(!cos_local_get(&name) && (!cos__hooks_on || getenv("COS_HOOK_CHECK")),
       "C55b and the emission points are off again");
    cos_buf_release(&told);
}

/* --- C55c: long stacks ---------------------------------------------------------------------- */

static struct cos_buf stack;
static int second_line, first_line;

static void third(int err, void *arg)
{
    (void)err, (void)arg;
    cos_hook_stack(cos_hook_execution(), &stack);
}

static void second(int err, void *arg)
{
    (void)err;
    second_line = __LINE__ + 1;
    cps_sleep(rt, dill_now(), third, arg);
}

static void chain_stack(int err, void *arg)
{
    int *left = arg;
    (void)err;
    if (--*left)
        cps_sleep(rt, dill_now(), chain_stack, left);
    else
        cos_hook_stack(cos_hook_execution(), &stack);
}

static void test_stacks(void)
{
    struct log *log = log_new(0);
    char want[300];
    int left = 1000, lines = 0;
    cos_buf_init(&stack, 1 << 16);
    cos_hook_enable(log->hook);
    first_line = __LINE__ + 1;
    cps_defer(rt, second, NULL);
    run();
    snprintf(want, sizeof want, "timer at %s:%d\ndefer at %s:%d\n", __FILE__, second_line,
             __FILE__, first_line);
    is(stack.data, want, "C55c file and line of each creation, chained by trigger");
    cos_buf_clear(&stack);
    cps_sleep(rt, dill_now(), chain_stack, &left);
    run();
    for (size_t i = 0; i < stack.len; i++)
        lines += stack.data[i] == '\n';
    ok(lines >= 2 && lines <= 64, "C55c a chain of 1,000 keeps at most 64 of them");
    cmp_ok(cos_hook_stack(1, &stack), "==", COS_ENOENT, "C55c none for what does not live");
    cos_buf_release(&stack);
    log_free(log);
}

int main(void)
{
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("cps_open");
    test_checker();
    test_lives();
    test_after_always();
    test_instances();
    test_disable();
    test_scope();
    test_remove();
    test_find();
    test_types();
    test_ids();
    test_two_ids();
    test_listener();
    test_sleepers();
    test_failing();
    test_futures();
    test_coroutines();
    test_local();
    test_stacks();
    cmp_ok(cps_close(rt), "==", 0, "nothing is left");
    cmp_ok(cos_shutdown(), "==", 0, "nor of the engine");
    done_testing();
}
