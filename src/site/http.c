/* http.c - reading requests. A request is read whole into the connection's
 * buffer and cut into strings in place; what follows it (pipelining) stays for
 * the next turn. May call base and dill. Chunked request bodies are refused
 * with 411: nobody sends them to a site like this one. */
#include "site/http.h"

#include "base/emit.h"
#include "base/err.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum { READ_STEP = 4096, HEAD_MS = 30000 };

int cos__http_fill(struct cos_http_conn *conn, int64_t deadline)
{
    struct cos_buf *in = &conn->in;
    ssize_t n;
    int err = cos_buf_reserve(in, READ_STEP);
    if (err)
        return err;
    for (;;) {
        if (COS_WAIT(dill_fdin(conn->fd, deadline)))
            return cos_err_from_errno(errno);
        n = recv(conn->fd, in->data + in->len, in->cap - in->len - 1, 0);
        if (n == 0)
            return COS_ECLOSED;
        if (n > 0)
            break;
        if (errno != EAGAIN && errno != EINTR)
            return cos_err_from_errno(errno);
    }
    in->len += (size_t)n;
    in->data[in->len] = 0;
    return 0;
}

/* Length of the head with its empty line, 0 while it is not complete. */
static size_t head_end(const struct cos_buf *in, size_t from)
{
    const char *at = in->data + (from > 3 ? from - 3 : 0), *end = in->data + in->len;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        if (at + 1 < end && at[1] == '\n')
            return (size_t)(at + 2 - in->data);
        if (at + 2 < end && at[1] == '\r' && at[2] == '\n')
            return (size_t)(at + 3 - in->data);
        at++;
    }
    return 0;
}

static int refuse(struct cos_http_conn *conn, int status)
{
    struct cos_http_req none = {.method = "", .target = "", .query = "", .minor = 1};
    conn->keep = 0;
    (void)cos_http_reply(conn, &none, &(struct cos_http_reply){.status = status});
    return COS_EPROTO;
}

/* A method is capital letters. Whoever speaks something else, TLS for one, may
 * be waiting for an answer and never send an empty line. */
static int no_request(const struct cos_buf *in)
{
    return in->len && *in->data != '\r' && *in->data != '\n' &&
           (*in->data < 'A' || *in->data > 'Z');
}

static int read_head(struct cos_http_conn *conn, size_t *head)
{
    int64_t deadline = dill_now() + conn->server->idle_ms;
    size_t seen = 0;
    int err, started = conn->in.len > 0;
    if (started)
        deadline = dill_now() + HEAD_MS;
    while (!conn->in.len || (*head = head_end(&conn->in, seen)) == 0) {
        if (conn->in.len >= COS_HTTP_HEAD_MAX)
            return refuse(conn, 431);
        if (no_request(&conn->in))
            return refuse(conn, 400);
        seen = conn->in.len;
        err = cos__http_fill(conn, deadline);
        if (err)
            return started && err == COS_ETIMEDOUT ? refuse(conn, 408) : err;
        /* The clock for the head starts with its first byte, so that a slow
         * sender cannot hold the connection by sending a byte at a time. */
        if (!started)
            deadline = dill_now() + HEAD_MS;
        started = 1;
    }
    return 0;
}

