/* pages.h - pages like those of the web, made from a seed: the same bytes on
 * every machine, so that numbers can be compared. */
#ifndef COS_BENCH_PAGES_H
#define COS_BENCH_PAGES_H

#include "base/buf.h"

enum bench_page { PAGE_ARTICLE, PAGE_SHOP, PAGE_DOCS, PAGE_WIKI, PAGE_APP, PAGE_OLD, PAGE_COUNT };

extern const char *const bench_page_names[PAGE_COUNT];

/* Appends a page of that sort of about bytes. 0 or the error of cos_buf_add. */
int bench_page(struct cos_buf *out, enum bench_page sort, size_t bytes, unsigned seed);

#endif
