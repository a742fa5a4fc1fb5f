/* cps_flow.c - each, map, filter, reduce and their kin, and the loops, in
 * callbacks: each is a crew that files the answers its own way. */
#include "cps_crew.h"

#include "flow/list.h"

#include <stdlib.h>
#include <string.h>

static int take_item(struct cps__crew *crew, struct cps__slot *slot)
{
    if (crew->list.next) {
        int got = crew->ended ? 0 : crew->list.next(slot->item, crew->list.arg);
        if (got > 0)
            slot->index = crew->next++;
        else
            crew->ended = 1; /* and is not asked again */
        return got;
    }
    if (crew->next >= crew->list.count)
        return 0;
    slot->index = crew->next++;
    return 1;
}

static const void *item_of(const struct cps__crew *crew, const struct cps__slot *slot)
{
    if (crew->list.next)
        return slot->item;
    return crew->list.items ? (const char *)crew->list.items + slot->index * crew->list.size : NULL;
}

static void launch_fn(struct cps__crew *crew, struct cps__slot *slot)
{
    void *result = crew->parts ? (void *)&crew->parts[slot->index]
                               : cps__crew_slot(crew, slot->index);
    crew->fn(crew->rt, item_of(crew, slot), slot->index, crew->yes ? NULL : result, crew->fnarg,
             cps__crew_landed, slot);
}

static int land_plain(struct cps__crew *crew, struct cps__slot *slot, int err)
{
    (void)crew;
    (void)slot;
    return err > 0 ? 0 : err;
}

static int land_filter(struct cps__crew *crew, struct cps__slot *slot, int answer)
{
    if (answer < 0)
        return answer;
    crew->yes[slot->index] = (answer > 0) == crew->wanted;
    return 0;
}

/* Moves the kept items together in the copy of the list, which is ours. */
static int close_filter(struct cps__crew *crew, int err)
{
    char *items = crew->own_items;
    size_t size = crew->list.size;
    crew->result.count = 0;
    for (size_t i = 0; i < crew->list.count; i++)
        if (crew->yes[i])
            memcpy((char *)crew->result.values + crew->result.count++ * size, items + i * size,
                   size);
    return err;
}

static int land_decide(struct cps__crew *crew, struct cps__slot *slot, int answer)
{
    if (answer < 0)
        return answer;
    if ((answer > 0) != crew->wanted)
        return 0;
    crew->result.answer = !crew->result.answer;
    crew->result.index = slot->index;
    return COS_ESTOP;
}

static int close_concat(struct cps__crew *crew, int err)
{
    for (size_t i = 0; !err && i < crew->count; i++)
        if (crew->parts[i].len)
            err = cos_buf_add(&crew->joined, crew->parts[i].data, crew->parts[i].len);
    crew->result.values = NULL;
    if (!err)
        crew->result.values = cos_buf_take(&crew->joined, &crew->result.count);
    return err;
}

static const struct cps__crew_type plain = {take_item, launch_fn, land_plain, NULL, NULL};
static const struct cps__crew_type filter = {take_item, launch_fn, land_filter, close_filter,
                                             NULL};
static const struct cps__crew_type deciding = {take_item, launch_fn, land_decide, NULL, NULL};
static const struct cps__crew_type concat = {take_item, launch_fn, land_plain, close_concat,
                                             NULL};

/* The list is copied: it need not outlive the call. */
static struct cps__crew *walk(struct cps_rt *rt, const struct cps__crew_type *type,
                              const struct cos_flow_list *list, int limit, cps_flow_fn *fn,
                              void *fnarg)
{
    struct cps__crew *crew = cps__crew_new(rt, type, limit);
    size_t bytes = 0;
    if (!crew)
        return NULL;
    crew->list = *list;
    crew->fn = fn;
    crew->fnarg = fnarg;
    crew->item_size = list->next ? list->size : 0;
    if (list->next || !list->items)
        return crew;
    if (__builtin_mul_overflow(list->count, list->size, &bytes))
        cps__crew_refuse(crew, COS_ETOOBIG);
    if (crew->wrong || !bytes)
        return crew;
    crew->own_items = malloc(bytes);
    if (!crew->own_items) {
        cps__crew_refuse(crew, COS_ENOMEM);
        return crew;
    }
    memcpy(crew->own_items, list->items, bytes);
    crew->list.items = crew->own_items;
    return crew;
}

int64_t cps_flow_each(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                      cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    return cps__crew_begin(walk(rt, &plain, list, limit, fn, fnarg), rt, deadline, cb, arg);
}

