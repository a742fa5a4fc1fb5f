/* total_sales.c - a server that adds up sales from a database. What to look at:
 * what it takes to answer the same question for many at once. mode=plain asks the
 * database for every request; batch lets requests for the same item share the
 * query that is under way; cache also keeps its result for a while; future does
 * both with nothing but a table of futures: one that is not set yet is a batch,
 * one that is set is a cache. The database is asked on threads: SQLite waits for
 * the disk, and the loop must not. */
#include "serve.h"

#include <coscrawl/libdill.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEM_MAX = 64, KEPT_MAX = 64 };
enum mode { PLAIN, BATCH, CACHE, FUTURE, MODES };
static const char *const mode_names[MODES] = {"plain", "batch", "cache", "future"};

static const char usage[] =
    "usage: total_sales [--face=co|cps] [--port=N] [--rows=N] [--delay=MS] [--ttl=MS] db\n"
    "Serves /totalSales?item=NAME&mode=plain|batch|cache|future on loopback: the sum of\n"
    "the sales of an item, without item of all; /loads counts the queries. The database\n"
    "db is made with N (100,000) rows if it is not there; items are book, desk, lamp and\n"
    "pen. A query takes MS (0) longer than it must, a result is kept for MS (30,000).\n";

static int64_t rows = 100000, delay, ttl = 30000;

/* What is asked for: a mode and an item; as a text it is the key of caches. */
struct kept {
    char key[ITEM_MAX];
    struct cos_future *future;
    int64_t until;
};

/* One for the program: queries run on threads and read its path from here. */
static struct server {
    struct serve serve;
    const char *db;
    struct cos_flow_cache *caches[MODES]; /* of BATCH and CACHE */
    struct kept kept[KEPT_MAX];           /* of FUTURE */
    uint64_t loads[MODES];
} server;

/* --- the database: on a thread, or before there is a loop ---------------------------------- */

struct load {
    char item[ITEM_MAX]; /* "": all */
    int64_t total;       /* first it is asked for, then it is a value that is kept */
};

static int query(void *data)
{
    static const char sql[] = "SELECT sum(amount) FROM sales WHERE ?1 = '' OR item = ?1";
    struct timespec wait = {delay / 1000, delay % 1000 * 1000000};
    struct load *load = data;
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int err = COS_EDB;
    if (delay)
        nanosleep(&wait, NULL);
    if (sqlite3_open_v2(server.db, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, load->item, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        err = sqlite3_column_type(stmt, 0) == SQLITE_NULL ? COS_ENOENT : 0;
        load->total = sqlite3_column_int64(stmt, 0);
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return err;
}

static int make_database(void)
{
    char sql[512];
    sqlite3 *db = NULL;
    int err;
    snprintf(sql, sizeof sql,
             "CREATE TABLE sales (item TEXT NOT NULL, amount INTEGER NOT NULL);"
             "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT %lld)"
             "INSERT INTO sales SELECT CASE i %% 4 WHEN 0 THEN 'book' WHEN 1 THEN 'desk'"
             " WHEN 2 THEN 'lamp' ELSE 'pen' END, i %% 4 + 1 FROM n;",
             (long long)rows);
    err = sqlite3_open(server.db, &db) == SQLITE_OK &&
          sqlite3_exec(db, "PRAGMA synchronous = off; BEGIN;", NULL, NULL, NULL) == SQLITE_OK &&
          sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK &&
          sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : COS_EDB;
    sqlite3_close(db);
    return err;
}

/* A key is the digit of its mode and the item. The load is counted here. */
static struct load *new_load(const char *key)
{
    struct load *load = calloc(1, sizeof *load);
    if (!load)
        return NULL;
    snprintf(load->item, sizeof load->item, "%s", key + 1);
    server.loads[key[0] - '0']++;
    return load;
}

/* --- the table of futures -------------------------------------------------------------------- */

/* The future for key, set or not, with a reference for the caller; NULL when it
 * has to be started. What failed or is too old is forgotten. */
static struct cos_future *find_kept(const char *key)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        struct kept *kept = server.kept + i;
        int err = kept->future ? cos_future_get(kept->future, NULL) : 0;
        if (kept->future && ((err && err != COS_EBUSY) || now() >= kept->until)) {
            cos_future_free(kept->future);
            *kept = (struct kept){0};
        }
        if (kept->future && !strcmp(kept->key, key))
            return cos_future_ref(kept->future);
    }
    return NULL;
}

