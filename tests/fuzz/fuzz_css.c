/* fuzz_css.c - input: a style sheet. As fuzz_scan.c: findings ascend, lie where
 * they say, and stay the same when each is replaced; and the same text in a style
 * element gives the same findings. */
#include "config.h"

#include "fuzz.h"
#include "web/scan.h"

#include <string.h>

struct check {
    const char *data;
    size_t len, end, urls, copied;
    struct cos_buf edit;
};

static int on_item(const struct cos_scan_item *item, void *arg)
{
    struct check *c = arg;
    MUST(item->raw == c->data + item->offset && item->offset >= c->end);
    MUST(item->raw_len && item->offset + item->raw_len <= c->len);
    MUST(item->kind == COS_SCAN_URL && item->link == COS_LINK_CSS);
    MUST(!memchr("\"'", item->raw[0], 2) || item->css_quote);
    c->end = c->copied;
    for (size_t i = 0; i < item->len; i++)
        c->end += (size_t)(item->value[i] == 0);
    c->end = item->offset + item->raw_len;
    c->urls++;
    cos_buf_add(&c->edit, c->data + c->copied, item->offset - c->copied);
    cos_buf_addc(&c->edit, 'x');
    c->copied = c->end;
    return 0;
}

static int on_edited(const struct cos_scan_item *item, void *arg)
{
    MUST(item->len == 1 && item->value[0] == 'x');
    ++*(size_t *)arg;
    return 0;
}

static int count(const struct cos_scan_item *item, void *arg)
{
    (void)item;
    ++*(size_t *)arg;
    return 0;
}

static void check_in_html(const char *data, size_t len, size_t urls)
{
    struct cos_buf html;
    size_t found = 0;
    /* A byte order mark is one at the start of a file, and a letter in a style element. */
    if (memmem(data, len, "</", 2) || (len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)))
        return;
    cos_buf_init(&html, len + 7);
    cos_buf_adds(&html, "<style>");
    cos_buf_add(&html, data, len);
    MUST(!cos_scan_html(html.data, html.len, 0, count, &found) && found == urls);
    cos_buf_release(&html);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct check c = {.data = (const char *)data, .len = size};
    size_t urls = 0;
    cos_buf_init(&c.edit, size + 1);
    MUST(!cos_scan_css(c.data, size, on_item, &c));
    cos_buf_add(&c.edit, c.data + c.copied, size - c.copied);
    if (c.edit.data)
        MUST(!cos_scan_css(c.edit.data, c.edit.len, on_edited, &urls));
    MUST(urls == c.urls);
    check_in_html(c.data, size, c.urls);
    cos_buf_release(&c.edit);
    return 0;
}
