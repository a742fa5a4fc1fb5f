/* backlog.h - what waits in a queue: a ring (first in, first out) or a heap (by
 * priority). No coroutines here: both faces use it. */
#ifndef COS_FLOW_BACKLOG_H
#define COS_FLOW_BACKLOG_H

#include <stddef.h>
#include <stdint.h>

struct cos__entry {
    void *item;
    int64_t priority;
    uint64_t turn;   /* order of pushing: equal priorities stay in it */
};

struct cos__backlog {
    struct cos__entry *at;
    size_t cap;      /* a power of two, or 0 */
    size_t head;     /* ring only */
    size_t count;
    size_t max;
    uint64_t turns;
    int by_priority;
};

void cos__backlog_init(struct cos__backlog *backlog, size_t max, int by_priority);
void cos__backlog_release(struct cos__backlog *backlog);
/* Makes sure that one more fits: 0, COS_EFULL, COS_ENOMEM. */
int cos__backlog_room(struct cos__backlog *backlog);
/* 0 or what cos__backlog_room says. */
int cos__backlog_push(struct cos__backlog *backlog, void *item, int64_t priority);
/* 1 and the next item, or 0. */
int cos__backlog_pop(struct cos__backlog *backlog, void **item);

#endif
