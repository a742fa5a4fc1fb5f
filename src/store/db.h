/* db.h - the crawl database: DIR/.coscrawl/crawl.db, owned by a thread of its
 * own (lane.h). The loop fills a batch; the thread writes it in one
 * transaction while the next one fills. A page is done when the transaction
 * with its row has committed: then, and not before, saved() is called for it.
 *
 * Everything a page causes (its row, the rows of URLs first found on it, its
 * redirect) is put between two calls of cos_db_kick(), so it commits together:
 * a crawl killed at any moment finds either all of it or nothing.
 *
 * The first error stays: later puts are dropped, and cos_db_err() tells. */
#ifndef COS_STORE_DB_H
#define COS_STORE_DB_H

#include "base/buf.h"
#include "base/page.h"

#include <stddef.h>
#include <stdint.h>

struct cos_db;

/* A link as it is packed: dst << 5 | nofollow << 4 | kind. */
enum { COS_DB_KIND = 15, COS_DB_NOFOLLOW = 16, COS_DB_SHIFT = 5 };
/* In the place of the kind: a COS_LINK_LINK that its page needs to be shown, as a
 * style sheet. For the other kinds the kind says it. */
enum { COS_DB_NEEDED_LINK = 14 };

enum cos_db_state { COS_DB_QUEUED, COS_DB_DONE, COS_DB_FAILED, COS_DB_SKIPPED };

/* An option that decides which URLs belong to the crawl. */
struct cos_db_setting {
    const char *name;  /* as on the command line: "--level" */
    const char *value; /* normalised; "" for the default */
};

/* What the loop is told; each on the loop's thread, none may suspend. */
struct cos_db_events {
    void *arg;
    /* This page's row is committed. */
    void (*saved)(void *arg, uint32_t id);
    /* The answer to cos_db_ask(): the URL and the links as put with the page; lent
     * until return. url is NULL when there is no such row. */
    void (*answer)(void *arg, uint32_t id, const char *url, size_t len, const uint32_t *links,
                   size_t n);
};

enum { COS_DB_FRESH = 1 };

/* Opens (or makes) the database of a crawl directory and locks the directory.
 * dir NULL: a temporary database that leaves nothing behind. *why gets a
 * sentence on failure. 0, COS_ELOCKED, COS_EDB, COS_EACCES, COS_ENOTDIR, … Suspends. */
int cos_db_open(struct cos_db **out, const char *dir, int flags, const struct cos_db_events *events,
                struct cos_buf *why);
/* Waits for what is put, closes and unlocks. The first error, or 0. NULL is
 * fine. Suspends. */
int cos_db_close(struct cos_db *db);

/* A new directory: stores the settings. An old one: COS_EINVAL when one differs,
 * and *why names each. Suspends. */
int cos_db_settings(struct cos_db *db, const struct cos_db_setting *settings, size_t n,
                    struct cos_buf *why);
/* A small note kept with the crawl; get gives COS_ENOENT when there is none. Suspend. */
int cos_db_note(struct cos_db *db, const char *key, const char *value);
int cos_db_note_get(struct cos_db *db, const char *key, struct cos_buf *value);

/* One row of pages as resuming needs it; lent until the callback returns. */
struct cos_db_row {
    uint32_t id, referrer;
    const char *url;
    size_t url_len;
    int state;            /* enum cos_db_state */
    const char *reason;   /* NULL when none */
    int depth, status;
    int64_t bytes;
    int has_links;        /* 1: its links were stored, so it was expanded */
    const uint64_t *hash; /* two halves, or NULL */
    const char *path, *mime, *charset; /* NULL when none */
    const char *checked;  /* when the server last said what it is: "2026-11-18T12:00:00.000Z" */
};
/* Calls row() for every page in order of id. It runs on the database thread
 * while the caller is parked, so it may use the caller's data, and may not
 * suspend. A negative result ends the walk and is returned. Suspends. */
int cos_db_each(struct cos_db *db, int (*row)(void *arg, const struct cos_db_row *row), void *arg);
/* The same for those whose id is greater than after. */
int cos_db_each_after(struct cos_db *db, uint32_t after,
                      int (*row)(void *arg, const struct cos_db_row *row), void *arg);
