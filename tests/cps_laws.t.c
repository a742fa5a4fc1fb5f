/* cps_laws.t - the laws of cps (coscrawl-cps.h), held against every function of
 * the callback face that takes a callback. The list is cps_rows.h; for each row
 * there is a start_NAME() here, which starts something that goes well or badly. */
#include "config.h"

#include "tap.h"

#include "base/loop.h"
#include "coscrawl-cps.h"
#include "cps_flow.h"
#include "cps_rows.h"
#include "site.h"

#include <libdill.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>

enum how { GOOD, BAD };

/* What a callback was seen to do. */
struct probe {
    int calls, err, returned, saw_returned, nested, suspended;
    int again;           /* the chain: how many more to start */
    int (*start)(struct probe *probe);
    char *stack;         /* where the first callback of a chain stood */
    long deepest;        /* how far any stood from it */
};

static struct cps_rt *rt;
static struct site site;
static char dir[] = "/tmp/cos-laws-XXXXXX", file[64], missing[64], fresh[64];
static int inside;

static void seen(int err, struct probe *probe)
{
    char here;
    probe->calls++;
    probe->err = err;
    probe->saw_returned = probe->returned;
    probe->nested |= inside;
    inside = 1;
    probe->suspended |= cos_sleep(0) != COS_ECONTEXT || cps_run(rt) != COS_ECONTEXT;
    if (!probe->stack)
        probe->stack = &here;
    if (labs(probe->stack - &here) > probe->deepest)
        probe->deepest = labs(probe->stack - &here);
    if (probe->again > 0 && --probe->again > 0)
        probe->start(probe);
    inside = 0;
}

/* --- one callback per signature ---------------------------------------------------- */

static void on_plain(int err, void *arg)
{
    seen(err, arg);
}
static void on_page(int err, struct cos_page *page, void *arg)
{
    (void)page;
    seen(err, arg);
}
static void on_data(int err, struct cos_buf *data, void *arg)
{
    (void)data;
    seen(err, arg);
}
static void on_dir(int err, struct cos_dir *entries, void *arg)
{
    (void)entries;
    seen(err, arg);
}
static void on_stat(int err, const struct cos_stat *st, void *arg)
{
    (void)st;
    seen(err, arg);
}
static void on_job(int err, void *data, void *arg)
{
    (void)data;
    seen(err, arg);
}
static void on_addrs(int err, const struct cos_addrs *addrs, void *arg)
{
    (void)addrs;
    seen(err, arg);
}
static void on_crawl(int err, const struct cos_crawl_result *result, void *arg)
{
    (void)result;
    seen(err, arg);
}
static void on_flow(int err, const struct cps_flow_result *result, void *arg)
{
    (void)result;
    seen(err, arg);
}
static void on_value(int err, void *value, void *arg)
{
    (void)value;
    seen(err, arg);
}

/* --- leaf operations ------------------------------------------------------------------ */

#define START(name) static int64_t start_##name(enum how how, int64_t deadline, struct probe *p)

START(cps_defer)
{
    (void)how, (void)deadline;
    return cps_defer(rt, on_plain, p);
}
START(cps_immediate)
{
    (void)how, (void)deadline;
    return cps_immediate(rt, on_plain, p);
}
START(cps_sleep)
{
    (void)how, (void)deadline;
    return cps_sleep(rt, now(), on_plain, p);
}

static struct cos_request request(enum how how)
{
    static char url[128];
    snprintf(url, sizeof url, "%sfault/ok", site.url);
    return (struct cos_request){.url = how == GOOD ? url : "gopher://x/"};
}

