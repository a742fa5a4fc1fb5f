/* replay.t - a crawl into an archive and out of it again: every request is in the
 * archive, the archive gives the same pages, links and rows, the same ones every
 * time and without a server; killed while it writes, it loses no page. */
#include "config.h"

#include "crawl.h"

#include "base/err.h"
#include "store/warc_read.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>

/* What two replays must agree about to the last number: all but durations. */
#define ROWS                                                                                       \
    "SELECT id, url, state, status, reason, depth, path, bytes, hash, mime, title, etag, "         \
    "modified, fetched_at, tries, referrer, wire, remote, protocol, packed_links "                 \
    "FROM pages ORDER BY id"
/* What a replay and its crawl must agree about, whatever the order was. */
#define WORLD                                                                                      \
    "SELECT p.url, p.state, p.status, p.reason, p.depth, p.path, p.bytes, p.hash, p.mime, "        \
    "p.title, p.etag, p.modified, p.fetched_at, p.tries, p.wire, p.remote, p.protocol, r.url, "    \
    "(SELECT group_concat(u, ' ') FROM (SELECT d.url || ' ' || l.kind AS u FROM links l "          \
    "JOIN pages d ON d.id = l.dst WHERE l.src = p.id ORDER BY u)), "                               \
    "(SELECT q.url || x.status FROM redirects x JOIN pages q ON q.id = x.dst "                     \
    "WHERE x.src = p.id) FROM pages p LEFT JOIN pages r ON r.id = p.referrer ORDER BY p.url"

static void same(const struct crawl *a, const struct crawl *b, const char *sql, const char *what)
{
    char *x = crawl_rows(a->dir, sql), *y = crawl_rows(b->dir, sql);
    size_t at = 0;
    while (x[at] && x[at] == y[at])
        at++;
    if (!ok(strlen(x) > 1000 && !strcmp(x, y), "%s", what)) {
        at = at > 60 ? at - 60 : 0;
        diag("one:     %.300s", x + at);
        diag("another: %.300s", y + at);
    }
    free(x);
    free(y);
}

static void name_in(char *out, size_t max, const struct crawl *c, const char *name)
{
    snprintf(out, max, "%s/%s", c->dir, name);
}

/* Records by type; the reader's last word. */
static int records(const char *path, long n[COS_WARC_RESOURCE + 1])
{
    int fd = open(path, O_RDONLY), more;
    struct cos_warc_reader *r = cos_warc_reader_new(cos_warc_from_file, &fd);
    const struct cos_warc_head *head;
    memset(n, 0, sizeof(long) * (COS_WARC_RESOURCE + 1));
    while ((more = cos_warc_reader_next(r, &head)) > 0)
        n[head->type]++;
    cos_warc_reader_free(r);
    if (fd >= 0)
        close(fd);
    return more;
}

/* --- there and back ---------------------------------------------------------------------- */

static const char *replay_files[1];

static void replay_init(struct crawl *c, const struct site *site, const struct crawl *from,
                        const char *archive)
{
    crawl_init(c, site, "/");
    snprintf(c->seed, sizeof c->seed, "%s", from->seed);
    c->options = from->options;
    c->options.urls = c->seeds;
    c->options.dir = c->dir;
    c->options.warc_file = NULL;
    c->options.warc_cdx = 0;
    replay_files[0] = archive;
    c->options.from_warc = (struct cos_strings){replay_files, 1};
}

static void there_and_back(const char *path, const char *regex, const char *what)
{
    struct site site;
    struct crawl live, one, two;
    char name[96], archive[128];
    long n[COS_WARC_RESOURCE + 1], asked;
    int code;
    site_start(&site, "--pages=60", "--errors=10", NULL);
    crawl_init(&live, &site, path);
    name_in(name, sizeof name, &live, "traffic");
    snprintf(archive, sizeof archive, "%s.warc.gz", name);
    live.options.warc_file = name;
    live.options.warc_cdx = 1;
    live.options.timeout = 2000;
    live.options.waitretry = 20;
    live.options.sitemap = 1;
    live.options.reject_regex = regex;
    code = crawl_run(&live);
    asked = site_number(&site, "requests");
    cmp_ok(records(archive, n), "==", 0, "%s: the archive reads to its end", what);
    if (!regex)
        cmp_ok(n[COS_WARC_REQUEST], "==", asked, "%s: a record for each request the server saw",
               what);
    cmp_ok(n[COS_WARC_RESPONSE] + n[COS_WARC_REVISIT], ">", 30, "%s: and for the answers", what);
    site_stop(&site);
    replay_init(&one, &site, &live, archive);
    replay_init(&two, &site, &live, archive);
    cmp_ok(crawl_run(&one), "==", code, "%s: without the server, the same exit code", what);
    crawl_run(&two);
    same(&live, &one, WORLD, "the same pages, links and rows out of the archive");
    same(&one, &two, ROWS, "and again, to the last id");
    cmp_ok(crawl_bad_files(&one), "==", 0, "%s: the files are there", what);
    cmp_ok(crawl_files(&one), "==", crawl_files(&live) - 2, "%s: as many as before", what);
    crawl_remove(&live);
    crawl_remove(&one);
    crawl_remove(&two);
}

