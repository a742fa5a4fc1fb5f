/* db.c - opening, locking and closing the crawl database, its settings, notes
 * and runs. Each call runs on the database thread, so the loop never waits for
 * the disk. The lock is flock on .coscrawl/lock: it goes with the process, so a
 * killed crawl leaves no stale lock behind; the number inside only serves the
 * message. */
#include "config.h"

#include "store/db_int.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_MAX = 16 << 20, PATH_LONG = 4096, WAL_PAGES = 4000 };

static const char *const states[] = {"queued", "done", "failed", "skipped"};

const char *cos__db_state_name(int state)
{
    return states[state];
}

int cos__db_state_of(const char *name)
{
    for (int i = 0; i < 4; i++)
        if (name && !strcmp(name, states[i]))
            return i;
    return COS_ENOENT;
}

int cos__db_code(int rc)
{
    switch (rc & 255) {
    case SQLITE_OK:
        return 0;
    case SQLITE_NOMEM:
        return COS_ENOMEM;
    case SQLITE_FULL:
        return COS_ENOSPC;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return COS_EACCES;
    default:
        return COS_EDB;
    }
}

/* --- directory and lock -------------------------------------------------------- */

struct opening {
    struct cos_db *db;
    const char *dir; /* NULL: temporary */
    int flags;
    struct cos_buf *why;
};

static int fail_errno(struct opening *o, const char *what, const char *path)
{
    int err = cos_err_from_errno(errno);
    cos_buf_addf(o->why, "cannot %s %s: %s", what, path, cos_strerror(err));
    return err;
}

static int make_dirs(struct opening *o, char *path)
{
    for (char *p = path + 1;; p++) {
        char c = *p;
        if (c != '/' && c != 0)
            continue;
        *p = 0;
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return fail_errno(o, "make directory", path);
        *p = c;
        if (!c)
            return 0;
    }
}

static int lock_busy(struct opening *o, int fd)
{
    char pid[32] = "";
    ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
    while (n > 0 && (pid[n - 1] == '\n' || pid[n - 1] == 0))
        pid[--n] = 0;
    cos_buf_addf(o->why, "%s is in use by another coscrawl%s%s%s", o->dir, *pid ? " (process " : "",
                 pid, *pid ? ")" : "");
    return COS_ELOCKED;
}

static int take_lock(struct opening *o)
{
    char path[PATH_LONG], pid[32];
    int fd, n;
    snprintf(path, sizeof path, "%s/.coscrawl/lock", o->dir);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail_errno(o, "open", path);
    o->db->lock_fd = fd;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? lock_busy(o, fd) : fail_errno(o, "lock", path);
    n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n)
        return fail_errno(o, "write", path);
    return 0;
}

static int forget(struct opening *o)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char path[PATH_LONG];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/.coscrawl/crawl.db%s", o->dir, ends[i]);
        if (unlink(path) < 0 && errno != ENOENT)
            return fail_errno(o, "remove", path);
    }
    return 0;
}

static int prepare_dir(struct opening *o)
{
    char path[PATH_LONG];
    int err;
    if (strlen(o->dir) + 32 > sizeof path) {
        cos_buf_addf(o->why, "directory name too long: %.60s…", o->dir);
        return COS_ETOOBIG;
    }
    snprintf(path, sizeof path, "%s/.coscrawl", o->dir);
    if ((err = make_dirs(o, path)) || (err = take_lock(o)))
        return err;
    return o->flags & COS_DB_FRESH ? forget(o) : 0;
}

/* --- SQLite --------------------------------------------------------------------- */

static int fail_sql(struct opening *o, int rc)
{
    int broken = rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB;
    cos_buf_addf(o->why, "crawl database%s%s: %s%s", o->dir ? " in " : "", o->dir ? o->dir : "",
                 o->db->sql ? sqlite3_errmsg(o->db->sql) : sqlite3_errstr(rc),
                 broken ? "; --fresh starts from nothing" : "");
    return cos__db_code(rc);
}

static int64_t number(sqlite3 *sql, const char *query)
{
    sqlite3_stmt *st = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(sql, query, -1, &st, NULL) == SQLITE_OK &&
        sqlite3_step(st) == SQLITE_ROW)
        value = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return value;
}

/* Other programs may read while we write; our own writes wait for a reader's
 * checkpoint at most this long. NORMAL: a killed process loses nothing, a lost
 * power supply at most the last transactions. */
