/* reasons.t - every way in which a URL can end, told four times: as jsonl, as
 * csv, in the database and by `coscrawl why`. They must agree about the state,
 * the status, the reason and the number of requests, and the server's log about
 * the latter, too. */
#include "config.h"

#include "crawl.h"

#include "crawl_run.h"

enum { LONG = 8600 }; /* an address longer than any that is followed */

static char big[3000], maze[LONG + 100];

static const struct http_page pages[] = {
    {.path = "/robots.txt", .head = "Content-Type: text/plain\r\n",
     .body = "User-agent: *\nDisallow: /private\n"},
    {.path = "/", .body = A("/private/x") A("/a.html") A("/b.txt") A("http://elsewhere.test/")
                          A("/404") A("/loop") A("/cut") A("/nowhere")
                          A("/big") A("/r/r/r/r/r/") "<a rel=nofollow href=/nofollow>n</a>"
                          "<img src=/i.png>" A("/dir/x") A("/regex") A("/up/")},
    {.path = "/a.html", .body = A("/deep.html")},
    {.path = "/404", .status = 404},
    {.path = "/loop", .status = 302, .head = "Location: /loop\r\n"},
    {.path = "/cut", .head = "Content-Encoding: gzip\r\n", .body = "no gzip"},
    {.path = "/nowhere", .status = 301},
    {.path = "/big", .body = big},
    {.path = "/maze", .body = maze},
    {.path = "*", .body = "x"},
    {0},
};
static const struct http_page busy[] = {
    {.path = "/flaky", .fail_first = 9},
    {.path = "/later", .status = 503, .head = "Retry-After: 99999\r\n"},
    {0},
};
static const struct http_page no_robots[] = {
    {.path = "/robots.txt", .status = 500}, {.path = "*", .body = "x"}, {0}};
static const struct http_page mute[] = {{.path = "/robots.txt", .hang = 1}, {0}};

/* A page above the start directory of the seed that led to it. */
static const struct http_page above[] = {{.path = "/dir/x", .body = A("/maze")},
                                         {.path = "*", .body = "x"}, {0}};

static const struct ending {
    const char *words, *path, *state;
    int status, tries;
    const char *reason; /* in the lists */
    const char *row;    /* how the reason in the database begins; NULL: there is none */
    const struct http_page *pages;
} endings[] = {
    {"$U/", "/b.txt", "done", 200, 1, "", NULL, pages},
    {"$U/", "/private/x", "skipped", 0, 0, "robots", "robots: Disallow: /private", pages},
    {"$U/", "/404", "failed", 404, 1, "EHTTP", "404", pages},
    {"$U/", "/loop", "failed", 302, 1, "EREDIRECTS", "too many redirects", pages},
    {"$U/", "/cut", "failed", 200, 1, "EENCODING", "content encoding cannot be decoded", pages},
    {"$U/", "/nowhere", "failed", 301, 1, "EHTTP", "301: a redirect without Location", pages},
    {"$U/", "/nofollow", "skipped", 0, 0, "nofollow", "nofollow", pages},
    {"$U/", "/r/r/r/r/r/", "skipped", 0, 0, "trap", "trap: ", pages},
    {"$U/", "http://elsewhere.test/", "skipped", 0, 0, "scope", "scope", pages},
    {"--waitretry=0.1 $U/flaky", "/flaky", "failed", 503, 3, "EHTTP", "503", busy},
    {"-t 2 --waitretry=0.1 $U/flaky", "/flaky", "failed", 503, 2, "EHTTP", "503", busy},
    {"$U/later", "/later", "queued", 503, 1, "putoff", "putoff: 503, the server asks", busy},
    {"-l 1 $U/", "/deep.html", "skipped", 0, 0, "level", "level", pages},
    {"-np $U/up/x $U/", "/dir/x", "done", 200, 1, "", NULL, pages},
    {"-X /dir $U/", "/dir/x", "skipped", 0, 0, "directory", "directory: -X /dir", pages},
    {"-R txt $U/", "/b.txt", "skipped", 0, 0, "pattern", "pattern: -R txt", pages},
    {"-A txt $U/", "/a.html", "skipped", 200, 1, "type", "type", pages},
    {"--reject-regex=reg $U/", "/regex", "skipped", 0, 0, "regex", "regex: --reject-regex", pages},
    {"--follow=a $U/", "/i.png", "skipped", 0, 0, "follow", "follow", pages},
    {"--max-size=1000 $U/", "/big", "skipped", 200, 1, "size", "size: more than 1000", pages},
    {"--scope=any --exclude-domains=elsewhere.test $U/", "http://elsewhere.test/", "skipped", 0, 0,
     "domain", "domain: ", pages},
    {"-np $U/dir/x $U/up/", "/maze", "skipped", 0, 0, "parent", "parent", above},
    {"$U/maze", "/x*", "skipped", 0, 0, "toolong", "toolong: ", pages},
    {"$U/a.html", "/a.html", "skipped", 0, 0, "robots", "robots: robots.txt answers 500",
     no_robots},
    {"-t 1 -T 0.3 $U/", "/", "failed", 0, 0, "ESLOW", "transfer too slow", mute},
    {"-t 2 --waitretry=0.1 http://127.0.0.1:1/", "http://127.0.0.1:1/", "failed", 0, 0,
     "ECONNREFUSED", "connection refused", pages},
    {"-t 2 --waitretry=0.1 --no-robots http://127.0.0.1:1/", "http://127.0.0.1:1/", "failed", 0, 2,
     "ECONNREFUSED", "connection refused", pages},
};

