/* recall.c - what the database knows of one page that is asked for again. */
#include "config.h"

#include "store/db_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

struct recall {
    struct cos_db *db;
    uint32_t id;
    struct cos_db_known *known;
};

static char *text(sqlite3_stmt *st, int at)
{
    const char *value = (const char *)sqlite3_column_text(st, at);
    return value && *value ? strdup(value) : NULL;
}

static int recall_here(void *arg)
{
    struct recall *recall = arg;
    sqlite3_stmt *st = recall->db->stmts[COS__DB_RECALL];
    struct cos_db_known *known = recall->known;
    int rc;
    sqlite3_bind_int64(st, 1, recall->id);
    rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) {
        known->etag = text(st, 0);
        known->modified = text(st, 1);
        known->path = text(st, 2);
        cos__db_parse_hash((const char *)sqlite3_column_text(st, 3), known->hash);
    }
    sqlite3_reset(st);
    return rc == SQLITE_ROW ? 0 : rc == SQLITE_DONE ? COS_ENOENT : cos__db_code(rc);
}

int cos_db_recall(struct cos_db *db, uint32_t id, struct cos_db_known *known)
{
    struct recall recall = {.db = db, .id = id, .known = known};
    cos_db_known_release(known);
    return cos__db_call(db, recall_here, &recall);
}

void cos_db_known_release(struct cos_db_known *known)
{
    free(known->etag);
    free(known->modified);
    free(known->path);
    *known = (struct cos_db_known){0};
}
