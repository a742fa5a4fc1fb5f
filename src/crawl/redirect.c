/* redirect.c - where a redirect leads: one more link, as near as its page. Loops
 * are found by following what is known of the chain. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cos__is_redirect(const struct cos_page *page)
{
    int s = page->status;
    return s == 301 || s == 302 || s == 303 || s == 307 || s == 308;
}

/* It does not say where, or nowhere that can be crawled. */
static void leads_nowhere(struct cos__crawl *c, struct cos__visit *visit)
{
    char why[160] = "a redirect without Location";
    struct cos_buf value;
    cos_buf_init(&value, 8192);
    if (cos_page_header(visit->page, "Location", &value) == 0 && value.len)
        snprintf(why, sizeof why, "a redirect to '%.100s', which is no http or https URL",
                 value.data);
    cos_buf_release(&value);
    cos__failed(c, visit, COS_EHTTP, why);
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

static const char LOOP[] = "a loop";

/* It was told as done; this line is the one that counts. */
static void fail_member(struct cos__crawl *c, uint32_t id)
{
    const char *url = cos_frontier_text(&c->frontier, id);
    struct cos_page *page = cos_page_new(url ? url : "");
    char reason[100];
    snprintf(reason, sizeof reason, "%s: %s", cos_strerror(COS_EREDIRECTS), LOOP);
    cos__put_state(c, id, COS_DB_FAILED, reason, 1, 0);
    if (!page) {
        cos__abort(c, COS_ENOMEM, "out of memory");
        return;
    }
    page->id = id;
    page->tries = 1;
    cos__tell_failure(c, page, COS_EREDIRECTS, LOOP, -1);
    cos_page_free(page);
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
            fail_member(c, dst);
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

void cos__redirected(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    struct cos_node *node = cos_frontier_node(&c->frontier, visit->id);
    uint32_t *link, dst;
    size_t len;
    if (!page->location) {
        leads_nowhere(c, visit);
        return;
    }
    len = strcspn(page->location, "#");
    page->location[len] = 0;
    if (node->hops >= c->limit.max_redirect) {
        cos__failed(c, visit, COS_EREDIRECTS, "more than --max-redirect");
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
        cos__failed(c, visit, COS_EREDIRECTS, LOOP);
        return;
    }
    link = malloc(sizeof *link);
    if (link)
        *link = dst << COS_DB_SHIFT | COS_LINK_REDIRECT;
    node->expanded = node->redirects = 1;
    c->stats.done++;
    cos__tell_page(c, page, 0);
    cos__finish(c, visit, COS_DB_DONE, NULL, link, link != NULL);
    node->next = dst;
}
