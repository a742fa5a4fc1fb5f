/* sitemaps.c - sitemaps as a source of URLs. A sitemap is an errand (robots.c),
 * but has a row like a page: its links have a source, and a resumed crawl does
 * not read it again. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"
#include "web/robots.h"
#include "web/sitemap.h"
#include "web/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITEMAP_MAX = 52 << 20, SITEMAP_LEVELS = 2 };

/* --- asking ------------------------------------------------------------------------ */

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
    return cos__add_errand(c, COS__VISIT_SITEMAP, cos_frontier_text(&c->frontier, id), id,
                           node->host, level);
}

int cos__resume_sitemap(struct cos__crawl *c, uint32_t id)
{
    const struct cos_node *node = cos_frontier_node(&c->frontier, id);
    const char *url = cos_frontier_text(&c->frontier, id);
    if (!url)
        return COS_ENOENT;
    cos_frontier_park(&c->frontier, id);
    return cos__add_errand(c, COS__VISIT_SITEMAP, url, id, node->host, 0);
}

void cos__find_sitemaps(struct cos__crawl *c, struct cos_host *host)
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

/* --- on a worker ------------------------------------------------------------------- */

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
    cos__recall(visit, &request);
    cos__fetch_with_tries(visit, &request);
    if (!visit->page->err && visit->page->status == 200)
        parse_on_thread(visit);
}

/* The protocol knows no index of indexes; some sites have them. One that names
 * itself under ever new names would have no end. */
static void too_nested(struct cos__crawl *c, const struct cos_page *page)
{
    if (!c->nested_said++)
        cos__say(c, COS_SAY_WARN, "%s: sitemaps of sitemaps are not followed deeper than this",
                 page->url);
}

static void take_links(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    uint32_t rank = cos__rank(page->url, strlen(page->url));
    for (size_t i = 0; i < page->nlinks && c->stop != COS_STOP_ERROR; i++) {
        const struct cos_link *link = &page->links[i];
        const char *url = page->link_text.data + link->text;
        if (link->kind == COS_LINK_LINK && visit->level >= SITEMAP_LEVELS)
            too_nested(c, page);
        else if (link->kind == COS_LINK_LINK)
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

/* Its links were offered when the crawl was loaded. */
static void sitemap_unchanged(struct cos__crawl *c, struct cos__visit *visit)
{
    cos_frontier_settle(&c->frontier, visit->id, COS_URL_DONE);
    cos_db_put_checked(c->db, visit->id, visit->page->timing.started_at, "sitemap");
}

void cos__sitemap_arrived(struct cos__visit *visit)
{
    struct cos__crawl *c = visit->crawl;
    struct cos_page *page = visit->page;
    int good = !page->err && page->status == 200 && !visit->saved;
    char reason[200] = "sitemap";
    uint32_t *links = NULL;
    size_t n = 0;
    if (cos__is_unchanged(visit)) {
        sitemap_unchanged(c, visit);
        return;
    }
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
