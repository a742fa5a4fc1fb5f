/* fetch_wire.c - the bytes of an exchange as they went over the wire, for
 * archives: kept beside the page when the request asks for it. curl shows them
 * before it takes chunks or compression off. Runs inside curl, so it only
 * records; a failure is told when the transfer ends.
 *
 * The last request and the last answer count: what came before them (100, 103, a
 * connection that had died, a 401 that curl answered itself) is forgotten, and
 * the talk with a proxy is none of the server's. */
#include "web/fetch_int.h"

#include "base/err.h"

#include <string.h>
#include <strings.h>

enum { AT_START, AT_SENDING, AT_HEAD, AT_BODY, AT_PROXY };

static void failed(struct cos__fetch *fetch, int err)
{
    if (err && !fetch->stop_err)
        fetch->stop_err = err;
}

static void forget_body(struct cos__fetch *fetch)
{
    cos__spill_free(fetch->wire_spill);
    fetch->wire_spill = NULL;
}

static int is_whole(const struct cos_buf *head)
{
    return head->len >= 4 && !memcmp(head->data + head->len - 4, "\r\n\r\n", 4);
}

static void sent(struct cos__fetch *fetch, const char *data, size_t len)
{
    struct cos_wire *wire = fetch->page->wire;
    if (fetch->wire_at != AT_SENDING || is_whole(&wire->request)) {
        forget_body(fetch);
        cos_wire_clear(wire, 1);
        fetch->wire_at = len > 8 && !memcmp(data, "CONNECT ", 8) ? AT_PROXY : AT_SENDING;
    }
    failed(fetch, cos_buf_add(&wire->request, data, len));
}

/* A trailer after the body is among the body's bytes already, or, with HTTP/2,
 * has no place in an archive. */
static void head_line(struct cos__fetch *fetch, const char *data, size_t len)
{
    struct cos_wire *wire = fetch->page->wire;
    if (fetch->wire_at == AT_PROXY)
        return;
    if (len > 5 && !memcmp(data, "HTTP/", 5)) {
        forget_body(fetch);
        cos_wire_clear(wire, 0);
        fetch->wire_at = AT_HEAD;
    }
    if (fetch->wire_at != AT_HEAD)
        return;
    failed(fetch, cos_buf_add(&wire->head, data, len));
    if (len <= 2)
        fetch->wire_at = AT_BODY;
}

static int spill(struct cos__fetch *fetch)
{
    struct cos_buf *body = &fetch->page->wire->body;
    int err;
    fetch->wire_spill = cos__spill_new(fetch->spill_dir, cos__fetch_spilled, fetch);
    if (!fetch->wire_spill)
        return COS_ENOMEM;
    err = cos__spill_add(fetch->wire_spill, body->data ? body->data : "", body->len);
    cos_buf_release(body);
    return err;
}

static void body_bytes(struct cos__fetch *fetch, const char *data, size_t len)
{
    struct cos_wire *wire = fetch->page->wire;
    int err = 0;
    if (fetch->wire_at != AT_BODY || wire->cut)
        return;
    if (!fetch->wire_spill && fetch->spill_dir &&
        (int64_t)(wire->body.len + len) > fetch->spill_at)
        err = spill(fetch);
    if (!err)
        err = fetch->wire_spill ? cos__spill_add(fetch->wire_spill, data, len)
                                : cos_buf_add(&wire->body, data, len);
    if (err == COS_ETOOBIG && !fetch->wire_spill)
        wire->cut = 1;
    else
        failed(fetch, err);
}

static int has_chunks(const struct cos_buf *head)
{
    static const char name[] = "Transfer-Encoding:";
    const char *at = head->data, *end = at + head->len;
    while (at && at + sizeof name < end) {
        if (!strncasecmp(at, name, sizeof name - 1))
            return 1;
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return 0;
}

void cos__fetch_wire_end(struct cos__fetch *fetch, int64_t len)
{
    struct cos_wire *wire = fetch->page->wire;
    if ((int64_t)wire->body.len > len && !fetch->stop_err && !has_chunks(&wire->head))
        wire->body.len = (size_t)len;
}

void cos__fetch_on_wire(struct cos__easy *easy, enum cos__wire_kind kind, const char *data,
                        size_t len)
{
    struct cos__fetch *fetch = easy->fetch;
    if (!fetch || !fetch->page->wire)
        return;
    if (kind == COS__WIRE_SENT)
        sent(fetch, data, len);
    else if (kind == COS__WIRE_HEAD)
        head_line(fetch, data, len);
    else
        body_bytes(fetch, data, len);
}