#define ENDINGS (sizeof endings / sizeof endings[0])

static char listed[sizeof out];

static void full_url(const struct ending *e, char *url, size_t max)
{
    if (!strncmp(e->path, "/x*", 3)) {
        size_t n = (size_t)snprintf(url, max, "%s/", getenv("U"));
        memset(url + n, 'x', 8400);
        url[n + 8400] = 0;
    } else {
        snprintf(url, max, "%s%s", *e->path == '/' ? getenv("U") : "", e->path);
    }
}

/* The last line of a list about this URL, copied; "" when there is none. */
static const char *line_of(const char *start)
{
    static char line[16384];
    char *at = listed, *found = NULL;
    size_t n = strlen(start);
    for (; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (!strncmp(at, start, n))
            found = at;
    snprintf(line, sizeof line, "%.*s", found ? (int)strcspn(found, "\n") : 0, found ? found : "");
    return line;
}

static void check_jsonl(const struct ending *e, const char *url)
{
    char start[LONG + 100], want[64];
    const char *line;
    snprintf(start, sizeof start, "{\"url\":\"%s\",\"state\":\"%s\",", url, e->state);
    line = line_of(start);
    check(*line, "%s %.20s: %s as jsonl", e->words, e->path, e->state);
    snprintf(want, sizeof want, "\"status\":%d,", e->status);
    ok(strstr(line, want), "with its status");
    snprintf(want, sizeof want, "\"tries\":%d%s", e->tries,
             strstr(line, "\"ms\"") ? "," : "}");
    if (!ok(strstr(line, want), "and %d tries", e->tries))
        diag("%.400s", line);
    snprintf(want, sizeof want, "\"reason\":\"%s\"", e->reason);
    ok(*e->reason ? strstr(line, want) != NULL : !strstr(line, "reason"), "and reason '%s'",
       e->reason);
}

/* Cell number at of a row; a quoted cell has no comma that counts. */
static const char *cell_of(const char *row, int at)
{
    static char cell[400];
    int quoted = 0;
    size_t n = 0;
    for (; *row && at; row++) {
        quoted ^= *row == '"';
        at -= *row == ',' && !quoted;
    }
    for (; *row && *row != ',' && n + 1 < sizeof cell; row++)
        cell[n++] = *row;
    cell[n] = 0;
    return cell;
}

static void check_csv(const struct ending *e, const char *url)
{
    char start[LONG + 100];
    const char *row;
    snprintf(start, sizeof start, "%s,%s,", url, e->state);
    row = line_of(start);
    check(*row, "%s %.20s: %s as csv", e->words, e->path, e->state);
    cmp_ok(atoi(cell_of(row, 2)), "==", e->status, "with its status");
    is(cell_of(row, 3), e->reason, "its reason");
    cmp_ok(atoi(cell_of(row, 12)), "==", e->tries, "and its tries");
}

static void check_row(const struct ending *e, const char *url)
{
    char sql[LONG + 200], want[200], dir[128], *row;
    snprintf(sql, sizeof sql, "SELECT state, ifnull(status, 0), ifnull(tries, 0),"
                              " ifnull(reason, '') FROM pages WHERE url = '%s'", url);
    snprintf(dir, sizeof dir, "%s/d", top);
    row = crawl_rows(dir, sql);
    snprintf(want, sizeof want, "%s|%d|%d|%s", e->state, e->status, e->tries, e->row ? e->row : "");
    if (!ok(!strncmp(row, want, strlen(want)) && (e->row || strlen(row) == strlen(want)),
            "the same in the database"))
        diag("%s, not %s", row, want);
    free(row);
}

static void check_why(const struct ending *e, const char *url)
{
    char words[LONG + 100], want[200];
    snprintf(words, sizeof words, "why . '%s'", url);
    again(words);
    snprintf(want, sizeof want, "  state     %s", e->state);
    if (!ok(strstr(out, want), "why: %s", e->state))
        diag("%.300s%.300s", out, err);
    snprintf(want, sizeof want, ", answered %d", e->status);
    ok(!strstr(out, ", answered") == !e->status && (!e->status || strstr(out, want)),
       "why: the status");
    snprintf(want, sizeof want, " after %d tries\n", e->tries);
    ok(!strstr(out, " tries\n") == (e->tries < 2) && (e->tries < 2 || strstr(out, want)),
       "why: the tries");
    snprintf(want, sizeof want, "  because   %s", e->row ? e->row : "");
    ok(!strstr(out, "  because") == !e->row && (!e->row || strstr(out, want)), "why: the reason");
}

/* One crawl serves all endings beside each other that want the same. */
static void list(const struct ending *e, const char *format)
{
    static const struct ending *last;
    char words[400];
    if (last && e == last + 1 && !strcmp(e->words, last->words) && e->pages == last->pages) {
        last = e;
        return;
    }
    last = e;
    snprintf(words, sizeof words, "-q --format=%s %s", format, e->words);
    run(e->pages, words);
    memcpy(listed, out, sizeof listed);
}

static void check_table(void)
{
    static char url[LONG];
    memset(big, 'x', sizeof big - 1);
    snprintf(maze, sizeof maze, "<a href='/%08400d'>x</a>", 0);
    for (char *at = maze; *at; at++)
        if (*at == '0')
            *at = 'x';
    for (size_t i = 0; i < ENDINGS; i++) {
        full_url(&endings[i], url, sizeof url);
        list(&endings[i], "csv");
        check_csv(&endings[i], url);
    }
    for (size_t i = 0; i < ENDINGS; i++) {
        const struct ending *e = &endings[i];
        full_url(e, url, sizeof url);
        list(e, "jsonl");
        check_jsonl(e, url);
        if (*e->path == '/' && e->path[1] != 'x')
            cmp_ok(asked(e->path), "==", e->tries, "the server says so, too");
        check_row(e, url);
        check_why(e, url);
    }
}

/* No reason may be missing above. gone takes its time: tests/trouble.t. */
static void check_complete(void)
{
    for (int reason = 1; reason < COS_SKIP_COUNT; reason++) {
        size_t i = 0;
        while (i < ENDINGS && strcmp(endings[i].reason, cos_skip_name(reason)) != 0)
            i++;
        ok(i < ENDINGS || reason == COS_SKIP_GONE, "%s is in the table", cos_skip_name(reason));
    }
}

int main(void)
{
    static const struct group groups[] = {
        {"table", check_table}, {"complete", check_complete}, {NULL, NULL}};
    plan(NO_PLAN);
    run_groups(groups);
    done_testing();
}
