/* found.c - the one step back: links into the frontier.
 *
 * A URL is decided when it is first found, and decided again when a later link
 * could change the answer. Some reasons belong to the URL (scope, patterns) and
 * stand; others belong to the way it was found (too deep, nofollow, a kind of
 * link that is not followed) and fall as soon as a better way turns up.
 *
 * The depth of a URL is that of the shortest way from a seed over links that
 * are followed, whatever the timing. When a page turns out to be nearer than it
 * was when its links were offered, they are offered again (contract C10b); the
 * database has them. Among ways of the same length the referrer with the lowest
 * rank is kept, so two runs agree about that too. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUISITE_STEPS = 4, NEEDED = 256 };

uint32_t cos__rank(const char *url, size_t len)
{
    static const uint64_t key[2] = {0x636f736372617721, 0x72616e6b206f6620};
    uint32_t rank = (uint32_t)cos_hash_keyed(key, url, len);
    return rank == 0 ? 1 : rank == UINT32_MAX ? rank - 1 : rank;
}

int cos__skip_of(const char *reason)
{
    size_t n = reason ? strcspn(reason, ":") : 0;
    for (int i = 1; n && i < COS_SKIP_COUNT; i++)
        if (strlen(cos_skip_name(i)) == n && !strncmp(cos_skip_name(i), reason, n))
            return i;
    return COS_SKIP_NONE;
}

/* -p: what a page needs to be shown is fetched, wherever it is. What a page of
 * another host needs in turn is not, except by its style sheets. */
static int needed(const struct cos__crawl *c, int flags)
{
    return c->opt->page_requisites && (flags & COS_LINK_REQUISITE) && !(flags & COS__LINK_ABROAD);
}

static int scope_way(const struct cos__crawl *c, int flags)
{
    if (needed(c, flags))
        return COS_SCOPE_ANYWHERE;
    return flags & COS_LINK_REQUISITE ? COS_SCOPE_REQUISITE : COS_SCOPE_LINK;
}

static int of_the_way(const struct cos__crawl *c, int reason, int flags)
{
    return reason == COS_SKIP_LEVEL || reason == COS_SKIP_NOFOLLOW || reason == COS_SKIP_FOLLOW ||
           (needed(c, flags) && (reason == COS_SKIP_SCOPE || reason == COS_SKIP_PARENT));
}

/* Is this link one that is gone along at all? */
static int link_reason(const struct cos__crawl *c, int kind, int flags)
{
    if (needed(c, flags))
        return 0;
    if (!cos_scope_follows(c->scope, kind))
        return COS_SKIP_FOLLOW;
    return (flags & COS_LINK_NOFOLLOW) && c->limit.robots ? COS_SKIP_NOFOLLOW : 0;
}

/* A page on the last level still gets what it needs, and its style sheets what
 * they need: some steps more, not endless ones. */
static int too_deep(const struct cos__crawl *c, int depth, int flags)
{
    int most = c->limit.level + (needed(c, flags) ? REQUISITE_STEPS : 0);
    return c->limit.level >= 0 && depth > most ? COS_SKIP_LEVEL : 0;
}

/* --- the row and the queue -------------------------------------------------------- */

static const char *reason_text(char *text, size_t size, int reason, const char *detail)
{
    if (!reason)
        return NULL;
    snprintf(text, size, "%s%s%s", cos_skip_name(reason), detail ? ": " : "", detail ? detail : "");
    return text;
}

static int row_depth(const struct cos_node *node)
{
    return node->depth & ~COS__UNREACHED;
}

/* A dry run names what it would fetch and goes no further. */
static int only_says(const struct cos__crawl *c, const struct cos_node *node)
{
    return c->opt->mode == COS_MODE_DRY_RUN && node->depth > 0;
}

static void would(struct cos__crawl *c, uint32_t id)
{
    const struct cos_node *node = cos_frontier_node(&c->frontier, id);
    const char *from = node->referrer ? cos_frontier_text(&c->frontier, node->referrer) : NULL;
    if (c->ev.would)
        c->ev.would(c->ev.arg, cos_frontier_text(&c->frontier, id), from, node->depth);
}

static void take_up(struct cos__crawl *c, uint32_t id)
{
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    if (only_says(c, node)) {
        node->state = COS_URL_SKIPPED;
        node->note = COS_SKIP_NONE;
        would(c, id);
    } else {
        cos_frontier_queue(&c->frontier, id);
        cos__phase_queued(c, id);
    }
}

