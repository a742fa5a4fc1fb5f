/* shared_int.h - the shared store between its files and the callback face. */
#ifndef COS_STORE_SHARED_INT_H
#define COS_STORE_SHARED_INT_H

#include "base/offload.h"
#include "store/shared.h"

struct sqlite3;
struct sqlite3_stmt;

enum cos__shared_stmt {
    COS__SHARED_BEGIN,
    COS__SHARED_COMMIT,
    COS__SHARED_ROLLBACK,
    COS__SHARED_GET,
    COS__SHARED_PUT,
    COS__SHARED_EXPIRE,
    COS__SHARED_TRIM,
    COS__SHARED_FORGET,
    COS__SHARED_FORGET_ALL,
    COS__SHARED_STMTS
};

struct cos_shared {
    /* the thread's, while a job runs */
    struct sqlite3 *sql;
    struct sqlite3_stmt *stmts[COS__SHARED_STMTS];
    /* fixed */
    size_t max, value_max;
    char *path;
    /* the loop's */
    struct cos__lane *lane;
    unsigned refs; /* the owner's and one per operation */
};

/* One call under way. */
struct cos__shared_op {
    struct cos__job job;
    struct cos_shared *shared; /* a reference */
    char *key;                 /* NULL: all (forget) */
    void *data;
    size_t len;
    int64_t ttl;
    struct cos_buf value; /* what was found */
    int other;            /* offer: the value is somebody else's */
};

/* The operations. NULL: out of memory. */
struct cos_op *cos__shared_open_op(const char *path, const struct cos_shared_opts *opts);
struct cos_op *cos__shared_get_op(struct cos_shared *shared, const char *key);
struct cos_op *cos__shared_put_op(struct cos_shared *shared, const char *key, const void *data,
                                  size_t len, int64_t ttl);
struct cos_op *cos__shared_offer_op(struct cos_shared *shared, const char *key, const void *data,
                                    size_t len, int64_t ttl);
struct cos_op *cos__shared_forget_op(struct cos_shared *shared, const char *key);
/* What they made; when they are done without an error. */
struct cos_shared *cos__shared_take(struct cos_op *op);
struct cos_buf *cos__shared_value(struct cos_op *op);
int cos__shared_other(const struct cos_op *op);

/* shared_sql.c, on the thread. */
int cos__shared_sql_open(struct cos__job *job);
int cos__shared_sql_get(struct cos__job *job);
int cos__shared_sql_put(struct cos__job *job);
int cos__shared_sql_offer(struct cos__job *job);
int cos__shared_sql_forget(struct cos__job *job);
void cos__shared_sql_close(struct cos_shared *shared);

#endif
