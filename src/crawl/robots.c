/* robots.c - robots.txt and sitemaps of a host. They are errands: visits that do
 * not come from the frontier. A host is held until its robots.txt is known; a
 * sitemap has a row like a page, so that its links have a source and a resumed
 * crawl does not ask again. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"
#include "web/robots.h"
#include "web/sitemap.h"
#include "web/url.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOPS = 5, SITEMAP_MAX = 52 << 20, SITEMAP_LEVELS = 5 };

/* --- asking ------------------------------------------------------------------------ */

static int add_errand(struct cos__crawl *c, int kind, const char *url, uint32_t id, uint32_t host,
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
        err = add_errand(c, COS__VISIT_ROBOTS, url.data, 0, host->number, 0);
    cos_buf_release(&url);
    host->held = 1;
    host->robots_state = COS_ROBOTS_ASKED;
    cos_frontier_touch(&c->frontier, host);
    return err;
}

int cos__ask_sitemap(struct cos__crawl *c, const char *url, size_t len, int level)
{
    uint64_t hash = cos_frontier_hash(&c->frontier, url, len);
    struct cos_node *node;
    uint32_t id = 0;
    int err;
    if (cos_frontier_find(&c->frontier, hash))
        return 0;
    err = cos_frontier_add(&c->frontier, hash, url, len, &id);
    if (err)
        return err;
    node = cos_frontier_node(&c->frontier, id);
    cos_frontier_offer(&c->frontier, id, 0, 0, 0, 0);
    cos_frontier_park(&c->frontier, id);
    if (!c->lazy) {
        node->written = 1;
        cos_db_put_url(c->db, id, url, len, COS_DB_QUEUED, "sitemap", 0, 0);
    }
    return add_errand(c, COS__VISIT_SITEMAP, cos_frontier_text(&c->frontier, id), id, node->host,
                      level);
}

int cos__resume_sitemap(struct cos__crawl *c, uint32_t id)
{
    const struct cos_node *node = cos_frontier_node(&c->frontier, id);
    const char *url = cos_frontier_text(&c->frontier, id);
    if (!url)
        return COS_ENOENT;
    cos_frontier_park(&c->frontier, id);
    return add_errand(c, COS__VISIT_SITEMAP, url, id, node->host, 0);
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
    cos_fetch_into(page, request, -1);
    visit->ended = dill_now();
    while (redirects(page) && hops++ < HOPS && follow(page) == 0)
        cos_fetch_into(page, request, -1);
}

static int trouble(const struct cos_page *page)
{
    if (page->err == COS_ETOOBIG || page->err == COS_ECANCELED || page->err == COS_ENXDOMAIN ||
        page->err == COS_ENODATA || page->err == COS_ESCHEME)
        return 0;
    return page->err || page->status >= 500 || page->status == 429;
}