static void count_skip(struct cos__crawl *c, int reason, int by)
{
    c->stats.skipped += by;
    c->stats.skipped_by[reason] += by;
}

static void decide(struct cos__crawl *c, uint32_t id, int kind, int flags, int is_seed)
{
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    const char *url = cos_frontier_text(&c->frontier, id), *detail = NULL;
    char text[400];
    size_t len = strlen(url);
    int reason = 0;
    if (!is_seed)
        reason = cos_scope_check(c->scope, url, len, scope_way(c, flags), &detail);
    if (!is_seed && !reason)
        reason = link_reason(c, kind, flags);
    if (!reason)
        reason = too_deep(c, node->depth, flags);
    if (!c->lazy) {
        node->written = 1;
        cos_db_put_url(c->db, id, url, len, reason ? COS_DB_SKIPPED : COS_DB_QUEUED,
                       reason_text(text, sizeof text, reason, detail), row_depth(node),
                       node->referrer);
    }
    if (!reason) {
        take_up(c, id);
        return;
    }
    node->state = COS_URL_SKIPPED;
    node->note = (uint8_t)reason;
    count_skip(c, reason, 1);
    cos__tell_skip(c, id, url, (struct cos_crawl_skip){.reason = reason, .detail = detail});
}

/* Its text is not at hand when it was spilled: then it stays as it is. */
static int scope_again(struct cos__crawl *c, uint32_t id, int flags)
{
    const struct cos_node *node = cos_frontier_node(&c->frontier, id);
    const char *url = cos_frontier_text(&c->frontier, id), *detail;
    if (node->note != COS_SKIP_SCOPE && node->note != COS_SKIP_PARENT)
        return 0;
    return url ? cos_scope_check(c->scope, url, strlen(url), scope_way(c, flags), &detail)
               : node->note;
}

/* A URL skipped for the way it was found: does this link change that? */
static void reconsider(struct cos__crawl *c, uint32_t id, int kind, int flags, int depth)
{
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    int reason = link_reason(c, kind, flags);
    if (!reason)
        reason = scope_again(c, id, flags);
    if (!reason)
        reason = too_deep(c, needed(c, flags) ? depth : node->depth, flags);
    if (reason && reason >= node->note)
        return;
    count_skip(c, node->note, -1);
    cos__put_state(c, id, reason ? COS_DB_SKIPPED : COS_DB_QUEUED,
                     reason ? cos_skip_name(reason) : NULL, 0, 0);
    if (reason) {
        node->note = (uint8_t)reason;
        count_skip(c, reason, 1);
        cos__tell_skip(c, id, cos_frontier_text(&c->frontier, id),
                       (struct cos_crawl_skip){.reason = reason});
    } else {
        take_up(c, id);
    }
}

static void expand_again(struct cos__crawl *c, uint32_t id)
{
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    /* Without a limit on depth and without a row to correct nothing depends on it. */
    if (node->again || c->lazy)
        return;
    if (cos_ring_push(&c->again, &id)) {
        cos__abort(c, COS_ENOMEM, "out of memory");
        return;
    }
    node->again = 1;
    c->frontier.open++;
}

/* --- one link ---------------------------------------------------------------------- */

static int way_depth(const struct cos__crawl *c, uint32_t src, int kind)
{
    int step = kind != COS_LINK_REDIRECT && kind != COS_LINK_SITEMAP;
    int depth = src ? row_depth(cos_frontier_node(&c->frontier, src)) + step : 0;
    return depth > COS__DEPTH_MAX ? COS__DEPTH_MAX : depth;
}

/* What a needed URL redirects to is needed. */
static int way_flags(const struct cos__crawl *c, uint32_t src, int kind, int flags)
{
    if (kind == COS_LINK_REDIRECT && src && cos_frontier_node(&c->frontier, src)->needed)
        flags |= COS_LINK_REQUISITE;
    return flags;
}

static int offer(struct cos__crawl *c, uint32_t src, uint32_t rank, uint32_t id, int kind,
                 int flags)
{
    const struct cos_node *from = src ? cos_frontier_node(&c->frontier, src) : NULL;
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    int depth = way_depth(c, src, kind), newly = !node->needed && needed(c, flags);
    int hops = from && kind == COS_LINK_REDIRECT ? from->hops + 1 : 0;
    if (link_reason(c, kind, flags))
        depth |= COS__UNREACHED;
    if (newly)
        node->needed = 1;
    return cos_frontier_offer(&c->frontier, id, depth, src, rank, hops) | (newly ? NEEDED : 0);
}

