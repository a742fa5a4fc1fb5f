/* page.c - the life of struct cos_page. What fills it lives in web and store. */
#include "base/page.h"

#include "base/err.h"
#include "base/wire.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { HEAD_MAX = 256 * 1024, LINK_TEXT_MAX = 64 * 1024 * 1024, LINKS_MAX = 1000000 };
enum { LINKS_FIRST = 64 };

static void set_ceilings(struct cos_page *page)
{
    page->head.max = HEAD_MAX;
    page->link_text.max = LINK_TEXT_MAX;
}

struct cos_page *cos_page_new(const char *url)
{
    struct cos_page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->url = strdup(url);
    if (!page->url) {
        free(page);
        return NULL;
    }
    set_ceilings(page);
    return page;
}

static void release_answer(struct cos_page *page)
{
    if (page->spill)
        unlink(page->spill);
    free(page->why);
    free(page->spill);
    free(page->mime);
    free(page->charset);
    free(page->location);
    free(page->etag);
    free(page->modified);
    free(page->links);
    free(page->title);
    free(page->canonical);
    free(page->path);
    cos_wire_free(page->wire);
    cos_buf_release(&page->head);
    cos_buf_release(&page->body);
    cos_buf_release(&page->link_text);
}

void cos_page_free(struct cos_page *page)
{
    if (!page)
        return;
    release_answer(page);
    free(page->url);
    free(page);
}

struct cos_page *cos_page_take(struct cos_page *page)
{
    struct cos_page *taken = malloc(sizeof *taken);
    if (!taken)
        return NULL;
    *taken = *page;
    *page = (struct cos_page){0};
    set_ceilings(page);
    return taken;
}

void cos_page_reset(struct cos_page *page)
{
    struct cos_page fresh = {.url = page->url, .id = page->id, .referrer = page->referrer,
                             .depth = page->depth, .tries = page->tries};
    fresh.head = page->head;
    fresh.body = page->body;
    fresh.link_text = page->link_text;
    page->head = page->body = page->link_text = (struct cos_buf){0};
    release_answer(page);
    *page = fresh;
    cos_buf_clear(&page->head);
    cos_buf_clear(&page->body);
    cos_buf_clear(&page->link_text);
    set_ceilings(page);
}

int cos_page_header(const struct cos_page *page, const char *name, struct cos_buf *out)
{
    const char *at = page->head.data ? page->head.data : "";
    const char *end = at + page->head.len, *found = NULL, *stop = NULL;
    size_t n = strlen(name);
    while (at < end) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        const char *next = eol ? eol + 1 : end;
        if ((size_t)(next - at) > n && at[n] == ':' && !strncasecmp(at, name, n)) {
            found = at + n + 1;
            stop = next;
        }
        at = next;
    }
    if (!found)
        return COS_ENOENT;
    while (found < stop && (*found == ' ' || *found == '\t'))
        found++;
    while (stop > found && strchr(" \t\r\n", stop[-1]))
        stop--;
    cos_buf_clear(out);
    return cos_buf_add(out, found, (size_t)(stop - found));
}

const char *cos_page_link(const struct cos_page *page, size_t i)
{
    return page->link_text.data + page->links[i].text;
}

int cos_page_add_link(struct cos_page *page, const char *url, size_t len, int kind, int flags)
{
    struct cos_link *link;
    int err;
    if (page->nlinks >= LINKS_MAX)
        return COS_ETOOBIG;
    /* Room doubles at each power of two from the first on: no capacity field to
     * keep. */
    if (!page->nlinks ||
        (page->nlinks >= LINKS_FIRST && (page->nlinks & (page->nlinks - 1)) == 0)) {
        size_t room = page->nlinks ? page->nlinks * 2 : LINKS_FIRST;
        struct cos_link *more = realloc(page->links, room * sizeof *more);
        if (!more)
            return COS_ENOMEM;
        page->links = more;
    }
    link = &page->links[page->nlinks];
    *link = (struct cos_link){.text = (uint32_t)page->link_text.len, .len = (uint32_t)len,
                              .kind = (uint8_t)kind, .flags = (uint8_t)flags};
    err = cos_buf_reserve(&page->link_text, len + 1);
    if (err)
        return err;
    memcpy(page->link_text.data + page->link_text.len, url, len);
    memset(page->link_text.data + page->link_text.len + len, 0, 2);
    page->link_text.len += len + 1;
    page->nlinks++;
    return 0;
}
