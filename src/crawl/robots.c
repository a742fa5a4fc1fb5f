/* robots.c - robots.txt of a host, and errands in general: visits that do not
 * come from the frontier. A host is held until its robots.txt is known. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"
#include "web/robots.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOPS = 5 };

/* --- asking ------------------------------------------------------------------------ */

int cos__add_errand(struct cos__crawl *c, int kind, const char *url, uint32_t id, uint32_t host,
                    int level)
{
    struct cos__visit *visit = calloc(1, sizeof *visit);
    int err = COS_ENOMEM;
    if (!visit)
        return err;
    *visit = (struct cos__visit){.crawl = c, .kind = kind, .id = id, .host = host, .level = level};
    visit->page = cos_page_new(url);
    if (visit->page) {
        visit->page->id = id;
        err = cos_ring_push(&c->errands, &visit);
    }
    if (err)
        cos__visit_free(visit);
    return err;
}

int cos__ask_robots(struct cos__crawl *c, struct cos_host *host)
{
    struct cos_buf url;
    int err;
    cos_buf_init(&url, 4096);
    err = cos_buf_addf(&url, "%s/robots.txt", host->origin);
    if (!err)
        err = cos__add_errand(c, COS__VISIT_ROBOTS, url.data, 0, host->number, 0);
    cos_buf_release(&url);
    host->held = 1;
    host->robots_state = COS_ROBOTS_ASKED;
    cos_frontier_touch(&c->frontier, host);
    return err;
}

/* --- on a worker ------------------------------------------------------------------- */

/* The same page object, for where its redirect leads. */
static int follow(struct cos_page *page)
{
    char *to = page->location ? strndup(page->location, strcspn(page->location, "#")) : NULL;
    if (!to)
        return COS_ENOENT;
    free(page->url);
    page->url = to;
    return 0;
}

static int redirects(const struct cos_page *page)
{
    return !page->err && page->status >= 300 && page->status < 400 && page->location;
}

static void fetch_through(struct cos__visit *visit, struct cos_request *request)
{
    struct cos_page *page = visit->page;
    int hops = 0;
    cos__get(visit->crawl, page, request);
    visit->ended = dill_now();
    while (redirects(page) && hops++ < HOPS && follow(page) == 0)
        cos__get(visit->crawl, page, request);
}

static int trouble(const struct cos_page *page)
{
    return page->err ? cos__passing(page->err) : page->status >= 500 || page->status == 429;
}

void cos__fetch_with_tries(struct cos__visit *visit, struct cos_request *request)
{
    struct cos__crawl *c = visit->crawl;
    int tries = c->limit.tries < 0 || c->limit.tries > 5 ? 5 : c->limit.tries;
    char *first = strdup(visit->page->url);
    for (int i = 1; first; i++) {
        visit->page->tries = i;
        fetch_through(visit, request);
        if (i >= tries || !trouble(visit->page))
            break;
        if (cos_sleep(dill_now() + cos_polite_backoff(&c->frontier.polite, i, c->frontier.dice)))
            break;
        free(visit->page->url);
        visit->page->url = first;
        first = strdup(first);
        c->stats.requests++;
        c->stats.retries++;
    }
    free(first);
}

void cos__robots_work(struct cos__visit *visit)
{
    struct cos_request request = cos__request_for(visit->crawl, visit->page->url);
    struct cos_page *page = visit->page;
    struct cos__kept kept;
    request.max_body = COS_ROBOTS_MAX + 1;
    request.spill_dir = NULL;
    cos__kept_ask(visit, &request, &kept);
    cos__fetch_with_tries(visit, &request);
    cos__kept_answer(visit, &kept);
    /* An archive without it says nothing about what was allowed. */
    if (page->err == COS_EARCHIVE) {
        page->err = 0;
        page->status = 404;
    }
    /* Longer than what counts: what came is parsed. */
    if (page->err == COS_ETOOBIG)
        page->err = 0;
    if (!page->err && cos_robots_access(page->status) == COS_ROBOTS_READ &&
        cos_robots_parse(&visit->robots, page->body.data ? page->body.data : "", page->body.len,
                         visit->crawl->limit.agent))
        page->err = COS_ENOMEM;
}

