/* rows.c - the database thread's side of a batch: one transaction, statements
 * prepared once, every value bound in place. Anything that fails rolls the
 * whole batch back: a page is done with everything it brought, or not at all. */
#include "store/db_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(st, at);
}

/* -1 stands for "did not happen". */
static void bind_time(sqlite3_stmt *st, int at, int64_t us)
{
    if (us >= 0)
        sqlite3_bind_int64(st, at, us);
    else
        sqlite3_bind_null(st, at);
}

static int step(struct cos_db *db, enum cos__db_stmt which)
{
    sqlite3_stmt *st = db->stmts[which];
    int rc = sqlite3_step(st);
    int reset = sqlite3_reset(st);
    return rc == SQLITE_DONE ? SQLITE_OK : reset ? reset : rc;
}

/* --- packed links ------------------------------------------------------------ */

/* Two digits at a time; returns where it stopped. */
static char *put_number(char *at, uint32_t v)
{
    char digits[10], *p = digits + sizeof digits;
    while (v >= 100) {
        unsigned two = v % 100;
        v /= 100;
        *--p = (char)('0' + two % 10);
        *--p = (char)('0' + two / 10);
    }
    if (v >= 10) {
        *--p = (char)('0' + v % 10);
        v /= 10;
    }
    *--p = (char)('0' + v);
    memcpy(at, p, (size_t)(digits + sizeof digits - p));
    return at + (digits + sizeof digits - p);
}

/* Each number takes ten digits and a comma at most. */
static int pack(struct cos_buf *out, const uint32_t *links, size_t n)
{
    char *at;
    cos_buf_clear(out);
    if (cos_buf_reserve(out, n * 11 + 2))
        return COS_ENOMEM;
    at = out->data;
    *at++ = '[';
    for (size_t i = 0; i < n; i++) {
        at = put_number(at, links[i]);
        *at++ = ',';
    }
    if (n)
        at--;
    *at++ = ']';
    *at = 0;
    out->len = (size_t)(at - out->data);
    return 0;
}

/* --- one item ---------------------------------------------------------------- */

static const char *text_at(const struct cos__db_batch *batch, uint32_t at)
{
    return at ? batch->text.data + at - 1 : NULL;
}

static int put_url(struct cos__db_batch *batch, const struct cos__db_item *item)
{
    sqlite3_stmt *st = batch->db->stmts[COS__DB_URL];
    sqlite3_bind_int64(st, 1, item->id);
    sqlite3_bind_text(st, 2, batch->text.data + item->url, (int)item->url_len, SQLITE_STATIC);
    bind_text(st, 3, cos__db_state_name(item->state));
    bind_text(st, 4, text_at(batch, item->reason));
    sqlite3_bind_int(st, 5, item->depth);
    sqlite3_bind_int64(st, 6, item->other);
    return step(batch->db, COS__DB_URL);
}

/* Pages come by the thousand a second: the second is formatted once. */
static void bind_when(struct cos_db *db, sqlite3_stmt *st, int at, int64_t us)
{
    time_t s = (time_t)(us / 1000000);
    unsigned ms = (unsigned)(us / 1000 % 1000);
    struct tm tm;
    if (us <= 0 || (s != db->second && !gmtime_r(&s, &tm))) {
        sqlite3_bind_null(st, at);
        return;
    }
    if (s != db->second) {
        strftime(db->when, sizeof db->when, "%Y-%m-%dT%H:%M:%S.000Z", &tm);
        db->second = s;
    }
    db->when[20] = (char)('0' + ms / 100);
    db->when[21] = (char)('0' + ms / 10 % 10);
    db->when[22] = (char)('0' + ms % 10);
    sqlite3_bind_text(st, at, db->when, 24, SQLITE_STATIC);
}

static void bind_timing(sqlite3_stmt *st, const struct cos_timing *t)
{
    const int64_t values[] = {t->queue,      t->wait,     t->name, t->connect, t->tls,
                              t->first_byte, t->transfer, t->scan, t->store,   t->total};
    for (int i = 0; i < 10; i++)
        bind_time(st, 19 + i, values[i]);
}