/* When the table is full the future serves those who hold it, and is not kept. */
static void keep(const char *key, struct cos_future *future)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        struct kept *kept = server.kept + i;
        if (kept->future)
            continue;
        snprintf(kept->key, sizeof kept->key, "%s", key);
        kept->future = cos_future_ref(future);
        kept->until = now() + ttl;
        return;
    }
}

/* --- coroutines ------------------------------------------------------------------------------ */

static int load_co(const char *key, void **value, void *arg)
{
    void *load = new_load(key);
    int err;
    (void)arg;
    if (!load)
        return COS_ENOMEM;
    err = cos_offload(query, &load, free, -1);
    if (!err)
        *value = load;
    else
        free(load);
    return err;
}

/* The key and a reference are the coroutine's: nobody may be waiting any more. */
static coroutine void fill(struct cos_future *future, char *key)
{
    void *value = NULL;
    int err = load_co(key, &value, NULL);
    cos_future_set(future, err, value);
    cos_future_free(future);
    free(key);
}

/* The future is in the table before its load starts: starting suspends, and the
 * next request would not find it. That is why cos_future_from(), which hands it
 * out only afterwards, is of no use here. */
static int future_co(const char *key, struct cos_future **out)
{
    char *copy;
    *out = find_kept(key);
    if (*out)
        return 0;
    copy = strdup(key);
    *out = copy ? cos_future_new(free) : NULL;
    if (!*out) {
        free(copy);
        return COS_ENOMEM;
    }
    keep(key, *out);
    if (bundle_go(server.serve.beside, fill(cos_future_ref(*out), copy))) {
        cos_future_set(*out, COS_ENOMEM, NULL);
        free(copy);
    }
    return 0;
}

static int total_co(enum mode mode, const char *key, int64_t *total)
{
    struct cos_future *future = NULL;
    void *value = NULL;
    int err;
    if (mode == PLAIN) {
        err = load_co(key, &value, NULL);
        *total = err ? 0 : ((struct load *)value)->total;
        free(value);
        return err;
    }
    err = mode == FUTURE ? future_co(key, &future)
                         : cos_flow_cache_get(server.caches[mode], key, &future, -1);
    if (!err)
        err = cos_await(future, &value, -1);
    if (!err)
        *total = ((struct load *)value)->total;
    cos_future_free(future);
    return err;
}

/* --- callbacks ------------------------------------------------------------------------------- */

struct loading {
    void **result;
    cps_cb *done;
    void *token;
};

static void loaded(int err, void *data, void *arg)
{
    struct loading loading = *(struct loading *)arg;
    free(arg);
    if (!err)
        *loading.result = data;
    else
        free(data);
    loading.done(err, loading.token);
}

static void load_cps(struct cps_rt *rt, const char *key, void **value, void *arg, cps_cb *done,
                     void *token)
{
    struct loading *loading = malloc(sizeof *loading);
    struct load *load = loading ? new_load(key) : NULL;
    (void)arg;
    if (!load) {
        free(loading);
        done(COS_ENOMEM, token);
        return;
    }
    *loading = (struct loading){value, done, token};
    if (cps_offload(rt, query, load, free, -1, loaded, loading) < 0) {
        free(loading);
        done(COS_ENOMEM, token);
    }
}

/* The value is lent, and the connection's coroutine looks later: it gets a copy. */
static void have_value(int err, void *value, void *arg)
{
    struct load *copy = err ? NULL : malloc(sizeof *copy);
    if (!err && !copy)
        err = COS_ENOMEM;
    if (copy)
        *copy = *(struct load *)value;
    cos_future_set(arg, err, copy);
    cos_future_free(arg);
}

static void load_and_free(struct cps_rt *rt, void *result, void *key, cps_cb *done, void *token)
{
    load_cps(rt, key, result, NULL, done, token);
    free(key);
}

/* plain is a future that nobody else gets to see. */
static int64_t await_cps(enum mode mode, const char *key, struct cos_future *answer)
{
    struct cps_rt *rt = server.serve.rt;
    struct cps_flow_task task = {load_and_free, NULL};
    struct cos_future *future = mode == FUTURE ? find_kept(key) : NULL;
    int64_t ticket;
    if (!future) {
        task.arg = strdup(key);
        future = task.arg ? cps_future_from(rt, &task, free) : NULL;
        if (!future)
            return COS_ENOMEM;
        if (mode == FUTURE)
            keep(key, future);
    }
    ticket = cps_await(rt, future, -1, have_value, answer);
    cos_future_free(future);
    return ticket;
}

