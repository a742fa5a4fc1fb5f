/* options_copy.c - copies by a table of where the pointers are, so that a new
 * option of a known kind needs one line here. */
#include "crawl/options_copy.h"

#include "base/err.h"

#include <stddef.h>
#include <string.h>

enum { COPY_MAX = 64 << 20 };

#define AT(field) offsetof(struct cos_crawl_options, field)

static const size_t strings[] = {
    AT(dir),          AT(accept_regex), AT(reject_regex), AT(retry_on),    AT(user_agent),
    AT(load_cookies), AT(save_cookies), AT(user),         AT(proxy),       AT(compression),
    AT(cacert),       AT(warc_file),
};
static const size_t lists[] = {
    AT(sitemaps), AT(domains), AT(exclude_domains), AT(include_dirs), AT(exclude_dirs),
    AT(accept),   AT(reject),  AT(headers),         AT(resolve),      AT(dns_servers),
    AT(from_warc),
};

static int copy_string(struct cos_arena *arena, const char **s)
{
    if (!*s)
        return 0;
    *s = cos_arena_dup(arena, *s, strlen(*s));
    return *s ? 0 : COS_ENOMEM;
}

static int copy_list(struct cos_arena *arena, const char *const **v, size_t n)
{
    const char **list;
    int err = 0;
    if (!n)
        return 0;
    list = cos_arena_alloc(arena, n * sizeof *list, NULL);
    if (!list)
        return COS_ENOMEM;
    memcpy(list, *v, n * sizeof *list);
    for (size_t i = 0; i < n && !err; i++)
        err = copy_string(arena, &list[i]);
    *v = list;
    return err;
}

int cos__options_copy(struct cos__options_copy *copy, const struct cos_crawl_options *from)
{
    char *base = (char *)&copy->options;
    int err = 0;
    copy->options = *from;
    cos_arena_init(&copy->arena, COPY_MAX);
    for (size_t i = 0; i < sizeof strings / sizeof *strings && !err; i++)
        err = copy_string(&copy->arena, (const char **)(void *)(base + strings[i]));
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !err; i++) {
        struct cos_strings *list = (struct cos_strings *)(void *)(base + lists[i]);
        err = copy_list(&copy->arena, &list->v, list->n);
    }
    if (!err)
        err = copy_list(&copy->arena, &copy->options.urls, copy->options.nurls);
    if (err)
        cos__options_copy_release(copy);
    return err;
}

void cos__options_copy_release(struct cos__options_copy *copy)
{
    cos_arena_release(&copy->arena);
}
