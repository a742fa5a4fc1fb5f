/* arrive.c - what an answer means: the page is done, leads elsewhere, is tried
 * again, or failed. Everything a page causes in the database is put here in one
 * go, so that it commits together. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "web/robots.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RETRY_AFTER_MAX = 120000, /* asked to wait longer than this: left for another run */
    SILENT_MS = 5000,         /* a host that was there must be gone this long to be down */
    AGAIN_MS = 2000,          /* between further tries until then */
    PROBE_MS = 1000,          /* between requests to a host that does not answer */
};

void cos__visit_free(struct cos__visit *visit)
{
    if (!visit)
        return;
    cos_page_free(visit->page);
    cos_robots_free(visit->robots);
    free(visit->hashes);
    free(visit);
}

void cos__abort(struct cos__crawl *c, int err, const char *fmt, ...)
{
    va_list ap;
    if (c->stop == COS_STOP_ERROR)
        return;
    c->stop = COS_STOP_ERROR;
    c->result->err = err;
    va_start(ap, fmt);
    vsnprintf(c->result->message, sizeof c->result->message, fmt, ap);
    va_end(ap);
}

/* 11 and above are decided by how the crawl stops; of the others the lowest
 * wins, except 1. */
void cos__remember_error(struct cos__crawl *c, int code)
{
    if (code && (!c->worst || c->worst == 1 || (code != 1 && code < c->worst)))
        c->worst = code;
}

/* --- the end of a URL ------------------------------------------------------------------ */

void cos__finish(struct cos__crawl *c, struct cos__visit *visit, int state, const char *reason,
                 uint32_t *links, size_t n)
{
    static const int states[] = {[COS_DB_DONE] = COS_URL_DONE,
                                 [COS_DB_FAILED] = COS_URL_FAILED,
                                 [COS_DB_SKIPPED] = COS_URL_SKIPPED};
    struct cos_node *node = cos_frontier_node(&c->frontier, visit->id);
    struct cos_page *page = visit->page;
    page->depth = node->depth & ~COS__UNREACHED;
    page->referrer = node->referrer;
    node->stale = 0;
    cos_frontier_settle(&c->frontier, visit->id, states[state]);
    if (state != COS_DB_SKIPPED)
        node->note = 0;
    cos__spare_give(c, page);
    if (c->lazy) {
        free(links);
        return;
    }
    cos_frontier_unsaved(&c->frontier, visit->id, 1);
    c->unsaved++;
    c->unkicked++;
    cos_db_put_page(c->db, page, state, reason, links, n);
    visit->page = NULL;
}

void cos__put_state(struct cos__crawl *c, uint32_t id, int state, const char *reason, int tries)
{
    if (!c->lazy)
        cos_db_put_state(c->db, id, state, reason, tries);
}

/* Texts about to be dropped must be somewhere. */
static void write_rows(struct cos__crawl *c)
{
    for (uint32_t id = 1; id <= c->frontier.count; id++) {
        struct cos_node *node = cos_frontier_node(&c->frontier, id);
        const char *url = node->written ? NULL : cos_frontier_text(&c->frontier, id);
        if (!url)
            continue;
        node->written = 1;
        cos_db_put_url(c->db, id, url, strlen(url), COS_DB_QUEUED, NULL,
                       node->depth & ~COS__UNREACHED, node->referrer);
    }
}

static void failed(struct cos__crawl *c, struct cos__visit *visit, int err, const char *why)
{
    struct cos_page *page = visit->page;
    char reason[300];
    if (why && !strcmp(why, cos_strerror(err)))
        why = NULL;
    if (err == COS_EHTTP)
        snprintf(reason, sizeof reason, "%d", page->status);
    else
        snprintf(reason, sizeof reason, "%s%s%s", cos_strerror(err), why ? ": " : "",
                 why ? why : "");
    c->stats.failed++;
    cos__remember_error(c, err == COS_EHTTP && (page->status == 401 || page->status == 407)
                               ? cos_err_exit(COS_EAUTH)
                               : cos_err_exit(err));
    cos__tell_failure(c, page, err, -1);
    cos__finish(c, visit, COS_DB_FAILED, reason, NULL, 0);
}