/* The same for the stored links of every page that was expanded; a redirect is
 * a page with one link, of kind COS_LINK_REDIRECT. */
int cos_db_each_links(struct cos_db *db,
                      int (*page)(void *arg, uint32_t src, const char *url, size_t len,
                                  const uint32_t *links, size_t n),
                      void *arg);

/* Every saved page that came with the content of another one, copies after one
 * another; as cos_db_each(). */
int cos_db_each_copy(struct cos_db *db, int (*copy)(void *arg, const char *hash, const char *path),
                     void *arg);

/* What is known of a page that is asked for again. */
struct cos_db_known {
    char *etag, *modified; /* as the server sent them, NULL when it did not */
    char *path;            /* its file, or NULL */
    uint64_t hash[2];      /* of its content, 0 when none */
};
/* 0, COS_ENOENT, COS_EDB. *known must be zeroed or released. Suspends. */
int cos_db_recall(struct cos_db *db, uint32_t id, struct cos_db_known *known);
/* Fills size, mime, title, counts of --lint and links of a page that stayed as it
 * was. 0, COS_ENOENT, COS_EDB, COS_ENOMEM. Suspends. */
int cos_db_recall_page(struct cos_db *db, uint32_t id, struct cos_page *page);
void cos_db_known_release(struct cos_db_known *known);

/* Begins a row in runs; ends it with how it went. Suspend. */
int cos_db_run_begin(struct cos_db *db, const char *command);
int cos_db_run_end(struct cos_db *db, int exit_code, const char *how, int64_t pages,
                   int64_t failed, int64_t bytes);

/* --- the batch; nothing below suspends, except cos_db_flush() --------------- */

/* A URL found for the first time. */
void cos_db_put_url(struct cos_db *db, uint32_t id, const char *url, size_t len, int state,
                    const char *reason, int depth, uint32_t referrer);
/* A page that reached its end. Takes page and links (malloc, packed; NULL when
 * it was not expanded). page->id, depth and referrer go into the row. */
void cos_db_put_page(struct cos_db *db, struct cos_page *page, int state, const char *reason,
                     uint32_t *links, size_t nlinks);
/* Changes of a row that exists. status: 0 leaves the one that is there. */
void cos_db_put_state(struct cos_db *db, uint32_t id, int state, const char *reason, int tries,
                      int status);
void cos_db_put_depth(struct cos_db *db, uint32_t id, int depth, uint32_t referrer);
/* The server was asked (when: microseconds since the epoch, 0: without an answer),
 * and the page stays as it is, done. */
void cos_db_put_checked(struct cos_db *db, uint32_t id, int64_t when, const char *reason);
/* A finding of --lint; n counts from 1. n 0: those of an earlier run go. */
struct cos_db_lint {
    int error; /* 0: a warning */
    unsigned line, column;
    const char *text;
};
void cos_db_put_lint(struct cos_db *db, uint32_t page, uint32_t n, const struct cos_db_lint *lint);
/* dst 0: it is no redirect any more. */
void cos_db_put_redirect(struct cos_db *db, uint32_t src, uint32_t dst, int status);
/* Asks for a row's URL and links; the answer comes by event, after what was put
 * before is committed. */
void cos_db_ask(struct cos_db *db, uint32_t id);

/* Hands the batch to the thread if it is idle and the batch is worth it: at
 * least min items. Call it between two pages. */
void cos_db_kick(struct cos_db *db, size_t min);
/* Items put and not yet handed over. */
size_t cos_db_waiting(const struct cos_db *db);
/* True while the thread has a batch. */
int cos_db_busy(const struct cos_db *db);
/* True when nothing is put, handed over or unanswered. */
int cos_db_idle(const struct cos_db *db);
/* Waits until cos_db_idle(). The first error, or 0. Suspends. */
int cos_db_flush(struct cos_db *db, int64_t deadline);
/* The first error, with a sentence in *why (may be NULL). */
int cos_db_err(const struct cos_db *db, struct cos_buf *why);

#endif
