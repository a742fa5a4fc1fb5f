/* recall.c - what the database knows of one page that is asked for again: the
 * validators before, and the page itself when the server says that it is what it
 * was. */
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

/* --- the page ------------------------------------------------------------------- */

struct recall_page {
    struct cos_db *db;
    uint32_t id;
    struct cos_page *page;
};

static int take_row(sqlite3_stmt *st, struct cos_page *page)
{
    page->body_len = sqlite3_column_int64(st, 0);
    free(page->mime);
    free(page->title);
    page->mime = text(st, 1);
    page->title = text(st, 2);
    if (sqlite3_column_type(st, 3) != SQLITE_NULL) {
        page->lint_errors = sqlite3_column_int(st, 3) + 1;
        page->lint_warnings = sqlite3_column_int(st, 4) + 1;
    }
    return 0;
}

static int take_link(sqlite3_stmt *st, struct cos_page *page)
{
    int kind = sqlite3_column_int(st, 1) & COS_DB_KIND;
    int flags = sqlite3_column_int(st, 1) & COS_DB_NOFOLLOW ? COS_LINK_NOFOLLOW : 0;
    const char *url = (const char *)sqlite3_column_text(st, 0);
    return cos_page_add_link(page, url ? url : "", (size_t)sqlite3_column_bytes(st, 0),
                             kind == COS_DB_NEEDED_LINK ? COS_LINK_LINK : kind, flags);
}

static int each_of(struct recall_page *recall, enum cos__db_stmt which,
                   int (*take)(sqlite3_stmt *, struct cos_page *), int *rows)
{
    sqlite3_stmt *st = recall->db->stmts[which];
    int rc, err = 0;
    sqlite3_bind_int64(st, 1, recall->id);
    for (*rows = 0; (rc = sqlite3_step(st)) == SQLITE_ROW && !err; ++*rows)
        err = take(st, recall->page);
    sqlite3_reset(st);
    return err ? err : rc == SQLITE_DONE ? 0 : cos__db_code(rc);
}

static int recall_page_here(void *arg)
{
    struct recall_page *recall = arg;
    int rows, links, err = each_of(recall, COS__DB_RECALL_PAGE, take_row, &rows);
    if (!err)
        err = each_of(recall, COS__DB_RECALL_LINKS, take_link, &links);
    return err || rows ? err : COS_ENOENT;
}

int cos_db_recall_page(struct cos_db *db, uint32_t id, struct cos_page *page)
{
    struct recall_page recall = {.db = db, .id = id, .page = page};
    return cos__db_call(db, recall_page_here, &recall);
}

void cos_db_known_release(struct cos_db_known *known)
{
    free(known->etag);
    free(known->modified);
    free(known->path);
    *known = (struct cos_db_known){0};
}