void cos__fail_url(struct cos__crawl *c, uint32_t id, int err, const char *why)
{
    const char *url = cos_frontier_text(&c->frontier, id);
    struct cos_page *page = cos_page_new(url ? url : "");
    struct cos__visit visit = {.crawl = c, .page = page, .id = id};
    if (!page) {
        cos__abort(c, COS_ENOMEM, "out of memory");
        return;
    }
    page->id = id;
    page->err = err;
    page->tries = cos_frontier_node(&c->frontier, id)->note;
    failed(c, &visit, err, why);
}

void cos__put_off(struct cos__crawl *c, uint32_t id, const char *why)
{
    char reason[300];
    snprintf(reason, sizeof reason, "putoff: %s", why);
    cos__put_state(c, id, COS_DB_QUEUED, reason, 0);
    cos_frontier_settle(&c->frontier, id, COS_URL_QUEUED);
    c->put_off++;
    c->stats.skipped_by[COS_SKIP_PUTOFF]++;
}

/* --- another try ------------------------------------------------------------------------- */

/* Errors of the moment. A name that does not exist, a certificate that is not
 * trusted or an encoding that is broken will be so in a second, too. */
static int passing(int err)
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
static int silent(const struct cos_page *page)
{
    return page->err && !page->status && passing(page->err);
}

static void again(struct cos__crawl *c, struct cos__visit *visit, int err, int64_t wait)
{
    c->stats.retries++;
    c->taken--;
    cos__tell_failure(c, visit->page, err, wait);
    if (cos_frontier_retry(&c->frontier, visit->id, c->now + wait))
        cos__abort(c, COS_ENOMEM, "out of memory");
}

static int64_t retry_after(const struct cos_page *page)
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
    cos__say(c, COS_SAY_ERROR, "%s does not answer any more (%s): %lld URLs are left for another run",
             host->origin, cos_strerror(visit->page->err), (long long)(c->put_off - left + 1));
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
        failed(c, visit, page->err, page->why);
        return;
    }
    cos__remember_error(c, cos_err_exit(page->err));
    cos__put_off(c, visit->id, cos_strerror(page->err));
}

/* err: the network's, or COS_EHTTP for a status worth another try. */
static void try_again(struct cos__crawl *c, struct cos__visit *visit, int err)
{
    struct cos_page *page = visit->page;
    int64_t asked = retry_after(page), wait;
    char text[100];
    if (asked > RETRY_AFTER_MAX) {
        snprintf(text, sizeof text, "%d, the server asks to wait %lld s", page->status,
                 (long long)asked / 1000);
        cos__remember_error(c, cos_err_exit(COS_EHTTP));
        cos__say(c, COS_SAY_WARN, "%s: %s; left for another run", page->url, text);
        cos__put_off(c, visit->id, text);
        return;
    }
    if (c->limit.tries >= 0 && page->tries >= c->limit.tries) {
        if (silent(page))
            gone(c, visit);
        else
            failed(c, visit, err, page->why);
        return;
    }
    wait = cos_polite_backoff(&c->frontier.polite, page->tries, c->frontier.dice);
    again(c, visit, err, asked > wait ? asked : wait);
}

/* --- redirects ------------------------------------------------------------------------------ */

static int is_redirect(const struct cos_page *page)
{
    int s = page->status;
    return (s == 301 || s == 302 || s == 303 || s == 307 || s == 308) && page->location;
}

/* Follows what is known of the chain from dst; 1 when it comes back to src. */
static int comes_back(const struct cos__crawl *c, uint32_t src, uint32_t dst)
{
    for (uint32_t hops = 0; hops <= 256; hops++) {
        const struct cos_node *node = cos_frontier_node(&c->frontier, dst);
        if (dst == src)
            return 1;
        if (!node->redirects)
            return 0;
        dst = node->next;
    }
    return 1;
}

