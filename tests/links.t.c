/* links.t - the links of a page: resolved, without fragment, once each. */
#include "tap.h"

#include "base/err.h"
#include "web/links.h"

#include <string.h>

static struct cos_links_ctx *ctx;

static struct cos_page *page_of(const char *url, const char *mime, const char *body, size_t len)
{
    struct cos_page *page = cos_page_new(url);
    if (mime)
        page->mime = strdup(mime);
    cos_buf_init(&page->body, len + 1);
    cos_buf_add(&page->body, body, len);
    return page;
}

/* "kind:url kind:url …", '!' for nofollow, '*' for a requisite */
static const char *links_of(struct cos_page *page)
{
    static char out[65536];
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < page->nlinks && n < sizeof out - 1000; i++) {
        struct cos_link *link = &page->links[i];
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%d%s%s:%s", i ? " " : "", link->kind,
                              link->flags & COS_LINK_NOFOLLOW ? "!" : "",
                              link->flags & COS_LINK_REQUISITE ? "*" : "",
                              page->link_text.data + link->text);
    }
    return out;
}

static void check(const char *url, const char *mime, const char *body, const char *want,
                  const char *what)
{
    struct cos_page *page = page_of(url, mime, body, strlen(body));
    int err = cos_links_extract(ctx, page);
    cmp_ok(err, "==", 0, "%s: no error", what);
    is(links_of(page), want, "%s", what);
    cos_page_free(page);
}

#define H "http://h/d/p.html"

int main(void)
{
    plan(NO_PLAN);
    ctx = cos_links_ctx_new();
    check(H, "text/html", "<a href=x>1</a><a href='./x#f'>2</a>", "1:http://h/d/x", "one link once");
    check(H, "text/html", "<a href=x><base href=/b/><base href=/c/><img src=y>",
          "1:http://h/b/x 3*:http://h/b/y", "a late base holds for all, the first one wins");
    cos_links_ctx_free(ctx);
    done_testing();
}
