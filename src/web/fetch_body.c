/* fetch_body.c - what curl hands over while a transfer runs: header lines and
 * decoded body bytes, both under their ceilings. Runs inside curl, so it only
 * records: a refusal sets stop_err and makes curl end the transfer. */
#include "web/fetch_int.h"

#include "base/err.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

static size_t refuse(struct cos__fetch *fetch, int err)
{
    fetch->stop_err = err;
    return 0;
}

size_t cos__fetch_on_header(char *data, size_t size, size_t n, void *arg)
{
    struct cos__fetch *fetch = ((struct cos__easy *)arg)->fetch;
    size_t len = size * n;
    int err;
    fetch->active_at = cos__loop_now(fetch->op.loop);
    /* Another answer begins (100, 401 before the real one): the last one counts. */
    if (len > 5 && !memcmp(data, "HTTP/", 5)) {
        cos_buf_clear(&fetch->page->head);
        fetch->encoded = 0;
        return len;
    }
    if (len <= 2)
        return len;
    if (len > 17 && !strncasecmp(data, "Content-Encoding:", 17))
        fetch->encoded = 1;
    err = cos_buf_add(&fetch->page->head, data, len);
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
    if (announced > 0 && (uint64_t)announced <= fetch->page->body.max)
        cos_buf_reserve(&fetch->page->body, (size_t)announced);
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
    page->body_len += (int64_t)len;
    if (fetch->encoded && page->body_len > fetch->max_inflated)
        return refuse(fetch, COS_ETOOBIG);
    err = cos_buf_add(&page->body, data, len);
    return err ? refuse(fetch, err) : len;
}
