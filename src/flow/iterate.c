/* iterate.c - each, map, filter, reduce and their kin: each is a crew whose
 * step calls the user's function and files its answer. May call crew, base. */
#include "flow/flow.h"

#include "base/err.h"
#include "flow/crew.h"
#include "flow/list.h"

#include <stdlib.h>
#include <string.h>

/* What one call of a function of this file carries. */
struct walk {
    struct cos__crew crew;
    const struct cos_flow_list *list;
    cos_flow_fn *fn;
    void *arg;
    char *results;
    size_t result_size;
    unsigned char *yes; /* filter: the answers by index */
    int wanted;         /* some, every, detect: the answer that decides */
    int decided;
    size_t index;       /* detect: who decided */
};

static int take_array(struct cos__crew *crew, size_t *index, void *item)
{
    struct walk *walk = crew->self;
    (void)item;
    if (crew->next >= walk->list->count)
        return 0;
    *index = crew->next++;
    crew->dry = crew->next == walk->list->count;
    return 1;
}

static int take_generated(struct cos__crew *crew, size_t *index, void *item)
{
    struct walk *walk = crew->self;
    int got = walk->list->next(item, walk->list->arg);
    if (got > 0)
        *index = crew->next++;
    return got;
}

static const void *item_at(const struct walk *walk, size_t index, const void *item)
{
    if (walk->list->next)
        return item;
    return walk->list->items ? (const char *)walk->list->items + index * walk->list->size : NULL;
}

static int call(struct walk *walk, size_t index, const void *item, void *result)
{
    return walk->fn(item_at(walk, index, item), index, result, walk->arg);
}

static int run_walk(struct walk *walk, const struct cos_flow_list *list, int limit,
                    int (*step)(struct cos__crew *, size_t, const void *), int64_t deadline)
{
    walk->list = list;
    walk->crew.take = list->next ? take_generated : take_array;
    walk->crew.item_size = list->next ? list->size : 0;
    walk->crew.step = step;
    walk->crew.limit = limit;
    walk->crew.self = walk;
    return cos__crew_run(&walk->crew, deadline);
}

static int step_plain(struct cos__crew *crew, size_t index, const void *item)
{
    struct walk *walk = crew->self;
    void *slot = walk->results ? walk->results + index * walk->result_size : NULL;
    return call(walk, index, item, slot);
}

int cos_flow_each(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *arg,
                  int64_t deadline)
{
    struct walk walk = {.fn = fn, .arg = arg};
    return run_walk(&walk, list, limit, step_plain, deadline);
}

int cos_flow_map(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *results,
                 size_t result_size, void *arg, int64_t deadline)
{
    struct walk walk = {.fn = fn, .arg = arg, .results = results, .result_size = result_size};
    if (list->next)
        return COS_EINVAL;
    return run_walk(&walk, list, limit, step_plain, deadline);
}

int cos_flow_times(size_t count, int limit, cos_flow_fn *fn, void *results, size_t result_size,
                   void *arg, int64_t deadline)
{
    struct cos_flow_list list = {.count = count};
    return cos_flow_map(&list, limit, fn, results, result_size, arg, deadline);
}

static int step_reduce(struct cos__crew *crew, size_t index, const void *item)
{
    struct walk *walk = crew->self;
    return call(walk, index, item, walk->results);
}

int cos_flow_reduce(const struct cos_flow_list *list, cos_flow_fn *fn, void *memo, void *arg,
                    int64_t deadline)
{
    struct walk walk = {.fn = fn, .arg = arg, .results = memo};
    return run_walk(&walk, list, COS_FLOW_SERIES, step_reduce, deadline);
}

/* --- tests ------------------------------------------------------------------------ */

static int step_filter(struct cos__crew *crew, size_t index, const void *item)
{
    struct walk *walk = crew->self;
    int answer = call(walk, index, item, NULL);
    if (answer < 0)
        return answer;
    walk->yes[index] = (answer > 0) == walk->wanted;
    return 0;
}