START(cps_fetch)
{
    struct cos_request req = request(how);
    return cps_fetch(rt, &req, deadline, on_page, p);
}
START(cps_fetch_into)
{
    static struct cos_page *page[2];
    struct cos_request req = request(how);
    if (!page[how])
        page[how] = cos_page_new(req.url);
    return cps_fetch_into(rt, page[how], &req, deadline, on_page, p);
}
START(cps_cookies_load)
{
    return cps_cookies_load(rt, how == GOOD ? file : missing, deadline, on_plain, p);
}
START(cps_cookies_save)
{
    return cps_cookies_save(rt, how == GOOD ? fresh : dir, deadline, on_plain, p);
}
START(cps_file_read)
{
    return cps_file_read(rt, how == GOOD ? file : missing, 1000, deadline, on_data, p);
}
START(cps_file_write)
{
    return cps_file_write(rt, how == GOOD ? fresh : dir, "x", 1, 0, deadline, on_plain, p);
}
START(cps_file_remove)
{
    char path[128];
    int fd;
    snprintf(path, sizeof path, "%s/gone", dir);
    if (how == GOOD && (fd = open(path, O_CREAT | O_WRONLY, 0600)) >= 0)
        close(fd);
    return cps_file_remove(rt, how == GOOD ? path : missing, deadline, on_plain, p);
}
START(cps_mkdir_p)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", how == GOOD ? dir : file, "a/b");
    return cps_mkdir_p(rt, path, deadline, on_plain, p);
}
START(cps_list_dir)
{
    return cps_list_dir(rt, how == GOOD ? dir : missing, deadline, on_dir, p);
}
START(cps_stat)
{
    return cps_stat(rt, how == GOOD ? file : missing, deadline, on_stat, p);
}

static int job_good(void *data)
{
    (void)data;
    return 0;
}
static int job_bad(void *data)
{
    (void)data;
    return COS_EIO;
}
START(cps_offload)
{
    return cps_offload(rt, how == GOOD ? job_good : job_bad, NULL, NULL, deadline, on_job, p);
}
START(cps_resolve)
{
    return cps_resolve(rt, how == GOOD ? "127.0.0.1" : "", 0, deadline, on_addrs, p);
}

static struct cos_page *a_page(enum how how)
{
    static const char html[] = "<a href=x>x</a>";
    static struct cos_page *pages[2];
    if (!pages[how])
        pages[how] = cos_page_new(how == GOOD ? "http://a.test/" : "no URL");
    pages[how]->body.max = 1000;
    if (!pages[how]->body.len)
        cos_buf_adds(&pages[how]->body, html);
    return pages[how];
}
START(cps_read_links)
{
    return cps_read_links(rt, a_page(how), deadline, on_plain, p);
}

/* --- worker processes: one that echoes, one that is dead, none at all ----------------- */

static struct cos_pool *pools[2], *tidiers;
static struct cos_worker *workers[2];

static int echo(struct cos_work *work, const char *event, const char *data, size_t len)
{
    if (!strcmp(event, "bad"))
        return COS_EIO;
    return cos_work_send(work, "end", data, len);
}

static void on_worker(int err, struct cos_worker *worker, void *arg)
{
    cos_pool_release(worker);
    seen(err, arg);
}
static void on_message(int err, struct cos_message *message, void *arg)
{
    (void)message;
    seen(err, arg);
}
static void on_tidied(int err, struct cos_tidied *tidied, void *arg)
{
    (void)tidied;
    seen(err, arg);
}
static void ignore(int err, void *arg)
{
    (void)err, (void)arg;
}

static void set_up_pools(void)
{
    static const char *const nobody[] = {"/nonexistent/program", NULL};
    struct cos_pool_setup good = {.run = echo, .max = 4}, bad = {.argv = nobody};
    if (cos_pool_open(&pools[GOOD], &good) || cos_pool_open(&pools[BAD], &bad) ||
        cos_tidy_open(&tidiers, 1) || cos_pool_acquire(pools[GOOD], &workers[GOOD], -1) ||
        cos_pool_acquire(pools[GOOD], &workers[BAD], -1))
        BAIL_OUT("no workers");
    kill(cos_worker_pid(workers[BAD]), SIGKILL);
}

static void tear_down_pools(void)
{
    cos_pool_release(workers[GOOD]);
    cos_pool_release(workers[BAD]);
    cos_pool_close(pools[GOOD]);
    cos_pool_close(pools[BAD]);
    cos_pool_close(tidiers);
}

START(cps_pool_acquire)
{
    return cps_pool_acquire(rt, pools[how], deadline, on_worker, p);
}
START(cps_worker_send)
{
    return cps_worker_send(rt, workers[GOOD], how == GOOD ? "echo" : "", "x", 1, deadline, on_plain,
                           p);
}
START(cps_worker_recv)
{
    if (how == GOOD)
        cps_worker_send(rt, workers[GOOD], "echo", "x", 1, -1, ignore, NULL);
    return cps_worker_recv(rt, workers[how], deadline, on_message, p);
}
START(cps_pool_job)
{
    return cps_pool_job(rt, pools[GOOD], how == GOOD ? "echo" : "bad", "x", 1, NULL, NULL, deadline,
                        on_message, p);
}
START(cps_tidy)
{
    static char deep[3000];
    for (size_t i = 0; i + 3 < sizeof deep; i += 3)
        memcpy(deep + i, "<b>", 3);
    return cps_tidy(rt, tidiers, how == GOOD ? "<p>x" : deep, how == GOOD ? 4 : strlen(deep),
                    COS_TIDY_REPAIR, deadline, on_tidied, p);
}

