/* retry.c - another try, or none: errors of the moment, Retry-After, and hosts
 * that do not answer any more. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "store/warc_index.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    SILENT_MS = 5000, /* a host that was there must be gone this long to be down */
    AGAIN_MS = 2000,  /* between further tries until then */
    PROBE_MS = 1000,  /* between requests to a host that does not answer */
};

/* Errors of the moment. A name that does not exist, a certificate that is not
 * trusted or an encoding that is broken will be so in a second, too. */
int cos__passing(int err)
{
    switch (err) {
    case COS_ETIMEDOUT:
    case COS_EMFILE:
    case COS_ESERVFAIL:
    case COS_ENONS:
    case COS_ECONNREFUSED:
    case COS_ECONNRESET:
    case COS_EUNREACH:
    case COS_ESLOW:
    case COS_ETRUNCATED:
    case COS_EEMPTYREPLY:
    case COS_ESEND:
    case COS_EPROXY:
    case COS_EPROTO:
        return 1;
    default:
        return 0;
    }
}

/* No answer came at all: maybe the whole host is gone. */
int cos__silent(const struct cos_page *page)
{
    return page->err && !page->status && cos__passing(page->err);
}

static void again(struct cos__crawl *c, struct cos__visit *visit, int err, int64_t wait)
{
    c->stats.retries++;
    c->taken--;
    cos__tell_failure(c, visit->page, err, wait);
    if (cos_frontier_retry(&c->frontier, visit->id, c->now + wait))
        cos__abort(c, COS_ENOMEM, "out of memory");
}

int64_t cos__retry_after(const struct cos_page *page)
{
    struct cos_buf value;
    int64_t ms = -1;
    if (page->status != 429 && page->status != 503)
        return -1;
    cos_buf_init(&value, 256);
    if (cos_page_header(page, "Retry-After", &value) == 0)
        ms = cos_polite_retry_after(value.data, (int64_t)time(NULL));
    cos_buf_release(&value);
    return ms;
}

static void drop_queued(void *arg, uint32_t id)
{
    struct cos__crawl *c = arg;
    cos__put_off(c, id, "the host does not answer");
}

/* The host answered earlier and has not for a while: what is left of it stays
 * queued for another run. */
static void host_down(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_host *host = c->frontier.hosts[visit->host];
    int64_t left = c->put_off;
    host->down = 1;
    cos_frontier_drop_queue(&c->frontier, host, drop_queued, c);
    cos__say(c, COS_SAY_ERROR,
             "%s does not answer any more (%s): %lld URLs are left for another run", host->origin,
             cos_strerror(visit->page->err), (long long)(c->put_off - left + 1));
}

/* Its tries are used up without an answer. */
static void gone(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_host *host = c->frontier.hosts[visit->host];
    struct cos_page *page = visit->page;
    /* A few pages that hang do not make a host that is down. */
    int many = host->queued + host->retrying > (uint32_t)c->frontier.polite.cap;
    if (!host->down && host->polite.answered && host->silent_since && many) {
        if (c->now - host->silent_since < SILENT_MS) {
            again(c, visit, page->err, AGAIN_MS);
            return;
        }
        host_down(c, visit);
    }
    if (!host->down) {
        cos__failed(c, visit, page->err, page->why);
        return;
    }
    cos__remember_error(c, cos_err_exit(page->err));
    cos__put_off(c, visit->id, cos_strerror(page->err));
}

/* err: the network's, or COS_EHTTP for a status worth another try. */
void cos__try_again(struct cos__crawl *c, struct cos__visit *visit, int err)
{
    struct cos_page *page = visit->page;
    int64_t asked = cos__retry_after(page), wait;
    char text[100];
    if (asked > COS__RETRY_AFTER_MAX) {
        snprintf(text, sizeof text, "%d, the server asks to wait %lld s", page->status,
                 (long long)asked / 1000);
        cos__remember_error(c, cos_err_exit(COS_EHTTP));
        cos__say(c, COS_SAY_WARN, "%s: %s; left for another run", page->url, text);
        cos__put_off(c, visit->id, text);
        return;
    }
    /* Out of an archive, as often as then: time decides, too (gone). */
    if (c->limit.tries >= 0 && page->tries >= c->limit.tries &&
        !(c->replay && cos_warc_index_more(c->replay, page->url, strlen(page->url)))) {
        if (cos__silent(page))
            gone(c, visit);
        else
            cos__failed(c, visit, err, page->why);
        return;
    }
    wait = cos_polite_backoff(&c->frontier.polite, page->tries, c->frontier.dice);
    again(c, visit, err, c->replay ? 0 : asked > wait ? asked : wait);
}

/* A host that does not answer at all is probed, one request at a time, instead
 * of sending it all URLs three times in vain. */
void cos__heard(struct cos__crawl *c, struct cos_host *host, int status)
{
    if (status) {
        if (host->silences > (uint32_t)c->frontier.polite.cap)
            host->polite.taught = 0;
        host->silent_since = 0;
        host->silences = 0;
        return;
    }
    if (!host->silent_since)
        host->silent_since = c->now;
    if (++host->silences > (uint32_t)c->frontier.polite.cap && host->polite.taught < PROBE_MS)
        host->polite.taught = PROBE_MS;
}
