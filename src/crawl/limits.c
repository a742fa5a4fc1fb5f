/* limits.c - options with their defaults filled in, and the request that all
 * fetches of a crawl share. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVEL = 5,
    CONCURRENCY = 64,
    HOST_CONCURRENCY = 6,
    TRIES = 3,
    REDIRECTS = 20,
    REDIRECTS_MAX = 120, /* a node counts them in seven bits */
    DELAY_MAX = 30000,
    WAITRETRY = 10000,
    TIMEOUT = 20000,
    CONNECT = 10000,
    DRIP = 64, /* bytes a second below which a transfer counts as stalled */
    NETRC_MAX = 1 << 20,
    REPLAY_CAP = 1 << 20,
    RATE_SHARES = 4, /* transfers at once that share --limit-rate */
};

static int64_t value(int64_t given, int64_t fallback)
{
    return given == 0 ? fallback : given == COS_OPT_ZERO ? 0 : given == COS_OPT_INF ? -1 : given;
}

/* "429,5xx": codes and classes. */
static void set_retry(unsigned char *retry, const char *list)
{
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
        int from = p[0] >= '1' && p[0] <= '9' ? (p[0] - '0') * 100 : 0, to = from + 99;
        if (p[0] && p[1] >= '0' && p[1] <= '9' && p[2] >= '0' && p[2] <= '9')
            from = to = from + (p[1] - '0') * 10 + p[2] - '0';
        for (int i = from; from && i <= to; i++)
            retry[i] = 1;
    }
}

void cos__limits_init(struct cos__crawl *c)
{
    const struct cos_crawl_options *o = c->opt;
    struct cos__limits *l = &c->limit;
    l->level = (int)value(o->level, LEVEL);
    l->max_redirect = (int)value(o->max_redirect, REDIRECTS);
    if (l->max_redirect > REDIRECTS_MAX || l->max_redirect < 0)
        l->max_redirect = REDIRECTS_MAX;
    l->tries = (int)value(o->tries, TRIES);
    if (l->tries == 0)
        l->tries = 1;
    l->concurrency = o->concurrency > 0 ? o->concurrency : CONCURRENCY;
    l->limit_rate = o->limit_rate > 0 ? o->limit_rate : 0;
    if (l->limit_rate && l->concurrency > RATE_SHARES)
        l->concurrency = RATE_SHARES;
    l->robots = o->robots != COS_SWITCH_OFF;
    l->save = o->mode == COS_MODE_SAVE;
    l->max_pages = o->max_pages > 0 ? o->max_pages : 0;
    l->quota = o->quota > 0 ? o->quota : 0;
    l->max_time = o->max_time > 0 ? o->max_time : 0;
    l->max_size = o->max_size > 0 ? o->max_size : 0;
    l->max_failures = o->max_failures > 0 ? o->max_failures : 0;
    l->start_every = o->rate > 0 ? 1000.0 / o->rate : 0;
    l->agent = o->user_agent ? o->user_agent : "coscrawl/" VERSION;
    set_retry(l->retry, o->retry_on ? o->retry_on : "429,5xx");
    if (o->from_warc.n) {
        l->concurrency = 1;
        l->limit_rate = 0;
        l->start_every = 0;
    }
}

struct cos_polite_rules cos__polite_rules(const struct cos_crawl_options *o)
{
    /* An archive need not be spared. */
    if (o->from_warc.n)
        return (struct cos_polite_rules){.cap = REPLAY_CAP};
    return (struct cos_polite_rules){
        .wait = o->wait > 0 ? o->wait : 0,
        .random_wait = o->random_wait,
        .cap = o->host_concurrency > 0 ? o->host_concurrency : HOST_CONCURRENCY,
        .adaptive = o->adaptive != COS_SWITCH_OFF,
        .delay_max = value(o->crawl_delay_max, DELAY_MAX),
        .retry_max = value(o->waitretry, WAITRETRY),
    };
}

/* --- the request -------------------------------------------------------------------- */

static const char **terminated(const struct cos_strings *list)
{
    const char **copy = list->n ? calloc(list->n + 1, sizeof *copy) : NULL;
    for (size_t i = 0; copy && i < list->n; i++)
        copy[i] = list->v[i];
    return copy;
}

