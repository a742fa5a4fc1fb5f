/* spider_rules.t - what the styles promise beyond the right pages: the helpers
 * alone (C2), order and resuming (C3), when parallel starts and when it tells
 * (C4), a report a page (C5, C6), servers with few connections (C17), and that
 * the two faces answer alike where something is odd. */
#define _GNU_SOURCE
#include "spider_run.h"

#include <ftw.h>
#include <libdill.h>
#include <sys/stat.h>

/* --- C2: the helpers on the callback face ----------------------------------------------- */

struct helped {
    int called, err;
    size_t len;
};

static void body_came(int err, struct cos_buf *body, void *arg)
{
    struct helped *helped = arg;
    helped->called++;
    helped->err = err;
    helped->len = err ? 0 : body->len;
}

static void was_saved(int err, void *arg)
{
    struct helped *helped = arg;
    helped->called++;
    helped->err = err;
}

static long file_size(const char *file)
{
    struct stat st;
    return stat(file, &st) ? -1 : (long)st.st_size;
}

static void helpers(struct site *site)
{
    struct cos_buf body = {.max = 1 << 20};
    struct helped helped = {0};
    struct cps_rt *rt;
    char file[256], url[256];
    snprintf(file, sizeof file, "%s/a/b/c.html", dir);
    snprintf(url, sizeof url, "%sfault/ok", site->url);
    clean();
    if (cps_open(&rt))
        BAIL_OUT("no callbacks");
    spider_download_cps(rt, url, file, body_came, &helped);
    ok(cps_run(rt) == 0 && helped.called == 1 && !helped.err, "C2 download is usable alone, cps");
    ok(helped.len > 0 && file_size(file) == (long)helped.len,
       "C2 it hands the body over and has saved it, cps");
    cos_buf_adds(&body, "text");
    spider_save_file_cps(rt, file, &body, was_saved, &helped);
    ok(cps_run(rt) == 0 && helped.called == 2 && file_size(file) == 4,
       "C2 save_file is usable alone and replaces the file, cps");
    snprintf(url, sizeof url, "%sfault/404", site->url);
    spider_download_cps(rt, url, file, body_came, &helped);
    ok(cps_run(rt) == 0 && helped.err == COS_EHTTP && file_size(file) == 4,
       "C2 an error page is not saved, cps");
    cps_close(rt);
    cos_buf_release(&body);
}

/* --- C3: order, and going on after kill -9 ------------------------------------------------- */

static int files_found;

static int count_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    files_found += type == FTW_F && strstr(path, ".html") != NULL;
    return 0;
}

static int files(void)
{
    files_found = 0;
    nftw(dir, count_file, 8, FTW_PHYS);
    return files_found;
}