/* The way is new, the URL is known. */
static int known(struct cos__crawl *c, uint32_t src, uint32_t rank, uint32_t id, int kind,
                 int flags)
{
    const struct cos_node *node = cos_frontier_node(&c->frontier, id);
    int changed;
    flags = way_flags(c, src, kind, flags);
    changed = src == id ? 0 : offer(c, src, rank, id, kind, flags);
    changed &= COS_OFFER_DEPTH | (node->redirects ? NEEDED : 0);
    if (node->state == COS_URL_SKIPPED && of_the_way(c, node->note, flags))
        reconsider(c, id, kind, flags, way_depth(c, src, kind));
    else if (changed && node->expanded)
        expand_again(c, id);
    return changed;
}

static void add_failed(struct cos__crawl *c, int err)
{
    if (err == COS_EFULL)
        cos__abort(c, COS_ENOMEM, "%u URLs are known and --max-memory holds no more; raise it and "
                   "run the same command again", c->frontier.count);
    else
        cos__abort(c, err, "%s", cos_strerror(err));
}

static uint32_t add(struct cos__crawl *c, uint64_t hash, const char *url, size_t len)
{
    uint32_t id = 0;
    int err = cos_frontier_add(&c->frontier, hash, url, len, &id);
    if (err)
        add_failed(c, err);
    return err ? 0 : id;
}

uint32_t cos__found(struct cos__crawl *c, uint32_t src, uint32_t rank, const char *url, size_t len,
                    uint64_t hash, int kind, int flags)
{
    uint32_t id = cos_frontier_find(&c->frontier, hash);
    if (id) {
        known(c, src, rank, id, kind, flags);
        return id;
    }
    id = add(c, hash, url, len);
    if (id) {
        flags = way_flags(c, src, kind, flags);
        offer(c, src, rank, id, kind, flags);
        decide(c, id, kind, flags, 0);
    }
    return id;
}

uint32_t cos__found_seed(struct cos__crawl *c, const char *url, size_t len)
{
    uint64_t hash = cos_frontier_hash(&c->frontier, url, len);
    uint32_t id = cos_frontier_find(&c->frontier, hash);
    struct cos_node *node;
    int nearer;
    if (!id) {
        id = add(c, hash, url, len);
        if (id) {
            cos_frontier_offer(&c->frontier, id, 0, 0, 0, 0);
            decide(c, id, COS_LINK_A, 0, 1);
        }
        return id;
    }
    /* A URL that was skipped becomes one when somebody names it. */
    node = cos_frontier_node(&c->frontier, id);
    nearer = cos_frontier_offer(&c->frontier, id, 0, 0, 0, 0) & COS_OFFER_DEPTH;
    if (node->state == COS_URL_SKIPPED && node->note != COS_SKIP_ROBOTS) {
        count_skip(c, node->note, -1);
        cos__put_state(c, id, COS_DB_QUEUED, NULL, 0, 0);
        take_up(c, id);
    } else if (nearer && node->expanded) {
        expand_again(c, id);
    }
    return id;
}

int cos__is_seed(const struct cos__crawl *c, uint32_t id)
{
    const struct cos_node *node = cos_frontier_node(&c->frontier, id);
    for (unsigned hops = node->hops; hops && node->referrer; hops--)
        node = cos_frontier_node(&c->frontier, node->referrer);
    return node->depth == 0 && node->referrer == 0;
}

/* --- all links of a page ------------------------------------------------------------- */

static int abroad(const struct cos__crawl *c, const char *url, size_t len)
{
    return c->opt->page_requisites && !cos_scope_home(c->scope, url, len);
}

static int flags_of(int flags, int kind)
{
    return kind == COS_LINK_CSS ? flags & ~COS__LINK_ABROAD : flags;
}

static uint32_t kind_to_pack(const struct cos_link *link)
{
    return link->kind == COS_LINK_LINK && (link->flags & COS_LINK_REQUISITE) ? COS_DB_NEEDED_LINK
                                                                             : link->kind;
}