static int read_netrc(struct cos__crawl *c)
{
    const char *home = getenv("HOME");
    char path[4096];
    struct cos_buf text;
    int err;
    snprintf(path, sizeof path, "%s/.netrc", home ? home : "");
    cos_buf_init(&text, NETRC_MAX);
    err = cos_file_read(path, &text, -1);
    c->netrc = cos_buf_take(&text, NULL);
    c->request.netrc = c->netrc;
    if (err)
        cos__abort(c, err, "%s: %s", path, cos_strerror(err));
    return err;
}

static int set_names(const struct cos_crawl_options *o)
{
    struct cos_buf servers;
    struct cos_names_setup setup = {0};
    int err = 0;
    if (!o->dns_servers.n)
        return 0;
    cos_buf_init(&servers, 65536);
    for (size_t i = 0; i < o->dns_servers.n && !err; i++)
        err = cos_buf_addf(&servers, "%s%s", i ? "," : "", o->dns_servers.v[i]);
    setup.dns_server = servers.data;
    if (!err)
        err = cos_names_setup(&setup);
    cos_buf_release(&servers);
    return err;
}

static int split_user(struct cos__crawl *c)
{
    const char *user = c->opt->user, *colon = user ? strchr(user, ':') : NULL;
    if (!user)
        return 0;
    c->user = colon ? strndup(user, (size_t)(colon - user)) : strdup(user);
    c->password = strdup(colon ? colon + 1 : "");
    return c->user && c->password ? 0 : COS_ENOMEM;
}

/* A page that is not large may go beyond the quota, or a quota smaller than the
 * first page would let nothing come, ever. */
int64_t cos__quota_ceiling(struct cos__crawl *c, struct cos_request *request)
{
    int64_t left = c->limit.quota - c->received;
    if (!c->limit.quota)
        return 0;
    if (left < COS__SPILL_AT)
        left = COS__SPILL_AT;
    if (request->max_body > 0 && request->max_body <= left)
        return 0;
    return request->max_body = left;
}

int cos__request_init(struct cos__crawl *c)
{
    const struct cos_crawl_options *o = c->opt;
    struct cos_request *r = &c->request;
    int64_t idle = value(o->timeout, TIMEOUT), connect = value(o->connect_timeout, CONNECT);
    int err;
    *r = (struct cos_request){
        .agent = o->user_agent,
        /* What every reader of archives can take off, unless asked otherwise. */
        .encodings = o->compression || !o->warc_file ? o->compression : "gzip, deflate",
        .keep_wire = o->warc_file != NULL,
        .proxy = o->proxy,
        .ca_file = o->cacert,
        .insecure = o->insecure,
        .ip = o->ip_family,
        .http = o->http2 == COS_SWITCH_OFF,
        .connect_ms = connect,
        .idle_ms = idle,
        .min_speed = idle > 0 ? DRIP : 0,
        .min_speed_s = idle > 0 ? (idle + 999) / 1000 : 0,
        .max_body = o->max_size > 0 ? o->max_size : 0,
        .headers = terminated(&o->headers),
        .resolve = terminated(&o->resolve),
    };
    if ((o->headers.n && !r->headers) || (o->resolve.n && !r->resolve))
        return COS_ENOMEM;
    if (c->limit.limit_rate)
        r->max_speed = c->limit.limit_rate / c->limit.concurrency + 1;
    err = split_user(c);
    if (!err && o->netrc)
        err = read_netrc(c);
    return err ? err : set_names(o);
}

void cos__request_release(struct cos__crawl *c)
{
    free((void *)c->request.headers);
    free((void *)c->request.resolve);
    free(c->user);
    free(c->password);
    free(c->netrc);
}

/* Credentials, and headers that carry some, go to the hosts of the seeds and
 * nowhere else. */
struct cos_request cos__request_for(struct cos__crawl *c, const char *url)
{
    struct cos_request r = c->request;
    const struct cos_host *host;
    if (c->save) {
        r.spill_dir = cos_save_tmp(c->save);
        r.spill_at = COS__SPILL_AT;
    }
    if (!c->user && !r.headers && !c->logins)
        return r;
    host = cos_frontier_origin(&c->frontier, url, strlen(url), NULL);
    if (host && host->user) {
        r.user = host->user;
        r.password = host->password;
    } else if (host && host->seeded) {
        r.user = c->user;
        r.password = c->password;
    } else if (c->opt->nurls) {
        r.origin = c->opt->urls[0];
    }
    return r;
}
