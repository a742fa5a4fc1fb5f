/* spider.t - one spider, six ways, two faces: C1 to C10b and C16 to C18, each
 * from one table for every style it concerns. */
#include "spider_run.h"

#include <libdill.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* hell and discipline share one table: C1 and C2. */
static void single_pages(struct site *site)
{
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        const char *c = strcmp(s->name, "hell") ? "C2" : "C1";
        char url[256];
        if (!is_style(s, "hell discipline"))
            continue;
        clean();
        site_reset(site);
        ok(run(s, site->url, 0, 1) == 0 && downloads == 1, "%s %s %s: downloaded", c, s->name,
           s->face);
        ok(run(s, site->url, 0, 1) == 0 && pages == 1 && downloads == 0, "%s %s %s: already there",
           c, s->name, s->face);
        cmp_ok(site_number(site, "requests"), "==", 1, "%s %s %s: the second run asks for nothing",
               c, s->name, s->face);
        snprintf(url, sizeof url, "%sfault/404", site->url);
        ok(run(s, url, 0, 1) == COS_EHTTP && failures == 1, "%s %s %s: an error page is an error", c,
           s->name, s->face);
        snprintf(url, sizeof url, "%sx/y.html", site->url);
        clean();
        {
            char file[512];
            struct cos_buf name = {.max = 4096};
            cos_url_file(url, &name);
            snprintf(file, sizeof file, "%s/%.*s", dir, (int)strcspn(name.data, "/"), name.data);
            FILE *f = fopen(file, "w");
            if (f)
                fclose(f);
            cos_buf_release(&name);
        }
        ok(run(s, url, 0, 1) == COS_ENOTDIR && failures == 1,
           "%s %s %s: an error other than ENOENT is an error, not \"already there\"", c, s->name,
           s->face);
    }
}

static void helpers(struct site *site)
{
    struct cos_buf body = {.max = 1 << 20};
    char file[256], url[256];
    struct stat st;
    snprintf(file, sizeof file, "%s/a/b/c.html", dir);
    snprintf(url, sizeof url, "%sfault/ok", site->url);
    clean();
    cmp_ok(spider_download_co(url, file, &body), "==", 0, "C2 download is usable alone");
    ok(body.len > 0 && stat(file, &st) == 0 && (size_t)st.st_size == body.len,
       "C2 it hands the body over and has saved it");
    cos_buf_clear(&body);
    cos_buf_adds(&body, "text");
    cmp_ok(spider_save_file_co(file, &body), "==", 0, "C2 save_file is usable alone");
    ok(stat(file, &st) == 0 && st.st_size == 4, "C2 it replaces the file");
    cos_buf_release(&body);
}

static void recursion(struct site *site)
{
    int all = 0; /* pages that the first style found */
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        int requests, urls;
        if (!is_style(s, "sequential parallel once queue"))
            continue;
        clean();
        site_reset(site);
        ok(run(s, site->url, 0, 2) == 0 && pages == 1, "C9 %s %s: nesting 0 is one page", s->name,
           s->face);
        clean();
        site_reset(site);
        ok(run(s, site->url, 3, 4) == 0, "C3 %s %s: a site of cross links", s->name, s->face);
        requests = (int)site_number(site, "requests");
        urls = (int)site_urls(site);
        all = all ? all : urls;
        ok(urls == all && urls > 10, "C3 %s %s: every page that links lead to, %d", s->name, s->face,
           urls);
        if (!strcmp(s->name, "sequential"))
            ok(requests == urls && site_number(site, "peak") == 1,
               "C3 sequential %s: one at a time, each once", s->face);
        else if (!strcmp(s->name, "parallel"))
            cmp_ok(requests, ">", urls, "C4 C16 parallel %s: the race shows as double downloads",
                   s->face);
        else {
            cmp_ok(requests, "==", urls, "C5 C16 %s %s: requests = distinct URLs", s->name, s->face);
            cmp_ok((int)left, "==", 0, "C18 %s %s: what went well is forgotten", s->name, s->face);
        }
        if (!strcmp(s->name, "queue"))
            cmp_ok(site_number(site, "peak"), "<=", 4, "C6 queue %s: never more than the limit",
                   s->face);
        site_reset(site);
        ok(run(s, site->url, 3, 4) == 0 && site_number(site, "requests") == 0 && downloads == 0,
           "C3 %s %s: links of saved pages come from their content", s->name, s->face);
    }
}

