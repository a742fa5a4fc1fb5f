/* ways.c - depth and referrer of every URL, from the links as they are now.
 *
 * During a crawl ways only get shorter. A revalidation (-N) may find that a link
 * is gone, and with it the way that gave a page its depth; so at its end all
 * depths are computed from the seeds again. A page that no way leads to any more
 * keeps the old one. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

#include <stdlib.h>

struct way {
    uint32_t referrer;
    uint16_t depth;
    uint8_t stale;
};

static int is_start(const struct cos_node *node)
{
    return node->depth == 0 && node->referrer == 0;
}

static struct way *forget(struct cos__crawl *c)
{
    struct way *old = calloc((size_t)c->frontier.count + 1, sizeof *old);
    for (uint32_t id = 1; old && id <= c->frontier.count; id++) {
        struct cos_node *node = cos_frontier_node(&c->frontier, id);
        old[id] = (struct way){node->referrer, node->depth, node->stale};
        if (is_start(node))
            continue;
        node->depth = UINT16_MAX;
        node->rank = UINT32_MAX;
        node->referrer = 0;
    }
    return old;
}

static int each_page(void *arg, uint32_t src, const char *url, size_t len, const uint32_t *links,
                     size_t n)
{
    struct cos__crawl *c = arg;
    if (src <= c->frontier.count && cos_frontier_node(&c->frontier, src)->depth != UINT16_MAX)
        c->relaxed |= cos__offer_again(c, src, url, len, links, n);
    return 0;
}

static void compare(struct cos__crawl *c, const struct way *old)
{
    for (uint32_t id = 1; id <= c->frontier.count; id++) {
        struct cos_node *node = cos_frontier_node(&c->frontier, id);
        if (node->depth == UINT16_MAX) {
            node->depth = old[id].depth;
            node->referrer = old[id].referrer;
        }
        node->stale = old[id].stale || node->depth != old[id].depth ||
                      node->referrer != old[id].referrer;
    }
}

int cos__ways(struct cos__crawl *c)
{
    struct way *old = forget(c);
    int err = 0;
    if (!old)
        return COS_ENOMEM;
    c->relaxed = 1;
    for (uint32_t pass = 0; !err && c->relaxed && pass <= c->frontier.count; pass++) {
        c->relaxed = 0;
        err = cos_db_each_links(c->db, each_page, c);
    }
    compare(c, old);
    free(old);
    return err;
}
