/* reply.c - sending answers: head and body leave in one system call. May call
 * base and dill. MSG_NOSIGNAL everywhere: a client that has gone is an error
 * code, not a signal that ends the server. */
#include "site/http.h"

#include "base/emit.h"
#include "base/err.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int send_parts(struct cos_http_conn *conn, struct iovec *parts, size_t count)
{
    struct msghdr msg = {.msg_iov = parts, .msg_iovlen = count};
    while (msg.msg_iovlen) {
        ssize_t n = sendmsg(conn->fd, &msg, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            if (COS_WAIT(dill_fdout(conn->fd, dill_now() + conn->server->send_ms)) &&
                errno != EINTR)
                return cos_err_from_errno(errno);
            continue;
        }
        if (n < 0 && errno != EINTR)
            return cos_err_from_errno(errno);
        while (n >= 0 && msg.msg_iovlen && (size_t)n >= msg.msg_iov->iov_len) {
            n -= (ssize_t)msg.msg_iov->iov_len;
            msg.msg_iov++;
            msg.msg_iovlen--;
        }
        if (n > 0 && msg.msg_iovlen) {
            msg.msg_iov->iov_base = (char *)msg.msg_iov->iov_base + n;
            msg.msg_iov->iov_len -= (size_t)n;
        }
    }
    return 0;
}

int cos_http_raw(struct cos_http_conn *conn, const void *data, size_t len)
{
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    return send_parts(conn, &part, 1);
}

