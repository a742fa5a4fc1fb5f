/* rewrite_tag.h - what of a tag goes when its reference becomes a file. */
#ifndef COS_WEB_REWRITE_TAG_H
#define COS_WEB_REWRITE_TAG_H

#include <stddef.h>

enum { COS__CUTS = 4 };

/* A piece of the text that is left out. */
struct cos__cut {
    size_t from, to;
};

/* The attributes crossorigin and integrity of the tag whose name, name_len long, is
 * at that offset; ascending; how many. */
size_t cos__tag_guards(const char *data, size_t len, size_t tag, size_t name_len,
                       struct cos__cut cuts[COS__CUTS]);

#endif