/* Runs the style in a process of its own and kills it once some pages are there. */
static void run_and_kill(const char *face, const char *url)
{
    char option[32];
    pid_t child;
    snprintf(option, sizeof option, "--face=%s", face);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        execl(site_program(), "coscrawl", "--style=sequential", option, "-q", "-l", "3", "-P", dir,
              url, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 2000 && files() < 4; i++)
        usleep(5000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void sequential(void)
{
    static const char depth_first[] = " p1.html p4.html p5.html p6.html p2.html p7.html p8.html "
                                      "p9.html p3.html p10.html p11.html p12.html ";
    struct site site;
    site_start(&site, "--shape=tree", "--links=3", "--pages=13", "--latency=20", NULL);
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        int saved, all;
        if (!is_style(s, "sequential"))
            continue;
        clean();
        ok(run(s, site.url, 3, 1) == 0, "C3 sequential %s: a tree", s->face);
        is(order, depth_first, "C3 sequential %s: depth first", s->face);
        clean();
        run(s, site.url, 0, 1);
        site_reset(&site);
        ok(run(s, site.url, 3, 1) == 0 && site_number(&site, "requests") == 12,
           "C3 sequential %s: only the root saved, every link is found in it", s->face);
        clean();
        run_and_kill(s->face, site.url);
        saved = files();
        site_reset(&site);
        all = run(s, site.url, 3, 1) == 0 && pages == 13;
        ok(all && saved >= 4 && saved < 13 && site_number(&site, "requests") == 13 - saved,
           "C3 C10 sequential %s: killed after %d pages, the rerun asks for the others only",
           s->face, saved);
    }
    site_stop(&site);
}

/* --- C4: all at once, and the first failure ---------------------------------------------------- */

/* The file of the first page, with links of our own: the spiders read it instead of
 * asking for it. */
static void save_root(const char *url, const char *text)
{
    struct spider spider = {.dir = dir};
    struct cos_buf body = {.max = 4096};
    char *file = spider_file(&spider, url);
    cos_buf_adds(&body, text);
    if (!file || spider_save_file_co(file, &body))
        BAIL_OUT("cannot save %s", url);
    cos_buf_release(&body);
    free(file);
}

static void parallel(void)
{
    enum { SLOW_MS = 1200 }; /* the engine tries a hang again, several times */
    struct site site;
    site_start(&site, "--shape=star", "--pages=20", "--latency=300", NULL);
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        int64_t before;
        int err;
        if (!is_style(s, "parallel"))
            continue;
        clean();
        site_reset(&site);
        ok(run(s, site.url, 1, 1) == 0 && site_number(&site, "peak") == 19,
           "C4 parallel %s: all 19 links start before the first ends", s->face);
        clean();
        save_root(site.url, "<a href=/fault/hang?ms=300>a</a> <a href=/fault/404>b</a>"
                            "<a href=/fault/404?again>c</a>");
        before = site_now_ms();
        err = run(s, site.url, 1, 1);
        cmp_ok(err, "==", COS_EHTTP, "C4 parallel %s: of three failures it tells the first",
               s->face);
        if (!strcmp(s->face, "co"))
            cmp_ok(site_now_ms() - before, "<", SLOW_MS, "C4 parallel co: at the first");
    }
    site_stop(&site);
}

/* --- C5, C6: a report a page ------------------------------------------------------------------- */

static void reports(void)
{
    struct site site;
    site_start(&site, "--shape=lost", "--latency=1", "--slow=/s.html:150", NULL);
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        if (!is_style(s, "once queue"))
            continue;
        clean();
        ok(run(s, site.url, 3, 8) == 0 && pages == 6 && downloads == 6,
           "C5 %s %s: a page that is met again is expanded further, but told once", s->name,
           s->face);
    }
    site_stop(&site);
}

/* --- C17: a server that takes few connections -------------------------------------------------- */

/* The queue first: what parallel leaves are open connections. */
static void few_connections(void)
{
    static const char *const names[] = {"queue", "parallel"}, *const faces[] = {"cps", "co"};
    struct site site;
    site_start(&site, "--shape=star", "--pages=40", "--latency=50", "--max-connections=6", NULL);
    for (int i = 0; i < 4; i++) {
        const struct spider_style *s = spider_find(names[i / 2], faces[i % 2]);
        int err;
        clean();
        err = run(s, site.url, 1, 4);
        if (i < 2)
            ok(err == 0 && downloads == 40, "C17 queue %s: within the limit it completes", s->face);
        else
            ok(err != 0 && failures > 0, "C17 parallel %s: refused by a site that takes few, %s",
               s->face, cos_errname(err));
    }
    site_stop(&site);
}

/* --- both faces alike ------------------------------------------------------------------------------ */

static void odd_pages(struct site *site)
{
    char url[256];
    snprintf(url, sizeof url, "%sfault/empty.html", site->url);
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        if (!s->run)
            continue;
        clean();
        ok(run(s, "no URL", 1, 2) == COS_EURL && pages == 1 && failures == 1,
           "C1 %s %s: what is no URL is an error, told once", s->name, s->face);
        ok(run(s, url, 1, 2) == 0 && downloads == 1 && files() == 1,
           "C1 %s %s: an empty page is a page", s->name, s->face);
    }
}

int main(void)
{
    struct cos_fetch_setup unlimited = {.connections = -1};
    struct site site;
    plan(NO_PLAN);
    if (!mkdtemp(dir))
        BAIL_OUT("no directory");
    site_start(&site, NULL);
    helpers(&site);
    odd_pages(&site);
    site_stop(&site);
    sequential();
    reports();
    cos_fetch_setup(&unlimited);
    parallel();
    few_connections();
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    clean();
    rmdir(dir);
    done_testing();
}
