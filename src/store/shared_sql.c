/* shared_sql.c - the shared store's side of the thread: SQLite and nothing else.
 *
 * A value stored anew gets a new id, so ids are the order of storing, and keeping
 * the latest so many is one comparison: no row is counted. Values whose time is
 * over are never given out, and every store sweeps a few of them. WAL lets
 * readers go on while another process writes; a lost power supply may cost the
 * latest values, which somebody can make again. */
#include "config.h"

#include "store/shared_int.h"

#include "base/err.h"
#include "store/db_int.h"

#include <sqlite3.h>
#include <string.h>
#include <time.h>

enum { OURS = 0x636f7353, LAYOUT = 1, BUSY_MS = 5000, WAL_TRIES = 100, WAL_WAIT_MS = 20 };

static const char setup[] =
    "CREATE TABLE IF NOT EXISTS shared(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,"
    " value BLOB NOT NULL, expires INTEGER);"
    "CREATE INDEX IF NOT EXISTS shared_expires ON shared(expires) WHERE expires IS NOT NULL;"
    "PRAGMA application_id=1668248403; PRAGMA user_version=1;";

/* What makes a file ours: our number, or nothing in it at all. */
static const char look[] =
    "SELECT (SELECT count(*) FROM sqlite_master), (SELECT application_id FROM"
    " pragma_application_id), (SELECT user_version FROM pragma_user_version)";

static const char *const sql[COS__SHARED_STMTS] = {
    [COS__SHARED_BEGIN] = "BEGIN IMMEDIATE",
    [COS__SHARED_COMMIT] = "COMMIT",
    [COS__SHARED_ROLLBACK] = "ROLLBACK",
    [COS__SHARED_GET] = "SELECT value FROM shared WHERE key = ?1 AND ifnull(expires, ?2 + 1) > ?2",
    [COS__SHARED_PUT] = "INSERT OR REPLACE INTO shared(key, value, expires) VALUES(?1, ?2, ?3)",
    [COS__SHARED_EXPIRE] = "DELETE FROM shared WHERE id IN"
                           " (SELECT id FROM shared WHERE expires <= ?1 LIMIT 16)",
    [COS__SHARED_TRIM] = "DELETE FROM shared WHERE id <= (SELECT max(id) FROM shared) - ?1",
    [COS__SHARED_FORGET] = "DELETE FROM shared WHERE key = ?1",
    [COS__SHARED_FORGET_ALL] = "DELETE FROM shared",
};

static int64_t wall_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int code(int rc)
{
    if (rc == SQLITE_DONE || rc == SQLITE_ROW)
        return 0;
    return (rc & 255) == SQLITE_BUSY || (rc & 255) == SQLITE_LOCKED ? COS_ELOCKED
                                                                    : cos__db_code(rc);
}

/* Runs a statement that gives no rows. */
static int run(struct cos_shared *shared, enum cos__shared_stmt which)
{
    sqlite3_stmt *stmt = shared->stmts[which];
    int rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return code(rc);
}

/* --- opening -------------------------------------------------------------------------- */

static int execute(struct cos_shared *shared, const char *text)
{
    return code(sqlite3_exec(shared->sql, text, NULL, NULL, NULL));
}

/* 0 when the file is ours or empty. */
static int check_file(struct cos_shared *shared)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(shared->sql, look, -1, &stmt, NULL), err;
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    err = code(rc);
    if (!err && sqlite3_column_int(stmt, 0)
        && (sqlite3_column_int(stmt, 1) != OURS || sqlite3_column_int(stmt, 2) > LAYOUT))
        err = COS_EDB;
    sqlite3_finalize(stmt);
    return err;
}

/* Several processes may come at once to a file that is not there yet, and while
 * one switches it to WAL the others are refused without waiting. */
static int switch_to_wal(struct cos_shared *shared)
{
    struct timespec pause = {.tv_nsec = WAL_WAIT_MS * 1000000L};
    int err = COS_ELOCKED;
    for (int i = 0; err == COS_ELOCKED && i < WAL_TRIES; i++) {
        if (i)
            nanosleep(&pause, NULL);
        err = execute(shared, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    }
    return err;
}

static int set_up(struct cos_shared *shared)
{
    int err;
    sqlite3_busy_timeout(shared->sql, BUSY_MS);
    err = check_file(shared);
    if (!err)
        err = switch_to_wal(shared);
    if (!err)
        err = execute(shared, "BEGIN IMMEDIATE");
    if (err)
        return err;
    err = check_file(shared);
    if (!err)
        err = execute(shared, setup);
    execute(shared, err ? "ROLLBACK" : "COMMIT");
    return err;
}

static int open_file(struct cos_shared *shared)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(shared->path, &shared->sql, flags, NULL), errnum;
    if (rc != SQLITE_CANTOPEN)
        return code(rc);
    errnum = sqlite3_system_errno(shared->sql);
    return errnum ? cos_err_from_errno(errnum) : COS_EDB;
}

