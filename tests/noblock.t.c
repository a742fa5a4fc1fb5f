/* noblock.t - the loop thread never waits for a disk or a name: while 64
 * downloads go to files and 200 slow lookups are under way, open, write, fsync,
 * rename, getaddrinfo and the parsers are called on other threads only. The
 * calls are wrapped when this test is linked (tests/web.mk), and each wrapper
 * looks at which thread it is on. */
#include "config.h"

#include "tap.h"

#include "base/op.h"
#include "coscrawl-cps.h"
#include "crawl/options.h"
#include "dnsstub.h"
#include "site.h"
#include "web/fetch.h"
#include "web/links.h"
#include "web/resolve.h"

#include <fcntl.h>
#include <libdill.h>
#include <netdb.h>
#include <stdarg.h>
#include <sys/stat.h>

/* --- the wrappers ----------------------------------------------------------------- */

static pthread_t loop_thread;
static int watching;
static _Atomic int on_loop, elsewhere;
static const char *offender;

static void called(const char *what)
{
    if (!watching)
        return;
    if (pthread_equal(pthread_self(), loop_thread)) {
        on_loop++;
        offender = what;
    } else {
        elsewhere++;
    }
}

#define WRAP(type, name, params, args)                                                             \
    type __real_##name params;                                                                     \
    type __wrap_##name params;                                                                     \
    type __wrap_##name params                                                                      \
    {                                                                                              \
        called(#name);                                                                             \
        return __real_##name args;                                                                 \
    }
WRAP(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len))
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t len, off_t at), (fd, data, len, at))
WRAP(ssize_t, pread, (int fd, void *data, size_t len, off_t at), (fd, data, len, at))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, renameat, (int d1, const char *from, int d2, const char *to), (d1, from, d2, to))
WRAP(int, mkostemp, (char *name, int flags), (name, flags))
WRAP(int, mkstemp, (char *name), (name))
WRAP(int, linkat, (int d1, const char *a, int d2, const char *b, int f), (d1, a, d2, b, f))
WRAP(int, getaddrinfo,
     (const char *n, const char *s, const struct addrinfo *h, struct addrinfo **r), (n, s, h, r))
WRAP(int, cos_links_extract, (struct cos_links_ctx *ctx, struct cos_page *page), (ctx, page))

