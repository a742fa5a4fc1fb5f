/* fault_wire.c - faults on the wire: answers that stop, lie about their length,
 * break the framing, or never come. May call base and dill. */
#include "site/faults.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

enum { HANG_MS = 600000 };

static int64_t hang_ms(struct cos__fault *f)
{
    return cos_http_number(f->req, "ms", HANG_MS, 0, HANG_MS);
}

/* The page alone, for faults that write their own head. */
static int make_page(struct cos__fault *f, const char *text)
{
    return cos__fault_page(f, text, &f->conn->page);
}

static int say(struct cos__fault *f, const char *text)
{
    return cos_http_raw(f->conn, text, strlen(text));
}

/* Head with the true length plus more, then only part of the body. */
static int send_part(struct cos__fault *f, long long more, size_t part)
{
    char head[160];
    int err = make_page(f, "Only a part of this page arrives");
    if (err)
        return err;
    f->conn->keep = 0;
    snprintf(
        head, sizeof head,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %lld\r\n\r\n",
        (long long)f->conn->page.len + more);
    err = say(f, head);
    if (err || f->req->is_head)
        return err;
    return cos_http_raw(f->conn, f->conn->page.data, f->conn->page.len / part);
}

static int run_hang(struct cos__fault *f)
{
    int err = cos_http_linger(f->conn, hang_ms(f));
    return err ? err : cos_http_reset(f->conn);
}

static int run_hang_body(struct cos__fault *f)
{
    int err = send_part(f, 0, 2);
    return err ? err : run_hang(f);
}

static int run_drip(struct cos__fault *f)
{
    int64_t ms = cos_http_number(f->req, "ms", 100, 1, 60000);
    int64_t bytes = cos_http_number(f->req, "bytes", 0, 0, 1000000);
    int err = make_page(f, "This page comes byte by byte");
    struct cos_buf *page = &f->conn->page;
    while (!err && (int64_t)page->len < bytes)
        err = cos_buf_addc(page, ' ');
    if (err || f->req->is_head)
        return err ? err : cos__fault_reply(f, 200, NULL);
    err = cos_http_start(f->conn, f->req, &(struct cos_http_reply){0});
    for (size_t i = 0; i < page->len && !err; i++) {
        err = cos_http_linger(f->conn, ms);
        if (!err)
            err = cos_http_chunk(f->conn, page->data + i, 1);
    }
    return err ? err : cos_http_end(f->conn);
}

static int run_drip_head(struct cos__fault *f)
{
    int64_t ms = cos_http_number(f->req, "ms", 100, 1, 60000);
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    int err = 0;
    for (size_t i = 0; i < sizeof head - 1 && !err; i++) {
        err = cos_http_linger(f->conn, ms);
        if (!err)
            err = cos_http_raw(f->conn, head + i, 1);
    }
    return err;
}

static int run_truncated(struct cos__fault *f)
{
    int64_t times = cos_http_number(f->req, "times", 0, 0, 1000);
    if (times && cos__fault_times(f) > times)
        return cos__fault_reply(f, 200, NULL);
    return send_part(f, 0, 2);
}

static int run_truncated_chunked(struct cos__fault *f)
{
    int err = make_page(f, "The last chunk never comes");
    if (!err)
        err = cos_http_start(f->conn, f->req, &(struct cos_http_reply){0});
    if (!err && !f->req->is_head)
        err = cos_http_chunk(f->conn, f->conn->page.data, f->conn->page.len);
    f->conn->keep = 0;
    return err;
}

static int run_reset(struct cos__fault *f)
{
    return cos_http_reset(f->conn);
}

static int run_reset_body(struct cos__fault *f)
{
    int err = send_part(f, 0, 2);
    /* Let the client read its part: a reset throws away what it has not. */
    if (!err)
        err = cos_http_sleep(100);
    return err ? err : cos_http_reset(f->conn);
}

static int run_close(struct cos__fault *f)
{
    f->conn->keep = 0;
    return 0;
}

static int run_length_long(struct cos__fault *f)
{
    return send_part(f, 1000, 1);
}

static int run_length_short(struct cos__fault *f)
{
    return send_part(f, -20, 1);
}

static int run_length_twice(struct cos__fault *f)
{
    f->conn->keep = 0;
    return say(f, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n"
                  "Content-Length: 50\r\n\r\nhello");
}

static int run_length_bad(struct cos__fault *f)
{
    f->conn->keep = 0;
    return say(f,
               "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: five\r\n\r\nhello");
}

