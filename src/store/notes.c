/* notes.c - the small tables of the crawl database: settings, notes, runs. They
 * are touched a few times per crawl, so each call prepares its own statement,
 * on the database thread. */
#include "config.h"

#include "store/db_int.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct ask {
    struct cos_db *db;
    const char *sql;
    const char *text[4];   /* bound as ?1 … ?4 where not NULL */
    int64_t number[8];     /* bound after the texts */
    int ntexts, nnumbers;
    struct cos_buf *value; /* first column of the first row, or NULL */
    int found;
    char why[200]; /* SQLite's words */
};

static int ask_here(void *arg)
{
    struct ask *ask = arg;
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(ask->db->sql, ask->sql, -1, &st, NULL), err = 0, at = 1;
    if (rc == SQLITE_OK) {
        for (int i = 0; i < ask->ntexts; i++)
            sqlite3_bind_text(st, at++, ask->text[i], -1, SQLITE_STATIC);
        for (int i = 0; i < ask->nnumbers; i++)
            sqlite3_bind_int64(st, at++, ask->number[i]);
        rc = sqlite3_step(st);
    }
    ask->found = rc == SQLITE_ROW;
    if (ask->found && ask->value && sqlite3_column_text(st, 0))
        err = cos_buf_adds(ask->value, (const char *)sqlite3_column_text(st, 0));
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        err = cos__db_code(rc);
        snprintf(ask->why, sizeof ask->why, "crawl database: %s", sqlite3_errmsg(ask->db->sql));
    }
    sqlite3_finalize(st);
    return err;
}

static int ask(struct ask *ask)
{
    struct cos_db *db = ask->db;
    int err = cos__db_call(db, ask_here, ask);
    if (err && ask->why[0] && !db->err) {
        db->err = err;
        cos_buf_adds(&db->why, ask->why);
    }
    return err;
}

int cos_db_note(struct cos_db *db, const char *key, const char *value)
{
    return ask(&(struct ask){.db = db,
                             .sql = "INSERT OR REPLACE INTO notes(key, value) VALUES(?1, ?2)",
                             .text = {key, value},
                             .ntexts = 2});
}

int cos_db_note_get(struct cos_db *db, const char *key, struct cos_buf *value)
{
    struct ask a = {.db = db,
                    .sql = "SELECT value FROM notes WHERE key = ?1",
                    .text = {key},
                    .ntexts = 1,
                    .value = value};
    int err = ask(&a);
    return err ? err : a.found ? 0 : COS_ENOENT;
}

/* --- settings ----------------------------------------------------------------- */

static int store_setting(struct cos_db *db, const struct cos_db_setting *setting)
{
    return ask(&(struct ask){.db = db,
                             .sql = "INSERT OR REPLACE INTO settings(name, value) VALUES(?1, ?2)",
                             .text = {setting->name, setting->value},
                             .ntexts = 2});
}

static const char *shown(const char *value)
{
    return *value ? value : "the default";
}

static int check_setting(struct cos_db *db, const struct cos_db_setting *setting,
                         struct cos_buf *why)
{
    struct cos_buf old;
    struct ask a = {.db = db,
                    .sql = "SELECT value FROM settings WHERE name = ?1",
                    .text = {setting->name},
                    .ntexts = 1,
                    .value = &old};
    int err;
    cos_buf_init(&old, 1 << 20);
    err = ask(&a);
    if (!err && strcmp(old.data ? old.data : "", setting->value) != 0) {
        cos_buf_addf(why, "%s%s was %s and is now %s", why->len ? "; " : "", setting->name,
                     shown(old.data ? old.data : ""), shown(setting->value));
        err = COS_EINVAL;
    }
    cos_buf_release(&old);
    return err;
}

static int run_sql(struct cos_db *db, const char *sql)
{
    return ask(&(struct ask){.db = db, .sql = sql});
}

/* All or none: a crawl killed half-way through would seem to have had other ones. */
static int store_settings(struct cos_db *db, const struct cos_db_setting *settings, size_t n)
{
    int err = run_sql(db, "BEGIN IMMEDIATE");
    if (err)
        return err;
    for (size_t i = 0; i < n && !err; i++)
        err = store_setting(db, &settings[i]);
    if (!err)
        err = run_sql(db, "COMMIT");
    if (err)
        run_sql(db, "ROLLBACK");
    return err;
}

int cos_db_settings(struct cos_db *db, const struct cos_db_setting *settings, size_t n,
                    struct cos_buf *why)
{
    struct ask a = {.db = db, .sql = "SELECT name FROM settings LIMIT 1"};
    int err = ask(&a), differ = 0;
    if (!err && !a.found)
        return store_settings(db, settings, n);
    for (size_t i = 0; i < n && !err; i++) {
        err = check_setting(db, &settings[i], why);
        if (err == COS_EINVAL) {
            differ = err;
            err = 0;
        }
    }
    return err ? err : differ;
}

/* --- runs --------------------------------------------------------------------- */

int cos_db_run_begin(struct cos_db *db, const char *command)
{
    int err = ask(&(struct ask){
        .db = db,
        .sql = "INSERT INTO runs(started_at, command, version, pid)"
               " VALUES(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?1, ?2, ?3)",
        .text = {command, VERSION},
        .ntexts = 2,
        .number = {getpid()},
        .nnumbers = 1});
    if (!err)
        db->run = sqlite3_last_insert_rowid(db->sql);
    return err;
}

int cos_db_run_end(struct cos_db *db, int exit_code, const char *how, int64_t pages,
                   int64_t failed, int64_t bytes)
{
    return ask(&(struct ask){
        .db = db,
        .sql = "UPDATE runs SET ended_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), how = ?1,"
               " exit_code = ?2, pages = ?3, failed = ?4, bytes = ?5 WHERE id = ?6",
        .text = {how},
        .ntexts = 1,
        .number = {exit_code, pages, failed, bytes, db->run},
        .nnumbers = 5});
}
