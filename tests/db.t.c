/* db.t - the crawl database: schema, lock, settings, batches, resuming, and
 * what an error leaves behind. */
#include "tap.h"

#include "base/err.h"
#include "base/loop.h"
#include "store/db.h"

#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define LINK(dst, kind) ((dst) << COS_DB_SHIFT | COS_LINK_##kind)

static char dir[] = "/tmp/cos-db-XXXXXX";
static struct cos_buf why;

static struct {
    unsigned saved[16];
    size_t nsaved;
    uint32_t links[64];
    size_t nlinks, answers;
    char url[256];
} seen;

static void on_saved(void *arg, uint32_t id)
{
    (void)arg;
    if (seen.nsaved < 16)
        seen.saved[seen.nsaved] = id;
    seen.nsaved++;
}

static void on_answer(void *arg, uint32_t id, const char *url, size_t len, const uint32_t *links,
                      size_t n)
{
    (void)arg;
    seen.answers++;
    if (id == 1) {
        seen.nlinks = n;
        if (n)
            memcpy(seen.links, links, n * sizeof *links);
    } else {
        snprintf(seen.url, sizeof seen.url, "%.*s %zu", (int)len, url ? url : "", n);
    }
}

static const struct cos_db_events events = {.saved = on_saved, .answer = on_answer};

/* What a person with sqlite3 sees. */
static const char *query(const char *sql)
{
    static char text[4096];
    char path[256];
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int rc;
    text[0] = 0;
    snprintf(path, sizeof path, "%s/.coscrawl/crawl.db", dir);
    rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
    if (rc != SQLITE_OK)
        snprintf(text, sizeof text, "error: %s", sqlite3_errmsg(db));
    while (st && sqlite3_step(st) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(st); i++) {
            size_t n = strlen(text);
            const char *v = (const char *)sqlite3_column_text(st, i);
            snprintf(text + n, sizeof text - n, "%s%s", n ? (i ? "|" : " ") : "", v ? v : "NULL");
        }
    sqlite3_finalize(st);
    sqlite3_close(db);
    return text;
}

static struct cos_page *page(uint32_t id, const char *url, int status)
{
    struct cos_page *p = cos_page_new(url);
    p->id = id;
    p->status = status;
    p->depth = 1;
    p->tries = 1;
    p->timing = (struct cos_timing){.started_at = 1790000000123456, .total = 1500, .name = -1};
    return p;
}

static uint32_t *links(size_t n, const uint32_t *from)
{
    uint32_t *to = malloc((n + 1) * sizeof *to);
    if (n)
        memcpy(to, from, n * sizeof *to);
    return to;
}

static void fill(struct cos_db *db)
{
    struct cos_page *p;
    cos_db_put_url(db, 1, "http://h/", 9, COS_DB_QUEUED, NULL, 0, 0);
    cos_db_put_url(db, 2, "http://h/a", 10, COS_DB_QUEUED, NULL, 1, 1);
    cos_db_put_url(db, 3, "http://x/", 9, COS_DB_SKIPPED, "scope", 1, 1);
    cos_db_put_url(db, 4, "http://h/old", 12, COS_DB_QUEUED, NULL, 1, 1);
    cos_db_put_url(db, 5, "http://h/gone", 13, COS_DB_QUEUED, NULL, 1, 1);
    p = page(1, "http://h/", 200);
    p->hash[0] = 0xabc;
    p->hash[1] = 1;
    p->title = strdup("It's \"quoted\"");
    p->path = strdup("h/index.html");
    p->depth = 0;
    p->body_len = 77;
    cos_db_put_page(db, p, COS_DB_DONE, NULL,
                    links(4, (uint32_t[]){LINK(2, A), LINK(3, A) | COS_DB_NOFOLLOW,
                                          LINK(4, IMG), LINK(5, A)}),
                    4);
    cos_db_put_page(db, page(4, "http://h/old", 301), COS_DB_DONE, NULL,
                    links(1, (uint32_t[]){LINK(2, REDIRECT)}), 1);
    cos_db_put_redirect(db, 4, 2, 301);
    cos_db_put_page(db, page(5, "http://h/gone", 404), COS_DB_FAILED, "404", NULL, 0);
}

