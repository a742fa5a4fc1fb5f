/* fuzz_sitemap.c - the first byte chooses the ceilings and the level, the rest
 * is the file. What is reported must keep to the ceilings and be a string
 * without blanks at its ends; the same file must give the same answer twice; and
 * stopping early must stop. */
#include "fuzz.h"

#include "base/err.h"
#include "web/sitemap.h"
#include "web/url.h"

#include <string.h>

struct seen {
    size_t n, stop_at;
    uint64_t sum;
};

static int on_item(void *arg, const struct cos_sitemap_item *item)
{
    struct seen *seen = arg;
    MUST(item->loc_len > 0 && item->loc_len <= COS_URL_MAX);
    MUST(!strchr(" \t\r\n", item->loc[0]) || !item->loc[0]);
    MUST(item->kind != COS_SITEMAP_NONE && strlen(item->lastmod) <= 128);
    for (size_t i = 0; i < item->loc_len; i++)
        seen->sum = seen->sum * 31 + (unsigned char)item->loc[i];
    return ++seen->n == seen->stop_at ? COS_ESTOP : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cos_sitemap_limits limits = {0};
    struct cos_sitemap_result res, again;
    struct seen one = {0}, two = {0}, some = {.stop_at = 1};
    const char *text = (const char *)data + 1;
    int level, err;
    if (!size--)
        return 0;
    level = data[0] & 7;
    limits.urls = data[0] & 8 ? 3 : 0;
    limits.bytes = data[0] & 16 ? 200 : 1 << 20;
    err = cos_sitemap_parse(text, size, level, &limits, on_item, &one, &res);
    MUST(err <= 0 && one.n == res.urls);
    MUST(one.n <= (limits.urls ? limits.urls : 50000));
    MUST(err || res.kind != COS_SITEMAP_NONE);
    MUST(cos_sitemap_parse(text, size, level, &limits, on_item, &two, &again) == err);
    MUST(one.n == two.n && one.sum == two.sum && res.bad == again.bad);
    err = cos_sitemap_parse(text, size, level, &limits, on_item, &some, NULL);
    MUST(some.n <= 1 && (!some.n || err == COS_ESTOP));
    return 0;
}