START(cps_crawl)
{
    static char url[128];
    const char *urls[] = {url};
    struct cos_crawl_options options = {.urls = urls, .nurls = 1, .mode = COS_MODE_LIST,
                                        .level = COS_OPT_ZERO, .robots = COS_SWITCH_OFF};
    snprintf(url, sizeof url, "%sfault/ok", site.url);
    if (how == BAD)
        options.accept_regex = "(";
    return cps_crawl(rt, &options, NULL, deadline, on_crawl, p);
}

/* --- control flow: the jobs answer at once ------------------------------------------------ */

static int answers[2] = {0, COS_EIO};
static const int numbers[] = {1, 2, 3};
#define LIST (&COS_FLOW_ARRAY(numbers))

static void item_job(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                     cps_cb *done, void *token)
{
    (void)r, (void)item, (void)index, (void)result;
    done(*(int *)arg, token);
}

static void lone_job(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r, (void)result;
    done(*(int *)arg, token);
}

static struct cps_flow_task task(enum how how)
{
    return (struct cps_flow_task){lone_job, &answers[how]};
}

START(cps_flow_each)
{
    return cps_flow_each(rt, LIST, 2, item_job, &answers[how], deadline, on_flow, p);
}
START(cps_flow_times)
{
    return cps_flow_times(rt, 3, 1, item_job, 0, &answers[how], deadline, on_flow, p);
}
START(cps_flow_map)
{
    return cps_flow_map(rt, LIST, 2, item_job, 4, &answers[how], deadline, on_flow, p);
}
START(cps_flow_filter)
{
    return cps_flow_filter(rt, LIST, 2, item_job, &answers[how], deadline, on_flow, p);
}
START(cps_flow_reject)
{
    return cps_flow_reject(rt, LIST, 2, item_job, &answers[how], deadline, on_flow, p);
}
START(cps_flow_some)
{
    return cps_flow_some(rt, LIST, 2, item_job, &answers[how], deadline, on_flow, p);
}
START(cps_flow_every)
{
    return cps_flow_every(rt, LIST, 2, item_job, &answers[how], deadline, on_flow, p);
}
START(cps_flow_detect)
{
    return cps_flow_detect(rt, LIST, 2, item_job, &answers[how], deadline, on_flow, p);
}
START(cps_flow_concat)
{
    return cps_flow_concat(rt, LIST, 2, item_job, 100, &answers[how], deadline, on_flow, p);
}
START(cps_flow_reduce)
{
    int memo = 0;
    return cps_flow_reduce(rt, LIST, item_job, &memo, sizeof memo, &answers[how], deadline, on_flow,
                           p);
}