/* Every page of a loop has failed, whichever was asked first. */
static void fail_loop(struct cos__crawl *c, uint32_t src, uint32_t dst)
{
    while (dst != src) {
        struct cos_node *node = cos_frontier_node(&c->frontier, dst);
        if (node->state == COS_URL_DONE) {
            node->state = COS_URL_FAILED;
            c->stats.done--;
            c->stats.failed++;
            cos__put_state(c, dst, COS_DB_FAILED, "redirect loop", 1);
        }
        dst = node->next;
    }
}

static void widen_scope(struct cos__crawl *c, const struct cos_page *page, const char *to)
{
    const char *detail;
    if (!cos_scope_check(c->scope, to, strlen(to), 0, &detail))
        return;
    cos__say(c, COS_SAY_INFO, "%s redirects to %s, which is crawled instead", page->url, to);
    cos_scope_seed(c->scope, to, strlen(to));
}

static void redirected(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    struct cos_node *node = cos_frontier_node(&c->frontier, visit->id);
    size_t len = strcspn(page->location, "#");
    uint32_t *link, dst;
    page->location[len] = 0;
    if (node->hops >= c->limit.max_redirect) {
        failed(c, visit, COS_EREDIRECTS, "more than --max-redirect");
        return;
    }
    if (cos__is_seed(c, visit->id))
        widen_scope(c, page, page->location);
    dst = cos__found(c, visit->id, cos__rank(page->url, strlen(page->url)), page->location, len,
                     cos_frontier_hash(&c->frontier, page->location, len), COS_LINK_REDIRECT, 0);
    if (!dst)
        return;
    if (!c->lazy)
        cos_db_put_redirect(c->db, visit->id, dst, page->status);
    c->stats.redirects++;
    if (comes_back(c, visit->id, dst)) {
        fail_loop(c, visit->id, dst);
        failed(c, visit, COS_EREDIRECTS, "a loop");
        return;
    }
    link = malloc(sizeof *link);
    if (link)
        *link = dst << COS_DB_SHIFT | COS_LINK_REDIRECT;
    node->expanded = node->redirects = 1;
    c->stats.done++;
    cos__tell_page(c, page);
    cos__finish(c, visit, COS_DB_DONE, NULL, link, link != NULL);
    node->next = dst;
}

/* --- a page that came ------------------------------------------------------------------------- */

static void canonical(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    if (page->canonical && strcmp(page->canonical, page->url) != 0)
        cos__say(c, COS_SAY_DEBUG, "%s says it is %s", page->url, page->canonical);
}

/* The disk, not the page, is in trouble: nothing that follows would fare better. */
static int disk_trouble(int err)
{
    return err == COS_ENOSPC || err == COS_EACCES || err == COS_EIO || err == COS_EMFILE ||
           err == COS_ENOMEM;
}

static void done(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    int skip = cos_scope_keeps(c->scope, page->url, strlen(page->url));
    uint32_t *links;
    size_t n;
    if (visit->saved && disk_trouble(visit->saved)) {
        cos__abort(c, visit->saved, "cannot save %s: %s", page->url, cos_strerror(visit->saved));
        return;
    }
    if (visit->saved) {
        failed(c, visit, visit->saved, page->path);
        return;
    }
    links = cos__found_links(c, visit, &n);
    if (c->stop == COS_STOP_ERROR) {
        free(links);
        return;
    }
    canonical(c, visit);
    c->stats.bytes += page->body_len;
    if (skip) {
        c->stats.skipped++;
        c->stats.skipped_by[skip]++;
        cos_frontier_node(&c->frontier, visit->id)->note = (uint8_t)skip;
    } else {
        c->stats.done++;
        cos__count_content(c, page->hash);
    }
    cos__tell_page(c, page);
    cos__finish(c, visit, skip ? COS_DB_SKIPPED : COS_DB_DONE, skip ? cos_skip_name(skip) : NULL, links,
           n);
}

