/* db_int.h - what the files of the database share: db.c (open, close), notes.c,
 * batch.c (the loop's side), rows.c (the thread's side), load.c (resuming). */
#ifndef COS_STORE_DB_INT_H
#define COS_STORE_DB_INT_H

#include "base/offload.h"
#include "store/db.h"

#include <sqlite3.h>
#include <time.h>

enum { COS__DB_VERSION = 2 }; /* user_version */

enum cos__db_stmt {
    COS__DB_BEGIN,
    COS__DB_COMMIT,
    COS__DB_ROLLBACK,
    COS__DB_URL,
    COS__DB_PAGE,
    COS__DB_STATE,
    COS__DB_DEPTH,
    COS__DB_REDIRECT,
    COS__DB_ASK,
    COS__DB_RECALL,
    COS__DB_RECALL_PAGE,
    COS__DB_RECALL_LINKS,
    COS__DB_CHECKED,
    COS__DB_NO_REDIRECT,
    COS__DB_LINT,
    COS__DB_NO_LINT,
    COS__DB_STMTS
};

extern const char cos__db_views[];
extern const char cos__db_schema[];
extern const char cos__db_upgrade[]; /* from version 1 */
extern const char *const cos__db_sql[COS__DB_STMTS];

enum cos__db_kind {
    COS__ITEM_URL,
    COS__ITEM_PAGE,
    COS__ITEM_STATE,
    COS__ITEM_DEPTH,
    COS__ITEM_REDIRECT,
    COS__ITEM_ASK,
    COS__ITEM_CHECKED,
    COS__ITEM_LINT,
};

/* One thing to write or to ask. Texts are offsets into the batch's buffer. */
struct cos__db_item {
    uint8_t kind;
    uint8_t state;
    uint16_t tries;
    int32_t depth; /* or a status */
    uint32_t id;
    uint32_t other;            /* referrer or dst */
    uint32_t url, url_len;     /* or, for an answer, length of url in answer */
    uint32_t reason;           /* offset + 1; 0: none */
    uint32_t nlinks;
    int64_t when;
    struct cos_page *page;
    uint32_t *links;
    char *answer;
};

struct cos__db_batch {
    struct cos_db *db;
    struct cos__db_item *items;
    size_t n, cap;
    struct cos_buf text;
    int err;
};

struct cos_db {
    /* the thread's, while a job runs; the opener's before and after */
    sqlite3 *sql;
    sqlite3_stmt *stmts[COS__DB_STMTS];
    struct cos_buf scratch; /* packed links being written or read */
    int64_t run;            /* row in runs */
    time_t second;          /* the last one formatted, in when */
    char when[32];
    /* the loop's */
    struct cos__lane *lane;
    struct cos__db_batch batches[2];
    struct cos__db_batch *fill; /* being filled */
    struct cos_op *busy;        /* the other batch is with the thread */
    struct cos__db_flush *flushers;
    struct cos_db_events events;
    int err;
    struct cos_buf why;
    char *dir;
    int lock_fd;
};

/* call.c: fn(arg) on the database thread; its result, or COS_ECANCELED and fn did
 * not run. Suspends. */
int cos__db_call(struct cos_db *db, int (*fn)(void *arg), void *arg);
/* batch.c */
void cos__db_batch_init(struct cos_db *db);
void cos__db_batch_release(struct cos_db *db);
/* rows.c: the thread's side of a batch; sets batch->err. */
void cos__db_write(struct cos__db_batch *batch);
/* db.c: what SQLite said, as one of our errors. */
int cos__db_code(int rc);
/* load.c: "[17,33]" to numbers in out (uint32_t each). */
int cos__db_unpack(const char *json, size_t len, struct cos_buf *out);
/* load.c: 32 hex digits; 0 when text is none. */
int cos__db_parse_hash(const char *text, uint64_t hash[2]);
const char *cos__db_state_name(int state);
int cos__db_state_of(const char *name);

#endif
