/* backlog.c - ring or binary heap over one array that doubles (backlog.h).
 * A ring and not a shifted array: taking the first of 100,000 items costs the
 * same as taking the first of ten. */
#include "flow/backlog.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void cos__backlog_init(struct cos__backlog *backlog, size_t max, int by_priority)
{
    *backlog = (struct cos__backlog){.max = max, .by_priority = by_priority};
}

void cos__backlog_release(struct cos__backlog *backlog)
{
    free(backlog->at);
    cos__backlog_init(backlog, backlog->max, backlog->by_priority);
}

static int grow(struct cos__backlog *backlog)
{
    size_t cap = backlog->cap ? backlog->cap * 2 : 64;
    size_t first = backlog->cap - backlog->head;
    struct cos__entry *at = cap <= SIZE_MAX / sizeof *at ? malloc(cap * sizeof *at) : NULL;
    if (!at)
        return COS_ENOMEM;
    if (first > backlog->count)
        first = backlog->count;
    if (backlog->count) {
        memcpy(at, backlog->at + backlog->head, first * sizeof *at);
        memcpy(at + first, backlog->at, (backlog->count - first) * sizeof *at);
    }
    free(backlog->at);
    backlog->at = at;
    backlog->cap = cap;
    backlog->head = 0;
    return 0;
}

static int before(const struct cos__entry *a, const struct cos__entry *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->turn < b->turn;
}

static void sift_up(struct cos__entry *at, size_t i)
{
    struct cos__entry moved = at[i];
    while (i && before(&moved, &at[(i - 1) / 2])) {
        at[i] = at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    at[i] = moved;
}

static void sift_down(struct cos__entry *at, size_t count)
{
    struct cos__entry moved = at[0];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < count) {
        if (child + 1 < count && before(&at[child + 1], &at[child]))
            child++;
        if (!before(&at[child], &moved))
            break;
        at[i] = at[child];
        i = child;
    }
    at[i] = moved;
}

int cos__backlog_grow(struct cos__backlog *backlog)
{
    return backlog->count >= backlog->max ? COS_EFULL : grow(backlog);
}

void cos__backlog_put_sorted(struct cos__backlog *backlog, const struct cos__entry *entry)
{
    backlog->at[backlog->count] = *entry;
    sift_up(backlog->at, backlog->count);
}

/* The first one has been read, and count is that of those that remain. */
void cos__backlog_take_sorted(struct cos__backlog *backlog)
{
    if (!backlog->count)
        return;
    backlog->at[0] = backlog->at[backlog->count];
    sift_down(backlog->at, backlog->count);
}
