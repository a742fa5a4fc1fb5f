/* backlog.h - what waits in a queue: a ring (first in, first out) or a heap (by
 * priority). No coroutines here: both faces use it. */
#ifndef COS_FLOW_BACKLOG_H
#define COS_FLOW_BACKLOG_H

#include "base/emit.h"

#include <stddef.h>
#include <stdint.h>

struct cos__entry {
    void *item;
    int64_t priority;
    uint64_t turn;   /* order of pushing: equal priorities stay in it */
    struct cos__hook *hook;
};

struct cos__backlog {
    struct cos__entry *at;
    size_t cap;      /* a power of two, or 0 */
    size_t head;     /* ring only */
    size_t count;
    size_t max;
    uint64_t turns;
    int by_priority;
    struct cos__hook *popped; /* the hook of the item popped last: the popper's to end */
};

void cos__backlog_init(struct cos__backlog *backlog, size_t max, int by_priority);
void cos__backlog_release(struct cos__backlog *backlog);
/* Makes sure that one more fits: 0, COS_EFULL, COS_ENOMEM. */
int cos__backlog_room(struct cos__backlog *backlog);
/* 0 or what cos__backlog_room says. The hooks see a task that is created here, or
 * the one that a producer who had to wait has brought along. */
int cos__backlog_push(struct cos__backlog *backlog, void *item, int64_t priority);
int cos__backlog_push_as(struct cos__backlog *backlog, void *item, int64_t priority,
                         struct cos__hook *hook);
/* 1 and the next item, or 0. */
int cos__backlog_pop(struct cos__backlog *backlog, void **item);

/* Ends the hook of an item that was popped and will not run on its own. */
static inline void cos__backlog_dismiss(struct cos__backlog *backlog)
{
    COS_HOOK(destroy, &backlog->popped);
}

#endif