static void bind_hash(sqlite3_stmt *st, int at, const uint64_t hash[2], char text[33])
{
    if (!hash[0] && !hash[1]) {
        sqlite3_bind_null(st, at);
        return;
    }
    for (int i = 0; i < 16; i++) {
        unsigned byte = (unsigned)(hash[i < 8] >> (56 - i % 8 * 8)) & 255;
        text[2 * i] = "0123456789abcdef"[byte >> 4];
        text[2 * i + 1] = "0123456789abcdef"[byte & 15];
    }
    sqlite3_bind_text(st, at, text, 32, SQLITE_STATIC);
}

static int put_page(struct cos__db_batch *batch, const struct cos__db_item *item)
{
    struct cos_db *db = batch->db;
    sqlite3_stmt *st = db->stmts[COS__DB_PAGE];
    const struct cos_page *page = item->page;
    char hash[33];
    sqlite3_bind_int64(st, 1, item->id);
    bind_text(st, 2, cos__db_state_name(item->state));
    bind_time(st, 3, page->status ? page->status : -1);
    bind_text(st, 4, text_at(batch, item->reason));
    sqlite3_bind_int(st, 5, page->depth);
    bind_text(st, 6, page->path);
    sqlite3_bind_int64(st, 7, page->body_len);
    bind_hash(st, 8, page->hash, hash);
    bind_text(st, 9, page->mime);
    bind_text(st, 10, page->title);
    bind_text(st, 11, page->etag);
    bind_text(st, 12, page->modified);
    bind_when(db, st, 13, page->timing.started_at);
    sqlite3_bind_int(st, 14, page->tries);
    sqlite3_bind_int64(st, 15, page->referrer);
    sqlite3_bind_int64(st, 16, page->wire_len);
    bind_text(st, 17, page->remote[0] ? page->remote : NULL);
    bind_text(st, 18, page->protocol);
    bind_timing(st, &page->timing);
    if (!item->links)
        sqlite3_bind_null(st, 29);
    else if (pack(&db->scratch, item->links, item->nlinks))
        return SQLITE_NOMEM;
    else
        sqlite3_bind_text(st, 29, db->scratch.data, (int)db->scratch.len, SQLITE_STATIC);
    bind_text(st, 30, page->charset);
    bind_time(st, 31, page->lint_errors - 1);
    bind_time(st, 32, page->lint_warnings - 1);
    return step(db, COS__DB_PAGE);
}

static int put_state(struct cos__db_batch *batch, const struct cos__db_item *item)
{
    sqlite3_stmt *st = batch->db->stmts[COS__DB_STATE];
    sqlite3_bind_int64(st, 1, item->id);
    bind_text(st, 2, cos__db_state_name(item->state));
    bind_text(st, 3, text_at(batch, item->reason));
    bind_time(st, 4, item->tries ? item->tries : -1);
    sqlite3_bind_int(st, 5, item->depth);
    return step(batch->db, COS__DB_STATE);
}

static int put_pair(struct cos_db *db, enum cos__db_stmt which, int64_t id, int64_t a, int64_t b)
{
    sqlite3_stmt *st = db->stmts[which];
    sqlite3_bind_int64(st, 1, id);
    sqlite3_bind_int64(st, 2, a);
    sqlite3_bind_int64(st, 3, b);
    return step(db, which);
}

static int put_checked(struct cos__db_batch *batch, const struct cos__db_item *item)
{
    sqlite3_stmt *st = batch->db->stmts[COS__DB_CHECKED];
    sqlite3_bind_int64(st, 1, item->id);
    bind_when(batch->db, st, 2, item->when);
    bind_text(st, 3, text_at(batch, item->reason));
    return step(batch->db, COS__DB_CHECKED);
}