/* Yes, no, yes, no …: a loop of one round, with either test. */
static int turn_of_loop;
static int every_second(void *arg)
{
    (void)arg;
    return ++turn_of_loop % 2;
}
START(cps_flow_whilst)
{
    struct cps_flow_task body = task(how);
    turn_of_loop = 0;
    return cps_flow_whilst(rt, every_second, &body, deadline, on_flow, p);
}
START(cps_flow_until)
{
    struct cps_flow_task body = task(how);
    turn_of_loop = 1;
    return cps_flow_until(rt, every_second, &body, deadline, on_flow, p);
}
START(cps_flow_forever)
{
    static int stop = COS_ESTOP;
    struct cps_flow_task body = task(how);
    if (how == GOOD)
        body.arg = &stop;
    return cps_flow_forever(rt, &body, deadline, on_flow, p);
}
START(cps_flow_series)
{
    struct cps_flow_task tasks[] = {task(GOOD), task(how)};
    return cps_flow_series(rt, tasks, 2, 4, deadline, on_flow, p);
}
START(cps_flow_parallel)
{
    struct cps_flow_task tasks[] = {task(GOOD), task(how)};
    return cps_flow_parallel(rt, tasks, 2, 2, 4, deadline, on_flow, p);
}
START(cps_flow_waterfall)
{
    struct cps_flow_task tasks[] = {task(GOOD), task(how)};
    int value = 0;
    return cps_flow_waterfall(rt, tasks, 2, &value, sizeof value, deadline, on_flow, p);
}
START(cps_flow_race)
{
    struct cps_flow_task tasks[] = {task(how), task(how)};
    return cps_flow_race(rt, tasks, 2, 1, 4, deadline, on_flow, p);
}
START(cps_flow_try_each)
{
    struct cps_flow_task tasks[] = {task(BAD), task(how)};
    return cps_flow_try_each(rt, tasks, 2, 4, deadline, on_flow, p);
}
START(cps_flow_auto)
{
    static const char *const needs[] = {"a", NULL};
    struct cps_flow_node nodes[] = {{"a", NULL, task(GOOD)}, {"b", needs, task(how)}};
    return cps_flow_auto(rt, nodes, 2, 2, 4, deadline, on_flow, p);
}
START(cps_flow_retry)
{
    struct cos_flow_retry twice = {.tries = 2};
    struct cps_flow_task t = task(how);
    return cps_flow_retry(rt, &twice, &t, 4, deadline, on_flow, p);
}
START(cps_flow_timeout)
{
    struct cps_flow_task t = task(how);
    return cps_flow_timeout(rt, &t, 1000, 4, deadline, on_flow, p);
}
START(cps_flow_reflect)
{
    struct cps_flow_task t = task(how);
    return cps_flow_reflect(rt, &t, 4, deadline, on_flow, p);
}
START(cps_flow_ensure_async)
{
    struct cps_flow_task t = task(how);
    return cps_flow_ensure_async(rt, &t, 4, deadline, on_flow, p);
}

/* --- recipes and the queue: things that live on between calls -------------------------------- */

static struct cos_future *futures[2];
static struct cos_flow_cache *cache;
static struct cos_flow_gate *gates[2], *spare[1000];
static struct cos_flow_once *once;
static struct cps_flow_queue *queues[2];
static int nspare;

START(cps_await)
{
    return cps_await(rt, futures[how], deadline, on_value, p);
}

static void load(struct cps_rt *r, const char *key, void **value, void *arg, cps_cb *done,
                 void *token)
{
    (void)r, (void)value, (void)arg;
    done(*key == 'b' ? COS_EIO : 0, token);
}
START(cps_flow_cache_get)
{
    return cps_flow_cache_get(rt, cache, how == GOOD ? "good" : "bad", load, NULL, deadline,
                              on_value, p);
}
START(cps_flow_gate_init)
{
    struct cps_flow_task t = task(how);
    struct cos_flow_gate *gate = cos_flow_gate_new(0);
    if (nspare == 1000)
        BAIL_OUT("more gates than expected");
    spare[nspare++] = gate;
    return cps_flow_gate_init(rt, gate, &t, deadline, on_plain, p);
}
START(cps_flow_gate_pass)
{
    return cps_flow_gate_pass(rt, gates[how], deadline, on_plain, p);
}
START(cps_flow_once_run)
{
    static int n;
    char key[32];
    struct cps_flow_task t = task(how);
    snprintf(key, sizeof key, "%d", n++);
    return cps_flow_once_run(rt, once, key, &t, deadline, on_plain, p);
}
START(cps_flow_queue_push)
{
    return cps_flow_queue_push(queues[how], &answers, deadline, on_plain, p);
}
START(cps_flow_queue_push_priority)
{
    return cps_flow_queue_push_priority(queues[how], &answers, 1, deadline, on_plain, p);
}
START(cps_flow_queue_drain)
{
    (void)how;
    return cps_flow_queue_drain(queues[GOOD], deadline, on_plain, p);
}

static void work(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done, void *token)
{
    (void)queue, (void)item, (void)arg;
    done(0, token);
}

/* --- the store that processes share ---------------------------------------------------------- */

static struct cos_shared *store; /* takes values of up to eight bytes */
static char big[COS_SHARED_KEY_MAX + 2];

