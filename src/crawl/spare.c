/* spare.c - buffers that go from a page that ended to the next one. Without
 * them each body is memory the kernel has to clear and map first: five page
 * faults for 20 KB. */
#include "crawl/crawl_int.h"

static void keep(struct cos_buf *to, struct cos_buf *from)
{
    size_t max = from->max;
    if (from->cap > COS__SPARE_MAX)
        cos_buf_release(from);
    cos_buf_clear(from);
    *to = *from;
    *from = (struct cos_buf){.max = max};
}

void cos__spare_give(struct cos__crawl *c, struct cos_page *page)
{
    struct cos__spare *spare;
    if (c->nspares == COS__SPARES)
        return;
    spare = &c->spares[c->nspares++];
    keep(&spare->head, &page->head);
    keep(&spare->body, &page->body);
    keep(&spare->link_text, &page->link_text);
}

void cos__spare_take(struct cos__crawl *c, struct cos_page *page)
{
    struct cos__spare *spare;
    if (!c->nspares)
        return;
    spare = &c->spares[--c->nspares];
    page->head = spare->head;
    page->body = spare->body;
    page->link_text = spare->link_text;
}

void cos__spare_release(struct cos__crawl *c)
{
    while (c->nspares) {
        struct cos__spare *spare = &c->spares[--c->nspares];
        cos_buf_release(&spare->head);
        cos_buf_release(&spare->body);
        cos_buf_release(&spare->link_text);
    }
}