int cos__shared_sql_open(struct cos__job *job)
{
    struct cos_shared *shared = ((struct cos__shared_op *)job)->shared;
    int err = open_file(shared);
    if (!err)
        err = set_up(shared);
    for (int i = 0; !err && i < COS__SHARED_STMTS; i++)
        err = code(sqlite3_prepare_v3(shared->sql, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                      &shared->stmts[i], NULL));
    return err;
}

void cos__shared_sql_close(struct cos_shared *shared)
{
    for (int i = 0; i < COS__SHARED_STMTS; i++)
        sqlite3_finalize(shared->stmts[i]);
    sqlite3_close(shared->sql);
}

/* --- reading and writing ------------------------------------------------------------------- */

/* 0 and the value, or COS_ENOENT. */
static int find(struct cos__shared_op *op)
{
    sqlite3_stmt *stmt = op->shared->stmts[COS__SHARED_GET];
    int rc, err;
    sqlite3_bind_text(stmt, 1, op->key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, wall_ms());
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        const void *value = sqlite3_column_blob(stmt, 0);
        int len = sqlite3_column_bytes(stmt, 0);
        err = len ? cos_buf_add(&op->value, value, (size_t)len) : 0;
    } else {
        err = rc == SQLITE_DONE ? COS_ENOENT : code(rc);
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return err;
}

static int store(struct cos__shared_op *op)
{
    struct cos_shared *shared = op->shared;
    sqlite3_stmt *put = shared->stmts[COS__SHARED_PUT];
    int64_t now = wall_ms(), expires;
    int err;
    sqlite3_bind_int64(shared->stmts[COS__SHARED_EXPIRE], 1, now);
    err = run(shared, COS__SHARED_EXPIRE);
    if (err)
        return err;
    sqlite3_bind_text(put, 1, op->key, -1, SQLITE_STATIC);
    sqlite3_bind_blob64(put, 2, op->len ? op->data : "", op->len, SQLITE_STATIC);
    if (op->ttl >= 0 && !__builtin_add_overflow(now, op->ttl, &expires))
        sqlite3_bind_int64(put, 3, expires);
    err = run(shared, COS__SHARED_PUT);
    if (err)
        return err;
    sqlite3_bind_int64(shared->stmts[COS__SHARED_TRIM], 1, (int64_t)shared->max);
    return run(shared, COS__SHARED_TRIM);
}

/* One transaction around the step; begun as a writer, so that what it reads stays
 * true until it has written. */
static int in_transaction(struct cos__shared_op *op, int (*step)(struct cos__shared_op *))
{
    int err = run(op->shared, COS__SHARED_BEGIN);
    if (err)
        return err;
    err = step(op);
    if (!err)
        err = run(op->shared, COS__SHARED_COMMIT);
    if (err)
        run(op->shared, COS__SHARED_ROLLBACK);
    return err;
}

static int find_or_store(struct cos__shared_op *op)
{
    int err = find(op);
    op->other = !err;
    return err == COS_ENOENT ? store(op) : err;
}

int cos__shared_sql_get(struct cos__job *job)
{
    return find((struct cos__shared_op *)job);
}

int cos__shared_sql_put(struct cos__job *job)
{
    return in_transaction((struct cos__shared_op *)job, store);
}

int cos__shared_sql_offer(struct cos__job *job)
{
    return in_transaction((struct cos__shared_op *)job, find_or_store);
}

int cos__shared_sql_forget(struct cos__job *job)
{
    struct cos__shared_op *op = (struct cos__shared_op *)job;
    if (!op->key)
        return run(op->shared, COS__SHARED_FORGET_ALL);
    sqlite3_bind_text(op->shared->stmts[COS__SHARED_FORGET], 1, op->key, -1, SQLITE_STATIC);
    return run(op->shared, COS__SHARED_FORGET);
}
