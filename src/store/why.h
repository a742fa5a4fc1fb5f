/* why.h - what the crawl database knows about one URL, for people. */
#ifndef COS_STORE_WHY_H
#define COS_STORE_WHY_H

#include "base/buf.h"

/* Appends a few lines to *out: what happened to the URL (serialised, without
 * fragment), which rule decided, and on which pages it was found. Only reads;
 * works while a crawl runs. Blocks. COS_ENOENT: no such crawl, or the URL was
 * never seen; COS_EDB; then *out is the sentence for that. */
int cos_why(const char *dir, const char *url, struct cos_buf *out);

#endif
