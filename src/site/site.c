/* site.c - one site: which part answers a request, and the life of the server.
 * May call base and dill. Signals arrive through a descriptor, so that the end
 * is an ordinary event: the main coroutine wakes and cancels the rest. */
#include "site/site.h"

#include "base/emit.h"
#include "base/err.h"
#include "base/log.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { LOST_MS = 200, TRIES_BYTES = 16 << 20 };
static const time_t MADE = 1767225600; /* 2026-01-01 */

static int64_t delay_of(const struct cos__site *site, const struct cos_http_req *req)
{
    for (int i = 0; i < site->opt.nslow; i++)
        if (site->opt.slow[i].len == req->path_len &&
            !memcmp(site->opt.slow[i].path, req->target, req->path_len))
            return site->opt.slow[i].ms;
    return site->opt.latency;
}

/* Never the root: a site without its first page shows nothing. */
static int failing(const struct cos__site *site, int64_t page)
{
    uint64_t r = cos__site_random(site, page, 7);
    if (page == 0 || r % 100 >= (uint64_t)site->opt.errors)
        return 0;
    return r / 100 % 2 ? 500 : 404;
}

static int serve_page(struct cos__site *site, struct cos_http_conn *conn,
                      const struct cos_http_req *req, int64_t page)
{
    struct cos_http_reply reply = {.status = failing(site, page), .modified = MADE, .ranges = 1};
    int revision = page % 7 ? 0 : site->revision;
    char etag[64];
    int err;
    if (reply.status) {
        reply.body = "<!DOCTYPE html>\n<title>Trouble</title>\n";
        reply.len = strlen(reply.body);
        return cos_http_reply(conn, req, &reply);
    }
    err = cos__site_render(site, page, &conn->page);
    if (err)
        return err;
    snprintf(etag, sizeof etag, "\"%llx-%llx-%d\"", (unsigned long long)site->opt.seed,
             (unsigned long long)page, revision);
    reply.etag = etag;
    reply.modified += revision;
    reply.body = conn->page.data;
    reply.len = conn->page.len;
    return cos_http_reply(conn, req, &reply);
}

static int not_found(struct cos_http_conn *conn, const struct cos_http_req *req)
{
    static const char text[] = "<!DOCTYPE html>\n<title>Not found</title>\n<p>No such page.</p>\n";
    return cos_http_reply(conn, req, &(struct cos_http_reply){.status = 404, .body = text,
                                                             .len = sizeof text - 1});
}

static int serve_private(struct cos_http_conn *conn, const struct cos_http_req *req)
{
    static const char text[] = "<!DOCTYPE html>\n<title>Diary</title>\n<p>robots.txt asks you to "
                               "leave this page alone.</p>\n";
    return cos_http_reply(conn, req,
                          &(struct cos_http_reply){.body = text, .len = sizeof text - 1});
}

static int serve_site(struct cos__site *site, struct cos_http_conn *conn,
                      const struct cos_http_req *req)
{
    int64_t page = cos__site_find(site, req->target, req->path_len);
    int err;
    if (page >= 0) {
        err = cos_http_sleep(delay_of(site, req));
        return err ? err : serve_page(site, conn, req, page);
    }
    if (cos_http_is(req, "/robots.txt"))
        return cos__site_robots(site, conn, req, site->opt.robots);
    if (!strncmp(req->target, "/fault/", 7))
        return cos__site_fault(site, conn, req);
    if (cos_http_is(req, "/private/diary.html") && site->opt.rich)
        return serve_private(conn, req);
    err = cos__site_asset(site, conn, req);
    return err == COS_ENOENT ? cos__site_sitemap(site, conn, req) : err;
}

/* Questions about the server itself; COS_ENOENT for everything else. */
static int serve_control(struct cos__site *site, struct cos_http_conn *conn,
                         const struct cos_http_req *req)
{
    struct cos_http_reply reply = {.type = "application/json", .body = "{}\n", .len = 3};
    int post = !strcmp(req->method, "POST"), err;
    if (post && cos_http_is(req, "/.stats/reset")) {
        cos__site_stats_reset(&site->stats);
        cos_set_release(&site->tries);
    } else if (post && cos_http_is(req, "/.revise")) {
        site->revision++;
    } else if (!post && cos_http_is(req, "/.stats")) {
        err = cos__site_stats_json(site, &conn->page);
        if (!err)
            err = cos_buf_addc(&conn->page, '\n');
        if (err)
            return err;
        reply.body = conn->page.data;
        reply.len = conn->page.len;
    } else {
        return COS_ENOENT;
    }
    return cos_http_reply(conn, req, &reply);
}