static int put_lint(struct cos__db_batch *batch, const struct cos__db_item *item)
{
    enum cos__db_stmt which = item->other ? COS__DB_LINT : COS__DB_NO_LINT;
    sqlite3_stmt *st = batch->db->stmts[which];
    sqlite3_bind_int64(st, 1, item->id);
    if (item->other) {
        sqlite3_bind_int64(st, 2, item->other);
        bind_text(st, 3, item->state ? "error" : "warning");
        sqlite3_bind_int64(st, 4, item->when);
        sqlite3_bind_int(st, 5, item->depth);
        bind_text(st, 6, text_at(batch, item->reason));
    }
    return step(batch->db, which);
}

static int put_redirect(struct cos_db *db, const struct cos__db_item *item)
{
    if (item->other)
        return put_pair(db, COS__DB_REDIRECT, item->id, item->other, item->depth);
    sqlite3_bind_int64(db->stmts[COS__DB_NO_REDIRECT], 1, item->id);
    return step(db, COS__DB_NO_REDIRECT);
}

static int write_item(struct cos__db_batch *batch, struct cos__db_item *item)
{
    switch ((enum cos__db_kind)item->kind) {
    case COS__ITEM_URL:
        return put_url(batch, item);
    case COS__ITEM_PAGE:
        return put_page(batch, item);
    case COS__ITEM_STATE:
        return put_state(batch, item);
    case COS__ITEM_DEPTH:
        return put_pair(batch->db, COS__DB_DEPTH, item->id, item->depth, item->other);
    case COS__ITEM_REDIRECT:
        return put_redirect(batch->db, item);
    case COS__ITEM_LINT:
        return put_lint(batch, item);
    case COS__ITEM_CHECKED:
        return put_checked(batch, item);
    case COS__ITEM_ASK:
        break;
    }
    return SQLITE_OK;
}

/* --- asking ------------------------------------------------------------------ */

static int take_links(struct cos_db *db, struct cos__db_item *item, const char *json, size_t len)
{
    int err = cos__db_unpack(json, len, &db->scratch);
    if (err)
        return SQLITE_CORRUPT;
    item->nlinks = (uint32_t)(db->scratch.len / sizeof *item->links);
    item->links = (uint32_t *)(void *)cos_buf_take(&db->scratch, NULL);
    return SQLITE_OK;
}

static int answer(struct cos_db *db, struct cos__db_item *item)
{
    sqlite3_stmt *st = db->stmts[COS__DB_ASK];
    const char *links;
    int rc, err = SQLITE_OK;
    sqlite3_bind_int64(st, 1, item->id);
    rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) {
        item->url_len = (uint32_t)sqlite3_column_bytes(st, 0);
        item->answer = strndup((const char *)sqlite3_column_text(st, 0), item->url_len);
        links = (const char *)sqlite3_column_text(st, 1);
        if (links)
            err = take_links(db, item, links, (size_t)sqlite3_column_bytes(st, 1));
        if (!item->answer)
            err = SQLITE_NOMEM;
    }
    sqlite3_reset(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? err : rc;
}

/* --- the batch --------------------------------------------------------------- */

static int write_all(struct cos__db_batch *batch)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < batch->n && rc == SQLITE_OK; i++)
        rc = write_item(batch, &batch->items[i]);
    return rc;
}

static int answer_all(struct cos__db_batch *batch)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < batch->n && rc == SQLITE_OK; i++)
        if (batch->items[i].kind == COS__ITEM_ASK)
            rc = answer(batch->db, &batch->items[i]);
    return rc;
}

void cos__db_write(struct cos__db_batch *batch)
{
    struct cos_db *db = batch->db;
    int rc = step(db, COS__DB_BEGIN), began = rc == SQLITE_OK;
    if (rc == SQLITE_OK)
        rc = write_all(batch);
    if (rc == SQLITE_OK)
        rc = step(db, COS__DB_COMMIT);
    if (rc == SQLITE_OK) {
        rc = answer_all(batch);
        began = 0;
    }
    if (rc == SQLITE_OK)
        return;
    batch->err = cos__db_code(rc);
    cos_buf_clear(&batch->text);
    cos_buf_addf(&batch->text, "crawl database: %s", sqlite3_errmsg(db->sql));
    /* SQLite may have rolled back by itself: then this one fails, and that is fine. */
    if (began)
        step(db, COS__DB_ROLLBACK);
}