const char *cos_http_header(const struct cos_http_req *req, const char *name, size_t *len)
{
    const char *at = req->headers, *end = at + req->headers_len, *eol, *stop;
    size_t n = strlen(name);
    for (; at < end; at = eol + 1) {
        eol = memchr(at, '\n', (size_t)(end - at));
        if (!eol)
            return NULL;
        if ((size_t)(eol - at) <= n || at[n] != ':' || strncasecmp(at, name, n) != 0)
            continue;
        at += n + 1;
        stop = eol;
        while (at < stop && (*at == ' ' || *at == '\t'))
            at++;
        while (stop > at && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
        *len = (size_t)(stop - at);
        return at;
    }
    return NULL;
}

static int header_has(const struct cos_http_req *req, const char *name, const char *word)
{
    size_t len, n = strlen(word);
    const char *value = cos_http_header(req, name, &len);
    for (; value && len >= n; value++, len--)
        if (!strncasecmp(value, word, n))
            return 1;
    return 0;
}

static int read_body(struct cos_http_conn *conn, struct cos_http_req *req, size_t head)
{
    int64_t deadline = dill_now() + HEAD_MS;
    size_t len = 0, digits;
    const char *value = cos_http_header(req, "Content-Length", &digits);
    int err;
    if (header_has(req, "Transfer-Encoding", "chunked"))
        return refuse(conn, 411);
    for (size_t i = 0; value && i < digits; i++) {
        if (value[i] < '0' || value[i] > '9')
            return refuse(conn, 400);
        len = len * 10 + (size_t)(value[i] - '0');
        if (len > COS_HTTP_BODY_MAX)
            return refuse(conn, 413);
    }
    if (len && header_has(req, "Expect", "100-continue")) {
        err = cos_http_raw(conn, "HTTP/1.1 100 Continue\r\n\r\n", 25);
        if (err)
            return err;
    }
    while (conn->in.len - head < len) {
        err = cos__http_fill(conn, deadline);
        if (err)
            return err;
    }
    req->body_len = len;
    conn->used = head + len;
    return 0;
}

/* "GET /x?y HTTP/1.1": three words, cut in place. */
static int parse_line(struct cos_http_req *req, char *line, size_t len)
{
    static char root[] = "/";
    char *target = memchr(line, ' ', len), *version;
    if (!target || target == line)
        return -1;
    *target++ = 0;
    version = strchr(target, ' ');
    if (!version || strncmp(version + 1, "HTTP/1.", 7) != 0 ||
        (version[8] != '0' && version[8] != '1') || (version[9] && version[9] != '\r'))
        return -1;
    *version = 0;
    req->method = line;
    req->minor = version[8] - '0';
    if (!strncasecmp(target, "http://", 7)) {
        target = strchr(target + 7, '/');
        if (!target)
            target = root;
    }
    if (*target != '/' && strcmp(target, "*") != 0)
        return -1;
    req->target = target;
    req->path_len = strcspn(target, "?");
    req->query = target[req->path_len] ? target + req->path_len + 1 : "";
    req->is_head = !strcmp(line, "HEAD");
    return 0;
}

static void find_headers(struct cos_http_req *req, char *data, size_t head)
{
    char *eol = memchr(data, '\n', head);
    req->headers = eol + 1;
    req->headers_len = head - (size_t)(eol + 1 - data);
}

int cos__http_read(struct cos_http_conn *conn, struct cos_http_req *req)
{
    size_t head = 0, line;
    int err;
    *req = (struct cos_http_req){0};
    /* An empty line before a request is old custom; it is skipped. */
    while (conn->in.len && (*conn->in.data == '\r' || *conn->in.data == '\n'))
        memmove(conn->in.data, conn->in.data + 1, conn->in.len--);
    err = read_head(conn, &head);
    if (err)
        return err;
    find_headers(req, conn->in.data, head);
    err = read_body(conn, req, head);
    if (err)
        return err;
    /* The buffer may have moved while the body came in. */
    find_headers(req, conn->in.data, head);
    req->body = conn->in.data + head;
    line = (size_t)(req->headers - conn->in.data) - 1;
    conn->in.data[line] = 0;
    if (parse_line(req, conn->in.data, line))
        return refuse(conn, 400);
    conn->keep = req->minor == 1 ? !header_has(req, "Connection", "close")
                                 : header_has(req, "Connection", "keep-alive");
    return 0;
}

int cos_http_is(const struct cos_http_req *req, const char *path)
{
    return strlen(path) == req->path_len && !memcmp(req->target, path, req->path_len);
}

int64_t cos_http_number(const struct cos_http_req *req, const char *name, int64_t def, int64_t min,
                        int64_t max)
{
    size_t n = strlen(name);
    int64_t value = def;
    for (const char *at = req->query; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL)
        if (!strncmp(at, name, n) && at[n] == '=')
            value = strtoll(at + n + 1, NULL, 10);
    return value < min ? min : value > max ? max : value;
}