static int kind_unpacked(uint32_t packed, int *flags)
{
    int kind = (int)(packed & COS_DB_KIND);
    if (kind == COS_DB_NEEDED_LINK || kind == COS_LINK_IMG || kind == COS_LINK_SCRIPT ||
        kind == COS_LINK_FRAME || kind == COS_LINK_MEDIA || kind == COS_LINK_CSS)
        *flags |= COS_LINK_REQUISITE;
    if (packed & COS_DB_NOFOLLOW)
        *flags |= COS_LINK_NOFOLLOW;
    return kind == COS_DB_NEEDED_LINK ? COS_LINK_LINK : kind;
}

uint32_t *cos__found_links(struct cos__crawl *c, struct cos__visit *visit, size_t *n)
{
    struct cos_page *page = visit->page;
    uint32_t rank = cos__rank(page->url, strlen(page->url));
    uint32_t *packed = malloc((page->nlinks + 1) * sizeof *packed);
    int all = page->directives & COS_PAGE_NOFOLLOW ? COS_LINK_NOFOLLOW : 0;
    *n = 0;
    if (!packed) {
        cos__abort(c, COS_ENOMEM, "out of memory");
        return NULL;
    }
    if (abroad(c, page->url, strlen(page->url)))
        all |= COS__LINK_ABROAD;
    cos_frontier_node(&c->frontier, visit->id)->expanded = 1;
    cos_frontier_prefetch(&c->frontier, visit->hashes, page->nlinks);
    for (size_t i = 0; i < page->nlinks && c->stop != COS_STOP_ERROR; i++) {
        const struct cos_link *link = &page->links[i];
        int flags = flags_of(link->flags | all, link->kind);
        uint32_t dst = cos__found(c, visit->id, rank, page->link_text.data + link->text, link->len,
                                  visit->hashes[i], link->kind, flags);
        packed[(*n)++] = dst << COS_DB_SHIFT | (flags & COS_LINK_NOFOLLOW ? COS_DB_NOFOLLOW : 0) |
                         kind_to_pack(link);
    }
    return packed;
}

int cos__found_again(struct cos__crawl *c, uint32_t src, const char *url, size_t len,
                     const uint32_t *links, size_t n)
{
    uint32_t rank = cos__rank(url, len);
    int changed = 0, all = abroad(c, url, len) ? COS__LINK_ABROAD : 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t dst = links[i] >> COS_DB_SHIFT;
        int flags = all, kind = kind_unpacked(links[i], &flags);
        if (dst && dst <= c->frontier.count)
            changed |= known(c, src, rank, dst, kind, flags_of(flags, kind));
    }
    return changed;
}

int cos__offer_again(struct cos__crawl *c, uint32_t src, const char *url, size_t len,
                     const uint32_t *links, size_t n)
{
    uint32_t rank = cos__rank(url, len);
    int changed = 0, all = abroad(c, url, len) ? COS__LINK_ABROAD : 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t dst = links[i] >> COS_DB_SHIFT;
        int flags = all, kind = kind_unpacked(links[i], &flags);
        flags = way_flags(c, src, kind, flags_of(flags, kind));
        if (dst && dst <= c->frontier.count && dst != src)
            changed |= offer(c, src, rank, dst, kind, flags);
    }
    return changed & COS_OFFER_DEPTH;
}

void cos__skip(struct cos__crawl *c, uint32_t id, int reason, const char *detail)
{
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    char text[400];
    int tries = node->note;
    cos__put_state(c, id, COS_DB_SKIPPED, reason_text(text, sizeof text, reason, detail),
                     tries, 0);
    cos_frontier_settle(&c->frontier, id, COS_URL_SKIPPED);
    node->note = (uint8_t)reason;
    count_skip(c, reason, 1);
    cos__tell_skip(c, id, cos_frontier_text(&c->frontier, id),
                   (struct cos_crawl_skip){.reason = reason, .detail = detail, .tries = tries});
}

/* The rule that decided is found by asking again; it was asked about a link. */
void cos__skipped_before(struct cos__crawl *c, uint32_t id)
{
    const struct cos_node *node = cos_frontier_node(&c->frontier, id);
    const char *url = cos_frontier_text(&c->frontier, id), *detail = NULL;
    if (!url)
        return;
    if (cos_scope_check(c->scope, url, strlen(url), COS_SCOPE_LINK, &detail) != node->note)
        detail = NULL;
    cos__tell_skip(c, id, url, (struct cos_crawl_skip){.reason = node->note, .detail = detail});
}
