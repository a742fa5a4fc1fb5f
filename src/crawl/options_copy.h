/* options_copy.h - a crawl's options that outlive those they were copied from. */
#ifndef COS_CRAWL_OPTIONS_COPY_H
#define COS_CRAWL_OPTIONS_COPY_H

#include "base/arena.h"
#include "crawl/options.h"

struct cos__options_copy {
    struct cos_crawl_options options;
    struct cos_arena arena; /* all strings and lists */
};

/* A copy with every string and list of its own. COS_ENOMEM, COS_ETOOBIG: then
 * there is nothing to release. */
int cos__options_copy(struct cos__options_copy *copy, const struct cos_crawl_options *from);
void cos__options_copy_release(struct cos__options_copy *copy);

#endif