static void check_written(struct cos_db *db)
{
    cmp_ok(seen.nsaved, "==", 0, "nothing counts as saved before the batch is handed over");
    cmp_ok(cos_db_waiting(db), "==", 9, "everything waits in one batch");
    is(query("SELECT count(*) FROM pages"), "0", "and nothing is in the database");
    cmp_ok(cos_db_flush(db, -1), "==", 0, "flush");
    cmp_ok(seen.nsaved, "==", 3, "saved() ran once per page");
    is(query("SELECT id, state, status, reason, depth, path, bytes, hash, title, fetched_at, tries,"
             " referrer, total_us, name_us FROM pages WHERE id = 1"),
       "1|done|200|NULL|0|h/index.html|77|00000000000000010000000000000abc|It's \"quoted\""
       "|2026-09-21T14:13:20.123Z|1|0|1500|NULL",
       "a page's row holds what was put");
    is(query("SELECT * FROM links WHERE src = 1"), "1|2|a 1|3|a 1|4|img 1|5|a",
       "the view unpacks the links");
    is(query("SELECT page, link, status, reason, kind FROM broken_links"),
       "http://h/|http://h/gone|404|404|a", "broken_links names the page and the link");
    is(query("SELECT * FROM redirects"), "4|2|301", "redirects");
    is(query("SELECT first, last, hops FROM redirect_chains"), "http://h/old|http://h/a|1",
       "redirect_chains");
    is(query("SELECT * FROM skipped"), "http://x/|scope|1|http://h/", "skipped");
    is(query("SELECT url FROM slow_pages LIMIT 1"), "http://h/", "slow_pages");
    is(query("SELECT count(*) FROM duplicates"), "0", "duplicates: none");
    is(query("PRAGMA user_version"), "2", "user_version is set");
    is(query("PRAGMA journal_mode"), "wal", "the journal is a WAL");
}

static void check_changes(struct cos_db *db)
{
    struct cos_page *p = page(2, "http://h/a", 200);
    p->hash[0] = 0xabc;
    p->hash[1] = 1;
    cos_db_put_page(db, p, COS_DB_DONE, NULL, links(0, NULL), 0);
    cos_db_put_state(db, 3, COS_DB_QUEUED, "putoff: 3600 s", 2, 503);
    cos_db_put_depth(db, 5, 7, 2);
    cos_db_ask(db, 1);
    cos_db_ask(db, 5);
    cos_db_kick(db, 100);
    cmp_ok(cos_db_waiting(db), "==", 5, "a kick below the minimum leaves the batch alone");
    cos_db_kick(db, 5);
    cmp_ok(cos_db_waiting(db), "==", 0, "a kick at the minimum hands it over");
    ok(!cos_db_idle(db), "which is not idle yet");
    cmp_ok(cos_db_flush(db, -1), "==", 0, "flush waits for a batch on its way");
    cmp_ok(seen.answers, "==", 2, "both questions are answered");
    ok(seen.nlinks == 4 && seen.links[2] == LINK(4, IMG), "links come back as put");
    is(seen.url, "http://h/gone 0", "a URL comes back by its id");
    is(query("SELECT state, reason, tries FROM pages WHERE id = 3"), "queued|putoff: 3600 s|2",
       "a state changes");
    is(query("SELECT depth, referrer FROM pages WHERE id = 5"), "7|2", "a depth changes");
    is(query("SELECT copies, url FROM duplicates"), "2|http://h/ 2|http://h/a", "duplicates: two");
    is(query("SELECT packed_links FROM pages WHERE id = 2"), "[]",
       "a page without links was expanded all the same");
}

static int count_row(void *arg, const struct cos_db_row *row)
{
    int *n = arg;
    if (row->id == 1 && row->has_links && row->hash && row->hash[0] == 0xabc &&
        row->state == COS_DB_DONE && row->url_len == 9 && row->bytes == 77)
        n[1]++;
    return row->id == (uint32_t)++n[0] ? 0 : COS_EDB;
}

static int count_links(void *arg, uint32_t src, const char *url, size_t len, const uint32_t *list,
                       size_t n)
{
    int *sum = arg;
    if (src == 4 && n == 1 && list[0] == LINK(2, REDIRECT) && len == 12 &&
        !strcmp(url, "http://h/old"))
        sum[1]++;
    sum[0] += (int)n;
    return 0;
}

