/* graph.c - which pages there are, where they live and what they link to. All
 * of it is computed from the options: a site of ten million pages needs no more
 * memory than one of ten. May call base. */
#include "site/site.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PAGES = 100, DEFAULT_LINKS = 5, CROSS_LINKS = 3, DEFAULT_BYTES = 8192 };
static const int64_t PAGES_MAX = 10000000;

const char cos__site_sections[8][12] = {"guide", "reference", "tutorial", "news",
                                        "library", "recipes", "archive", "people"};
static const char topics[8][12] = {"basics", "queues", "parsers", "networks",
                                   "storage", "timing", "testing", "design"};

/* The graph of the shape "lost": names, and links as numbers of names. */
static const char lost_names[6][4] = {"", "f", "g", "x", "y", "s"};
static const signed char lost_links[6][2] = {{1, 5}, {2, -1}, {3, -1}, {4, -1}, {-1, -1}, {3, -1}};

uint64_t cos__site_random(const struct cos__site *site, int64_t page, uint64_t salt)
{
    uint64_t x = site->opt.seed * 0x9e3779b97f4a7c15 + (uint64_t)page * 0xd1b54a32d192ed03 + salt;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static int64_t full_tree(int64_t links, int64_t depth)
{
    int64_t level = 1, total = 1;
    for (int64_t d = 0; d < depth && total < PAGES_MAX; d++) {
        level *= links;
        total += level;
    }
    return total < PAGES_MAX ? total : PAGES_MAX;
}

void cos__site_settle(struct cos_site_options *opt)
{
    if (!opt->bind)
        opt->bind = "127.0.0.1";
    if (!opt->links)
        opt->links = opt->shape == COS_SITE_CROSS ? CROSS_LINKS : DEFAULT_LINKS;
    if (opt->shape == COS_SITE_LOST)
        opt->pages = 6;
    else if (!opt->pages && opt->depth && opt->shape == COS_SITE_TREE)
        opt->pages = full_tree(opt->links, opt->depth);
    else if (!opt->pages)
        opt->pages = opt->shape == COS_SITE_CHAIN && opt->depth ? opt->depth + 1 : DEFAULT_PAGES;
    if (opt->shape == COS_SITE_CHAIN && opt->depth && opt->pages > opt->depth + 1)
        opt->pages = opt->depth + 1;
    if (opt->shape == COS_SITE_TREE && opt->depth && opt->pages > full_tree(opt->links, opt->depth))
        opt->pages = full_tree(opt->links, opt->depth);
    if (opt->pages > PAGES_MAX)
        opt->pages = PAGES_MAX;
    if (!opt->bytes)
        opt->bytes = DEFAULT_BYTES;
}

int cos__site_add_path(const struct cos__site *site, struct cos_buf *out, int64_t page)
{
    const char *section = cos__site_sections[page / 3 % 8], *topic = topics[page / 24 % 8];
    if (page == 0)
        return cos_buf_addc(out, '/');
    if (site->opt.shape == COS_SITE_LOST)
        return cos_buf_addf(out, "/%s.html", lost_names[page]);
    if (page % 3 == 0)
        return cos_buf_addf(out, "/%s/p%lld.html", section, (long long)page);
    if (page % 3 == 1)
        return cos_buf_addf(out, "/p%lld.html", (long long)page);
    return cos_buf_addf(out, "/%s/%s/p%lld.html", section, topic, (long long)page);
}

static int64_t find_lost(const char *path, size_t len)
{
    for (int i = 1; i < 6; i++)
        if (len == strlen(lost_names[i]) + 6 && !strncmp(path + 1, lost_names[i], len - 6) &&
            !strncmp(path + len - 5, ".html", 5))
            return i;
    return -1;
}

int64_t cos__site_find(const struct cos__site *site, const char *path, size_t len)
{
    char room[64];
    struct cos_buf want = {.data = room, .cap = sizeof room, .max = sizeof room - 1};
    const char *at = path + len;
    int64_t page;
    if (len == 1 || (len == 11 && !memcmp(path, "/index.html", 11)))
        return 0;
    if (site->opt.shape == COS_SITE_LOST)
        return find_lost(path, len);
    while (at > path && at[-1] != '/')
        at--;
    if (*at != 'p' || len >= sizeof room)
        return -1;
    page = strtoll(at + 1, NULL, 10);
    if (page < 1 || page >= site->opt.pages || cos__site_add_path(site, &want, page))
        return -1;
    return want.len == len && !memcmp(room, path, len) ? page : -1;
}

static int64_t random_page(const struct cos__site *site, int64_t page, int64_t nth)
{
    uint64_t others = (uint64_t)site->opt.pages - 1;
    uint64_t step = 1 + cos__site_random(site, page, (uint64_t)nth + 1) % others;
    return (int64_t)(((uint64_t)page + step) % (uint64_t)site->opt.pages);
}

/* All links but one build a tree, so that every page is reached; the rest, and
 * all links of a leaf, go anywhere. */
static int64_t cross_link(const struct cos__site *site, int64_t page, int64_t nth)
{
    int64_t width = site->opt.links - 1;
    if (nth >= site->opt.links || site->opt.pages < 2)
        return -1;
    if (width == 0)
        return (page + 1) % site->opt.pages;
    if (nth < width && page * width + 1 + nth < site->opt.pages)
        return page * width + 1 + nth;
    return random_page(site, page, nth);
}

int64_t cos__site_link(const struct cos__site *site, int64_t page, int64_t nth)
{
    int64_t pages = site->opt.pages, links = site->opt.links;
    switch (site->opt.shape) {
    case COS_SITE_TREE:
        return nth < links && page * links + 1 + nth < pages ? page * links + 1 + nth : -1;
    case COS_SITE_CHAIN:
        return nth == 0 && page + 1 < pages ? page + 1 : -1;
    case COS_SITE_STAR:
        return page == 0 && nth + 1 < pages ? nth + 1 : -1;
    case COS_SITE_LOST:
        return nth < 2 ? lost_links[page][nth] : -1;
    case COS_SITE_CROSS:
        break;
    }
    return cross_link(site, page, nth);
}