int64_t cps_flow_map(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                     cps_flow_fn *fn, size_t result_size, void *fnarg, int64_t deadline,
                     cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = walk(rt, &plain, list, limit, fn, fnarg);
    if (crew && list->next)
        cps__crew_refuse(crew, COS_EINVAL);
    else if (crew && !cps__crew_results(crew, list->count, result_size))
        crew->result.count = list->count;
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

int64_t cps_flow_times(struct cps_rt *rt, size_t count, int limit, cps_flow_fn *fn,
                       size_t result_size, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                       void *arg)
{
    struct cos_flow_list list = {.count = count};
    return cps_flow_map(rt, &list, limit, fn, result_size, fnarg, deadline, cb, arg);
}

static int64_t sift(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                    cps_flow_fn *fn, int wanted, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                    void *arg)
{
    struct cps__crew *crew = walk(rt, &filter, list, limit, fn, fnarg);
    if (crew) {
        crew->wanted = wanted;
        if (!cos__list_is_sized(list))
            cps__crew_refuse(crew, COS_EINVAL);
        else if (list->count > COS__FLOW_COUNT_MAX)
            cps__crew_refuse(crew, COS_ETOOBIG);
        else if (!(crew->yes = calloc(list->count + 1, 1)))
            cps__crew_refuse(crew, COS_ENOMEM);
        else
            cps__crew_results(crew, list->count, list->size ? list->size : 1);
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

int64_t cps_flow_filter(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                        cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                        void *arg)
{
    return sift(rt, list, limit, fn, 1, fnarg, deadline, cb, arg);
}

int64_t cps_flow_reject(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                        cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                        void *arg)
{
    return sift(rt, list, limit, fn, 0, fnarg, deadline, cb, arg);
}

/* start is the answer of a list where nobody decided. */
static int64_t decide(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                      cps_flow_fn *fn, int wanted, int start, void *fnarg, int64_t deadline,
                      cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = walk(rt, &deciding, list, limit, fn, fnarg);
    if (crew) {
        crew->wanted = wanted;
        crew->result.answer = start;
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

int64_t cps_flow_some(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                      cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    return decide(rt, list, limit, fn, 1, 0, fnarg, deadline, cb, arg);
}

int64_t cps_flow_every(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                       cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    return decide(rt, list, limit, fn, 0, 1, fnarg, deadline, cb, arg);
}

int64_t cps_flow_detect(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                        cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                        void *arg)
{
    return decide(rt, list, limit, fn, 1, 0, fnarg, deadline, cb, arg);
}

int64_t cps_flow_concat(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                        cps_flow_fn *fn, size_t max, void *fnarg, int64_t deadline,
                        cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = walk(rt, &concat, list, limit, fn, fnarg);
    if (crew) {
        if (list->next)
            cps__crew_refuse(crew, COS_EINVAL);
        else if (list->count > COS__FLOW_COUNT_MAX)
            cps__crew_refuse(crew, COS_ETOOBIG);
        else if (!(crew->parts = calloc(list->count + 1, sizeof *crew->parts)))
            cps__crew_refuse(crew, COS_ENOMEM);
        crew->count = crew->parts ? list->count : 0;
        cos_buf_init(&crew->joined, max);
        for (size_t i = 0; i < crew->count; i++)
            cos_buf_init(&crew->parts[i], max);
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

int64_t cps_flow_reduce(struct cps_rt *rt, const struct cos_flow_list *list, cps_flow_fn *fn,
                        const void *memo, size_t size, void *fnarg, int64_t deadline,
                        cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = walk(rt, &plain, list, COS_FLOW_SERIES, fn, fnarg);
    if (crew && !cps__crew_results(crew, 1, size ? size : 1)) {
        if (size)
            memcpy(crew->result.values, memo, size);
        crew->result_size = 0; /* every item has the same slot */
        crew->result.count = 1;
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

/* --- loops ------------------------------------------------------------------------ */

static int take_turn(struct cps__crew *crew, struct cps__slot *slot)
{
    int answer = crew->test ? crew->test(crew->tasks->arg) : crew->wanted;
    if (answer < 0)
        return answer;
    if ((answer > 0) != crew->wanted)
        return 0;
    slot->index = crew->next++;
    return 1;
}

static void launch_body(struct cps__crew *crew, struct cps__slot *slot)
{
    crew->tasks->run(crew->rt, NULL, crew->tasks->arg, cps__crew_landed, slot);
}

static const struct cps__crew_type loop = {take_turn, launch_body, land_plain, NULL, NULL};

static int64_t spin(struct cps_rt *rt, int (*test)(void *arg), const struct cps_flow_task *body,
                    int wanted, int64_t deadline, cps_flow_cb *cb, void *arg)
{
    struct cps__crew *crew = cps__crew_new(rt, &loop, 1);
    if (crew) {
        crew->test = test;
        crew->wanted = wanted;
        crew->own_items = crew->tasks = malloc(sizeof *body);
        if (crew->tasks)
            *crew->tasks = *body;
        else
            cps__crew_refuse(crew, COS_ENOMEM);
    }
    return cps__crew_begin(crew, rt, deadline, cb, arg);
}

int64_t cps_flow_whilst(struct cps_rt *rt, int (*test)(void *arg), const struct cps_flow_task *body,
                        int64_t deadline, cps_flow_cb *cb, void *arg)
{
    return spin(rt, test, body, 1, deadline, cb, arg);
}

int64_t cps_flow_until(struct cps_rt *rt, int (*test)(void *arg), const struct cps_flow_task *body,
                       int64_t deadline, cps_flow_cb *cb, void *arg)
{
    return spin(rt, test, body, 0, deadline, cb, arg);
}

int64_t cps_flow_forever(struct cps_rt *rt, const struct cps_flow_task *body, int64_t deadline,
                         cps_flow_cb *cb, void *arg)
{
    return spin(rt, NULL, body, 1, deadline, cb, arg);
}
