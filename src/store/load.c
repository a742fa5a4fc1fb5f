/* load.c - reading a crawl back, to resume it. The walk runs on the database
 * thread and streams: nothing is kept here, so a crawl of any size loads in
 * constant memory. */
#include "store/db_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

int cos__db_unpack(const char *json, size_t len, struct cos_buf *out)
{
    const char *end = json + len;
    cos_buf_clear(out);
    if (len < 2 || *json != '[' || end[-1] != ']')
        return COS_EPARSE;
    for (json++; json < end - 1; json++) {
        uint64_t v = 0;
        uint32_t link;
        if (*json < '0' || *json > '9')
            return COS_EPARSE;
        for (; *json >= '0' && *json <= '9' && v <= UINT32_MAX; json++)
            v = v * 10 + (uint64_t)(*json - '0');
        if (v > UINT32_MAX || (*json != ',' && *json != ']'))
            return COS_EPARSE;
        link = (uint32_t)v;
        if (cos_buf_add(out, &link, sizeof link))
            return COS_ENOMEM;
    }
    return 0;
}

struct walk {
    struct cos_db *db;
    const char *sql;
    uint32_t after; /* for ?1, where sql has one */
    int (*each)(struct walk *walk, sqlite3_stmt *st);
    int (*row)(void *arg, const struct cos_db_row *row);
    int (*page)(void *arg, uint32_t src, const char *url, size_t len, const uint32_t *links,
                size_t n);
    int (*copy)(void *arg, const char *hash, const char *path);
    void *arg;
};

static int walk_here(void *arg)
{
    struct walk *walk = arg;
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(walk->db->sql, walk->sql, -1, &st, NULL), err = 0;
    if (st && sqlite3_bind_parameter_count(st))
        sqlite3_bind_int64(st, 1, walk->after);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc == SQLITE_ROW && (err = walk->each(walk, st)) < 0)
            break;
    }
    if (err >= 0 && rc != SQLITE_DONE)
        err = cos__db_code(rc);
    sqlite3_finalize(st);
    return err < 0 ? err : 0;
}

int cos__db_parse_hash(const char *text, uint64_t hash[2])
{
    char half[17] = "";
    if (!text || strlen(text) != 32)
        return 0;
    memcpy(half, text, 16);
    hash[1] = strtoull(half, NULL, 16);
    memcpy(half, text + 16, 16);
    hash[0] = strtoull(half, NULL, 16);
    return 1;
}

static int each_row(struct walk *walk, sqlite3_stmt *st)
{
    uint64_t hash[2];
    struct cos_db_row row = {.id = (uint32_t)sqlite3_column_int64(st, 0),
                             .url = (const char *)sqlite3_column_text(st, 1),
                             .url_len = (size_t)sqlite3_column_bytes(st, 1),
                             .state = cos__db_state_of((const char *)sqlite3_column_text(st, 2)),
                             .reason = (const char *)sqlite3_column_text(st, 3),
                             .depth = sqlite3_column_int(st, 4),
                             .referrer = (uint32_t)sqlite3_column_int64(st, 5),
                             .status = sqlite3_column_int(st, 6),
                             .bytes = sqlite3_column_int64(st, 7),
                             .has_links = sqlite3_column_int(st, 8),
                             .path = (const char *)sqlite3_column_text(st, 10),
                             .mime = (const char *)sqlite3_column_text(st, 11),
                             .charset = (const char *)sqlite3_column_text(st, 12),
                             .checked = (const char *)sqlite3_column_text(st, 13)};
    if (row.state < 0 || !row.url)
        return COS_EDB;
    if (cos__db_parse_hash((const char *)sqlite3_column_text(st, 9), hash))
        row.hash = hash;
    return walk->row(walk->arg, &row);
}

int cos_db_each_after(struct cos_db *db, uint32_t after,
                      int (*row)(void *arg, const struct cos_db_row *row), void *arg)
{
    struct walk walk = {.db = db,
                        .after = after,
                        .sql = "SELECT id, url, state, reason, depth, referrer, status, bytes,"
                               " packed_links IS NOT NULL, hash, path, mime, charset,"
                               " max(ifnull(checked_at, ''), ifnull(fetched_at, '')) FROM pages"
                               " WHERE id > ?1 ORDER BY id",
                        .each = each_row,
                        .row = row,
                        .arg = arg};
    return cos__db_call(db, walk_here, &walk);
}

int cos_db_each(struct cos_db *db, int (*row)(void *arg, const struct cos_db_row *row), void *arg)
{
    return cos_db_each_after(db, 0, row, arg);
}

static int each_copy(struct walk *walk, sqlite3_stmt *st)
{
    return walk->copy(walk->arg, (const char *)sqlite3_column_text(st, 0),
                      (const char *)sqlite3_column_text(st, 1));
}

int cos_db_each_copy(struct cos_db *db, int (*copy)(void *arg, const char *hash, const char *path),
                     void *arg)
{
    struct walk walk = {.db = db,
                        .sql = "SELECT hash, path FROM duplicates JOIN pages USING(hash, path)"
                               " WHERE path IS NOT NULL AND state = 'done' ORDER BY hash, id",
                        .each = each_copy,
                        .copy = copy,
                        .arg = arg};
    return cos__db_call(db, walk_here, &walk);
}

static int each_links(struct walk *walk, sqlite3_stmt *st)
{
    struct cos_buf *out = &walk->db->scratch;
    const char *json = (const char *)sqlite3_column_text(st, 1);
    uint32_t src = (uint32_t)sqlite3_column_int64(st, 0);
    if (cos__db_unpack(json, (size_t)sqlite3_column_bytes(st, 1), out))
        return COS_EDB;
    return walk->page(walk->arg, src, (const char *)sqlite3_column_text(st, 2),
                      (size_t)sqlite3_column_bytes(st, 2),
                      (const uint32_t *)(const void *)out->data, out->len / sizeof(uint32_t));
}

int cos_db_each_links(struct cos_db *db,
                      int (*page)(void *arg, uint32_t src, const char *url, size_t len,
                                  const uint32_t *links, size_t n),
                      void *arg)
{
    struct walk walk = {.db = db,
                        .sql = "SELECT id, packed_links, url FROM pages"
                               " WHERE packed_links IS NOT NULL ORDER BY id",
                        .each = each_links,
                        .page = page,
                        .arg = arg};
    return cos__db_call(db, walk_here, &walk);
}
