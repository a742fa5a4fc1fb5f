/* arrive.c - what an answer means: the page is done, leads elsewhere
 * (redirect.c), is tried again (retry.c), or failed (settle.c). */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a page that came ---------------------------------------------------------------- */

static void canonical(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    if (page->canonical && strcmp(page->canonical, page->url) != 0)
        cos__say(c, COS_SAY_DEBUG, "%s says it is %s", page->url, page->canonical);
}

/* The disk, not the page, is in trouble: nothing that follows would fare better. */
static int disk_trouble(int err)
{
    return err == COS_ENOSPC || err == COS_EFBIG || err == COS_EACCES || err == COS_EIO ||
           err == COS_ENOENT;
}

static void cannot_save(struct cos__crawl *c, const char *url, int err)
{
    const char *dir = c->opt->dir ? c->opt->dir : ".";
    if (err == COS_ENOENT)
        cos__abort(c, err, "the crawl directory %s is gone: somebody removed or moved it", dir);
    else
        cos__abort(c, err, "cannot save %s in %s: %s", url, dir, cos_strerror(err));
}

static void done(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    int skip = cos_scope_keeps(c->scope, page->url, strlen(page->url));
    uint32_t *links;
    size_t n;
    if (disk_trouble(visit->saved) || visit->saved == COS_EMFILE || visit->saved == COS_ENOMEM) {
        cannot_save(c, page->url, visit->saved);
        return;
    }
    if (visit->saved) {
        cos__failed(c, visit, visit->saved, page->path);
        return;
    }
    links = cos__found_links(c, visit, &n);
    if (c->stop == COS_STOP_ERROR) {
        free(links);
        return;
    }
    canonical(c, visit);
    cos__no_redirect(c, visit->id);
    cos__lint_found(c, visit);
    c->stats.bytes += page->body_len;
    if (skip) {
        c->stats.skipped++;
        c->stats.skipped_by[skip]++;
        cos_frontier_node(&c->frontier, visit->id)->note = (uint8_t)skip;
    } else {
        c->stats.done++;
        cos__count_content(c, page->hash);
    }
    cos__tell_page(c, page, skip);
    cos__finish(c, visit, skip ? COS_DB_SKIPPED : COS_DB_DONE, skip ? cos_skip_name(skip) : NULL,
                links, n);
}

static void too_big(struct cos__crawl *c, struct cos__visit *visit)
{
    char text[80], *detail = text + strlen("size: ");
    snprintf(text, sizeof text, "size: more than %lld bytes", (long long)c->limit.max_size);
    c->stats.skipped++;
    c->stats.skipped_by[COS_SKIP_SIZE]++;
    cos__tell_skip(c, visit->id, visit->page->url,
                   (struct cos_crawl_skip){.reason = COS_SKIP_SIZE,
                                           .detail = detail,
                                           .tries = visit->page->tries,
                                           .status = visit->page->status});
    cos_frontier_node(&c->frontier, visit->id)->note = COS_SKIP_SIZE;
    cos__finish(c, visit, COS_DB_SKIPPED, text, NULL, 0);
}

/* It would have gone far beyond the quota: the next run gets it. */
static void over_quota(struct cos__crawl *c, struct cos__visit *visit)
{
    cos__say(c, COS_SAY_WARN, "%s: given up, what is left of the quota (-Q) is smaller",
             visit->page->url);
    cos_frontier_untake(&c->frontier, visit->id);
    if (c->stop != COS__RUNNING)
        return;
    c->stop = COS_STOP_QUOTA;
    c->drain_by = c->now;
}

static void judge(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    page->depth = cos_frontier_node(&c->frontier, visit->id)->depth & ~COS__UNREACHED;
    if (page->err == COS_ETOOBIG && visit->ceiling && page->body_len > visit->ceiling)
        over_quota(c, visit);
    else if (page->err == COS_ETOOBIG && c->limit.max_size)
        too_big(c, visit);
    else if (disk_trouble(page->err) && page->body_len > COS__SPILL_AT)
        cannot_save(c, page->url, page->err);
    else if (page->err && cos__passing(page->err))
        cos__try_again(c, visit, page->err);
    else if (page->err)
        cos__failed(c, visit, page->err, page->why);
    else if (cos__is_unchanged(visit))
        cos__unchanged(c, visit);
    else if (cos__is_redirect(page))
        cos__redirected(c, visit);
    else if (page->status == 206)
        cos__failed(c, visit, COS_EHTTP, "a part of the page, and nobody asked for a part");
    else if (page->status >= 200 && page->status < 300)
        done(c, visit);
    else if (page->status < 1000 && c->limit.retry[page->status])
        cos__try_again(c, visit, COS_EHTTP);
    else
        cos__failed(c, visit, COS_EHTTP, NULL);
}

static int64_t or_zero(int64_t us)
{
    return us > 0 ? us : 0;
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
                                       .retry_after = c->replay ? -1 : cos__retry_after(page)};
    /* Counted back from the end: if the loop was late, this is late too, and the
     * gap to the next request only grows. The lookup is not part of the total. */
    answer.sent = visit->ended - (or_zero(t->total) - or_zero(t->connect) - or_zero(t->tls)) / 1000;
    if (answer.retry_after > COS__RETRY_AFTER_MAX)
        answer.retry_after = COS__RETRY_AFTER_MAX;
    if (page->status || cos__silent(page))
        cos__heard(c, host, page->status);
    c->new_cookies |= page->sets_cookie;
    c->stats.wire_bytes += page->wire_len;
    if (c->limit.limit_rate)
        pay_for_bytes(c, page->wire_len);
    cos_frontier_answered(&c->frontier, host, c->now, &answer);
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
    else if (visit->kind == COS__VISIT_PROBE)
        cos__probe_arrived(visit);
    else
        cos__sitemap_arrived(visit);
    check_memory(c);
}