static void too_big(struct cos__crawl *c, struct cos__visit *visit)
{
    char text[80];
    snprintf(text, sizeof text, "size: more than %lld bytes", (long long)c->limit.max_size);
    c->stats.skipped++;
    c->stats.skipped_by[COS_SKIP_SIZE]++;
    cos__tell_skip(c, visit->id, visit->page->url, COS_SKIP_SIZE, "--max-size");
    cos_frontier_node(&c->frontier, visit->id)->note = COS_SKIP_SIZE;
    cos__finish(c, visit, COS_DB_SKIPPED, text, NULL, 0);
}

static void judge(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    if (page->err == COS_ETOOBIG && c->limit.max_size)
        too_big(c, visit);
    else if (page->err && passing(page->err))
        try_again(c, visit, page->err);
    else if (page->err)
        failed(c, visit, page->err, page->why);
    else if (is_redirect(page))
        redirected(c, visit);
    else if (page->status >= 200 && page->status < 300)
        done(c, visit);
    else if (page->status < 1000 && c->limit.retry[page->status])
        try_again(c, visit, COS_EHTTP);
    else
        failed(c, visit, COS_EHTTP, NULL);
}

static int64_t or_zero(int64_t us)
{
    return us > 0 ? us : 0;
}

/* A host that does not answer at all is probed, one request at a time, instead
 * of sending it all URLs three times in vain. */
static void heard(struct cos__crawl *c, struct cos_host *host, int status)
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

/* A transfer is slowed down by curl, but a small one is over before that: the
 * next one starts when the bytes so far fit the rate. A quiet time is made up
 * for by one second's worth at most. */
static void pay_for_bytes(struct cos__crawl *c, int64_t bytes)
{
    double floor = (double)c->now - 1000;
    if (c->next_start < floor)
        c->next_start = floor;
    c->next_start += (double)bytes * 1000 / (double)c->limit.limit_rate;
}

static void answered(struct cos__crawl *c, struct cos__visit *visit)
{
    const struct cos_page *page = visit->page;
    const struct cos_timing *t = &page->timing;
    struct cos_host *host = c->frontier.hosts[visit->host];
    struct cos_polite_answer answer = {.status = page->status,
                                       .first_byte_us = or_zero(t->first_byte),
                                       .retry_after = retry_after(page)};
    /* Counted back from the end: if the loop was late, this is late too, and the
     * gap to the next request only grows. */
    answer.sent = visit->ended - (or_zero(t->total) - or_zero(t->name) - or_zero(t->connect) -
                                  or_zero(t->tls)) / 1000;
    if (answer.retry_after > RETRY_AFTER_MAX)
        answer.retry_after = RETRY_AFTER_MAX;
    if (page->status || silent(page))
        heard(c, host, page->status);
    c->stats.wire_bytes += page->wire_len;
    if (c->limit.limit_rate)
        pay_for_bytes(c, page->wire_len);
    cos_frontier_answered(&c->frontier, host, c->now, &answer);
}

/* The limit on memory is looked at where it grows. */
static void check_memory(struct cos__crawl *c)
{
    struct cos_frontier *f = &c->frontier;
    size_t freed;
    if (!f->max_bytes || f->bytes <= f->max_bytes || c->stop == COS_STOP_ERROR)
        return;
    write_rows(c);
    freed = cos_frontier_spill(f);
    cos__say(c, COS_SAY_DEBUG, "memory: %zu bytes of URLs are in the database only", freed);
    if (f->bytes > f->max_bytes - f->max_bytes / 8)
        cos__abort(c, COS_ENOMEM,
                   "%u URLs are known and --max-memory holds no more; raise it and run the same "
                   "command again", f->count);
}

void cos__arrived(struct cos__visit *visit)
{
    struct cos__crawl *c = visit->crawl;
    c->stats.in_flight--;
    answered(c, visit);
    if (c->stop == COS_STOP_ERROR)
        return;
    if (visit->kind == COS__VISIT_PAGE)
        judge(c, visit);
    else if (visit->kind == COS__VISIT_ROBOTS)
        cos__robots_arrived(visit);
    else
        cos__sitemap_arrived(visit);
    check_memory(c);
}
