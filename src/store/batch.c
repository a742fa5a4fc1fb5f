/* batch.c - the loop's side of the database: fill one batch while the thread
 * writes the other. Nothing here waits except cos_db_flush().
 *
 * The ceiling is the crawl's: it stops taking work while too many pages are
 * not committed, so a batch holds at most what those pages brought. */
#include "store/db_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 8 << 20, TEXT_MAX = 1 << 30 };

static void set_err(struct cos_db *db, int err, const char *why)
{
    if (db->err)
        return;
    db->err = err;
    cos_buf_adds(&db->why, why);
}

static struct cos__db_item *add(struct cos_db *db, enum cos__db_kind kind, uint32_t id)
{
    struct cos__db_batch *batch = db->fill;
    if (db->err)
        return NULL;
    if (batch->n == batch->cap) {
        size_t cap = batch->cap ? batch->cap * 2 : 256;
        struct cos__db_item *more =
            cap > ITEMS_MAX ? NULL : realloc(batch->items, cap * sizeof *more);
        if (!more) {
            set_err(db, COS_ENOMEM, "crawl database: batch out of memory");
            return NULL;
        }
        batch->items = more;
        batch->cap = cap;
    }
    batch->items[batch->n] = (struct cos__db_item){.kind = (uint8_t)kind, .id = id};
    return &batch->items[batch->n++];
}

/* Offset of a NUL-terminated copy, plus one; 0 for NULL. */
static uint32_t keep(struct cos_db *db, const char *text, size_t len)
{
    struct cos_buf *buf = &db->fill->text;
    uint32_t at = (uint32_t)buf->len;
    if (!text)
        return 0;
    if (cos_buf_reserve(buf, len + 1)) {
        set_err(db, COS_ENOMEM, "crawl database: batch out of memory");
        return 0;
    }
    cos_buf_add(buf, text, len);
    buf->len++; /* the NUL that cos_buf_add leaves stays between the texts */
    return at + 1;
}

void cos_db_put_url(struct cos_db *db, uint32_t id, const char *url, size_t len, int state,
                    const char *reason, int depth, uint32_t referrer)
{
    struct cos__db_item *item = add(db, COS__ITEM_URL, id);
    uint32_t at;
    if (!item)
        return;
    item->state = (uint8_t)state;
    item->depth = depth;
    item->other = referrer;
    item->url_len = (uint32_t)len;
    at = keep(db, url, len);
    item->url = at ? at - 1 : 0;
    item->reason = reason ? keep(db, reason, strlen(reason)) : 0;
}

void cos_db_put_page(struct cos_db *db, struct cos_page *page, int state, const char *reason,
                     uint32_t *links, size_t nlinks)
{
    struct cos__db_item *item = add(db, COS__ITEM_PAGE, (uint32_t)page->id);
    if (!item) {
        cos_page_free(page);
        free(links);
        return;
    }
    item->state = (uint8_t)state;
    item->page = page;
    item->links = links;
    item->nlinks = (uint32_t)nlinks;
    item->reason = reason ? keep(db, reason, strlen(reason)) : 0;
}

void cos_db_put_state(struct cos_db *db, uint32_t id, int state, const char *reason, int tries,
                      int status)
{
    struct cos__db_item *item = add(db, COS__ITEM_STATE, id);
    if (!item)
        return;
    item->state = (uint8_t)state;
    item->tries = (uint16_t)tries;
    item->depth = status;
    item->reason = reason ? keep(db, reason, strlen(reason)) : 0;
}

void cos_db_put_depth(struct cos_db *db, uint32_t id, int depth, uint32_t referrer)
{
    struct cos__db_item *item = add(db, COS__ITEM_DEPTH, id);
    if (!item)
        return;
    item->depth = depth;
    item->other = referrer;
}

void cos_db_put_checked(struct cos_db *db, uint32_t id, int64_t when, const char *reason)
{
    struct cos__db_item *item = add(db, COS__ITEM_CHECKED, id);
    if (!item)
        return;
    item->when = when;
    item->reason = reason ? keep(db, reason, strlen(reason)) : 0;
}

void cos_db_put_lint(struct cos_db *db, uint32_t page, uint32_t n, const struct cos_db_lint *lint)
{
    struct cos__db_item *item = add(db, COS__ITEM_LINT, page);
    if (!item)
        return;
    item->other = n;
    if (!n)
        return;
    item->state = (uint8_t)lint->error;
    item->when = lint->line;
    item->depth = (int32_t)lint->column;
    item->reason = keep(db, lint->text, strlen(lint->text));
}

void cos_db_put_redirect(struct cos_db *db, uint32_t src, uint32_t dst, int status)
{
    struct cos__db_item *item = add(db, COS__ITEM_REDIRECT, src);
    if (!item)
        return;
    item->other = dst;
    item->depth = status;
}

void cos_db_ask(struct cos_db *db, uint32_t id)
{
    add(db, COS__ITEM_ASK, id);
}

/* --- handing over and back ---------------------------------------------------- */

struct write_op {
    struct cos__job job;
    struct cos__db_batch *batch;
};

static int write_work(struct cos__job *job)
{
    cos__db_write(((struct write_op *)job)->batch);
    return 0;
}

static const struct cos__op_type write_type = {.name = "commit", .hook = COS_HOOK_FILE,
                                               .kind = COS__OP_OTHER,
                                               .size = sizeof(struct write_op),
                                               .start = cos__job_start,
                                               .cancel = cos__job_cancel};