static int handle(struct cos_http_conn *conn, const struct cos_http_req *req, void *arg)
{
    struct cos__site *site = arg;
    int err;
    cos_buf_clear(&conn->page);
    err = serve_control(site, conn, req);
    if (err != COS_ENOENT)
        return err;
    cos__site_stats_begin(&site->stats, conn, req->target);
    if (strcmp(req->method, "GET") != 0 && !req->is_head)
        err = cos_http_reply(conn, req, &(struct cos_http_reply){.status = 405,
                                                                .headers = "Allow: GET, HEAD\r\n"});
    else
        err = serve_site(site, conn, req);
    if (err == COS_ENOENT)
        err = not_found(conn, req);
    cos__site_stats_end(&site->stats);
    return err;
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL))
        return -1;
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* A parent that died before prctl took effect sent no signal. */
static int follow_parent(void)
{
    pid_t parent = getppid();
    if (prctl(PR_SET_PDEATHSIG, SIGTERM))
        return cos_err_from_errno(errno);
    return getppid() == parent ? 0 : COS_ECANCELED;
}

static void raise_descriptors(int wanted)
{
    struct rlimit limit;
    rlim_t need = (rlim_t)wanted + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
        return;
    limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        cos_log(COS_LOG_WARN, "site: cannot raise the limit of descriptors: %s", strerror(errno));
}

static void release(struct cos__site *site)
{
    cos_http_release(&site->server);
    cos__site_stats_release(&site->stats);
    cos__site_pages_release(site);
    cos_set_release(&site->tries);
    cos_buf_release(&site->robots);
    if (site->closed_fd > 0)
        close(site->closed_fd);
}

static int prepare(struct cos__site *site, const struct cos_site_options *options)
{
    struct cos_http_server closed = {0};
    int err;
    site->opt = *options;
    cos__site_settle(&site->opt);
    if (site->opt.shape == COS_SITE_LOST && !site->opt.nslow) {
        site->opt.slow[0].path = "/s.html";
        site->opt.slow[0].len = 7;
        site->opt.slow[0].ms = site->opt.latency ? site->opt.latency : LOST_MS;
        site->opt.nslow = 1;
        site->opt.latency = 0;
    }
    cos_set_init(&site->tries, sizeof(uint64_t), TRIES_BYTES);
    cos__site_stats_init(&site->stats);
    err = cos__site_robots_init(site);
    if (!err)
        err = cos__site_pages_init(site);
    if (err)
        return err;
    /* A port of our own on which nobody listens. */
    err = cos_http_listen(&closed, "127.0.0.1", 0);
    if (err)
        return err;
    site->closed_fd = closed.guard;
    site->closed_port = closed.port;
    closed.guard = 0;
    cos_http_release(&closed);
    site->server = (struct cos_http_server){.handle = handle, .arg = site,
                                            .max_connections = site->opt.max_connections};
    return cos_http_listen(&site->server, site->opt.bind, site->opt.port);
}

static int serve_until_signal(struct cos__site *site, FILE *out)
{
    int signals = open_signals(), bundle, err = 0;
    if (signals < 0)
        return cos_err_from_errno(errno);
    if (site->opt.die_with_parent)
        err = follow_parent();
    if (err)
        goto out;
    snprintf(site->origin, sizeof site->origin, "http://%s:%d", site->opt.bind, site->server.port);
    fprintf(out, "%s/\n", site->origin);
    if (fflush(out)) {
        err = COS_EIO;
        goto out;
    }
    bundle = dill_bundle();
    if (bundle < 0 || dill_bundle_go(bundle, cos_http_serve(&site->server))) {
        err = cos_err_from_errno(errno);
        goto out;
    }
    while (COS_WAIT(dill_fdin(signals, -1)) && errno == EINTR)
        ;
    dill_hclose(bundle);
out:
    dill_fdclean(signals);
    close(signals);
    return err;
}

int cos_site_run(const struct cos_site_options *options, FILE *out)
{
    struct cos__site site = {0};
    int err;
    raise_descriptors(options->max_connections ? options->max_connections : 1000);
    err = prepare(&site, options);
    if (!err)
        err = serve_until_signal(&site, out);
    release(&site);
    return err;
}
