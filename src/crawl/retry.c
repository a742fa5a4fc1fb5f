/* retry.c - another try, or none: errors of the moment, and Retry-After. Whether
 * it is the page or the whole host that does not answer is found by probe.c. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "store/warc_index.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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
    cos__tell_failure(c, visit->page, err, visit->page->why, wait);
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
        cos__put_off(c, visit->id, COS_SKIP_PUTOFF, text, page->status);
        return;
    }
    /* Out of an archive, as often as then: time decides, too (gone). */
    if (c->limit.tries >= 0 && page->tries >= c->limit.tries &&
        !(c->replay && cos_warc_index_more(c->replay, page->url, strlen(page->url)))) {
        if (cos__silent(page))
            cos__unanswered(c, visit);
        else
            cos__failed(c, visit, err, page->why);
        return;
    }
    wait = cos_polite_backoff(&c->frontier.polite, page->tries, c->frontier.dice);
    again(c, visit, err, c->replay ? 0 : asked > wait ? asked : wait);
}
