/* report.c - what the crawl tells: events, statistics, the closing result. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TICK_MS = 100, SLOW_HOSTS_LOOKED_AT = 1000 };

void cos__say(struct cos__crawl *c, int level, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    if (!c->ev.say)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->ev.say(c->ev.arg, level, text);
}

void cos__now_text(char text[32])
{
    struct timespec t;
    struct tm tm;
    size_t n;
    clock_gettime(CLOCK_REALTIME, &t);
    gmtime_r(&t.tv_sec, &tm);
    n = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, 32 - n, ".%03dZ", (int)(t.tv_nsec / 1000000));
}

static const char *referrer_of(const struct cos__crawl *c, uint32_t id)
{
    uint32_t from = id ? cos_frontier_node(&c->frontier, id)->referrer : 0;
    return from ? cos_frontier_text(&c->frontier, from) : NULL;
}

void cos__tell_page(struct cos__crawl *c, const struct cos_page *page, int skip)
{
    struct cos_crawl_page told = {.page = page, .url = page->url, .skip = skip};
    if (!c->ev.page)
        return;
    told.referrer = referrer_of(c, (uint32_t)page->id);
    told.referrer_id = page->id ? cos_frontier_node(&c->frontier, (uint32_t)page->id)->referrer : 0;
    c->ev.page(c->ev.arg, &told);
}

static int depth_of(const struct cos__crawl *c, uint32_t id)
{
    return id ? cos_frontier_node(&c->frontier, id)->depth & ~COS__UNREACHED : 0;
}

void cos__tell_skip(struct cos__crawl *c, uint32_t id, const char *url, struct cos_crawl_skip told)
{
    if (!c->ev.skip)
        return;
    told.url = url ? url : "";
    told.referrer = referrer_of(c, id);
    told.depth = depth_of(c, id);
    c->ev.skip(c->ev.arg, &told);
}

/* --- failures ------------------------------------------------------------------------- */

/* Kinds are kept in the order of their count. More kinds than there is room for
 * are counted by nobody: what is missing in the sum came for other reasons. */
void cos__count_failure(struct cos__crawl *c, const char *kind, const char *url)
{
    struct cos_crawl_error *k;
    size_t i;
    if (!c->kinds)
        c->kinds = calloc(COS__KINDS, sizeof *c->kinds);
    if (!c->kinds)
        return;
    for (i = 0; i < c->nkinds && strcmp(c->kinds[i].text, kind) != 0; i++)
        ;
    if (i == COS__KINDS)
        return;
    k = &c->kinds[i];
    if (i == c->nkinds) {
        c->nkinds++;
        snprintf(k->text, sizeof k->text, "%s", kind);
        snprintf(k->example, sizeof k->example, "%s", url);
    }
    k->count++;
    for (; i && k->count > k[-1].count; i--, k--) {
        struct cos_crawl_error swap = *k;
        *k = k[-1];
        k[-1] = swap;
    }
}

static void count_error(struct cos__crawl *c, const struct cos_page *page, int err)
{
    char status[16];
    snprintf(status, sizeof status, "%d", page->status);
    cos__count_failure(c, err == COS_EHTTP ? status : cos_strerror(err), page->url);
}

void cos__tell_failure(struct cos__crawl *c, const struct cos_page *page, int err, const char *why,
                       int64_t in_ms)
{
    struct cos_crawl_failure told = {.url = page->url,
                                     .err = err,
                                     .status = page->status,
                                     .why = why && strcmp(why, cos_strerror(err)) ? why : NULL,
                                     .tries = page->tries,
                                     .depth = depth_of(c, (uint32_t)page->id),
                                     .final = in_ms < 0,
                                     .page = page,
                                     .in_ms = in_ms < 0 ? 0 : in_ms};
    if (told.final)
        count_error(c, page, err);
    if (!c->ev.failure)
        return;
    told.referrer = referrer_of(c, (uint32_t)page->id);
    c->ev.failure(c->ev.arg, &told);
}

/* --- statistics ------------------------------------------------------------------------ */

static void fill_host(struct cos__crawl *c, struct cos_crawl_host *to, const struct cos_host *host)
{
    const char *name = strstr(host->origin, "//");
    snprintf(to->name, sizeof to->name, "%s", name ? name + 2 : host->origin);
    to->latency_ms = host->polite.avg_us / 1000;
    to->delay_ms = cos_polite_pause(&host->polite, &c->frontier.polite);
    to->queued = host->queued;
    to->in_flight = host->polite.flight;
}

/* Those that hold the crawl up: work left times the time it takes. */
static double burden(struct cos__crawl *c, const struct cos_host *host)
{
    double each = (double)cos_polite_pause(&host->polite, &c->frontier.polite) * 1000 +
                  (double)host->polite.avg_us / (host->polite.cap ? host->polite.cap : 1);
    return each * (host->queued + (double)host->polite.flight);
}

