/* serve.c - see serve.h. */
#include "serve.h"

#include <errno.h>
#include <coscrawl/libdill.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL))
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void ignore(int err, void *arg)
{
    (void)err, (void)arg;
}

static coroutine void run_callbacks(struct cps_rt *rt)
{
    cps_run(rt);
}

static int serve_bundle(struct serve *serve, struct cos_http_server *server, int signals)
{
    int err;
    serve->beside = bundle();
    if (serve->beside < 0)
        return cos_err_from_errno(errno);
    err = serve->begin ? serve->begin(serve, serve->arg) : 0;
    if (!err && bundle_go(serve->beside, cos_http_serve(server)))
        err = cos_err_from_errno(errno);
    if (!err) {
        printf("http://127.0.0.1:%d/\n", server->port);
        err = fflush(stdout) ? COS_EIO : 0;
    }
    while (!err && fdin(signals, -1) && errno == EINTR)
        ;
    hclose(serve->beside);
    return err;
}

/* The runtime is kept from ending by a sleep without end; once that is cancelled
 * it runs until nothing is pending. */
static int serve_callbacks(struct serve *serve, struct cos_http_server *server, int signals)
{
    int64_t keeper;
    int runner, err = cps_open(&serve->rt);
    if (err)
        return err;
    keeper = cps_sleep(serve->rt, -1, ignore, NULL);
    runner = keeper < 0 ? -1 : go(run_callbacks(serve->rt));
    err = runner < 0 ? COS_ENOMEM : serve_bundle(serve, server, signals);
    if (serve->end)
        serve->end(serve, serve->arg);
    if (keeper > 0)
        cps_cancel(serve->rt, keeper);
    if (runner >= 0) {
        bundle_wait(runner, now() + 10000);
        hclose(runner);
    }
    if (cps_close(serve->rt) && !err)
        err = COS_EBUSY;
    return err;
}

int serve_run(struct serve *serve)
{
    struct cos_http_server server = {.handle = serve->handle, .arg = serve->arg};
    int signals = open_signals();
    int err = signals < 0 ? cos_err_from_errno(errno)
                          : cos_http_listen(&server, "127.0.0.1", (int)serve->port);
    if (!err)
        err = (serve->example->is_cps ? serve_callbacks : serve_bundle)(serve, &server, signals);
    cos_http_release(&server);
    if (signals >= 0) {
        fdclean(signals);
        close(signals);
    }
    return err ? example_fail(serve->example, "cannot serve", err) : 0;
}

int serve_text(struct cos_http_conn *conn, const struct cos_http_req *req, int status,
               const char *text)
{
    struct cos_http_reply reply = {.status = status, .type = "text/plain; charset=utf-8",
                                   .body = text, .len = strlen(text)};
    return cos_http_reply(conn, req, &reply);
}

static int add_decoded(struct cos_buf *out, const char *s, size_t len)
{
    int err = 0;
    for (size_t i = 0; !err && i < len; i++) {
        char hex[3] = {0}, *end;
        if (s[i] == '%' && i + 2 < len) {
            memcpy(hex, s + i + 1, 2);
            i += 2;
            err = cos_buf_addc(out, (char)strtol(hex, &end, 16));
            if (*end)
                return COS_EINVAL;
        } else {
            err = cos_buf_addc(out, s[i]);
        }
    }
    return err;
}

int serve_query(const struct cos_http_req *req, const char *name, const char *def,
                struct cos_buf *out)
{
    size_t len = strlen(name);
    cos_buf_clear(out);
    for (const char *s = req->query; *s; s += strcspn(s, "&"), s += *s == '&')
        if (!strncmp(s, name, len) && s[len] == '=')
            return add_decoded(out, s + len + 1, strcspn(s + len + 1, "&"));
    return cos_buf_adds(out, def);
}

struct cos_future *serve_future(void)
{
    struct cos_future *future = cos_future_new(NULL);
    return future ? cos_future_ref(future) : NULL;
}

void serve_done(int err, void *future)
{
    cos_future_set(future, err, NULL);
    cos_future_free(future);
}

int serve_await(struct cos_future *future, int64_t ticket)
{
    int err;
    if (ticket < 0)
        serve_done((int)ticket, future);
    err = cos_await(future, NULL, -1);
    cos_future_free(future);
    return err;
}