/* --- robots.txt has come ------------------------------------------------------------- */

static void fail_queued(void *arg, uint32_t id)
{
    struct cos__crawl *c = arg;
    const struct cos_host *host = cos_frontier_host(&c->frontier, id);
    cos__fail_url(c, id, host->down_err, host->down_why);
}

/* No page of this host can be had: nothing may be fetched without robots.txt,
 * and nothing would come. */
static void unreachable(struct cos__crawl *c, struct cos_host *host, const struct cos_page *page)
{
    host->down = 2;
    host->down_err = (int16_t)page->err;
    free(host->down_why);
    host->down_why = page->why ? strdup(page->why) : NULL;
    cos_frontier_drop_queue(&c->frontier, host, fail_queued, c);
}

/* The request for robots.txt counts as one: the first page waits for its turn. */
static void set_delay(struct cos__crawl *c, struct cos_host *host, int64_t last)
{
    struct cos_polite *polite = &host->polite;
    int64_t next;
    cos_polite_crawl_delay(polite, &c->frontier.polite, cos_robots_delay(host->robots));
    next = last + cos_polite_pause(polite, &c->frontier.polite) + 1;
    if (polite->next < next)
        polite->next = next;
}

void cos__robots_arrived(struct cos__visit *visit)
{
    static const char nothing[] = "User-agent: *\nDisallow: /\n";
    struct cos__crawl *c = visit->crawl;
    struct cos_host *host = c->frontier.hosts[visit->host];
    struct cos_page *page = visit->page;
    host->robots_state = COS_ROBOTS_KNOWN;
    host->robots_status = (int16_t)(page->err ? 0 : page->status);
    if (page->err) {
        unreachable(c, host, page);
    } else if (cos_robots_access(page->status) == COS_ROBOTS_DISALLOW) {
        struct cos_robots *all = NULL;
        if (cos_robots_parse(&all, nothing, sizeof nothing - 1, c->limit.agent))
            cos__abort(c, COS_ENOMEM, "out of memory");
        host->robots = all;
        cos__remember_error(c, cos_err_exit(COS_EHTTP));
        cos__say(c, COS_SAY_WARN, "%s/robots.txt answers %d: nothing may be fetched there",
                 host->origin, page->status);
    } else {
        host->robots = visit->robots;
        visit->robots = NULL;
    }
    if (cos_robots_delay(host->robots) > 0)
        set_delay(c, host, visit->ended);
    if (c->opt->sitemap && host->seeded)
        cos__find_sitemaps(c, host);
    host->held = 0;
    cos_frontier_touch(&c->frontier, host);
}

int cos__robots_allow(struct cos__crawl *c, uint32_t id, const char *url, const char **detail)
{
    static char text[256];
    struct cos_host *host = cos_frontier_host(&c->frontier, id);
    const char *target = url + strlen(host->origin);
    struct cos_robots_verdict verdict;
    if (!host->robots || cos_robots_check(host->robots, target, strlen(target), &verdict) != 0)
        return 1;
    if (host->robots_status >= 500)
        snprintf(text, sizeof text, "robots.txt answers %d", host->robots_status);
    else
        snprintf(text, sizeof text, "Disallow: %.*s",
                 (int)(verdict.rule_len < 200 ? verdict.rule_len : 200),
                 verdict.rule ? verdict.rule : "");
    *detail = text;
    return 0;
}

void cos__robots_free_all(struct cos__crawl *c)
{
    for (uint32_t i = 0; i < c->frontier.nhosts; i++)
        cos_robots_free(c->frontier.hosts[i]->robots);
}