/* The parser is the engine's: no style knows which one reads its pages. */
static void with_tidy(struct site *site)
{
    struct cos_pool *pool;
    struct cos_pool_stats stats;
    if (cos_tidy_open(&pool, 2))
        BAIL_OUT("no tidy");
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        int scanned;
        if (!is_style(s, "sequential parallel once queue"))
            continue;
        clean();
        site_reset(site);
        run(s, site->url, 2, 4);
        scanned = (int)site_urls(site);
        clean();
        site_reset(site);
        cos_parser_setup(pool);
        ok(run(s, site->url, 2, 4) == 0 && site_urls(site) == scanned,
           "%s %s: tidy's tree leads to the same %d pages", s->name, s->face, scanned);
        cos_parser_setup(NULL);
    }
    cos_pool_stats(pool, &stats);
    cmp_ok(stats.jobs, ">", 8, "and it was tidy that read them");
    cos_pool_close(pool);
}

/* C10b: a page met first by the long way must be expanded when the short one comes. */
static void lost_pages(void)
{
    static const char *const slows[] = {"--latency=1", "--latency=30", "--latency=60"};
    for (size_t t = 0; t < sizeof slows / sizeof slows[0]; t++) {
        struct site site;
        site_start(&site, "--shape=lost", slows[t], NULL);
        for (const struct spider_style *s = spider_styles; s->name; s++) {
            if (!is_style(s, "once queue"))
                continue;
            clean();
            site_reset(&site);
            run(s, site.url, 3, 8);
            cmp_ok(site_requests(&site, "/y.html"), "==", 1, "C10b %s %s gets y with %s", s->name,
                   s->face, slows[t]);
        }
        site_stop(&site);
    }
}

/* C5: x is met again, by the shorter way, while it is still being fetched: only
 * the set of URLs under way keeps it from a second request. */
static void met_again(void)
{
    struct site site;
    site_start(&site, "--shape=lost", "--latency=1", "--slow=/s.html:150", "--slow=/x.html:400",
               NULL);
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        if (!is_style(s, "once queue"))
            continue;
        clean();
        site_reset(&site);
        ok(run(s, site.url, 3, 8) == 0 && site_requests(&site, "/x.html") == 1,
           "C5 C16 %s %s: met again while under way, fetched once", s->name, s->face);
    }
    site_stop(&site);
}

static void errors(void)
{
    struct site site;
    site_start(&site, "--shape=star", "--pages=30", "--errors=30", NULL);
    for (const struct spider_style *s = spider_styles; s->name; s++) {
        if (!is_style(s, "sequential parallel queue"))
            continue;
        clean();
        site_reset(&site);
        int err = run(s, site.url, 1, 4);
        if (!strcmp(s->name, "sequential"))
            ok(err == COS_EHTTP && failures == 1, "C3 sequential %s: the first error ends it",
               s->face);
        else if (!strcmp(s->name, "parallel"))
            cmp_ok(err, "==", COS_EHTTP, "C4 parallel %s reports a failure once", s->face);
        else {
            ok(err && failures > 1 && downloads + failures == 30,
               "C6 queue %s: an error does not stop the rest (%d failed)", s->face, failures);
            cmp_ok((int)left, "==", failures, "C18 queue %s: the set holds those that failed",
                   s->face);
            cmp_ok(site_number(&site, "requests"), "==", 30, "C18 queue %s: nothing twice",
                   s->face);
        }
    }
    site_stop(&site);
}

/* C17 in a child: the limit of descriptors stays after it was lowered. */
static void few_descriptors(struct site *site, const char *name, const char *face, int wanted)
{
    const struct spider_style *s = spider_find(name, face);
    pid_t child;
    int status = 0;
    clean();
    fflush(NULL);
    child = fork();
    if (child == 0) {
        struct rlimit few = {64, 64};
        struct cos_fetch_setup setup = {.connections = -1};
        setrlimit(RLIMIT_NOFILE, &few);
        cos_fetch_setup(&setup);
        int err = run(s, site->url, 1, 16);
        _exit(err == 0 ? 0 : err == COS_EMFILE ? 1 : 2);
    }
    waitpid(child, &status, 0);
    cmp_ok(WEXITSTATUS(status), "==", wanted, "C17 %s %s with 64 descriptors: %s", name, face,
           wanted ? "EMFILE" : "completes");
}

int main(void)
{
    struct site site, star;
    plan(NO_PLAN);
    if (!mkdtemp(dir))
        BAIL_OUT("no directory");
    /* First, before this process has used the runtime. */
    cos_pool_prepare();
    site_start(&star, "--shape=star", "--pages=300", "--latency=30", NULL);
    few_descriptors(&star, "parallel", "cps", 1);
    few_descriptors(&star, "parallel", "co", 1);
    few_descriptors(&star, "queue", "cps", 0);
    few_descriptors(&star, "queue", "co", 0);
    site_stop(&star);

    site_start(&site, "--shape=cross", "--pages=40", "--latency=2", NULL);
    single_pages(&site);
    helpers(&site);
    recursion(&site);
    with_tidy(&site);
    site_stop(&site);
    lost_pages();
    met_again();
    errors();
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    clean();
    rmdir(dir);
    done_testing();
}