/* The variable arguments of open are always there where they matter. */
#define WRAP_OPEN(name, before, pass)                                                              \
    int __real_##name(before const char *path, int flags, ...);                                    \
    int __wrap_##name(before const char *path, int flags, ...);                                    \
    int __wrap_##name(before const char *path, int flags, ...)                                     \
    {                                                                                              \
        va_list ap;                                                                                \
        mode_t mode;                                                                               \
        va_start(ap, flags);                                                                       \
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;                             \
        va_end(ap);                                                                                \
        called(#name);                                                                             \
        return __real_##name(pass path, flags, mode);                                              \
    }
#define COMMA ,
WRAP_OPEN(open, , )
WRAP_OPEN(openat, int dirfd COMMA, dirfd COMMA)

/* --- the load ------------------------------------------------------------------------ */

enum { DOWNLOADS = 64, LOOKUPS = 200 };

static struct site site;
static struct cps_rt *rt;
static char dir[] = "/tmp/cos-noblock-XXXXXX";
static int downloaded, written, scanned, looked_up;

static int scan_job(void *data)
{
    struct cos_links_ctx *ctx = cos_links_ctx_new();
    int err = cos_links_extract(ctx, data);
    cos_links_ctx_free(ctx);
    return err;
}

static coroutine void download_co(int i)
{
    char url[128], path[128];
    struct cos_request req = {.url = url, .spill_dir = dir, .spill_at = 10000};
    struct cos_page *page;
    void *data;
    snprintf(url, sizeof url, "%sfault/huge?mb=1&n=%d", site.url, i);
    downloaded += cos_fetch(&req, &page, -1) == 0 && page->spill;
    cos_page_free(page);
    snprintf(url, sizeof url, "%sfault/ok?n=%d", site.url, i);
    if (cos_fetch(&req, &page, -1))
        return;
    snprintf(path, sizeof path, "%s/%d/page.html", dir, i);
    written += cos_file_write(path, page->body.data, page->body.len,
                              COS_FILE_PARENTS | COS_FILE_SYNC, -1) == 0;
    data = page;
    scanned += cos_offload(scan_job, &data, NULL, -1) == 0;
    cos_page_free(page);
}

static coroutine void lookup_co(int i)
{
    char url[128];
    struct cos_request req = {.url = url};
    struct cos_page *page;
    snprintf(url, sizeof url, "http://slow-lo%d.test:1/", i);
    /* Nobody is there, but the name was found. */
    looked_up += cos_fetch(&req, &page, now() + 8000) == COS_ECONNREFUSED &&
                 page->timing.name > stub.slow_ms * 900;
    cos_page_free(page);
}

/* How late a timer fires, and how much of that the loop thread worked itself:
 * on a busy machine the rest is waiting for a processor. */
static double worst, worst_own;
static int ticking;

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

static coroutine void ticker(void)
{
    while (ticking) {
        double before = seconds(), own = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        if (msleep(now() + 5) < 0)
            return;
        before = (seconds() - before) * 1000 - 5;
        own = (seconds_of(CLOCK_THREAD_CPUTIME_ID) - own) * 1000;
        worst = before > worst ? before : worst;
        worst_own = own > worst_own ? own : worst_own;
    }
}

static void test_load(void)
{
    int crowd = bundle(), clock;
    ticking = watching = 1;
    clock = go(ticker());
    for (int i = 0; i < LOOKUPS; i++)
        bundle_go(crowd, lookup_co(i));
    for (int i = 0; i < DOWNLOADS; i++)
        bundle_go(crowd, download_co(i));
    bundle_wait(crowd, -1);
    watching = ticking = 0;
    hclose(clock);
    hclose(crowd);
    cmp_ok(downloaded, "==", DOWNLOADS, "%d downloads went to files", downloaded);
    cmp_ok(written, "==", DOWNLOADS, "%d pages were written", written);
    cmp_ok(scanned, "==", DOWNLOADS, "%d pages were scanned", scanned);
    cmp_ok(looked_up, "==", LOOKUPS, "%d slow names were looked up", looked_up);
    ok(on_loop == 0, "the loop thread called none of the blocking functions%s%s",
       on_loop ? ", but " : "", on_loop ? offender : "");
    cmp_ok(elsewhere, ">", 3 * DOWNLOADS, "the wrappers were there: %d calls on other threads",
           (int)elsewhere);
    cmp_ok((int)worst_own, "<=", 100, "the loop thread never worked 100 ms in one piece");
    note("worst loop lag %.1f ms; at work for %.1f ms in one piece", worst, worst_own);
}

/* A whole crawl: files, database, archive, index, conversion of links; then
 * again, from the files. */
static void test_crawl(void)
{
    char where[64], name[80];
    const char *urls[] = {site.url};
    struct cos_crawl_options options = {.urls = urls, .nurls = 1, .dir = where,
                                        .page_requisites = 1, .timestamping = 1,
                                        .convert_links = 1, .dedup = COS_DEDUP_LINK,
                                        .warc_file = name, .warc_cdx = 1};
    struct cos_crawl_result result;
    int before = elsewhere;
    snprintf(where, sizeof where, "%s/crawl", dir);
    snprintf(name, sizeof name, "%s/archive", dir);
    on_loop = 0;
    watching = 1;
    for (int i = 0; i < 2; i++) {
        cmp_ok(cos_crawl(&options, NULL, &result), "==", 0, "a crawl into an archive%s",
               i ? ", again" : "");
        cmp_ok(result.stats.done, ">", 100, "of %d pages", (int)result.stats.done);
    }
    watching = 0;
    ok(on_loop == 0, "the loop thread called none of the blocking functions%s%s",
       on_loop ? ", but " : "", on_loop ? offender : "");
    cmp_ok(elsewhere - before, ">", 300, "the wrappers were there: %d calls on other threads",
           (int)elsewhere - before);
}

/* Taking a fetch back while its name is looked up takes no time: curl's own
 * resolver would be waited for. */
static void test_cancel_lookup(void)
{
    struct cos_request req = {.url = "http://slow-lo-one.test:1/"};
    struct cos_page *page;
    double before;
    int err = cos_fetch(&req, &page, now() + 20);
    cos_page_free(page);
    cmp_ok(err, "==", COS_ETIMEDOUT, "a deadline during the lookup");
    req.url = "http://slow-lo-two.test:1/";
    before = seconds();
    err = cos_fetch(&req, &page, 0);
    cos_page_free(page);
    ok(err == COS_ETIMEDOUT && seconds() - before < 0.2, "taken back at once (%.0f ms)",
       (seconds() - before) * 1000);
}

static void keep_err(int err, struct cos_page *page, void *arg)
{
    ok(page && page->err == err, "the page has the error, too");
    *(int *)arg = err;
}

static void test_name_errors(void)
{
    static const struct {
        const char *host;
        int err;
    } cases[] = {{"nx.test", COS_ENXDOMAIN},   {"empty.test", COS_ENODATA},
                 {"fail.test", COS_ESERVFAIL}, {"mute.test", COS_ENONS},
                 {"lo.test", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char url[128];
        struct cos_request req = {.url = url};
        struct cos_page *page;
        int err = 1;
        snprintf(url, sizeof url, "http://%s:%d/fault/ok", cases[i].host, site.port);
        is(cos_errname(cos_fetch(&req, &page, -1)), cos_errname(cases[i].err), "co %s",
           cases[i].host);
        cos_page_free(page);
        cps_fetch(rt, &req, -1, keep_err, &err);
        cps_run(rt);
        is(cos_errname(err), cos_errname(cases[i].err), "cps %s", cases[i].host);
    }
}

int main(void)
{
    struct cos_names_setup names = {.hosts_file = "", .prefer = 4, .system = -1, .tries = 1,
                                    .timeout_ms = 3000};
    char command[128];
    plan(NO_PLAN);
    loop_thread = pthread_self();
    stub.slow_ms = getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full") ? 2000 : 600;
    stub_start();
    site_start(&site, NULL);
    if (!mkdtemp(dir) || cps_open(&rt))
        BAIL_OUT("no directory or no runtime");
    names.dns_server = stub.address;
    cmp_ok(cos_names_setup(&names), "==", 0, "the stub is the name server");
    test_load();
    test_crawl();
    test_cancel_lookup();
    names.timeout_ms = 200;
    while (cos_names_setup(&names) == COS_EBUSY)
        msleep(now() + 20);
    test_name_errors();
    cps_close(rt);
    cmp_ok(cos_shutdown(), "==", 0, "nothing is left");
    site_stop(&site);
    stub_stop();
    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (system(command))
        diag("cannot remove %s", dir);
    done_testing();
}
