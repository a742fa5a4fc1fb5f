/* why.c - the story of one URL, read from the crawl database with a connection
 * of its own. There is no index on url and none is needed: a scan of 200,000
 * rows takes less time than reading the answer. */
#include "config.h"

#include "store/why.h"

#include "base/err.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN = 10 };

static const char *text(sqlite3_stmt *st, int at)
{
    const char *s = (const char *)sqlite3_column_text(st, at);
    return s ? s : "";
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **st)
{
    return sqlite3_prepare_v2(db, sql, -1, st, NULL) == SQLITE_OK ? 0 : COS_EDB;
}

static void say_state(struct cos_buf *out, sqlite3_stmt *st)
{
    const char *state = text(st, 1), *reason = text(st, 3), *path = text(st, 5);
    int status = sqlite3_column_int(st, 2), tries = sqlite3_column_int(st, 6);
    cos_buf_addf(out, "%s\n  state     %s", text(st, 8), state);
    if (status)
        cos_buf_addf(out, ", answered %d", status);
    if (tries > 1)
        cos_buf_addf(out, " after %d tries", tries);
    cos_buf_adds(out, "\n");
    if (*reason)
        cos_buf_addf(out, "  because   %s\n", reason);
    if (*path)
        cos_buf_addf(out, "  saved as  %s\n", path);
    if (*text(st, 9))
        cos_buf_addf(out, "  fetched   %s\n", text(st, 9));
    cos_buf_addf(out, "  depth     %d\n", sqlite3_column_int(st, 4));
}

static int say_pages(struct cos_buf *out, sqlite3 *db, const char *sql, sqlite3_int64 id,
                     const char *label)
{
    sqlite3_stmt *st = NULL;
    int n = 0, err = prepare(db, sql, &st);
    if (err)
        return err;
    sqlite3_bind_int64(st, 1, id);
    while (sqlite3_step(st) == SQLITE_ROW) {
        if (n < SHOWN)
            cos_buf_addf(out, "  %-9s %s%s%s%s\n", n ? "" : label, text(st, 0),
                         *text(st, 1) ? " (" : "", text(st, 1), *text(st, 1) ? ")" : "");
        n++;
    }
    if (n > SHOWN)
        cos_buf_addf(out, "  %-9s and %d more\n", "", n - SHOWN);
    sqlite3_finalize(st);
    return 0;
}

static int say_origin(struct cos_buf *out, sqlite3 *db, sqlite3_stmt *page)
{
    sqlite3_int64 id = sqlite3_column_int64(page, 0), referrer = sqlite3_column_int64(page, 7);
    int err;
    if (!referrer)
        cos_buf_adds(out, "  found     given to the crawl\n");
    else if ((err = say_pages(out, db, "SELECT url, '' FROM pages WHERE id = ?1", referrer,
                              "found on")))
        return err;
    err = say_pages(out, db,
                    "SELECT p.url, l.kind FROM links l JOIN pages p ON p.id = l.src"
                    " WHERE l.dst = ?1 ORDER BY p.depth, p.url", id, "links");
    if (!err)
        err = say_pages(out, db,
                        "SELECT p.url, r.status FROM redirects r JOIN pages p ON p.id = r.dst"
                        " WHERE r.src = ?1", id, "leads to");
    return err;
}

static int explain(sqlite3 *db, const char *url, struct cos_buf *out)
{
    sqlite3_stmt *st = NULL;
    int err = prepare(db,
                      "SELECT id, state, status, reason, depth, path, tries, referrer, url,"
                      " fetched_at FROM pages WHERE url = ?1", &st);
    if (err)
        return err;
    sqlite3_bind_text(st, 1, url, -1, SQLITE_STATIC);
    if (sqlite3_step(st) == SQLITE_ROW) {
        say_state(out, st);
        err = say_origin(out, db, st);
    } else {
        err = COS_ENOENT;
    }
    sqlite3_finalize(st);
    return err;
}

/* Even to read, SQLite wants a file beside the database. Where none can be made
 * nobody writes, and it may be read as it is. */
static int open_still(const char *path, sqlite3 **db)
{
    struct cos_buf uri;
    int rc = SQLITE_NOMEM;
    cos_buf_init(&uri, 16384);
    cos_buf_adds(&uri, "file:");
    for (const char *s = path; *s; s++)
        if (strchr("%?#", *s))
            cos_buf_addf(&uri, "%%%02X", (unsigned char)*s);
        else
            cos_buf_addc(&uri, *s);
    if (!cos_buf_adds(&uri, "?immutable=1"))
        rc = sqlite3_open_v2(uri.data, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    cos_buf_release(&uri);
    return rc;
}

static int open_here(const char *path, sqlite3 **db)
{
    int rc = sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(*db, "SELECT 1 FROM pages LIMIT 1", NULL, NULL, NULL) & 0xff;
    if (rc != SQLITE_READONLY && rc != SQLITE_CANTOPEN)
        return *db ? SQLITE_OK : rc;
    sqlite3_close(*db);
    *db = NULL;
    return open_still(path, db);
}

int cos_why(const char *dir, const char *url, struct cos_buf *out)
{
    char path[4096];
    struct stat st;
    sqlite3 *db = NULL;
    int err;
    snprintf(path, sizeof path, "%s/.coscrawl/crawl.db", dir);
    if (stat(path, &st) < 0) {
        cos_buf_addf(out, "%s holds no crawl", dir);
        return COS_ENOENT;
    }
    if (open_here(path, &db) != SQLITE_OK)
        err = COS_EDB;
    else
        err = explain(db, url, out);
    if (err == COS_ENOENT)
        cos_buf_addf(out, "%s was never seen by the crawl in %s: no page links to it", url, dir);
    else if (err)
        cos_buf_addf(out, "%s: %s", path, db ? sqlite3_errmsg(db) : cos_strerror(err));
    sqlite3_close(db);
    return err;
}
