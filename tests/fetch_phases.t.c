/* fetch_phases.t - the stages of a fetch as the hooks see them, on both faces:
 * which there are, in which order, how long, and what ends them. tls.t has those
 * over TLS. */
#include "config.h"

#include "tap.h"

#include "coscrawl-cps.h"
#include "phase_log.h"
#include "site.h"

#include <libdill.h>

static struct site site;
static struct cps_rt *rt;

static void keep_page(int err, struct cos_page *page, void *arg)
{
    (void)err;
    *(struct cos_page **)arg = page ? cos_page_take(page) : NULL;
}

static struct cos_page *get(int cps, const struct cos_request *req, int ms)
{
    struct cos_page *page = NULL;
    phase_log_clear();
    if (cps) {
        cps_fetch(rt, req, now() + ms, keep_page, &page);
        cps_run(rt);
    } else {
        cos_fetch(req, &page, now() + ms);
    }
    return page;
}

static char *url_of(const char *host, const char *path)
{
    static char url[256];
    snprintf(url, sizeof url, "http://%s:%d/%s", host, site.port, path);
    return url;
}

/* No connection is left to use again. */
static void renew(void)
{
    cps_close(rt);
    cos_shutdown();
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
}

static void test_order(int cps, const char *face)
{
    struct cos_request req = {.url = url_of("localhost", "p1.html")};
    renew();
    cos_page_free(get(cps, &req, 8000));
    is(phase_log.order, "fetch dns / connect first byte / transfer / / /",
       "C46 %s: name, connect, first byte, transfer", face);
    ok(!phase_log.bad, "C48 %s: each caused by the fetch", face);
    cos_page_free(get(cps, &req, 8000));
    is(phase_log.order, "fetch first byte transfer / / /",
       "C46 %s: a connection used again: no connect", face);
}

static void test_delays(int cps, const char *face)
{
    struct cos_request req = {.url = url_of("127.0.0.1", "fault/delay?ms=300")};
    struct cos_page *page;
    double bytes = 0;
    /* The best of three: a busy machine adds to every delay. */
    for (int i = 0; i < 3 && !phase_near(COS_HOOK_TYPE_COUNT, 300); i++)
        cos_page_free(get(cps, &req, 8000));
    ok(phase_near(COS_HOOK_TYPE_COUNT, 300), "%s: first byte %d ms, the server took 300", face,
       (int)phase_log.ms[COS_HOOK_TYPE_COUNT]);
    ok(phase_log.ms[COS_HOOK_TRANSFER] < 100, "%s: the transfer took %d ms", face,
       (int)phase_log.ms[COS_HOOK_TRANSFER]);
    req.url = url_of("127.0.0.1", "fault/drip?ms=4");
    for (int i = 0; i < 3; i++) {
        page = get(cps, &req, 8000);
        bytes = (double)page->body.len;
        cos_page_free(page);
        if (phase_near(COS_HOOK_TRANSFER, (int64_t)(bytes * 4.2)))
            break;
    }
    ok(phase_near(COS_HOOK_TRANSFER, (int64_t)(bytes * 4.2)),
       "%s: transfer %d ms of %.0f bytes, 4 ms each", face, (int)phase_log.ms[COS_HOOK_TRANSFER],
       bytes);
    ok(phase_log.ms[COS_HOOK_TYPE_COUNT] < 200, "%s: its first byte came after %d ms", face,
       (int)phase_log.ms[COS_HOOK_TYPE_COUNT]);
}

static void test_ends(int cps, const char *face)
{
    struct cos_request req = {.url = url_of("127.0.0.1", "fault/hang")};
    renew();
    cos_page_free(get(cps, &req, 100));
    is(phase_log.order, "fetch connect first byte / / /",
       "C46 %s: a fetch that is given up ends its stage", face);
    cmp_ok(phase_log.failed, "==", 1, "C38 %s: which was cancelled, so it failed", face);
    req.url = "http://127.0.0.1:1/";
    cos_page_free(get(cps, &req, 8000));
    is(phase_log.order, "fetch connect / /", "C46 %s: a refused connection is a connect", face);
    cmp_ok(phase_log.failed, "==", 0, "C38 %s: whose result is no failure of the run", face);
    req.url = url_of("127.0.0.1", "fault/auth");
    req.auth = COS_AUTH_ANY;
    req.user = "x";
    req.password = "wrong";
    cos_page_free(get(cps, &req, 8000));
    like(phase_log.order, "^fetch (connect )?first byte (/ )?transfer / first byte / transfer / / /$",
         "C46 %s: a request that is made twice has its stages twice", face);
}

/* A hook that comes while a fetch is under way sees none of its stages. Not
 * so when another one has seen the fetch. */
static void test_late(void)
{
    struct cos_request req = {.url = url_of("127.0.0.1", "fault/delay?ms=50")};
    struct cos_page *page = NULL;
    if (getenv("COS_HOOK_CHECK"))
        return;
    phase_log_end();
    cps_fetch(rt, &req, now() + 8000, keep_page, &page);
    phase_log_begin();
    cps_run(rt);
    is(phase_log.order, "", "C41 nothing of what was begun before");
    cos_page_free(page);
}

int main(void)
{
    plan(NO_PLAN);
    site_start(&site, NULL);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    phase_log_begin();
    for (int cps = 0; cps < 2; cps++) {
        const char *face = cps ? "cps" : "co";
        test_order(cps, face);
        test_delays(cps, face);
        test_ends(cps, face);
    }
    test_late();
    phase_log_end();
    cps_close(rt);
    cmp_ok(cos_shutdown(), "==", 0, "nothing is under way at the end");
    site_stop(&site);
    done_testing();
}
