/* rewrite_tag.h - what of a tag goes when its reference becomes a file. */
#ifndef COS_WEB_REWRITE_TAG_H
#define COS_WEB_REWRITE_TAG_H

#include <stddef.h>

enum { COS__CUTS = 4 };

/* A piece of the text that is left out. */
struct cos__cut {
    size_t from, to;
};

/* The attributes crossorigin and integrity of the tag of that element (lower case)
 * which holds the offset at, ascending; how many. */
size_t cos__tag_guards(const char *data, size_t len, size_t at, const char *element,
                       struct cos__cut cuts[COS__CUTS]);

#endif
