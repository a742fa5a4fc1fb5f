/* fuzz_scan.c - input: a byte of choices, then a page. Findings ascend and lie
 * where they say; a page whose URLs were all replaced has the same findings,
 * which is what link conversion relies on; its links are in normal form. */
#include "base/err.h"
#include "fuzz.h"
#include "web/links.h"
#include "web/scan.h"

#include <ctype.h>
#include <string.h>

struct check {
    const char *data;
    size_t len, end;     /* end of the last finding */
    size_t urls;         /* findings that can be replaced */
    struct cos_buf edit; /* the page with a new URL for each of them */
    size_t copied;
};

static int on_item(const struct cos_scan_item *item, void *arg)
{
    struct check *c = arg;
    MUST(item->raw == c->data + item->offset && item->offset >= c->end);
    MUST(item->offset + item->raw_len <= c->len);
    MUST(item->element && item->attribute && (item->value || !item->len));
    MUST((item->kind == COS_SCAN_URL) == (item->link != 0));
    for (size_t i = 0; i < item->len; i++)
        c->end += (size_t)(item->value[i] == 0); /* reads every byte of it */
    c->end = item->offset + item->raw_len;
    if (item->kind != COS_SCAN_URL || !item->raw_len)
        return 0;
    c->urls++;
    cos_buf_add(&c->edit, c->data + c->copied, item->offset - c->copied);
    cos_buf_adds(&c->edit, item->offset && isalnum((unsigned char)item->raw[-1]) ? "./x" : "x");
    c->copied = item->offset + item->raw_len;
    return 0;
}

static int on_edited(const struct cos_scan_item *item, void *arg)
{
    size_t *urls = arg;
    if (item->kind != COS_SCAN_URL || !item->raw_len)
        return 0;
    ++*urls;
    MUST(item->len && item->value[item->len - 1] == 'x');
    return 0;
}

static void check_scan(const char *data, size_t len, unsigned options)
{
    struct check c = {.data = data, .len = len};
    size_t urls = 0;
    cos_buf_init(&c.edit, 3 * len + 3);
    MUST(!cos_scan_html(data, len, options, on_item, &c));
    cos_buf_add(&c.edit, data + c.copied, len - c.copied);
    if (c.edit.data)
        MUST(!cos_scan_html(c.edit.data, c.edit.len, options, on_edited, &urls));
    MUST(urls == c.urls);
    cos_buf_release(&c.edit);
}

static void check_links(const char *data, size_t len, const char *mime)
{
    struct cos_links_ctx *ctx = cos_links_ctx_new();
    struct cos_page *page = cos_page_new("http://h.example/d/p.html");
    struct cos_url url;
    int err;
    page->mime = strdup(mime);
    cos_buf_init(&page->body, len);
    cos_buf_add(&page->body, data, len);
    err = cos_links_extract(ctx, page);
    MUST(err == 0 || err == COS_ECHARSET);
    cos_url_init(&url);
    for (size_t i = 0; i < page->nlinks; i++) {
        const char *text = page->link_text.data + page->links[i].text;
        MUST(strlen(text) == page->links[i].len && !strchr(text, '#'));
        MUST(!cos_url_parse(&url, text, strlen(text), NULL) && !strcmp(url.href.data, text));
    }
    cos_url_release(&url);
    cos_page_free(page);
    cos_links_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *page = (const char *)data + 1;
    if (!size)
        return 0;
    check_scan(page, size - 1, data[0] & (COS_SCAN_XHTML | COS_SCAN_IDS));
    check_links(page, size - 1, data[0] & 4 ? "application/xhtml+xml" : "text/html");
    return 0;
}