static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void cos_http_date(char out[32], time_t when)
{
    struct tm tm;
    gmtime_r(&when, &tm);
    snprintf(out, 32, "%s, %02u %s %04u %02u:%02u:%02u GMT", days[tm.tm_wday],
             (unsigned)tm.tm_mday % 100, months[tm.tm_mon], (unsigned)(tm.tm_year + 1900) % 10000,
             (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100);
}

time_t cos_http_parse_date(const char *s, size_t len)
{
    char text[40], month[4];
    struct tm tm = {0};
    if (len >= sizeof text)
        return -1;
    memcpy(text, s, len);
    text[len] = 0;
    if (sscanf(text, "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &tm.tm_mday, month, &tm.tm_year,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return -1;
    for (tm.tm_mon = 0; tm.tm_mon < 12 && strcmp(month, months[tm.tm_mon]) != 0;)
        tm.tm_mon++;
    tm.tm_year -= 1900;
    return tm.tm_mon < 12 ? timegm(&tm) : -1;
}

static const char *status_text(int status)
{
    static const struct {
        int status;
        const char *text;
    } rows[] = {
        {200, "OK"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {410, "Gone"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {416, "Range Not Satisfiable"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == status)
            return rows[i].text;
    return "Status";
}

static const char *date_now(void)
{
    static _Thread_local char text[32];
    static _Thread_local time_t then;
    time_t now = time(NULL);
    if (now != then)
        cos_http_date(text, now);
    then = now;
    return text;
}

/* Everything but the length and the empty line. */
static int add_head(struct cos_http_conn *conn, const struct cos_http_reply *reply)
{
    struct cos_buf *out = &conn->out;
    int status = reply->status ? reply->status : 200;
    const char *type = reply->type ? reply->type : "text/html; charset=utf-8";
    char date[32];
    int err;
    cos_buf_clear(out);
    err = cos_buf_addf(out, "HTTP/1.1 %d %s\r\nDate: %s\r\nServer: coscrawl-site\r\n", status,
                       status_text(status), date_now());
    if (!err && *type && status != 304)
        err = cos_buf_addf(out, "Content-Type: %s\r\n", type);
    if (!err && reply->etag)
        err = cos_buf_addf(out, "ETag: %s\r\n", reply->etag);
    if (!err && reply->modified) {
        cos_http_date(date, reply->modified);
        err = cos_buf_addf(out, "Last-Modified: %s\r\n", date);
    }
    if (!err && reply->ranges)
        err = cos_buf_adds(out, "Accept-Ranges: bytes\r\n");
    if (!err && reply->headers)
        err = cos_buf_adds(out, reply->headers);
    if (!err && !conn->keep)
        err = cos_buf_adds(out, "Connection: close\r\n");
    return err;
}

static int unchanged(const struct cos_http_req *req, const struct cos_http_reply *reply)
{
    size_t len, n = reply->etag ? strlen(reply->etag) : 0;
    const char *value = cos_http_header(req, "If-None-Match", &len);
    time_t since;
    if (value && reply->etag) {
        for (size_t at = 0; at < len; at++)
            if (value[at] == '*' || (len - at >= n && !memcmp(value + at, reply->etag, n)))
                return 1;
        return 0;
    }
    value = cos_http_header(req, "If-Modified-Since", &len);
    if (!value || !reply->modified)
        return 0;
    since = cos_http_parse_date(value, len);
    return since != -1 && since >= reply->modified;
}

/* The part asked for: 1 when there is one, 0 for the whole, -1 when it lies
 * outside. Several ranges are answered with the whole, as the standard allows. */
static int find_range(const struct cos_http_req *req, const struct cos_http_reply *reply,
                      size_t *from, size_t *to)
{
    size_t len, n;
    const char *value = cos_http_header(req, "Range", &len);
    const char *given = cos_http_header(req, "If-Range", &n);
    char text[64], *end;
    if (!value || len < 7 || len >= sizeof text || strncmp(value, "bytes=", 6) != 0 ||
        !reply->ranges)
        return 0;
    if (given && (!reply->etag || n != strlen(reply->etag) || memcmp(given, reply->etag, n) != 0))
        return 0;
    memcpy(text, value + 6, len - 6);
    text[len - 6] = 0;
    if (strchr(text, ','))
        return 0;
    if (*text == '-') {
        n = strtoul(text + 1, NULL, 10);
        *from = n < reply->len ? reply->len - n : 0;
        *to = reply->len;
        return n ? 1 : -1;
    }
    *from = strtoul(text, &end, 10);
    if (end == text || *end != '-')
        return 0;
    *to = end[1] ? strtoul(end + 1, NULL, 10) + 1 : reply->len;
    if (*to > reply->len)
        *to = reply->len;
    return *from >= *to ? -1 : 1;
}

static int send_reply(struct cos_http_conn *conn, const struct cos_http_req *req,
                      const struct cos_http_reply *reply)
{
    struct iovec parts[2];
    int bare = reply->status == 304 || reply->status == 204;
    int err = add_head(conn, reply);
    if (!err)
        err = bare ? cos_buf_adds(&conn->out, "\r\n")
                   : cos_buf_addf(&conn->out, "Content-Length: %zu\r\n\r\n", reply->len);
    if (err)
        return err;
    parts[0] = (struct iovec){.iov_base = conn->out.data, .iov_len = conn->out.len};
    parts[1] = (struct iovec){.iov_base = (void *)(uintptr_t)reply->body, .iov_len = reply->len};
    return send_parts(conn, parts, bare || req->is_head || !reply->len ? 1 : 2);
}

int cos_http_reply(struct cos_http_conn *conn, const struct cos_http_req *req,
                   const struct cos_http_reply *given)
{
    struct cos_http_reply reply = *given;
    char more[96];
    size_t from, to;
    int part;
    if (reply.status && reply.status != 200)
        return send_reply(conn, req, &reply);
    if (unchanged(req, &reply)) {
        reply.status = 304;
        return send_reply(conn, req, &reply);
    }
    part = find_range(req, &reply, &from, &to);
    if (part == 0 || reply.headers)
        return send_reply(conn, req, &reply);
    if (part > 0)
        snprintf(more, sizeof more, "Content-Range: bytes %zu-%zu/%zu\r\n", from, to - 1,
                 reply.len);
    else
        snprintf(more, sizeof more, "Content-Range: bytes */%zu\r\n", reply.len);
    reply.status = part > 0 ? 206 : 416;
    reply.headers = more;
    reply.len = part > 0 ? to - from : 0;
    reply.body = part > 0 ? (const char *)reply.body + from : NULL;
    return send_reply(conn, req, &reply);
}

int cos_http_start(struct cos_http_conn *conn, const struct cos_http_req *req,
                   const struct cos_http_reply *reply)
{
    int err;
    conn->chunked = req->minor == 1;
    if (!conn->chunked)
        conn->keep = 0;
    err = add_head(conn, reply);
    if (!err)
        err =
            cos_buf_adds(&conn->out, conn->chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    return err ? err : cos_http_raw(conn, conn->out.data, conn->out.len);
}

int cos_http_chunk(struct cos_http_conn *conn, const void *data, size_t len)
{
    char size[24], end[] = "\r\n";
    struct iovec parts[3] = {{.iov_base = size}, {(void *)(uintptr_t)data, len}, {end, 2}};
    if (!len)
        return 0;
    if (!conn->chunked)
        return cos_http_raw(conn, data, len);
    parts[0].iov_len = (size_t)snprintf(size, sizeof size, "%zx\r\n", len);
    return send_parts(conn, parts, 3);
}

int cos_http_end(struct cos_http_conn *conn)
{
    return conn->chunked ? cos_http_raw(conn, "0\r\n\r\n", 5) : 0;
}