static void clear(struct cos__db_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        cos_page_free(batch->items[i].page);
        free(batch->items[i].links);
        free(batch->items[i].answer);
    }
    batch->n = 0;
    batch->err = 0;
    cos_buf_clear(&batch->text);
}

static void tell(struct cos_db *db, const struct cos__db_item *item)
{
    const struct cos_db_events *ev = &db->events;
    if (item->kind == COS__ITEM_PAGE && ev->saved)
        ev->saved(ev->arg, item->id);
    else if (item->kind == COS__ITEM_ASK && ev->answer)
        ev->answer(ev->arg, item->id, item->answer, item->url_len, item->links, item->nlinks);
}

struct cos__db_flush {
    struct cos_op op;
    struct cos_db *db;
    struct cos__db_flush *next;
};

static void end_flushes(struct cos_db *db)
{
    struct cos__db_flush *flush = db->flushers;
    db->flushers = NULL;
    while (flush) {
        struct cos__db_flush *next = flush->next;
        cos__op_complete(&flush->op, db->err);
        flush = next;
    }
}

static void settle(struct cos_db *db, struct cos__db_batch *batch)
{
    if (batch->err)
        set_err(db, batch->err, batch->text.data);
    else
        for (size_t i = 0; i < batch->n; i++)
            tell(db, &batch->items[i]);
    clear(batch);
    if (db->err)
        clear(db->fill);
}

static void landed(struct cos_op *op)
{
    struct cos__db_batch *batch = ((struct write_op *)op)->batch;
    struct cos_db *db = batch->db;
    if (op->err && !batch->err) {
        batch->err = op->err;
        cos_buf_clear(&batch->text);
        cos_buf_adds(&batch->text, "crawl database: its thread did not take the batch");
    }
    cos__op_free(op);
    db->busy = NULL;
    settle(db, batch);
    if (cos_db_idle(db))
        end_flushes(db);
    else if (db->flushers)
        cos_db_kick(db, 1);
}

static void hand_over(struct cos_db *db)
{
    struct write_op *op = (struct write_op *)cos__op_new(&write_type);
    if (!op) {
        set_err(db, COS_ENOMEM, "crawl database: out of memory");
        return;
    }
    op->job.work = write_work;
    op->job.lane = db->lane;
    op->job.op.done = landed;
    op->batch = db->fill;
    db->fill = &db->batches[db->fill == db->batches];
    db->busy = &op->job.op;
    cos__op_start(&op->job.op);
    /* Nobody may be waiting for anything else just now. When no driver can be
     * started (the caller is being closed), cos_db_close() takes care of it. */
    cos__loop_drive(cos__loop());
}

void cos_db_kick(struct cos_db *db, size_t min)
{
    if (!db->busy && !db->err && db->fill->n && db->fill->n >= min)
        hand_over(db);
}

size_t cos_db_waiting(const struct cos_db *db)
{
    return db->fill->n;
}

int cos_db_busy(const struct cos_db *db)
{
    return db->busy != NULL;
}

int cos_db_idle(const struct cos_db *db)
{
    /* What waits behind an error is never written. */
    return !db->busy && (!db->fill->n || db->err);
}

int cos_db_err(const struct cos_db *db, struct cos_buf *why)
{
    if (db->err && why && db->why.data)
        cos_buf_adds(why, db->why.data);
    return db->err;
}

/* --- flush -------------------------------------------------------------------- */

static void flush_start(struct cos_op *op)
{
    struct cos__db_flush *flush = (struct cos__db_flush *)op;
    struct cos_db *db = flush->db;
    if (cos_db_idle(db)) {
        cos__op_complete(op, db->err);
        return;
    }
    flush->next = db->flushers;
    db->flushers = flush;
    cos_db_kick(db, 1);
}

static int flush_cancel(struct cos_op *op)
{
    struct cos__db_flush *flush = (struct cos__db_flush *)op, **at = &flush->db->flushers;
    while (*at && *at != flush)
        at = &(*at)->next;
    if (*at)
        *at = flush->next;
    return 0;
}

static const struct cos__op_type flush_type = {.name = "flush", .hook = COS_HOOK_FILE,
                                               .kind = COS__OP_OTHER,
                                               .size = sizeof(struct cos__db_flush),
                                               .start = flush_start,
                                               .cancel = flush_cancel};

int cos_db_flush(struct cos_db *db, int64_t deadline)
{
    struct cos__db_flush *flush = (struct cos__db_flush *)cos__op_new(&flush_type);
    int err;
    if (!flush)
        return COS_ENOMEM;
    flush->db = db;
    err = cos__op_await(&flush->op, deadline);
    cos__op_free(&flush->op);
    return err ? err : db->err;
}

void cos__db_batch_init(struct cos_db *db)
{
    for (int i = 0; i < 2; i++) {
        struct cos__db_batch *batch = &db->batches[i];
        batch->db = db;
        cos_buf_init(&batch->text, TEXT_MAX);
    }
    db->fill = &db->batches[0];
}

void cos__db_batch_release(struct cos_db *db)
{
    for (int i = 0; i < 2; i++) {
        clear(&db->batches[i]);
        free(db->batches[i].items);
        cos_buf_release(&db->batches[i].text);
    }
}
