/* waits.h - operations that stand in a line until somebody lets them go on:
 * listeners of a future, calls at a gate, producers at a full queue. Leaving the
 * line from its middle costs the same as from its head: a thousand waiters whose
 * deadline passes at once would otherwise walk the line a thousand times. */
#ifndef COS_FLOW_WAITS_H
#define COS_FLOW_WAITS_H

#include "base/op.h"

struct cos__wait {
    struct cos_op op;
    struct cos__wait *next, **at; /* at: what points to this one; NULL: in no line */
};

struct cos__waits {
    struct cos__wait *first, **end;
    size_t count;
};

static inline void cos__waits_init(struct cos__waits *waits)
{
    waits->first = NULL;
    waits->end = &waits->first;
    waits->count = 0;
}

static inline void cos__waits_add(struct cos__waits *waits, struct cos__wait *wait)
{
    wait->next = NULL;
    wait->at = waits->end;
    *waits->end = wait;
    waits->end = &wait->next;
    waits->count++;
}

/* Fine when it stands in no line. */
static inline void cos__waits_remove(struct cos__waits *waits, struct cos__wait *wait)
{
    if (!wait->at)
        return;
    *wait->at = wait->next;
    if (wait->next)
        wait->next->at = wait->at;
    else
        waits->end = wait->at;
    wait->at = NULL;
    waits->count--;
}

/* The first one, out of the line; or NULL. */
static inline struct cos__wait *cos__waits_take(struct cos__waits *waits)
{
    struct cos__wait *wait = waits->first;
    if (wait)
        cos__waits_remove(waits, wait);
    return wait;
}

#endif
