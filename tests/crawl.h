/* crawl.h - for tests that run whole crawls: a directory, a crawl with its
 * events counted, and questions to its database. Static: include it and go. */
#ifndef COS_TESTS_CRAWL_H
#define COS_TESTS_CRAWL_H

#include "site.h"

#include "crawl/options.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

struct crawl {
    char dir[64];                      /* crawl_init makes a fresh one */
    struct cos_crawl_options options;
    struct cos_crawl_events events;
    struct cos_crawl_result result;
    long pages, skips, failures, retries, woulds;
    long drain_after;                  /* pages after which tick asks to stop; 0: never */
    char said[4096];                   /* all messages, one a line */
    const char *seeds[8];
    char seed[256];
};

static site__unused void crawl__page(void *arg, const struct cos_crawl_page *page)
{
    (void)page;
    ((struct crawl *)arg)->pages++;
}

static site__unused void crawl__skip(void *arg, const struct cos_crawl_skip *skip)
{
    (void)skip;
    ((struct crawl *)arg)->skips++;
}

static site__unused void crawl__failure(void *arg, const struct cos_crawl_failure *failure)
{
    struct crawl *c = arg;
    if (failure->final)
        c->failures++;
    else
        c->retries++;
}

static site__unused void crawl__would(void *arg, const char *url, const char *referrer, int depth)
{
    (void)url, (void)referrer, (void)depth;
    ((struct crawl *)arg)->woulds++;
}

static site__unused void crawl__say(void *arg, int level, const char *text)
{
    struct crawl *c = arg;
    size_t n = strlen(c->said);
    (void)level;
    snprintf(c->said + n, sizeof c->said - n, "%s\n", text);
}

static site__unused int crawl__tick(void *arg, const struct cos_crawl_stats *stats)
{
    struct crawl *c = arg;
    (void)stats;
    return c->drain_after && c->pages >= c->drain_after ? COS_CRAWL_DRAIN : COS_CRAWL_GO;
}

/* A crawl of site + path into a new directory; options may be changed before
 * crawl_run(). */
static site__unused void crawl_init(struct crawl *c, const struct site *site, const char *path)
{
    memset(c, 0, sizeof *c);
    /* Writing and removing many files on a disk is slow on some file systems. */
    snprintf(c->dir, sizeof c->dir, "%s/cos-crawl-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(c->dir))
        BAIL_OUT("no temporary directory");
    snprintf(c->seed, sizeof c->seed, "%s%s", site->url, *path == '/' ? path + 1 : path);
    c->seeds[0] = c->seed;
    c->options.urls = c->seeds;
    c->options.nurls = 1;
    c->options.dir = c->dir;
    c->events = (struct cos_crawl_events){.arg = c,
                                          .page = crawl__page,
                                          .skip = crawl__skip,
                                          .failure = crawl__failure,
                                          .would = crawl__would,
                                          .say = crawl__say,
                                          .tick = crawl__tick,
                                          .tick_ms = 5};
}

/* Runs it; the exit code. */
static site__unused int crawl_run(struct crawl *c)
{
    c->pages = c->skips = c->failures = c->retries = c->woulds = 0;
    c->said[0] = 0;
    cos_crawl(&c->options, &c->events, &c->result);
    if (c->result.message[0])
        note("crawl says: %s", c->result.message);
    return c->result.exit_code;
}

static site__unused void crawl_remove(struct crawl *c)
{
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %.63s", c->dir);
    if (system(cmd))
        diag("could not remove %s", c->dir);
}

/* Rows of a query, columns by '|', rows by a blank; free. */
static site__unused char *crawl_rows(const char *dir, const char *sql)
{
    char path[256], *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int row = 0;
    snprintf(path, sizeof path, "%s/.coscrawl/crawl.db", dir);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
        fprintf(out, "error: %s", sqlite3_errmsg(db));
    while (st && sqlite3_step(st) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(st); i++) {
            const char *v = (const char *)sqlite3_column_text(st, i);
            fprintf(out, "%s%s", i ? "|" : row ? " " : "", v ? v : "NULL");
        }
        row++;
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
    fclose(out);
    return text;
}

/* The same for short answers, which stay until the fourth call after. */
static site__unused const char *crawl_sql(const struct crawl *c, const char *sql)
{
    static char answers[4][4096];
    static int at;
    char *text = crawl_rows(c->dir, sql);
    at = (at + 1) % 4;
    snprintf(answers[at], sizeof answers[at], "%s", text);
    free(text);
    return answers[at];
}

static site__unused long crawl_count(const struct crawl *c, const char *sql)
{
    return strtol(crawl_sql(c, sql), NULL, 10);
}

/* Everything two runs must agree about: free. */
#define CRAWL_ESSENCE                                                                              \
    "SELECT p.url, p.state, p.status, p.reason, p.depth, p.path, p.bytes, p.hash, p.mime, "        \
    "p.title, r.url, (SELECT group_concat(u, ' ') FROM (SELECT d.url || ' ' || l.kind AS u "       \
    "FROM links l JOIN pages d ON d.id = l.dst WHERE l.src = p.id ORDER BY u)) FROM pages p "      \
    "LEFT JOIN pages r ON r.id = p.referrer ORDER BY p.url"

/* Pages marked done whose file is missing or has another size. */
static site__unused long crawl_bad_files(const struct crawl *c)
{
    char *rows = crawl_rows(c->dir, "SELECT bytes, path FROM pages WHERE path IS NOT NULL");
    long bad = 0;
    for (char *save = NULL, *row = strtok_r(rows, " ", &save); row; row = strtok_r(NULL, " ", &save)) {
        char path[4096], *bar = strchr(row, '|');
        struct stat st;
        if (!bar)
            break; /* no database yet */
        snprintf(path, sizeof path, "%s/%s", c->dir, bar + 1);
        bad += stat(path, &st) < 0 || st.st_size != strtol(row, NULL, 10);
    }
    free(rows);
    return bad;
}

/* Files below the directory, those of .coscrawl not counted. */
static site__unused long crawl_files(const struct crawl *c)
{
    char cmd[256], text[32] = "";
    FILE *p;
    snprintf(cmd, sizeof cmd, "find %s -name .coscrawl -prune -o -type f -print | wc -l", c->dir);
    p = popen(cmd, "r");
    if (!p || !fgets(text, sizeof text, p))
        BAIL_OUT("find did not run");
    pclose(p);
    return strtol(text, NULL, 10);
}

#endif