static int total_cps(enum mode mode, const char *key, int64_t *total)
{
    struct cos_future *answer = cos_future_new(free);
    void *value = NULL;
    int64_t ticket;
    int err;
    if (!answer)
        return COS_ENOMEM;
    cos_future_ref(answer);
    ticket = server.caches[mode]
                 ? cps_flow_cache_get(server.serve.rt, server.caches[mode], key, load_cps, NULL,
                                      -1, have_value, answer)
                 : await_cps(mode, key, answer);
    if (ticket < 0)
        have_value((int)ticket, NULL, answer);
    err = cos_await(answer, &value, -1);
    if (!err)
        *total = ((struct load *)value)->total;
    cos_future_free(answer);
    return err;
}

/* --- both ------------------------------------------------------------------------------------ */

static int total_sales(struct cos_http_conn *conn, const struct cos_http_req *req, enum mode mode,
                       const char *item)
{
    char key[ITEM_MAX], text[128];
    int64_t total = 0;
    int err;
    snprintf(key, sizeof key, "%d%s", (int)mode, item);
    err = (server.serve.rt ? total_cps : total_co)(mode, key, &total);
    if (err == COS_ECANCELED)
        return err;
    if (err)
        snprintf(text, sizeof text, "no total: %s\n", cos_strerror(err));
    else
        snprintf(text, sizeof text, "total %lld\n", (long long)total);
    return serve_text(conn, req, !err ? 200 : err == COS_ENOENT ? 404 : 500, text);
}

static int tell_loads(struct cos_http_conn *conn, const struct cos_http_req *req)
{
    char text[256] = "";
    for (size_t i = 0, len = 0; i < MODES; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s %llu\n", mode_names[i],
                                (unsigned long long)server.loads[i]);
    return serve_text(conn, req, 200, text);
}

static int handle(struct cos_http_conn *conn, const struct cos_http_req *req, void *arg)
{
    struct cos_buf item = {.max = ITEM_MAX - 2}, name = {.max = 16};
    int err, mode = 0;
    (void)arg;
    if (cos_http_is(req, "/loads"))
        return tell_loads(conn, req);
    if (!cos_http_is(req, "/totalSales"))
        return serve_text(conn, req, 404, "no such page\n");
    err = serve_query(req, "item", "", &item);
    if (!err)
        err = serve_query(req, "mode", "future", &name);
    while (!err && mode < MODES && strcmp(mode_names[mode], name.len ? name.data : ""))
        mode++;
    if (err || mode == MODES)
        err = serve_text(conn, req, 400, "item=NAME, mode=plain, batch, cache or future\n");
    else
        err = total_sales(conn, req, (enum mode)mode, item.len ? item.data : "");
    cos_buf_release(&item);
    cos_buf_release(&name);
    return err;
}

static int prepare(void)
{
    struct cos_flow_cache_opts batch = {.load = load_co, .drop = free}, cache = batch;
    struct cos_stat stat;
    int err = cos_stat(server.db, &stat, -1);
    if (err == COS_ENOENT)
        err = make_database();
    if (err)
        return err;
    cache.ttl = ttl;
    server.caches[BATCH] = cos_flow_cache_new(&batch);
    server.caches[CACHE] = cos_flow_cache_new(&cache);
    return server.caches[BATCH] && server.caches[CACHE] ? 0 : COS_ENOMEM;
}

static void release(void)
{
    for (int i = 0; i < KEPT_MAX; i++)
        cos_future_free(server.kept[i].future);
    for (int i = 0; i < MODES; i++)
        cos_flow_cache_free(server.caches[i]);
}

int main(int argc, char **argv)
{
    const struct example_option options[] = {{"port", &server.serve.port, 0, 65535},
                                             {"rows", &rows, 0, 10000000},
                                             {"delay", &delay, 0, 10000},
                                             {"ttl", &ttl, 0, 3600000}, {0}};
    struct example example = {.name = "total_sales", .usage = usage, .options = options,
                              .min_operands = 1, .max_operands = 1};
    int err, code;
    example_start(&example, argc, argv);
    server.db = example.args[0];
    server.serve.example = &example;
    server.serve.handle = handle;
    err = prepare();
    code = err ? example_fail(&example, server.db, err) : serve_run(&server.serve);
    release();
    cos_shutdown();
    return code;
}
