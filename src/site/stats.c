/* stats.c - what was asked for, and when: the server's side of every claim about
 * politeness, duplicates and concurrency. May call base.
 * A connection counts from its first counted request, so that reading /.stats
 * does not show up in what it reads. */
#include "site/site.h"

#include "base/err.h"
#include "base/json.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>

#include <stdlib.h>
#include <string.h>

enum { STARTS_MAX = 4096 };
static const size_t URLS_BYTES = (size_t)1 << 30;

struct start {
    uint32_t ms;  /* since the server started */
    uint32_t seq; /* the how-manieth request of all */
};

/* The payload of a URL. Most are asked for once: that start needs no memory of
 * its own. */
struct url {
    uint32_t requests;
    uint32_t kept; /* starts, the first one too */
    uint32_t room;
    struct start first;
    struct start *more;
};

int cos__site_stats_init(struct cos__site_stats *stats)
{
    *stats = (struct cos__site_stats){.since = dill_now()};
    cos_set_init(&stats->urls, sizeof(struct url), URLS_BYTES);
    return 0;
}

static void forget_urls(struct cos__site_stats *stats)
{
    uint64_t pos = 0;
    struct url *url;
    while (cos_set_next(&stats->urls, &pos, NULL, NULL, (void **)&url))
        free(url->more);
    cos_set_release(&stats->urls);
}

void cos__site_stats_release(struct cos__site_stats *stats)
{
    forget_urls(stats);
}

void cos__site_stats_reset(struct cos__site_stats *stats)
{
    forget_urls(stats);
    stats->requests = stats->connections = stats->dropped = 0;
    stats->peak = stats->in_flight;
}

static void add_start(struct url *url, struct start start)
{
    struct start *more;
    url->requests++;
    if (url->kept == 0) {
        url->first = start;
        url->kept = 1;
        return;
    }
    if (url->kept >= STARTS_MAX)
        return;
    if (url->kept > url->room) {
        uint32_t room = url->room ? url->room * 2 : 4;
        more = realloc(url->more, room * sizeof *more);
        if (!more)
            return;
        url->more = more;
        url->room = room;
    }
    url->more[url->kept++ - 1] = start;
}

void cos__site_stats_begin(struct cos__site_stats *stats, struct cos_http_conn *conn,
                           const char *target)
{
    struct start start = {.ms = (uint32_t)(dill_now() - stats->since)};
    struct url *url;
    stats->requests++;
    start.seq = (uint32_t)stats->requests;
    if (!conn->mark)
        stats->connections++;
    conn->mark = 1;
    if (++stats->in_flight > stats->peak)
        stats->peak = stats->in_flight;
    if (cos_set_add(&stats->urls, target, strlen(target), (void **)&url) < 0)
        stats->dropped++;
    else
        add_start(url, start);
}

void cos__site_stats_end(struct cos__site_stats *stats)
{
    stats->in_flight--;
}

static void write_starts(struct cos_json *json, const struct url *url, int seq)
{
    cos_json_key(json, seq ? "seq" : "start_ms");
    cos_json_array(json);
    for (uint32_t i = 0; i < url->kept; i++) {
        const struct start *start = i ? &url->more[i - 1] : &url->first;
        cos_json_int(json, seq ? start->seq : start->ms);
    }
    cos_json_end(json);
}

static void write_number(struct cos_json *json, const char *key, int64_t n)
{
    cos_json_key(json, key);
    cos_json_int(json, n);
}

int cos__site_stats_json(const struct cos__site *site, struct cos_buf *out)
{
    const struct cos__site_stats *stats = &site->stats;
    struct cos_json json;
    struct url *url;
    uint64_t pos = 0;
    const char *key;
    size_t len;
    cos_json_init(&json, out);
    cos_json_object(&json);
    write_number(&json, "requests", stats->requests);
    write_number(&json, "in_flight", stats->in_flight);
    write_number(&json, "peak", stats->peak);
    write_number(&json, "connections", stats->connections);
    write_number(&json, "open_connections", site->server.open);
    write_number(&json, "refused", site->server.refused);
    write_number(&json, "urls_not_kept", stats->dropped);
    cos_json_key(&json, "urls");
    cos_json_object(&json);
    while (cos_set_next(&stats->urls, &pos, &key, &len, (void **)&url)) {
        cos_json_keyn(&json, key, len);
        cos_json_object(&json);
        write_number(&json, "requests", url->requests);
        write_starts(&json, url, 0);
        write_starts(&json, url, 1);
        cos_json_end(&json);
    }
    cos_json_end(&json);
    cos_json_end(&json);
    return cos_json_done(&json);
}