static int sift(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, int wanted,
                void *out, size_t *kept, void *arg, int64_t deadline)
{
    struct walk walk = {.fn = fn, .arg = arg, .wanted = wanted};
    int err;
    *kept = 0;
    if (!cos__list_is_sized(list))
        return COS_EINVAL;
    if (list->count > COS__FLOW_COUNT_MAX)
        return COS_ETOOBIG;
    walk.yes = calloc(list->count + 1, 1);
    if (!walk.yes)
        return COS_ENOMEM;
    err = run_walk(&walk, list, limit, step_filter, deadline);
    for (size_t i = 0; !err && i < list->count; i++)
        if (walk.yes[i])
            memcpy((char *)out + (*kept)++ * list->size, item_at(&walk, i, NULL), list->size);
    free(walk.yes);
    return err;
}

int cos_flow_filter(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *out,
                    size_t *kept, void *arg, int64_t deadline)
{
    return sift(list, limit, fn, 1, out, kept, arg, deadline);
}

int cos_flow_reject(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *out,
                    size_t *kept, void *arg, int64_t deadline)
{
    return sift(list, limit, fn, 0, out, kept, arg, deadline);
}

static int step_decide(struct cos__crew *crew, size_t index, const void *item)
{
    struct walk *walk = crew->self;
    int answer = call(walk, index, item, NULL);
    if (answer < 0)
        return answer;
    if ((answer > 0) != walk->wanted)
        return 0;
    if (!walk->decided) {
        walk->decided = 1;
        walk->index = index;
    }
    return COS_ESTOP;
}

static int decide(struct walk *walk, const struct cos_flow_list *list, int limit, int wanted,
                  int64_t deadline)
{
    int err;
    walk->wanted = wanted;
    err = run_walk(walk, list, limit, step_decide, deadline);
    return err ? err : walk->decided;
}

int cos_flow_some(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *arg,
                  int64_t deadline)
{
    struct walk walk = {.fn = fn, .arg = arg};
    return decide(&walk, list, limit, 1, deadline);
}

int cos_flow_every(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *arg,
                   int64_t deadline)
{
    struct walk walk = {.fn = fn, .arg = arg};
    int rc = decide(&walk, list, limit, 0, deadline);
    return rc < 0 ? rc : !rc;
}

int cos_flow_detect(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, size_t *index,
                    void *arg, int64_t deadline)
{
    struct walk walk = {.fn = fn, .arg = arg};
    int rc = decide(&walk, list, limit, 1, deadline);
    if (rc > 0)
        *index = walk.index;
    return rc;
}

/* --- concat ----------------------------------------------------------------------- */

static int step_concat(struct cos__crew *crew, size_t index, const void *item)
{
    struct walk *walk = crew->self;
    return call(walk, index, item, (struct cos_buf *)walk->results + index);
}

/* All of the parts or none: a failed join leaves out as it was. */
static int join(struct cos_buf *out, const struct cos_buf *parts, size_t count)
{
    size_t before = out->len;
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        if (parts[i].len)
            err = cos_buf_add(out, parts[i].data, parts[i].len);
    if (err) {
        out->len = before;
        if (out->data)
            out->data[before] = 0;
    }
    return err;
}

int cos_flow_concat(const struct cos_flow_list *list, int limit, cos_flow_fn *fn,
                    struct cos_buf *out, void *arg, int64_t deadline)
{
    struct walk walk = {.fn = fn, .arg = arg};
    struct cos_buf *parts;
    int err;
    if (list->next)
        return COS_EINVAL;
    if (list->count > COS__FLOW_COUNT_MAX)
        return COS_ETOOBIG;
    parts = calloc(list->count + 1, sizeof *parts);
    if (!parts)
        return COS_ENOMEM;
    for (size_t i = 0; i < list->count; i++)
        cos_buf_init(&parts[i], out->max);
    walk.results = (char *)parts;
    err = run_walk(&walk, list, limit, step_concat, deadline);
    if (!err)
        err = join(out, parts, list->count);
    for (size_t i = 0; i < list->count; i++)
        cos_buf_release(&parts[i]);
    free(parts);
    return err;
}