static int stop_walk(void *arg, const struct cos_db_row *row)
{
    (void)arg;
    return row->id == 2 ? COS_ESTOP : 0;
}

static void check_resume(void)
{
    struct cos_db *db = NULL;
    int rows[2] = {0}, sum[2] = {0};
    cmp_ok(cos_db_open(&db, dir, 0, &events, &why), "==", 0, "opened again");
    cmp_ok(cos_db_each(db, count_row, rows), "==", 0, "walk over the pages");
    ok(rows[0] == 5 && rows[1] == 1, "every row comes back, in order");
    cmp_ok(cos_db_each_links(db, count_links, sum), "==", 0, "walk over the links");
    ok(sum[0] == 5 && sum[1] == 1, "every link comes back, redirects too");
    cmp_ok(cos_db_each(db, stop_walk, NULL), "==", COS_ESTOP, "a walk can be ended early");
    cmp_ok(cos_db_close(db), "==", 0, "closed");
}

/* As a person with sqlite3. */
static void change(const char *sql)
{
    char path[300];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/.coscrawl/crawl.db", dir);
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        BAIL_OUT("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* A crawl that ends in the middle of storing them must not leave some. */
static void check_settings_at_once(const struct cos_db_setting *settings)
{
    struct cos_db *db = NULL;
    change("CREATE TRIGGER no BEFORE INSERT ON settings WHEN new.name = '-A'"
           " BEGIN SELECT raise(ABORT, 'no'); END");
    cos_db_open(&db, dir, 0, NULL, &why);
    cmp_ok(cos_db_settings(db, settings, 3, &why), "<", 0, "settings that cannot be stored");
    cos_db_close(db);
    is(query("SELECT count(*) FROM settings"), "0", "are stored all or none");
    change("DROP TRIGGER no");
    cos_buf_clear(&why);
}

static void check_settings(void)
{
    struct cos_db *db = NULL;
    const struct cos_db_setting first[] = {{"--level", "5"}, {"--scope", ""}, {"-A", "html"}};
    const struct cos_db_setting other[] = {{"--level", "3"}, {"--scope", "any"}, {"-A", "html"}};
    struct cos_buf note;
    cos_buf_init(&note, 100);
    check_settings_at_once(first);
    cos_db_open(&db, dir, 0, NULL, &why);
    cmp_ok(cos_db_settings(db, first, 3, &why), "==", 0, "settings of a new crawl are stored");
    cmp_ok(cos_db_settings(db, first, 3, &why), "==", 0, "the same again are fine");
    cos_buf_clear(&why);
    cmp_ok(cos_db_settings(db, other, 3, &why), "==", COS_EINVAL, "others are an error");
    is(why.data, "--level was 5 and is now 3; --scope was the default and is now any",
       "which names each that differs, and only those");
    cmp_ok(cos_db_note_get(db, "x", &note), "==", COS_ENOENT, "no such note");
    cmp_ok(cos_db_note(db, "x", "1"), "==", 0, "note");
    cos_db_note_get(db, "x", &note);
    is(note.data, "1", "note comes back");
    cmp_ok(cos_db_run_begin(db, "coscrawl http://h/"), "==", 0, "a run begins");
    cmp_ok(cos_db_run_end(db, 8, "finished", 3, 1, 77), "==", 0, "and ends");
    is(query("SELECT command, how, exit_code, pages, failed, bytes, ended_at >= started_at FROM runs"),
       "coscrawl http://h/|finished|8|3|1|77|1", "runs");
    cos_db_close(db);
    cos_buf_release(&note);
}

static void check_lock(void)
{
    struct cos_db *db = NULL, *second = NULL;
    char pid[64];
    cos_db_open(&db, dir, 0, NULL, &why);
    cos_buf_clear(&why);
    cmp_ok(cos_db_open(&second, dir, 0, NULL, &why), "==", COS_ELOCKED, "a second open is refused");
    snprintf(pid, sizeof pid, "is in use by another coscrawl \\(process %ld\\)", (long)getpid());
    like(why.data, pid, "and says who has it");
    cmp_ok(cos_db_open(&second, dir, COS_DB_FRESH, NULL, &why), "==", COS_ELOCKED,
           "--fresh does not get around the lock");
    is(query("SELECT count(*) FROM pages"), "5", "and removes nothing");
    cos_db_close(db);
    cmp_ok(cos_db_open(&db, dir, COS_DB_FRESH, NULL, &why), "==", 0, "fresh");
    is(query("SELECT count(*) FROM pages"), "0", "forgets the earlier crawl");
    cos_db_close(db);
}

static void check_bad_places(void)
{
    struct cos_db *db = NULL;
    char path[256], sub[300];
    FILE *f;
    snprintf(path, sizeof path, "%s/file", dir);
    f = fopen(path, "w");
    fclose(f);
    cos_buf_clear(&why);
    cmp_ok(cos_db_open(&db, path, 0, NULL, &why), "==", COS_ENOTDIR, "a file where DIR must be");
    like(why.data, "cannot make directory .*/file/.coscrawl: a file is where", "is named");
    snprintf(sub, sizeof sub, "%s/new/deep", dir);
    cmp_ok(cos_db_open(&db, sub, 0, NULL, &why), "==", 0, "missing directories are made");
    cos_db_close(db);
    snprintf(sub, sizeof sub, "%s/new/deep/.coscrawl/crawl.db", dir);
    f = fopen(sub, "w");
    fprintf(f, "this is no database, and long enough to be looked at as one .............");
    fclose(f);
    snprintf(sub, sizeof sub, "%s/new/deep", dir);
    cos_buf_clear(&why);
    cmp_ok(cos_db_open(&db, sub, 0, NULL, &why), "==", COS_EDB, "something else in crawl.db");
    like(why.data, "not a database", "is named too");
    cmp_ok(cos_db_open(&db, NULL, 0, &events, &why), "==", 0, "a database without a directory");
    seen.answers = 0;
    fill(db);
    cos_db_ask(db, 1);
    cmp_ok(cos_db_flush(db, -1), "==", 0, "works");
    cmp_ok(seen.answers, "==", 1, "and answers");
    cos_db_close(db);
}

/* The disk is full for one process: files may not grow. */
static int full_disk(void)
{
    struct rlimit limit = {65536, 65536};
    struct cos_db *db = NULL;
    int err;
    signal(SIGXFSZ, SIG_IGN);
    if (cos_db_open(&db, dir, COS_DB_FRESH, &events, &why) < 0)
        return 1;
    fill(db);
    if (cos_db_flush(db, -1) != 0)
        return 2;
    seen.nsaved = 0;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (uint32_t i = 6; i < 6000; i++)
        cos_db_put_url(db, i, "http://h/xxxxxxxxxxxxxxxxxxx", 28, COS_DB_QUEUED, NULL, 1, 1);
    cos_db_put_page(db, page(2, "http://h/a", 200), COS_DB_DONE, NULL, NULL, 0);
    err = cos_db_flush(db, -1);
    cos_buf_clear(&why);
    if (cos_err_exit(err) != 3 || seen.nsaved || cos_db_err(db, &why) != err || !why.len)
        return 3;
    cos_db_put_page(db, page(2, "http://h/a", 200), COS_DB_DONE, NULL, NULL, 0);
    return cos_db_close(db) == err ? 0 : 4;
}

static void check_full_disk(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(full_disk());
    waitpid(child, &status, 0);
    cmp_ok(WEXITSTATUS(status), "==", 0,
           "C10 a batch that does not fit on the disk: an error, and no page counts as saved");
    is(query("SELECT count(*), sum(state = 'done') FROM pages"), "5|2",
       "the batch is rolled back, what was committed before stays");
    is(query("PRAGMA integrity_check"), "ok", "and nothing is corrupted");
}

int main(void)
{
    struct cos_db *db = NULL;
    char cmd[64];
    plan(NO_PLAN);
    cos_buf_init(&why, 4096);
    if (!mkdtemp(dir))
        BAIL_OUT("no temporary directory");
    cmp_ok(cos_db_open(&db, dir, 0, &events, &why), "==", 0, "opened in an empty directory");
    fill(db);
    check_written(db);
    check_changes(db);
    cmp_ok(cos_db_close(db), "==", 0, "closed");
    check_resume();
    check_settings();
    check_lock();
    check_bad_places();
    cmp_ok(cos__loop_release(), "==", 0, "no operation is left");
    check_full_disk();
    cos_buf_release(&why);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    if (system(cmd))
        diag("could not remove %s", dir);
    done_testing();
}