static void not_there(void)
{
    struct site site;
    struct crawl live, one;
    char name[96], archive[128];
    site_start(&site, "--pages=30", NULL);
    crawl_init(&live, &site, "/");
    name_in(name, sizeof name, &live, "some");
    snprintf(archive, sizeof archive, "%s.warc.gz", name);
    live.options.warc_file = name;
    live.options.max_pages = 5;
    crawl_run(&live);
    replay_init(&one, &site, &live, archive);
    one.options.max_pages = 0;
    cmp_ok(crawl_run(&one), "==", 8, "pages that are not in the archive have failed");
    is(crawl_sql(&one, "SELECT DISTINCT reason FROM pages WHERE state = 'failed'"),
       "not in the archive", "with a clear reason");
    cmp_ok(crawl_count(&one, "SELECT count(*) FROM pages WHERE state = 'done'"), "==", 5,
           "those that are, are there");
    crawl_remove(&one);
    replay_init(&one, &site, &live, "/nonexistent/x.warc.gz");
    cmp_ok(crawl_run(&one), "==", 3, "an archive that is missing ends the crawl");
    like(one.result.message, "nonexistent.*no such file", "and is named");
    crawl_remove(&live);
    crawl_remove(&one);
    site_stop(&site);
}

/* --- large bodies ------------------------------------------------------------------------------ */

static void large(void)
{
    struct site site;
    struct crawl live, one;
    char name[96], archive[128];
    site_start(&site, "--pages=2", NULL);
    crawl_init(&live, &site, "/fault/huge?mb=5");
    name_in(name, sizeof name, &live, "large");
    snprintf(archive, sizeof archive, "%s.warc.gz", name);
    live.options.warc_file = name;
    live.options.level = COS_OPT_ZERO;
    cmp_ok(crawl_run(&live), "==", 0, "a page too large for memory");
    cmp_ok(live.result.stats.bytes, ">", 1 << 20, "went to a file");
    site_stop(&site);
    replay_init(&one, &site, &live, archive);
    cmp_ok(crawl_run(&one), "==", 0, "comes out of the archive");
    is(crawl_sql(&one, "SELECT hash, bytes, wire FROM pages WHERE path IS NOT NULL"),
       crawl_sql(&live, "SELECT hash, bytes, wire FROM pages WHERE path IS NOT NULL"),
       "byte for byte");
    cmp_ok(crawl_count(&one, "SELECT count(*) FROM pages WHERE path IS NOT NULL"), "==", 1,
           "one page");
    crawl_remove(&live);
    crawl_remove(&one);
}

/* --- killed ------------------------------------------------------------------------------------ */

static pid_t spawn(const struct crawl *c, const char *name)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    (void)!freopen("/dev/null", "w", stdout);
    (void)!freopen("/dev/null", "w", stderr);
    execl(site_program(), site_program(), "-q", "-P", c->dir, "--warc-file", name, "--warc-cdx",
          c->seed, (char *)NULL);
    _exit(127);
}

static long done_pages(const struct crawl *c)
{
    return crawl_count(c, "SELECT count(*) FROM pages WHERE state = 'done'");
}

/* Pages that the database calls done, and whose answer the archive lacks. */
static long lost(const struct crawl *c, const char *archive)
{
    char *rows = crawl_rows(c->dir, "SELECT url FROM pages WHERE state = 'done'"), *text = NULL;
    int fd = open(archive, O_RDONLY);
    struct cos_warc_reader *r = cos_warc_reader_new(cos_warc_from_file, &fd);
    const struct cos_warc_head *head;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    long missing = 0;
    fputc(' ', out);
    while (cos_warc_reader_next(r, &head) > 0)
        if (head->type == COS_WARC_RESPONSE || head->type == COS_WARC_REVISIT)
            fprintf(out, "%s ", head->uri);
    fclose(out);
    for (char *save = NULL, *url = strtok_r(rows, " ", &save); url;
         url = strtok_r(NULL, " ", &save)) {
        char key[300];
        snprintf(key, sizeof key, " %s ", url);
        missing += !strstr(text, key);
    }
    cos_warc_reader_free(r);
    close(fd);
    free(rows);
    free(text);
    return missing;
}

static void killed(void)
{
    int kills = getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full") ? 25 : 4, wrong = 0;
    struct site site;
    struct crawl c, one;
    char name[96], archive[128];
    long n[COS_WARC_RESOURCE + 1], missing = 0, before = 0;
    site_start(&site, "--pages=3000", "--latency=1", NULL);
    crawl_init(&c, &site, "/");
    name_in(name, sizeof name, &c, "killed");
    snprintf(archive, sizeof archive, "%s.warc.gz", name);
    for (int i = 0; i < kills; i++) {
        pid_t pid = spawn(&c, name);
        int end;
        usleep(150000 + 37000 * (unsigned)(i % 5));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        end = records(archive, n);
        wrong += end != 0 && end != COS_ETRUNCATED;
        missing += lost(&c, archive);
    }
    before = done_pages(&c);
    note("%ld pages after %d kills", before, kills);
    cmp_ok(before, ">", 20, "killed %d times, there are pages", kills);
    cmp_ok(wrong, "==", 0, "after every kill the archive reads to its last record");
    cmp_ok(missing, "==", 0, "and no page is done that it lacks");
    c.options.warc_file = name;
    c.options.warc_cdx = 1;
    c.options.max_pages = 200;
    crawl_run(&c);
    like(c.said, "killed.warc.gz goes on after [0-9]+ records", "a resumed crawl says that it goes on");
    cmp_ok(records(archive, n), "==", 0, "and leaves a whole archive");
    cmp_ok(lost(&c, archive), "==", 0, "with all its pages");
    replay_init(&one, &site, &c, archive);
    one.options.max_pages = 100;
    crawl_run(&one);
    cmp_ok(one.result.stats.done, "==", 100, "that can be replayed");
    crawl_remove(&one);
    crawl_remove(&c);
    site_stop(&site);
}

int main(void)
{
    there_and_back("/", NULL, "a site");
    there_and_back("/fault/",
                   "hang|drip|huge|charset/|delay|429|503|flaky|robots/|refuse|redirect-endless|bomb",
                   "faults");
    not_there();
    large();
    killed();
    done_testing();
}
