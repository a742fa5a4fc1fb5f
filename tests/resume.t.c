/* resume.t - kill -9 at random points, again and again: files and database end
 * up as if nothing had happened. TEST_TIER=full: 100 kills on 2,000 pages. */
#include "tap.h"

#include "crawl.h"

enum { IN_FLIGHT = 8 };

static struct site site;
static unsigned dice = 12345;

static int roll(int most)
{
    dice = dice * 1103515245 + 12345;
    return (int)(dice >> 16) % most;
}

static pid_t start(const struct crawl *c)
{
    char host[64];
    pid_t child;
    snprintf(host, sizeof host, "--host-concurrency=%d", IN_FLIGHT);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        execl(site_program(), site_program(), "-q", "-l", "inf", "-P", c->dir, host, c->seed,
              (char *)NULL);
        _exit(127);
    }
    return child;
}

static void nap(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

/* 1 when it was killed in the middle, 0 when it was already through. */
static int kill_after(const struct crawl *c, int ms)
{
    int status = 0;
    pid_t child = start(c);
    nap(ms);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

static char *files(const struct crawl *c)
{
    char cmd[400], *text = NULL;
    size_t size = 0;
    FILE *p, *out = open_memstream(&text, &size);
    int ch;
    snprintf(cmd, sizeof cmd,
             "cd %s && find . -name .coscrawl -prune -o -type f -print | LC_ALL=C sort | xargs cksum",
             c->dir);
    p = popen(cmd, "r");
    while (p && (ch = fgetc(p)) != EOF)
        fputc(ch, out);
    pclose(p);
    fclose(out);
    return text;
}

static long left_in_tmp(const struct crawl *c)
{
    char cmd[200];
    snprintf(cmd, sizeof cmd, "test -z \"$(ls -A %s/.coscrawl/tmp 2>/dev/null)\"", c->dir);
    return system(cmd) != 0;
}

static void compare(const struct crawl *whole, const struct crawl *c)
{
    char *a = crawl_rows(whole->dir, CRAWL_ESSENCE), *b = crawl_rows(c->dir, CRAWL_ESSENCE);
    ok(strlen(a) > 1000 && !strcmp(a, b), "C10 the database is that of an uninterrupted run");
    free(a);
    free(b);
    a = files(whole);
    b = files(c);
    ok(strlen(a) > 1000 && !strcmp(a, b), "C10 the files are those of an uninterrupted run");
    free(a);
    free(b);
}

int main(void)
{
    int full = getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full");
    int wanted = full ? 100 : 8, kills = 0, runs = 0, bad = 0, status = 0;
    char pages[32];
    struct crawl whole, c;
    long twice;
    if (full)
        setenv("TAP_TIMEOUT", "600", 0);
    plan(NO_PLAN);
    snprintf(pages, sizeof pages, "--pages=%d", full ? 2000 : 300);
    site_start(&site, "--shape=cross", pages, "--bytes=2000",
               full ? "--latency=20" : "--latency=5", NULL);
    crawl_init(&whole, &site, "/");
    waitpid(start(&whole), &status, 0);
    cmp_ok(WEXITSTATUS(status), "==", 0, "an uninterrupted run");
    cmp_ok(crawl_count(&whole, "SELECT count(*) FROM pages WHERE state = 'done'"), "==",
           full ? 2000 : 300, "has all pages");
    site_reset(&site);
    crawl_init(&c, &site, "/");
    while (kills < wanted && runs++ < 3 * wanted) {
        if (!kill_after(&c, 15 + roll(full ? 60 : 80)))
            break;
        kills++;
        bad += crawl_bad_files(&c) != 0;
        if (crawl_count(&c, "SELECT count(*) FROM pages") > 0)
            bad += strcmp(crawl_sql(&c, "PRAGMA integrity_check"), "ok") != 0;
    }
    note("killed %d times", kills);
    cmp_ok(kills, ">=", full ? wanted : wanted / 2, "it was killed often enough");
    cmp_ok(bad, "==", 0, "C10 after no kill was a page marked done without its file");
    waitpid(start(&c), &status, 0);
    cmp_ok(WEXITSTATUS(status), "==", 0, "the last run goes to the end");
    compare(&whole, &c);
    cmp_ok(left_in_tmp(&c), "==", 0, "C10 nothing half-written is left");
    twice = site_number(&site, "requests") - site_requests(&site, "/robots.txt") -
            (site_urls(&site) - 1);
    cmp_ok(twice, "<=", (long)kills * IN_FLIGHT,
           "C10 pages fetched twice: %ld, no more than were in flight", twice);
    crawl_remove(&c);
    crawl_remove(&whole);
    site_stop(&site);
    done_testing();
}
