/* listen.c - the listener and the life of a connection. May call base and dill.
 * Beyond the limit a connection is accepted and reset at once instead of being
 * left in the kernel's queue: the client must see a refusal, not a hang. */
#include "config.h"

#include "site/http.h"

#include "base/emit.h"
#include "base/err.h"
#include "base/log.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 1024,
    KEEP_PAGE = 256 * 1024,
    PAGE_MAX = 256 * 1024 * 1024,
    OUT_MAX = 1024 * 1024,
    BYE_MS = 500,
    BYE_BYTES = 1024 * 1024,
    FAIR = 16,
};

static int bind_socket(const char *address, int port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1, saved, fd;
    if (port < 0 || port > 65535 || inet_pton(AF_INET, address, &addr.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
        bind(fd, (struct sockaddr *)&addr, sizeof addr)) {
        saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static int port_of(int fd)
{
    struct sockaddr_in addr = {0};
    socklen_t len = sizeof addr;
    return getsockname(fd, (struct sockaddr *)&addr, &len) ? -1 : ntohs(addr.sin_port);
}

/* Two sockets on one port: the guard never listens and keeps the port ours
 * while the listener is shut down (cos_http_refuse); a listener bound to port 0
 * would lose it. */
int cos_http_listen(struct cos_http_server *server, const char *address, int port)
{
    int saved;
    if (!server->max_connections)
        server->max_connections = 1000;
    if (!server->idle_ms)
        server->idle_ms = 60000;
    if (!server->send_ms)
        server->send_ms = 60000;
    server->guard = bind_socket(address, port);
    server->port = server->guard < 0 ? -1 : port_of(server->guard);
    server->fd = server->port < 0 ? -1 : bind_socket(address, server->port);
    if (server->fd >= 0 && !listen(server->fd, BACKLOG)) {
        COS_HOOK(init, &server->hook, COS_HOOK_LISTENER, NULL, NULL);
        return 0;
    }
    saved = errno;
    cos_http_release(server);
    return saved == EADDRINUSE ? COS_EBUSY : cos_err_from_errno(saved);
}

void cos_http_release(struct cos_http_server *server)
{
    if (server->fd > 0) {
        dill_fdclean(server->fd);
        close(server->fd);
    }
    if (server->guard > 0)
        close(server->guard);
    server->fd = server->guard = 0;
    COS_HOOK(destroy, &server->hook);
}

void cos_http_refuse(struct cos_http_server *server, int64_t ms)
{
    server->refuse_until = dill_now() + ms;
    shutdown(server->fd, SHUT_RD);
}

int cos_http_reset(struct cos_http_conn *conn)
{
    struct linger now = {.l_onoff = 1};
    (void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    conn->dropped = 1;
    return COS_ECLOSED;
}

int cos_http_sleep(int64_t ms)
{
    if (ms <= 0)
        return 0;
    return COS_WAIT(dill_msleep(dill_now() + ms)) ? cos_err_from_errno(errno) : 0;
}

int cos_http_linger(struct cos_http_conn *conn, int64_t ms)
{
    int64_t end = dill_now() + ms;
    char byte;
    ssize_t n;
    while (dill_now() < end) {
        if (COS_WAIT(dill_fdin(conn->fd, end)))
            return errno == ETIMEDOUT ? 0 : cos_err_from_errno(errno);
        n = recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return COS_ECLOSED;
        /* More requests are waiting: look again later, do not spin. */
        if (n > 0 && cos_http_sleep(20))
            return COS_ECANCELED;
    }
    return 0;
}

/* A close with unread bytes makes the kernel reset the connection, and the
 * client may lose the answer: say goodbye first and read what still comes. */
void cos__http_bye(struct cos_http_conn *conn)
{
    int64_t end = dill_now() + BYE_MS;
    size_t total = 0;
    char rest[4096];
    ssize_t n;
    if (shutdown(conn->fd, SHUT_WR))
        return;
    while (total < BYE_BYTES && !COS_WAIT(dill_fdin(conn->fd, end))) {
        n = recv(conn->fd, rest, sizeof rest, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return;
        total += n > 0 ? (size_t)n : 0;
    }
}

static void drop_request(struct cos_http_conn *conn)
{
    memmove(conn->in.data, conn->in.data + conn->used, conn->in.len - conn->used + 1);
    conn->in.len -= conn->used;
    conn->used = 0;
    if (conn->page.cap > KEEP_PAGE)
        cos_buf_release(&conn->page);
}

static int serve_one(struct cos_http_conn *conn)
{
    struct cos_http_req req;
    int err = cos__http_read(conn, &req);
    if (err)
        return err;
    err = conn->server->handle(conn, &req, conn->server->arg);
    if (err == COS_ECANCELED)
        cos__hook_cancelled();
    drop_request(conn);
    return err;
}

static dill_coroutine void serve_connection(struct cos_http_conn *conn)
{
    struct cos_http_server *server = conn->server;
    struct cos_hook_wait self;
    int err = 0, turns = 0;
    COS_HOOK(init, &conn->hook, COS_HOOK_CONNECTION, server->hook, NULL);
    cos__co_begin_as(&self, conn->hook);
    while (!err && conn->keep) {
        err = serve_one(conn);
        if (++turns % FAIR == 0)
            (void)COS_WAIT(dill_yield());
    }
    if (!conn->dropped && (!err || err == COS_EPROTO))
        cos__http_bye(conn);
    dill_fdclean(conn->fd);
    close(conn->fd);
    server->open--;
    cos_buf_release(&conn->in);
    cos_buf_release(&conn->out);
    cos_buf_release(&conn->page);
    cos_co_end(&self);
    free(conn);
}

static struct cos_http_conn *make_conn(struct cos_http_server *server, int fd)
{
    struct cos_http_conn *conn = calloc(1, sizeof *conn);
    int one = 1;
    if (!conn)
        return NULL;
    conn->fd = fd;
    conn->keep = 1;
    conn->server = server;
    cos_buf_init(&conn->in, COS_HTTP_HEAD_MAX + COS_HTTP_BODY_MAX + 65536);
    cos_buf_init(&conn->out, OUT_MAX);
    cos_buf_init(&conn->page, PAGE_MAX);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return conn;
}

static void start_connection(struct cos_http_server *server, int bundle, int fd)
{
    struct cos_http_conn *conn = NULL;
    struct cos_hook_wait wait;
    int rc;
    if (server->open < server->max_connections)
        conn = make_conn(server, fd);
    if (!conn) {
        struct linger now = {.l_onoff = 1};
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        server->refused++;
        close(fd);
        return;
    }
    if (++server->open > server->peak)
        server->peak = server->open;
    COS_HOOK(pause, &wait);
    rc = dill_bundle_go(bundle, serve_connection(conn));
    COS_HOOK(resume, &wait);
    if (rc) {
        server->open--;
        close(fd);
        /* It never ran, so it did not free itself. */
        free(conn); /* NOLINT(clang-analyzer-unix.Malloc) */
    }
}

/* After the listener was shut down, or without descriptors: wait, then go on. */
static int recover(struct cos_http_server *server, int errnum)
{
    int64_t now = dill_now();
    if (server->refuse_until) {
        if (server->refuse_until > now && COS_WAIT(dill_msleep(server->refuse_until)))
            return -1;
        server->refuse_until = 0;
        return listen(server->fd, BACKLOG);
    }
    if (errnum != EMFILE && errnum != ENFILE && errnum != ENOMEM && errnum != ENOBUFS)
        return 0;
    cos_log(COS_LOG_WARN, "site: cannot accept: %s", strerror(errnum));
    return COS_WAIT(dill_msleep(now + 50));
}

dill_coroutine void cos_http_serve(struct cos_http_server *server)
{
    int bundle = dill_bundle(), fd;
    if (bundle < 0)
        return;
    for (;;) {
        fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            start_connection(server, bundle, fd);
        } else if (errno == EAGAIN) {
            if (COS_WAIT(dill_fdin(server->fd, -1)) && errno == ECANCELED)
                break;
        } else if (recover(server, errno)) {
            break;
        }
    }
    dill_hclose(bundle);
}