static int configure(struct opening *o)
{
    char sql[256];
    sqlite3_busy_timeout(o->db->sql, 10000);
    snprintf(sql, sizeof sql,
             "PRAGMA journal_mode = %s; PRAGMA synchronous = %s; PRAGMA cache_size = -4096;"
             "PRAGMA wal_autocheckpoint = %d; PRAGMA temp_store = %s",
             o->dir ? "WAL" : "OFF", o->dir ? "NORMAL" : "OFF", WAL_PAGES,
             o->dir ? "MEMORY" : "FILE");
    return sqlite3_exec(o->db->sql, sql, NULL, NULL, NULL);
}

static int make_views(struct opening *o)
{
    int rc = sqlite3_exec(o->db->sql, cos__db_views, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : fail_sql(o, rc);
}

static int make_schema(struct opening *o)
{
    char sql[64];
    int64_t version = number(o->db->sql, "PRAGMA user_version");
    int rc;
    if (version < 0)
        return fail_sql(o, sqlite3_errcode(o->db->sql));
    if (version > COS__DB_VERSION) {
        cos_buf_addf(o->why, "crawl database in %s was made by a newer coscrawl (format %d)",
                     o->dir, (int)version);
        return COS_EDB;
    }
    if (version == COS__DB_VERSION)
        return make_views(o);
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d; COMMIT", COS__DB_VERSION);
    rc = sqlite3_exec(o->db->sql, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(o->db->sql, version ? cos__db_upgrade : cos__db_schema, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(o->db->sql, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? make_views(o) : fail_sql(o, rc);
}

static int open_sql(struct opening *o)
{
    char path[PATH_LONG] = "";
    int rc, err;
    if (o->dir)
        snprintf(path, sizeof path, "%s/.coscrawl/crawl.db", o->dir);
    rc = sqlite3_open_v2(path, &o->db->sql,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = configure(o);
    if (rc != SQLITE_OK)
        return fail_sql(o, rc);
    if ((err = make_schema(o)))
        return err;
    for (int i = 0; i < COS__DB_STMTS && rc == SQLITE_OK; i++)
        rc = sqlite3_prepare_v3(o->db->sql, cos__db_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                &o->db->stmts[i], NULL);
    return rc == SQLITE_OK ? 0 : fail_sql(o, rc);
}

static int open_here(void *arg)
{
    struct opening *o = arg;
    int err = o->dir ? prepare_dir(o) : 0;
    return err ? err : open_sql(o);
}

static int close_here(void *arg)
{
    struct cos_db *db = arg;
    int rc;
    for (int i = 0; i < COS__DB_STMTS; i++)
        sqlite3_finalize(db->stmts[i]);
    memset(db->stmts, 0, sizeof db->stmts);
    rc = sqlite3_close(db->sql);
    db->sql = NULL;
    if (db->lock_fd >= 0)
        close(db->lock_fd);
    db->lock_fd = -1;
    return rc == SQLITE_OK ? 0 : COS_EDB;
}

int cos_db_open(struct cos_db **out, const char *dir, int flags, const struct cos_db_events *events,
                struct cos_buf *why)
{
    struct cos_db *db = calloc(1, sizeof *db);
    struct opening o = {.db = db, .dir = dir, .flags = flags, .why = why};
    int err;
    if (!db)
        return COS_ENOMEM;
    db->lock_fd = -1;
    cos_buf_init(&db->scratch, PACKED_MAX);
    cos_buf_init(&db->why, 1024);
    cos__db_batch_init(db);
    if (events)
        db->events = *events;
    db->lane = cos__offload_lane(NULL, NULL);
    if (!db->lane) {
        free(db);
        return COS_ENOMEM;
    }
    err = cos__db_call(db, open_here, &o);
    if (err)
        cos_db_close(db);
    else
        *out = db;
    return err;
}

/* A caller that is being closed cannot wait: what is on its way is written, the
 * rest is lost as if the process had been killed. */
int cos_db_close(struct cos_db *db)
{
    int err, closed;
    if (!db)
        return 0;
    err = cos_db_flush(db, -1);
    closed = db->lane ? cos__db_call(db, close_here, db) : 0;
    cos__offload_lane_free(db->lane);
    if (db->busy)
        cos__op_cancel(db->busy, COS_ECANCELED);
    /* Nobody else may do it for a caller that is being closed. */
    if (db->sql || db->lock_fd >= 0)
        closed = close_here(db);
    cos__db_batch_release(db);
    cos_buf_release(&db->scratch);
    cos_buf_release(&db->why);
    free(db);
    return err ? err : closed;
}
