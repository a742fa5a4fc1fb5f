/* place.h - which file a page is kept in, with -E and -nH. */
#ifndef COS_CRAWL_PLACE_H
#define COS_CRAWL_PLACE_H

#include "base/buf.h"
#include "web/url.h"

/* A small number for a type (lower or upper case, no parameters; may be NULL)
 * whose files should be named after it; 0 for all others. */
int cos__place_type(const char *mime);
/* The path below the crawl directory. type: what cos__place_type() said with -E,
 * else 0. Errors as cos_path_from_url_opt(). */
int cos__place(const struct cos_url *url, int type, int no_host, struct cos_buf *out);

#endif
