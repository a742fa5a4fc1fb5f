/* list.h - what both faces ask of a list before they go over it. */
#ifndef COS_FLOW_LIST_H
#define COS_FLOW_LIST_H

#include "flow/flow.h"

/* Items of one call whose answers are all kept (filter, concat). */
enum { COS__FLOW_COUNT_MAX = 1 << 28 };

/* Items that can be copied: an array, or nothing at all. */
static inline int cos__list_is_sized(const struct cos_flow_list *list)
{
    return !list->next && (list->items || !list->count);
}

#endif
