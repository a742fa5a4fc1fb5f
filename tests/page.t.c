/* page.t - the travelling page: links, headers, another try, the spill file. */
#include "tap.h"

#include "base/err.h"
#include "base/page.h"

#include <fcntl.h>
#include <string.h>

static void links(struct cos_page *page)
{
    char url[64];
    int wrong = 0;
    for (int i = 0; i < 1000; i++) {
        int n = snprintf(url, sizeof url, "http://h/%d.html", i);
        wrong += cos_page_add_link(page, url, (size_t)n, COS_LINK_A + i % 3, i % 2) != 0;
    }
    for (int i = 0; i < 1000; i++) {
        const struct cos_link *link = &page->links[i];
        snprintf(url, sizeof url, "http://h/%d.html", i);
        wrong += strcmp(page->link_text.data + link->text, url) || link->len != strlen(url) ||
                 link->kind != COS_LINK_A + i % 3 || link->flags != i % 2;
    }
    cmp_ok(page->nlinks, "==", 1000, "a thousand links");
    cmp_ok(wrong, "==", 0, "each with its text, kind and flags");
}

static void headers(struct cos_page *page)
{
    struct cos_buf out;
    cos_buf_init(&out, 100);
    cmp_ok(cos_page_header(page, "ETag", &out), "==", COS_ENOENT,
           "a page without an answer has none");
    cos_buf_adds(&page->head,
                 "Server: x\r\nX-Server: y\r\nSet-Cookie: a=1\r\nset-COOKIE:  b=2 \t\r\n"
                 "Empty:\r\nLast: z");
    cmp_ok(cos_page_header(page, "server", &out), "==", 0, "a header, whatever its case");
    is(out.data, "x", "is not that of a longer name");
    cos_page_header(page, "Set-Cookie", &out);
    is(out.data, "b=2", "the last of several, trimmed");
    cos_page_header(page, "Last", &out);
    is(out.data, "z", "also without a line end");
    cmp_ok(cos_page_header(page, "Empty", &out), "==", 0, "an empty value is a value");
    cmp_ok(out.len, "==", 0, "of length 0");
    cmp_ok(cos_page_header(page, "Serve", &out), "==", COS_ENOENT, "a part of a name is no name");
    cos_buf_release(&out);
}

static void another_try(struct cos_page *page)
{
    char spill[] = "/tmp/cos-page-XXXXXX";
    int fd = mkstemp(spill);
    close(fd);
    page->id = 7;
    page->depth = 3;
    page->tries = 2;
    page->status = 500;
    page->body.max = 1234;
    page->spill = strdup(spill);
    page->mime = strdup("text/html");
    cos_page_reset(page);
    ok(page->id == 7 && page->depth == 3 && page->tries == 2,
       "another try keeps what the frontier set");
    is(page->url, "http://h/", "and the URL");
    ok(!page->status && !page->mime && !page->nlinks && !page->head.len, "and forgets the answer");
    cmp_ok(page->body.max, "==", 1234, "but not the ceiling of the body");
    ok(access(spill, F_OK) != 0, "the spilled body is gone from the disk");
    cmp_ok(cos_page_add_link(page, "x", 1, COS_LINK_A, 0), "==", 0, "the page can be filled again");
}

int main(void)
{
    struct cos_page *page = cos_page_new("http://h/");
    plan(NO_PLAN);
    if (!page)
        BAIL_OUT("out of memory");
    links(page);
    headers(page);
    another_try(page);
    cos_page_free(page);
    cos_page_free(NULL);
    pass("a page and no page can be freed");
    done_testing();
}