static void slowest(struct cos__crawl *c)
{
    const struct cos_host *top[COS_SLOW_HOSTS] = {NULL};
    struct cos_crawl_stats *s = &c->stats;
    for (uint32_t i = 0; i < c->frontier.nhosts && i < SLOW_HOSTS_LOOKED_AT; i++) {
        const struct cos_host *host = c->frontier.hosts[i];
        if (burden(c, host) <= 0)
            continue;
        for (int k = 0; k < COS_SLOW_HOSTS; k++)
            if (!top[k] || burden(c, host) > burden(c, top[k])) {
                const struct cos_host *out = top[k];
                top[k] = host;
                host = out;
                if (!host)
                    break;
            }
    }
    for (s->nslow = 0; s->nslow < COS_SLOW_HOSTS && top[s->nslow]; s->nslow++)
        fill_host(c, &s->slow[s->nslow], top[s->nslow]);
}

void cos__fill_stats(struct cos__crawl *c)
{
    struct cos_crawl_stats *s = &c->stats;
    const struct cos_frontier *f = &c->frontier;
    if (!f->slots)
        return;
    s->elapsed_ms = c->now - c->started;
    /* At the end, what was in flight and given up is queued still. */
    s->queued = f->queued + c->put_off + (c->queue ? 0 : f->flight);
    s->known = f->count;
    s->hosts = f->nhosts;
    s->memory = (int64_t)(f->bytes + (c->contents_mask + 1) * sizeof *c->contents);
    slowest(c);
    c->result->stats = *s;
}

void cos__tick(struct cos__crawl *c)
{
    c->next_tick = c->now + (c->ev.tick_ms > 0 ? c->ev.tick_ms : TICK_MS);
    if (!c->ev.tick)
        return;
    cos__fill_stats(c);
    if (c->ev.tick(c->ev.arg, &c->stats) == COS_CRAWL_DRAIN && c->stop == COS__RUNNING) {
        c->stop = COS_STOP_INTERRUPTED;
        c->drain_by = c->now + 10000;
    }
}

/* --- content ----------------------------------------------------------------------------- */

static int grow_contents(struct cos__crawl *c)
{
    uint32_t room = c->contents ? (c->contents_mask + 1) * 2 : 1024;
    uint64_t *more;
    if (c->contents && c->contents_used < room / 2 / 4 * 3)
        return 0;
    more = calloc(room, sizeof *more);
    if (!more)
        return COS_ENOMEM;
    for (uint32_t i = 0; c->contents && i <= c->contents_mask; i++)
        if (c->contents[i]) {
            uint32_t at = (uint32_t)c->contents[i] & (room - 1);
            while (more[at])
                at = (at + 1) & (room - 1);
            more[at] = c->contents[i];
        }
    free(c->contents);
    c->contents = more;
    c->contents_mask = room - 1;
    return 0;
}

void cos__count_content(struct cos__crawl *c, const uint64_t hash[2])
{
    uint64_t key = hash[0] ^ hash[1];
    uint32_t at;
    if (!key || grow_contents(c))
        return;
    at = (uint32_t)key & c->contents_mask;
    while (c->contents[at] && c->contents[at] != key)
        at = (at + 1) & c->contents_mask;
    if (c->contents[at]) {
        c->stats.duplicates++;
    } else {
        c->contents[at] = key;
        c->contents_used++;
    }
}

/* --- the end ------------------------------------------------------------------------------- */

void cos__judge_exit(struct cos__crawl *c)
{
    static const int codes[] = {[COS_STOP_INTERRUPTED] = 11, [COS_STOP_FAILURES] = 12,
                                [COS_STOP_PAGES] = 14,       [COS_STOP_QUOTA] = 14,
                                [COS_STOP_TIME] = 15,        [COS_STOP_ERROR] = 0};
    struct cos_crawl_result *r = c->result;
    r->stop = c->stop;
    r->exit_code = codes[c->stop];
    if (c->stop == COS_STOP_ERROR)
        r->exit_code = cos_err_exit(r->err);
    else if (!r->exit_code)
        r->exit_code = c->worst;
}

void cos__conclude(struct cos__crawl *c)
{
    struct cos_crawl_result *r = c->result;
    cos__judge_exit(c);
    r->nerrors = c->nkinds < COS_TOP_ERRORS ? c->nkinds : COS_TOP_ERRORS;
    if (r->nerrors)
        memcpy(r->errors, c->kinds, r->nerrors * sizeof *r->errors);
    free(c->kinds);
    c->kinds = NULL;
    r->resumable = c->limit.save && c->stop != COS_STOP_ALREADY && r->stats.queued > 0;
}
