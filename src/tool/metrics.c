/* metrics.c - the text is made when it is asked for, or once a second for a file
 * (metrics.h). The server is that of src/site, a coroutine of the loop. A file is
 * written on a thread (cos_file_write's operation), replaced in one step, and a
 * second one is not begun before the first is there. */
#define DILL_DISABLE_RAW_NAMES
#include "tool/metrics.h"

#include "base/err.h"
#include "base/file_op.h"
#include "base/file_sync.h"
#include "site/http.h"

#include <libdill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, EVERY_MS = 1000, LAST_MS = 5000 };

struct tool_metrics {
    const struct phases *phases;
    struct cos_crawl_stats stats;
    int64_t lag_us;
    char *file;
    int64_t next;          /* when the file is due */
    struct cos_op *writing;
    struct cos_http_server server;
    int bundle;            /* of the server, -1: none */
    char address[64];
};

/* --- the text ---------------------------------------------------------------------- */

static void one(struct cos_buf *out, const char *name, const char *type, const char *help,
                int64_t value)
{
    cos_buf_addf(out, "# HELP coscrawl_%s %s\n# TYPE coscrawl_%s %s\ncoscrawl_%s %lld\n", name,
                 help, name, type, name, (long long)value);
}

/* Only what a host name and a port may have. */
static void label(struct cos_buf *out, const char *s)
{
    for (; *s; s++)
        cos_buf_addf(out, "%c", *s == '"' || *s == '\\' || *s < ' ' ? '?' : *s);
}

static void summary(struct cos_buf *out, const char *host, enum phase phase,
                    const struct histogram *h)
{
    static const char *const shares[] = {"0.5", "0.95", "0.99"};
    for (int i = 0; i < 5; i++) {
        cos_buf_addf(out, "coscrawl_%sphase_seconds%s{phase=\"%s\"", host ? "host_" : "",
                     i == 3 ? "_sum" : i == 4 ? "_count" : "", phase_text(phase));
        if (host) {
            cos_buf_adds(out, ",host=\"");
            label(out, host);
            cos_buf_adds(out, "\"");
        }
        if (i < 3)
            cos_buf_addf(out, ",quantile=\"%s\"} %.6f\n", shares[i],
                         (double)histogram_at(h, strtod(shares[i], NULL)) / 1e6);
        else if (i == 3)
            cos_buf_addf(out, "} %.6f\n", (double)h->sum_us / 1e6);
        else
            cos_buf_addf(out, "} %llu\n", (unsigned long long)h->n);
    }
}

static void summaries(struct cos_buf *out, const struct phases *phases)
{
    cos_buf_adds(out, "# HELP coscrawl_phase_seconds Time of a page by phase.\n"
                      "# TYPE coscrawl_phase_seconds summary\n");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (phases->of[i].n)
            summary(out, NULL, i, &phases->of[i]);
    cos_buf_adds(out, "# HELP coscrawl_host_phase_seconds The same by host.\n"
                      "# TYPE coscrawl_host_phase_seconds summary\n");
    for (int k = 0; k < phases->nhosts && k < 32; k++)
        for (int i = 0; i < PHASE_COUNT; i++)
            if (phases->host[k]->of[i])
                summary(out, phases->host[k]->name, i, phases->host[k]->of[i]);
}

int metrics_text(struct cos_buf *out, const struct cos_crawl_stats *st,
                 const struct phases *phases, int64_t lag_us)
{
    one(out, "pages_done_total", "counter", "Pages fetched and kept.", st->done);
    one(out, "pages_failed_total", "counter", "Pages failed for good.", st->failed);
    one(out, "pages_skipped_total", "counter", "URLs left out.", st->skipped);
    one(out, "requests_total", "counter", "Requests, retries included.", st->requests);
    one(out, "retries_total", "counter", "Requests that were tried again.", st->retries);
    one(out, "redirects_total", "counter", "Redirects.", st->redirects);
    one(out, "body_bytes_total", "counter", "Decoded bytes of pages.", st->bytes);
    one(out, "wire_bytes_total", "counter", "Bytes received.", st->wire_bytes);
    one(out, "in_flight", "gauge", "Requests under way.", st->in_flight);
    one(out, "queued", "gauge", "URLs that wait.", st->queued);
    one(out, "known", "gauge", "URLs known.", st->known);
    one(out, "hosts", "gauge", "Hosts met.", st->hosts);
    one(out, "memory_bytes", "gauge", "Memory of the frontier.", st->memory);
    one(out, "elapsed_milliseconds", "gauge", "Time since the start.", st->elapsed_ms);
    one(out, "loop_lag_microseconds", "gauge", "How late the loop was.", lag_us);
    summaries(out, phases);
    return out->len ? 0 : COS_ENOMEM;
}