static void on_store(int err, struct cos_shared *made, void *arg)
{
    cos_shared_close(made);
    seen(err, arg);
}
START(cps_shared_open)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%sstore.db", dir, how == GOOD ? "" : "missing/");
    return cps_shared_open(rt, path, NULL, deadline, on_store, p);
}
START(cps_shared_get)
{
    return cps_shared_get(rt, store, how == GOOD ? "known" : "unknown", deadline, on_data, p);
}
START(cps_shared_put)
{
    return cps_shared_put(rt, store, "known", big, how == GOOD ? 8 : 9, -1, deadline, on_plain, p);
}
START(cps_shared_offer)
{
    return cps_shared_offer(rt, store, "known", big, how == GOOD ? 8 : 9, -1, deadline, on_data, p);
}
START(cps_shared_forget)
{
    return cps_shared_forget(rt, store, how == GOOD ? "nobody's" : big, deadline, on_plain, p);
}

static void set_up_store(void)
{
    struct cos_shared_opts opts = {.value_max = 8};
    char path[128];
    snprintf(path, sizeof path, "%s/store.db", dir);
    memset(big, 'x', sizeof big - 1);
    if (cos_shared_open(path, &opts, &store, -1)
        || cos_shared_put(store, "known", big, 8, -1, -1))
        BAIL_OUT("no store");
}

static void set_up(void)
{
    struct cos_flow_cache_opts opts = {.ttl = -1};
    struct cps_flow_queue_opts qopts = {.concurrency = 1, .work = work};
    struct cps_flow_task t[2] = {task(GOOD), task(BAD)};
    FILE *f;
    if (!mkdtemp(dir))
        BAIL_OUT("no directory");
    snprintf(file, sizeof file, "%s/file", dir);
    snprintf(missing, sizeof missing, "%s/missing/file", dir);
    snprintf(fresh, sizeof fresh, "%s/fresh", dir);
    if ((f = fopen(file, "w")))
        fputs("text\n", f), fclose(f);
    set_up_store();
    cache = cos_flow_cache_new(&opts);
    once = cos_flow_once_new(0);
    for (int i = 0; i < 2; i++) {
        futures[i] = cos_future_new(NULL);
        cos_future_set(futures[i], answers[i], NULL);
        gates[i] = cos_flow_gate_new(0);
        cps_flow_gate_init(rt, gates[i], &t[i], -1, ignore, NULL);
        cps_flow_queue_new(rt, &qopts, &queues[i]);
    }
    cps_flow_queue_kill(queues[BAD]);
    cps_run(rt);
}

static void tear_down(void)
{
    char command[128];
    cos_shared_close(store);
    cos_flow_cache_free(cache);
    cos_flow_once_free(once);
    for (int i = 0; i < 2; i++) {
        cos_future_free(futures[i]);
        cos_flow_gate_free(gates[i]);
        cps_flow_queue_free(queues[i]);
    }
    while (nspare)
        cos_flow_gate_free(spare[--nspare]);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (system(command))
        diag("cannot remove %s", dir);
}

/* --- the rows --------------------------------------------------------------------------------- */

