/* common.c - what every style needs and no style is about: file names, the
 * choice of links, the table of depths, and the table of styles itself. */
#include "spider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *have_memory(void *memory)
{
    if (!memory) {
        fputs("spider: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

void *spider_new(size_t size)
{
    return have_memory(calloc(1, size));
}

char *spider_copy(const char *text)
{
    return have_memory(strdup(text));
}

char *spider_file(const struct spider *spider, const char *url)
{
    struct cos_buf name, path;
    cos_buf_init(&name, 4096);
    cos_buf_init(&path, 8192);
    if (!cos_url_file(url, &name) && !cos_buf_adds(&path, spider->dir ? spider->dir : ".")
        && !cos_buf_addc(&path, '/') && !cos_buf_adds(&path, name.data)) {
        cos_buf_release(&name);
        return cos_buf_take(&path, NULL);
    }
    cos_buf_release(&name);
    cos_buf_release(&path);
    return NULL;
}

void spider_tell(const struct spider *spider, const char *url, int downloaded, int err)
{
    if (spider->report)
        spider->report(url, downloaded, err, spider->arg);
}

void spider_end_once(const struct spider *spider, struct cos_flow_once *once)
{
    if (spider->left && once)
        *spider->left = cos_flow_once_size(once);
    cos_flow_once_free(once);
}

/* --- links ------------------------------------------------------------------------------ */

/* cos_read_links gives each URL of a kind once; here kinds do not matter. */
static int have(const struct spider_links *links, const char *url)
{
    for (size_t i = 0; i < links->count; i++)
        /* Below count every entry is set. */
        if (!strcmp(links->urls[i], url)) // NOLINT(clang-analyzer-core.NonNullParamChecker)
            return 1;
    return 0;
}

int spider_links_of(const struct cos_page *page, struct spider_links *out)
{
    *out = (struct spider_links){0};
    if (!page->nlinks)
        return 0;
    out->urls = calloc(page->nlinks, sizeof *out->urls);
    if (!out->urls)
        return COS_ENOMEM;
    for (size_t i = 0; i < page->nlinks; i++) {
        const char *url = page->link_text.data + page->links[i].text;
        if (page->links[i].kind == COS_LINK_FORM || !cos_same_host(page->url, url)
            || have(out, url))
            continue;
        out->urls[out->count] = strdup(url);
        if (!out->urls[out->count++]) {
            spider_links_release(out);
            return COS_ENOMEM;
        }
    }
    return 0;
}

void spider_links_release(struct spider_links *links)
{
    for (size_t i = 0; i < links->count; i++)
        free(links->urls[i]);
    free(links->urls);
    *links = (struct spider_links){0};
}

/* --- depths ------------------------------------------------------------------------------- */

struct depth {
    struct depth *next;
    int nesting;
    char url[];
};

enum { BUCKETS = 4096 };

struct spider_depths {
    struct depth *buckets[BUCKETS];
};

struct spider_depths *spider_depths_new(void)
{
    return calloc(1, sizeof(struct spider_depths));
}

void spider_depths_free(struct spider_depths *depths)
{
    for (size_t i = 0; depths && i < BUCKETS; i++)
        while (depths->buckets[i]) {
            struct depth *next = depths->buckets[i]->next;
            free(depths->buckets[i]);
            depths->buckets[i] = next;
        }
    free(depths);
}

static struct depth **slot(struct spider_depths *depths, const char *url)
{
    unsigned hash = 5381;
    struct depth **at;
    for (const char *c = url; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    for (at = &depths->buckets[hash % BUCKETS]; *at && strcmp((*at)->url, url); at = &(*at)->next)
        ;
    return at;
}

enum spider_met spider_depths_meet(struct spider_depths *depths, const char *url, int nesting)
{
    struct depth **at = slot(depths, url);
    size_t len = strlen(url);
    enum spider_met met = *at ? SPIDER_MET_DEEPER : SPIDER_MET_FIRST;
    if (*at && (*at)->nesting >= nesting)
        return SPIDER_MET_ENOUGH;
    if (!*at) {
        *at = spider_new(sizeof **at + len + 1);
        memcpy((*at)->url, url, len + 1);
    }
    (*at)->nesting = nesting;
    return met;
}

/* --- the styles ------------------------------------------------------------------------------ */

/* Nested functions are gcc's, Blocks are clang's. */
#if !defined __clang__
#define HELL "1hell_cps.c", spider_hell_cps
#elif defined __BLOCKS__
#define HELL "1hell_blocks.c", spider_hell_cps
#else
#define HELL "1hell_cps.c", NULL
#endif

const struct spider_style spider_styles[] = {
    {"hell", "cps", HELL},
    {"hell", "co", "1hell_co.c", spider_hell_co},
    {"discipline", "cps", "2discipline_cps.c", spider_discipline_cps},
    {"discipline", "co", "2discipline_co.c", spider_discipline_co},
    {"sequential", "cps", "3sequential_cps.c", spider_sequential_cps},
    {"sequential", "co", "3sequential_co.c", spider_sequential_co},
    {"parallel", "cps", "4parallel_cps.c", spider_parallel_cps},
    {"parallel", "co", "4parallel_co.c", spider_parallel_co},
    {"once", "cps", "5once_cps.c", spider_once_cps},
    {"once", "co", "5once_co.c", spider_once_co},
    {"queue", "cps", "6queue_cps.c", spider_queue_cps},
    {"queue", "co", "6queue_co.c", spider_queue_co},
    {NULL, NULL, NULL, NULL},
};

const struct spider_style *spider_find(const char *name, const char *face)
{
    for (const struct spider_style *style = spider_styles; style->name; style++)
        if (!strcmp(style->name, name) && !strcmp(style->face, face))
            return style;
    return NULL;
}
