/* stop.c - when a crawl ends: a limit was reached, nothing is open any more, or
 * what is in flight has had its time. */
#include "config.h"

#include "crawl/crawl_int.h"

enum { DRAIN_MS = 10000, CUT_MS = 1000 };

/* What came in this run, with what is still coming. */
static int64_t bytes_so_far(const struct cos__crawl *c)
{
    int64_t sum = c->received;
    for (const struct cos__visit *v = c->flying; v; v = v->next)
        if (v->kind == COS__VISIT_PAGE)
            sum += v->page && !v->bytes ? v->page->body_len : v->bytes;
    return sum;
}

void cos__check_limits(struct cos__crawl *c)
{
    const struct cos__limits *l = &c->limit;
    if (c->stop != COS__RUNNING || c->frontier.open == 0)
        return;
    if (l->max_time && c->now - c->started >= l->max_time) {
        c->stop = COS_STOP_TIME;
        c->drain_by = c->now + CUT_MS;
    } else if (l->max_failures && c->stats.failed - c->failed_before >= l->max_failures) {
        c->stop = COS_STOP_FAILURES;
    } else if (l->quota && bytes_so_far(c) >= l->quota) {
        c->stop = COS_STOP_QUOTA;
        c->drain_by = c->now + CUT_MS;
    } else if (l->max_pages && c->taken >= l->max_pages && !c->out) {
        c->stop = COS_STOP_PAGES;
    }
    if (c->stop != COS__RUNNING && !c->drain_by)
        c->drain_by = c->now + DRAIN_MS;
}

int cos__over(struct cos__crawl *c)
{
    if (c->out)
        return c->stop != COS__RUNNING && c->drain_by && c->now >= c->drain_by;
    if (c->stop != COS__RUNNING)
        return 1;
    return c->frontier.open == 0 && !c->errands.count && !c->asked;
}
