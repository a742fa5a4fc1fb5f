/* fetch_body.c - what curl hands over while a transfer runs: header lines and
 * decoded body bytes, both under their ceilings. Runs inside curl, so it only
 * records: a refusal sets stop_err and makes curl end the transfer. */
#include "web/fetch_int.h"

#include "base/err.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

enum { HEAD_USUAL = 1000 };

static size_t refuse(struct cos__fetch *fetch, int err)
{
    fetch->stop_err = err;
    return 0;
}

/* "HTTP/1.1 200 OK": another answer begins (100, or 401 before the real one),
 * and the last one counts. */
static int answer_begins(struct cos__fetch *fetch, const char *line, size_t len)
{
    struct cos_page *page = fetch->page;
    const char *at = memchr(line, ' ', len);
    if (page->head.len)
        cos__fetch_forget_headers(page);
    cos__fetch_phase(fetch, COS__PHASE_TRANSFER);
    fetch->encoded = 0;
    page->protocol = line[5] == '2' ? "h2" : line[5] == '3' ? "h3" : line[7] == '0' ? "HTTP/1.0"
                                                                                    : "HTTP/1.1";
    page->status = at && line + len - at >= 4
                       ? (at[1] - '0') * 100 + (at[2] - '0') * 10 + (at[3] - '0')
                       : 0;
    /* Most heads fit: one allocation instead of five. */
    return cos_buf_reserve(&page->head, HEAD_USUAL);
}

/* cos_buf_add with the usual case first: a dozen lines come per answer. */
static inline int add_line(struct cos_buf *head, const char *data, size_t len)
{
    if (head->cap - head->len <= len || head->max - head->len < len)
        return cos_buf_add(head, data, len);
    memcpy(head->data + head->len, data, len);
    head->len += len;
    head->data[head->len] = 0;
    return 0;
}

size_t cos__fetch_on_header(char *data, size_t size, size_t n, void *arg)
{
    struct cos__fetch *fetch = ((struct cos__easy *)arg)->fetch;
    size_t len = size * n;
    int err = 0;
    fetch->active_at = cos__loop_now(fetch->op.loop);
    fetch->page->wire_len += (int64_t)len;
    if (len > 12 && !memcmp(data, "HTTP/", 5)) {
        err = answer_begins(fetch, data, len);
    } else if (len > 2) {
        if (len > 17 && data[16] == ':' && !strncasecmp(data, "Content-Encoding", 16))
            fetch->encoded = 1;
        cos__fetch_header(fetch->page, data, len);
        err = add_line(&fetch->page->head, data, len);
    }
    if (err == COS_ETOOBIG)
        fetch->stop_why = "the headers are too long";
    return err ? refuse(fetch, err) : len;
}

/* A known length spares the copies of a growing buffer. A lie about it costs
 * nothing: the ceiling holds, and memory not touched is not used. */
static void expect(struct cos__fetch *fetch)
{
    curl_off_t announced = -1;
    fetch->in_body = 1;
    if (fetch->encoded)
        return;
    curl_easy_getinfo(fetch->easy->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    if (announced > 0 && announced <= (fetch->spill_dir ? fetch->spill_at : fetch->max_body))
        cos_buf_reserve(&fetch->page->body, (size_t)announced);
}

/* The body has outgrown memory: what is there opens the file. */
static int spill(struct cos__fetch *fetch)
{
    struct cos_buf *body = &fetch->page->body;
    int err;
    fetch->spill = cos__spill_new(fetch->spill_dir, cos__fetch_spilled, fetch);
    if (!fetch->spill)
        return COS_ENOMEM;
    err = cos__spill_add(fetch->spill, body->data ? body->data : "", body->len);
    cos_buf_release(body);
    return err;
}

static int keep(struct cos__fetch *fetch, const char *data, size_t len)
{
    struct cos_buf *body = &fetch->page->body;
    int err = 0;
    if (!fetch->spill && fetch->spill_dir && (int64_t)(body->len + len) > fetch->spill_at)
        err = spill(fetch);
    if (err)
        return err;
    return fetch->spill ? cos__spill_add(fetch->spill, data, len) : cos_buf_add(body, data, len);
}

size_t cos__fetch_on_body(char *data, size_t size, size_t n, void *arg)
{
    struct cos__fetch *fetch = ((struct cos__easy *)arg)->fetch;
    struct cos_page *page = fetch->page;
    size_t len = size * n;
    int err;
    fetch->active_at = cos__loop_now(fetch->op.loop);
    if (!fetch->in_body)
        expect(fetch);
    if ((fetch->spill && cos__spill_full(fetch->spill)) ||
        (fetch->wire_spill && cos__spill_full(fetch->wire_spill))) {
        fetch->paused = 1;
        return CURL_WRITEFUNC_PAUSE;
    }
    page->body_len += (int64_t)len;
    if (page->body_len > (fetch->encoded ? fetch->max_inflated : fetch->max_body)) {
        fetch->stop_why = fetch->encoded ? "the body, once decoded" : "the body";
        return refuse(fetch, COS_ETOOBIG);
    }
    err = keep(fetch, data, len);
    return err ? refuse(fetch, err) : len;
}