/* --- the server -------------------------------------------------------------------- */

static int handle(struct cos_http_conn *conn, const struct cos_http_req *req, void *arg)
{
    struct tool_metrics *m = arg;
    struct cos_http_reply reply = {.type = "text/plain; version=0.0.4; charset=utf-8"};
    struct cos_buf text;
    int err;
    if (!cos_http_is(req, "/metrics") && !cos_http_is(req, "/"))
        return cos_http_reply(conn, req, &(struct cos_http_reply){.status = 404});
    cos_buf_init(&text, TEXT_MAX);
    metrics_text(&text, &m->stats, m->phases, m->lag_us);
    reply.body = text.data;
    reply.len = text.len;
    err = cos_http_reply(conn, req, &reply);
    cos_buf_release(&text);
    return err;
}

/* "ADDRESS:PORT" or ":PORT"; 0 when it is neither, and then a file. */
static int split(const char *where, char *address, size_t max, int *port)
{
    const char *colon = strrchr(where, ':');
    size_t len = colon ? (size_t)(colon - where) : 0;
    if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        strlen(colon + 1) > 5 || len >= max || strchr(where, '/'))
        return 0;
    *port = atoi(colon + 1);
    memcpy(address, len ? where : "127.0.0.1", len ? len : 10);
    address[len ? len : 9] = 0;
    return 1;
}

static int serve(struct tool_metrics *m, const char *address, int port)
{
    int err;
    m->server.handle = handle;
    m->server.arg = m;
    m->server.max_connections = 16;
    err = cos_http_listen(&m->server, address, port);
    if (err)
        return err;
    snprintf(m->address, sizeof m->address, "%.40s:%d", address, m->server.port);
    m->bundle = dill_bundle();
    if (m->bundle < 0 || dill_bundle_go(m->bundle, cos_http_serve(&m->server)))
        return COS_ENOMEM;
    return 0;
}

/* --- the file ---------------------------------------------------------------------- */

static void written(struct cos_op *op)
{
    struct tool_metrics *m = op->face;
    if (m)
        m->writing = NULL;
    cos__op_free(op);
}

static void write_file(struct tool_metrics *m)
{
    struct cos_buf text;
    struct cos_op *op;
    cos_buf_init(&text, TEXT_MAX);
    metrics_text(&text, &m->stats, m->phases, m->lag_us);
    op = cos__file_write_op(m->file, text.data, text.len, 0);
    cos_buf_release(&text);
    if (!op)
        return;
    op->done = written;
    op->face = m;
    m->writing = op;
    cos__op_start(op);
}

/* --- life -------------------------------------------------------------------------- */

struct tool_metrics *metrics_open(const char *where, const struct phases *phases,
                                  struct cos_buf *why)
{
    struct tool_metrics *m = calloc(1, sizeof *m);
    char address[48];
    int port = 0, err = m ? 0 : COS_ENOMEM;
    if (m) {
        m->phases = phases;
        m->bundle = -1;
        if (split(where, address, sizeof address, &port))
            err = port > 65535 ? COS_EINVAL : serve(m, address, port);
        else
            err = (m->file = strdup(where)) ? cos__file_write_sync(where, "", 0, 0) : COS_ENOMEM;
    }
    if (err) {
        cos_buf_addf(why, "%s: %s", where, cos_strerror(err));
        metrics_close(m, NULL);
        return NULL;
    }
    return m;
}

void metrics_tick(struct tool_metrics *m, const struct cos_crawl_stats *stats, int64_t lag_us)
{
    m->stats = *stats;
    m->lag_us = lag_us;
    if (!m->file || m->writing || stats->elapsed_ms < m->next)
        return;
    m->next = stats->elapsed_ms + EVERY_MS;
    write_file(m);
}

const char *metrics_address(const struct tool_metrics *m)
{
    return m->address[0] ? m->address : NULL;
}

int metrics_close(struct tool_metrics *m, const struct cos_crawl_stats *stats)
{
    struct cos_buf text;
    int err = 0;
    if (!m)
        return 0;
    for (int64_t end = dill_now() + LAST_MS; m->writing && dill_now() < end;)
        if (dill_msleep(dill_now() + 1))
            break;
    if (m->writing)
        m->writing->face = NULL;
    if (m->file && stats) {
        cos_buf_init(&text, TEXT_MAX);
        metrics_text(&text, stats, m->phases, m->lag_us);
        err = cos__file_write_sync(m->file, text.data, text.len, 0);
        cos_buf_release(&text);
    }
    if (m->bundle >= 0)
        dill_hclose(m->bundle);
    if (m->server.port)
        cos_http_release(&m->server);
    free(m->file);
    free(m);
    return err;
}
