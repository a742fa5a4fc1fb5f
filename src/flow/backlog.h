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
int cos__backlog_grow(struct cos__backlog *backlog);
void cos__backlog_put_sorted(struct cos__backlog *backlog, const struct cos__entry *entry);
void cos__backlog_take_sorted(struct cos__backlog *backlog);

/* What follows is the way of every task of a queue, hence inline. */

/* Makes sure that one more fits: 0, COS_EFULL, COS_ENOMEM. */
static inline int cos__backlog_room(struct cos__backlog *backlog)
{
    if (__builtin_expect(backlog->count == backlog->cap || backlog->count >= backlog->max, 0))
        return cos__backlog_grow(backlog);
    return 0;
}

/* Room has been made. The task is one that a producer who had to wait has brought
 * along; its hook is the backlog's from here on. */
static inline void cos__backlog_push_as(struct cos__backlog *backlog, void *item,
                                        int64_t priority, struct cos__hook *hook)
{
    struct cos__entry entry = {item, priority, backlog->turns++, hook};
    if (backlog->by_priority)
        cos__backlog_put_sorted(backlog, &entry);
    else
        backlog->at[(backlog->head + backlog->count) & (backlog->cap - 1)] = entry;
    backlog->count++;
}

/* Room has been made. The hooks see a task that is created here. */
static inline void cos__backlog_push(struct cos__backlog *backlog, void *item, int64_t priority)
{
    struct cos__hook *hook;
    COS_HOOK(init, &hook, COS_HOOK_QUEUE_TASK, NULL, NULL);
    cos__backlog_push_as(backlog, item, priority, hook);
}

/* 1 and the next item, or 0. */
static inline int cos__backlog_pop(struct cos__backlog *backlog, void **item)
{
    const struct cos__entry *first;
    if (!backlog->count)
        return 0;
    first = &backlog->at[backlog->head];
    *item = first->item;
    backlog->popped = first->hook;
    backlog->count--;
    if (backlog->by_priority)
        cos__backlog_take_sorted(backlog);
    else
        backlog->head = (backlog->head + 1) & (backlog->cap - 1);
    return 1;
}

/* Ends the hook of an item that was popped and will not run on its own. */
static inline void cos__backlog_dismiss(struct cos__backlog *backlog)
{
    COS_HOOK(destroy, &backlog->popped);
}

#endif
