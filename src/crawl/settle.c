/* settle.c - the end of a URL: done, failed, skipped or put off. Everything it
 * causes in the database is put in one go, so that it commits together. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "web/robots.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cos__visit_free(struct cos__visit *visit)
{
    if (!visit)
        return;
    cos_page_free(visit->page);
    cos_page_free(visit->lost);
    cos_robots_free(visit->robots);
    free(visit->hashes);
    cos_db_known_release(&visit->known);
    cos_tidied_release(&visit->tidied);
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

/* The row needs none of it, and the answer that comes next can use the memory
 * while it is in the cache. Rejected: keeping the buffers for it here; malloc
 * finds them as fast, and 64 buffers as large as their largest pages were 4 MB. */
static void drop_text(struct cos_page *page)
{
    cos_buf_release(&page->head);
    cos_buf_release(&page->body);
    cos_buf_release(&page->link_text);
}

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
    c->changed = 1;
    cos_frontier_settle(&c->frontier, visit->id, states[state]);
    if (state != COS_DB_SKIPPED)
        node->note = 0;
    drop_text(page);
    if (c->lazy) {
        free(links);
        return;
    }
    /* When rows are committed must not decide which host is next. */
    if (!c->replay)
        cos_frontier_unsaved(&c->frontier, visit->id, 1);
    c->unsaved++;
    c->unkicked++;
    cos_db_put_page(c->db, page, state, reason, links, n);
    visit->page = NULL;
}

void cos__put_state(struct cos__crawl *c, uint32_t id, int state, const char *reason, int tries,
                    int status)
{
    if (!c->lazy)
        cos_db_put_state(c->db, id, state, reason, tries, status);
}

/* A link with a host that cannot be is the page's mistake, not bad usage. */
static int exit_of(const struct cos_page *page, int err)
{
    if (err == COS_EHTTP && (page->status == 401 || page->status == 407))
        return cos_err_exit(COS_EAUTH);
    return cos_err_exit(err == COS_EURL ? COS_ENXDOMAIN : err);
}

void cos__failed(struct cos__crawl *c, struct cos__visit *visit, int err, const char *why)
{
    struct cos_page *page = visit->page;
    const char *gone = cos__gone(c, visit, err);
    char reason[300];
    if (gone)
        why = gone;
    if (why && !strcmp(why, cos_strerror(err)))
        why = NULL;
    if (err == COS_EHTTP)
        snprintf(reason, sizeof reason, "%d%s%s", page->status, why ? ": " : "", why ? why : "");
    else
        snprintf(reason, sizeof reason, "%s%s%s", cos_strerror(err), why ? ": " : "",
                 why ? why : "");
    c->stats.failed++;
    if (visit->counted)
        c->taken--;
    cos__remember_error(c, exit_of(page, err));
    cos__tell_failure(c, page, err, why, -1);
    if (cos__keeps_old(c, visit, err))
        return;
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
    cos__failed(c, &visit, err, why);
    cos_page_free(visit.page);
}

void cos__put_off(struct cos__crawl *c, uint32_t id, int skip, const char *why, int status)
{
    struct cos_crawl_skip told = {.reason = skip, .detail = why, .queued = 1, .status = status};
    char reason[300];
    snprintf(reason, sizeof reason, "%s: %s", cos_skip_name(skip), why);
    told.tries = cos_frontier_node(&c->frontier, id)->note;
    cos__put_state(c, id, COS_DB_QUEUED, reason, told.tries, status);
    cos__tell_skip(c, id, cos_frontier_text(&c->frontier, id), told);
    cos_frontier_settle(&c->frontier, id, COS_URL_QUEUED);
    c->put_off++;
    c->stats.skipped_by[skip]++;
}