static const struct row {
    const char *name;
    int64_t (*start)(enum how how, int64_t deadline, struct probe *p);
} rows[] = {
#define X(name) {#name, start_##name},
    CPS_ROWS(X)
#undef X
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Nothing can go wrong with these. */
static int cannot_fail(const char *name)
{
    return !strcmp(name, "cps_defer") || !strcmp(name, "cps_immediate") ||
           !strcmp(name, "cps_sleep") || !strcmp(name, "cps_flow_reflect") ||
           !strcmp(name, "cps_flow_queue_drain");
}

static int has_ticket(const char *name)
{
    return strcmp(name, "cps_defer") && strcmp(name, "cps_immediate");
}

static void law_later(const struct row *row, enum how how)
{
    struct probe p = {0};
    int64_t ticket = row->start(how, -1, &p);
    const char *what = how == GOOD ? "going well" : "going badly";
    int early = p.calls;
    p.returned = 1;
    cps_run(rt);
    ok(!early && p.calls && p.saw_returned, "C13 %s %s never calls back before it returns",
       row->name, what);
    ok(p.calls == 1 && (how == GOOD || cannot_fail(row->name) ? p.err == 0 : p.err < 0),
       "C14 %s %s calls back once, with %s", row->name, what, cos_errname(p.err));
    ok(!p.suspended, "%s: a suspending call in the callback is refused", row->name);
    if (has_ticket(row->name))
        cmp_ok(cps_cancel(rt, ticket), "==", COS_ENOENT, "%s: its ticket is used up", row->name);
}

/* The item is in the queue when the cancel comes: saying anything else than 0
 * would leave it with two owners. */
static int comes_too_late(const char *name)
{
    return !strncmp(name, "cps_flow_queue_push", 19);
}

static void law_cancel(const struct row *row)
{
    int expected = comes_too_late(row->name) ? 0 : COS_ECANCELED;
    struct probe p = {0};
    int64_t ticket;
    int err;
    if (!has_ticket(row->name))
        return;
    ticket = row->start(GOOD, -1, &p);
    err = cps_cancel(rt, ticket);
    ok(!err && !p.calls, "C13 cps_cancel of %s does not call back", row->name);
    p.returned = 1;
    cps_run(rt);
    ok(p.calls == 1 && p.err == expected, "C14 %s cancelled: once, with %s", row->name,
       cos_errname(expected));
}

static void law_deadline(const struct row *row)
{
    struct probe p = {0};
    row->start(GOOD, 0, &p);
    p.returned = 1;
    cps_run(rt);
    ok(p.calls == 1 && p.saw_returned && (p.err == 0 || p.err == COS_ETIMEDOUT),
       "C14 %s with deadline 0: once, later, 0 or COS_ETIMEDOUT", row->name);
}

static const struct row *chained;

static int start_chained(struct probe *p)
{
    chained->start(GOOD, -1, p);
    return 0;
}

/* How long the chain is: a million where nothing leaves the process's memory. */
static int steps_of(const char *name)
{
    if (!strcmp(name, "cps_defer") || !strcmp(name, "cps_immediate"))
        return 1000000;
    if (!strcmp(name, "cps_flow_gate_init"))
        return 300;
    return strncmp(name, "cps_flow", 8) && strcmp(name, "cps_await") ? 200 : 10000;
}

static void law_stack(const struct row *row)
{
    struct probe p = {.again = steps_of(row->name), .start = start_chained};
    struct cos__loop_stats before = cos__loop_stats(cos__loop());
    int steps = p.again;
    chained = row;
    row->start(GOOD, -1, &p);
    cps_run(rt);
    ok(p.calls == steps && p.deepest == 0 && !p.nested,
       "C15 %s: %d steps, each from the same depth of stack (%ld)", row->name, p.calls, p.deepest);
    ok(cos__loop_stats(cos__loop()).pumps == before.pumps, "C15 %s: no coroutine is made",
       row->name);
}

/* --- is the list complete? ------------------------------------------------------- */

static int in_rows(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return 1;
    return 0;
}

/* Declarations, one at a time: what has a "cb" among its parameters is meant. */
static int check_header(const char *name)
{
    char path[512], text[8192] = "", line[512], function[128];
    int missing_rows = 0, found = 0;
    FILE *f;
    snprintf(path, sizeof path, "%s/compat/%s", getenv("srcdir") ? getenv("srcdir") : ".", name);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (!text[0] && strncmp(line, "int cps_", 8) && strncmp(line, "int64_t cps_", 12))
            continue;
        strcat(text, line);
        if (!strchr(line, ';'))
            continue;
        if (strstr(text, "cb *cb") &&
            sscanf(strstr(text, "cps_"), "%127[a-z_0-9]", function) == 1) {
            found++;
            if (!in_rows(function)) {
                diag("%s has no row in cps_rows.h", function);
                missing_rows++;
            }
        }
        text[0] = 0;
    }
    if (f)
        fclose(f);
    return found ? missing_rows : -1;
}

int main(void)
{
    plan(NO_PLAN);
    site_start(&site, NULL);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    cmp_ok(check_header("coscrawl-cps.h"), "==", 0, "every function of coscrawl-cps.h has a row");
    cmp_ok(check_header("cps_flow.h"), "==", 0, "every function of cps_flow.h has a row");
    cmp_ok(check_header("cps_shared.h"), "==", 0, "every function of cps_shared.h has a row");
    set_up();
    set_up_pools();
    for (int i = 0; i < ROWS; i++) {
        law_later(&rows[i], GOOD);
        law_later(&rows[i], BAD);
        law_cancel(&rows[i]);
        law_deadline(&rows[i]);
        law_stack(&rows[i]);
    }
    tear_down_pools();
    tear_down();
    cmp_ok(cps_close(rt), "==", 0, "nothing is pending");
    cos_shutdown();
    site_stop(&site);
    done_testing();
}
