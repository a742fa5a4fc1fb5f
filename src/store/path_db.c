/* path_db.c - the URL of a hashed name, from the crawl database: the one thing
 * about names that is not a pure function. Opens the database for reading only,
 * so it can be asked while a crawl is writing. */
#include "config.h"

#include "base/err.h"
#include "store/path.h"

#include <sqlite3.h>
#include <stdlib.h>

static int open_db(const char *dir, sqlite3 **db)
{
    struct cos_buf name;
    int rc, err;
    cos_buf_init(&name, 8192);
    err = cos_buf_addf(&name, "%s/.coscrawl/crawl.db", dir);
    if (err)
        return err;
    rc = sqlite3_open_v2(name.data, db, SQLITE_OPEN_READONLY, NULL);
    cos_buf_release(&name);
    return rc == SQLITE_OK ? 0 : COS_EDB;
}

int cos__path_lookup(const char *dir, const char *path, struct cos_buf *out)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *query = NULL;
    int rc, err = open_db(dir, &db);
    cos_buf_clear(out);
    if (err)
        goto out;
    sqlite3_busy_timeout(db, 2000);
    err = COS_EDB;
    if (sqlite3_prepare_v2(db, "SELECT url FROM pages WHERE path = ?1 LIMIT 1", -1, &query, NULL) ||
        sqlite3_bind_text(query, 1, path, -1, SQLITE_STATIC))
        goto out;
    rc = sqlite3_step(query);
    if (rc == SQLITE_DONE)
        err = COS_ENOENT;
    else if (rc == SQLITE_ROW && sqlite3_column_text(query, 0))
        err = cos_buf_adds(out, (const char *)sqlite3_column_text(query, 0));
out:
    sqlite3_finalize(query);
    sqlite3_close(db);
    return err;
}