static void fetch_with_tries(struct cos__visit *visit, struct cos_request *request)
{
    struct cos__crawl *c = visit->crawl;
    int tries = c->limit.tries < 0 || c->limit.tries > 5 ? 5 : c->limit.tries;
    char *first = strdup(visit->page->url);
    for (int i = 1; first; i++) {
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
    request.max_body = COS_ROBOTS_MAX + 1;
    request.spill_dir = NULL;
    fetch_with_tries(visit, &request);
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
    cos__fail_url(c, id, host->down_err, NULL);
}

/* No page of this host can be had: nothing may be fetched without robots.txt,
 * and nothing would come. */
static void unreachable(struct cos__crawl *c, struct cos_host *host, int err)
{
    host->down = 2;
    host->down_err = (int16_t)err;
    cos_frontier_drop_queue(&c->frontier, host, fail_queued, c);
}

static void find_sitemaps(struct cos__crawl *c, struct cos_host *host)
{
    struct cos_url base, url;
    const char *line;
    cos_url_init(&base);
    cos_url_init(&url);
    cos_url_parse(&base, host->origin, strlen(host->origin), NULL);
    for (size_t i = 0; (line = cos_robots_sitemap(host->robots, i)) != NULL; i++)
        if (cos_url_parse(&url, line, strlen(line), &base) == 0) {
            cos_url_drop_fragment(&url);
            cos__ask_sitemap(c, url.href.data, url.href.len, 0);
        }
    if (!cos_robots_sitemap(host->robots, 0) &&
        cos_url_parse(&url, "/sitemap.xml", 12, &base) == 0)
        cos__ask_sitemap(c, url.href.data, url.href.len, 0);
    cos_url_release(&base);
    cos_url_release(&url);
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
        unreachable(c, host, page->err);
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
        find_sitemaps(c, host);
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

/* --- sitemaps -------------------------------------------------------------------------- */

struct reading {
    struct cos_page *page;
    int level;
    struct cos_url base, url;
    int err;
};

/* Sitemaps of sitemaps are marked as links of another kind until they arrive. */
static int each_item(void *arg, const struct cos_sitemap_item *item)
{
    struct reading *reading = arg;
    int nested = item->kind == COS_SITEMAP_INDEX;
    if (cos_url_parse(&reading->url, item->loc, item->loc_len, &reading->base))
        return 0;
    cos_url_drop_fragment(&reading->url);
    return cos_page_add_link(reading->page, reading->url.href.data, reading->url.href.len,
                             nested ? COS_LINK_LINK : COS_LINK_SITEMAP, 0);
}

static int read_sitemap(void *data)
{
    struct reading *reading = data;
    struct cos_page *page = reading->page;
    reading->err = cos_url_parse(&reading->base, page->url, strlen(page->url), NULL);
    if (!reading->err)
        reading->err = cos_sitemap_parse(page->body.data ? page->body.data : "", page->body.len,
                                         reading->level, NULL, each_item, reading, NULL);
    return 0;
}

static void drop_reading(void *data)
{
    struct reading *reading = data;
    cos_page_free(reading->page);
    cos_url_release(&reading->base);
    cos_url_release(&reading->url);
    free(reading);
}

static void parse_on_thread(struct cos__visit *visit)
{
    struct reading *reading = calloc(1, sizeof *reading);
    void *data = reading;
    if (!reading) {
        visit->page->err = COS_ENOMEM;
        return;
    }
    reading->level = visit->level;
    reading->page = visit->page;
    cos_url_init(&reading->base);
    cos_url_init(&reading->url);
    visit->page = NULL;
    cos_offload(read_sitemap, &data, drop_reading, -1);
    if (!data)
        return;
    visit->page = reading->page;
    visit->saved = reading->err;
    reading->page = NULL;
    drop_reading(reading);
}

void cos__sitemap_work(struct cos__visit *visit)
{
    struct cos_request request = cos__request_for(visit->crawl, visit->page->url);
    request.max_body = SITEMAP_MAX;
    request.spill_dir = NULL;
    fetch_with_tries(visit, &request);
    if (!visit->page->err && visit->page->status == 200)
        parse_on_thread(visit);
}

static void take_links(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    uint32_t rank = cos__rank(page->url, strlen(page->url));
    for (size_t i = 0; i < page->nlinks && c->stop != COS_STOP_ERROR; i++) {
        const struct cos_link *link = &page->links[i];
        const char *url = page->link_text.data + link->text;
        if (link->kind == COS_LINK_LINK && visit->level < SITEMAP_LEVELS)
            cos__ask_sitemap(c, url, link->len, visit->level + 1);
        else if (link->kind == COS_LINK_SITEMAP)
            cos__found(c, visit->id, rank, url, link->len,
                       cos_frontier_hash(&c->frontier, url, link->len), COS_LINK_SITEMAP, 0);
    }
}

static uint32_t *pack_links(struct cos__crawl *c, const struct cos_page *page, size_t *n)
{
    uint32_t *packed = malloc((page->nlinks + 1) * sizeof *packed);
    *n = 0;
    for (size_t i = 0; packed && i < page->nlinks; i++) {
        const struct cos_link *link = &page->links[i];
        const char *url = page->link_text.data + link->text;
        uint32_t dst =
            cos_frontier_find(&c->frontier, cos_frontier_hash(&c->frontier, url, link->len));
        if (dst)
            packed[(*n)++] = dst << COS_DB_SHIFT | COS_LINK_SITEMAP;
    }
    return packed;
}

void cos__sitemap_arrived(struct cos__visit *visit)
{
    struct cos__crawl *c = visit->crawl;
    struct cos_page *page = visit->page;
    int good = !page->err && page->status == 200 && !visit->saved;
    char reason[200] = "sitemap";
    uint32_t *links = NULL;
    size_t n = 0;
    if (good || page->nlinks) {
        take_links(c, visit);
        links = pack_links(c, page, &n);
        cos_frontier_node(&c->frontier, visit->id)->expanded = 1;
    }
    if (!good) {
        snprintf(reason, sizeof reason, "sitemap: %s",
                 page->err ? cos_strerror(page->err) : visit->saved ? cos_strerror(visit->saved)
                                                                    : "no such page");
        /* The one that was only guessed need not exist. */
        if (page->err || page->status != 404 || c->opt->sitemaps.n)
            cos__say(c, COS_SAY_WARN, "%s: %s", page->url, reason);
        if (c->opt->sitemaps.n)
            cos__remember_error(c, page->err ? cos_err_exit(page->err) : 8);
    }
    cos__finish(c, visit, good ? COS_DB_DONE : COS_DB_SKIPPED, reason, links, n);
}