static int run_header_flood(struct cos__fault *f)
{
    int64_t kb = cos_http_number(f->req, "kb", 1024, 1, 1 << 20);
    char line[1025];
    int err = say(f, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
    for (int64_t i = 0; i < kb && !err; i++) {
        int n = snprintf(line, sizeof line, "X-Flood-%lld: ", (long long)i);
        memset(line + n, 'x', 1022 - (size_t)n);
        memcpy(line + 1022, "\r\n", 3);
        err = say(f, line);
    }
    return err ? err : say(f, "\r\n");
}

static int run_header_long(struct cos__fault *f)
{
    int64_t kb = cos_http_number(f->req, "kb", 1024, 1, 1 << 20);
    char part[1024];
    int err = say(f, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Long: ");
    memset(part, 'x', sizeof part);
    for (int64_t i = 0; i < kb && !err; i++)
        err = cos_http_raw(f->conn, part, sizeof part);
    return err ? err : say(f, "\r\n\r\n");
}

static int chunked_lie(struct cos__fault *f, const char *body)
{
    int err;
    f->conn->keep = 0;
    err =
        say(f, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n");
    return err || f->req->is_head ? err : say(f, body);
}

static int run_bad_chunk(struct cos__fault *f)
{
    return chunked_lie(f, "5\r\nhello\r\nxyz\r\nworld\r\n0\r\n\r\n");
}

static int run_chunk_huge(struct cos__fault *f)
{
    return chunked_lie(f, "5\r\nhello\r\nffffffffffffffffff\r\nworld");
}

static int run_chunked(struct cos__fault *f)
{
    int err = make_page(f, "In chunks of seven bytes, by the rules");
    struct cos_buf *page = &f->conn->page;
    if (!err)
        err = cos_http_start(f->conn, f->req, &(struct cos_http_reply){0});
    if (f->req->is_head)
        return err;
    for (size_t at = 0; at < page->len && !err; at += 7)
        err = cos_http_chunk(f->conn, page->data + at, page->len - at < 7 ? page->len - at : 7);
    return err ? err : cos_http_end(f->conn);
}

static int run_no_length(struct cos__fault *f)
{
    int err = make_page(f, "The end of the connection ends this page");
    f->conn->keep = 0;
    if (!err)
        err = say(f, "HTTP/1.0 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n");
    return err || f->req->is_head ? err
                                  : cos_http_raw(f->conn, f->conn->page.data, f->conn->page.len);
}

static int run_no_head(struct cos__fault *f)
{
    f->conn->keep = 0;
    return say(f, "<!DOCTYPE html>\n<title>HTTP/0.9</title>\n");
}

static int run_bad_status(struct cos__fault *f)
{
    f->conn->keep = 0;
    return say(f, "HTTP/1.1 OK 200\r\nContent-Length: 0\r\n\r\n");
}

static int run_bad_header(struct cos__fault *f)
{
    f->conn->keep = 0;
    return say(f,
               "HTTP/1.1 200 OK\r\nContent-Type text/html\r\n: empty\r\nX-Null: a\x01\x1b[31mb\r\n"
               "Content-Length: 2\r\n\r\nok");
}

static int run_interim(struct cos__fault *f)
{
    int err = 0;
    for (int i = 0; i < 10 && !err; i++)
        err = say(f, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
    return err ? err : cos__fault_reply(f, 200, NULL);
}

const struct cos__fault_row cos__faults_wire[] = {
    {"hang", "accepts the request and never answers (ms: then a reset)", NULL, run_hang},
    {"hang-body", "half of the body, then nothing", NULL, run_hang_body},
    {"drip", "a byte each ms=100 (bytes: at least so many)", NULL, run_drip},
    {"drip-head", "the head, a byte each ms=100", NULL, run_drip_head},
    {"truncated", "closes in the middle of the body (times: so often, then whole)", NULL,
     run_truncated},
    {"truncated-chunked", "closes before the last chunk", NULL, run_truncated_chunked},
    {"reset", "resets the connection instead of answering", NULL, run_reset},
    {"reset-body", "resets it in the middle of the body", NULL, run_reset_body},
    {"close", "closes it without an answer", NULL, run_close},
    {"length-long", "Content-Length is larger than the body", NULL, run_length_long},
    {"length-short", "Content-Length is smaller than the body", NULL, run_length_short},
    {"length-twice", "two Content-Length headers that differ", NULL, run_length_twice},
    {"length-bad", "Content-Length is no number", NULL, run_length_bad},
    {"header-flood", "kb=1024 of headers", NULL, run_header_flood},
    {"header-long", "one header of kb=1024", NULL, run_header_long},
    {"bad-chunk", "a chunk size that is no number", NULL, run_bad_chunk},
    {"chunk-huge", "a chunk size beyond 64 bits", NULL, run_chunk_huge},
    {"chunked", "a good answer in many chunks", NULL, run_chunked},
    {"no-length", "HTTP/1.0, ends with the connection", NULL, run_no_length},
    {"no-head", "a body without status line or headers", NULL, run_no_head},
    {"bad-status", "a status line that is none", NULL, run_bad_status},
    {"bad-header", "header lines without colon, without name, with controls", NULL, run_bad_header},
    {"interim", "ten interim answers before the real one", NULL, run_interim},
    {NULL, NULL, NULL, NULL},
};
