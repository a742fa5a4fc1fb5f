/* flow.h - control flow over any job, on the coroutine face.
 *
 * A job is a plain function that may suspend. The functions here run jobs one
 * after the other, side by side, or side by side with a limit, and return when
 * all is done, at the first error, or at the deadline. They mirror the callback
 * twins in coscrawl-cps.h (cps_flow_*) name by name.
 *
 * Rules that hold for every function:
 *   - it returns exactly one outcome: 0, or the first negative cos_err;
 *   - nothing new is started after the first error; what still runs is
 *     cancelled before the function returns;
 *   - results stand in the order of the input, whatever finished first;
 *   - a job that returns COS_ESTOP ends the loop early: no error, results so far;
 *   - an empty list is a success;
 *   - what a job returns above 0 counts as 0, except where it is an answer;
 *   - limit is how many jobs may run at once: COS_FLOW_SERIES is one,
 *     COS_FLOW_ALL is all of them; 0 or less is COS_EINVAL, and more than
 *     COS_FLOW_MAX at once are COS_ETOOBIG;
 *   - deadline is absolute milliseconds as in libdill: -1 waits for ever, 0 runs
 *     what need not wait; when it passes, what runs is cancelled and the outcome
 *     is COS_ETIMEDOUT. It is looked at between jobs that never suspend, too.
 * All of them may suspend, return COS_ECANCELED when the calling coroutine is
 * being closed, and COS_ECONTEXT inside a callback. Jobs run on coroutine stacks,
 * except where limit is 1 and deadline -1: then they run on the caller's. */
#ifndef COS_FLOW_FLOW_H
#define COS_FLOW_FLOW_H

#include "base/buf.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COS_FLOW_SERIES = 1,
    COS_FLOW_ALL = INT_MAX,
    COS_FLOW_MAX = 16384,      /* coroutines of one call side by side */
    COS_FLOW_ITEM_MAX = 4096,  /* bytes of one generated item */
};

/* What to go over: count items of size bytes each, or a generator. next() fills
 * *item (size bytes) and returns 1, or 0 at the end, after which it is not asked
 * again, or a negative error; it must not suspend. Items of a generator are
 * copied for their job. */
struct cos_flow_list {
    const void *items;
    size_t count;
    size_t size;
    int (*next)(void *item, void *arg);
    void *arg;
};
#define COS_FLOW_ARRAY(array) \
    ((struct cos_flow_list){(array), sizeof(array) / sizeof((array)[0]), sizeof((array)[0]), 0, 0})

/* One job per item. result is its slot in the results (NULL where there are
 * none). Returns 0, COS_ESTOP or a negative error; a test (filter, some …)
 * returns 1 for yes and 0 for no. */
typedef int cos_flow_fn(const void *item, size_t index, void *result, void *arg);

/* Runs fn for each item. */
int cos_flow_each(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *arg,
                  int64_t deadline);
/* Runs fn for 0 … count-1 with item NULL; results as in map (may be NULL, 0). */
int cos_flow_times(size_t count, int limit, cos_flow_fn *fn, void *results, size_t result_size,
                   void *arg, int64_t deadline);
/* results[i] is what fn made of item i. The list may not be a generator. */
int cos_flow_map(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *results,
                 size_t result_size, void *arg, int64_t deadline);
/* Copies the items for which fn says yes (reject: no) to out, in their order;
 * *kept is how many. out has room for the whole list. */
int cos_flow_filter(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *out,
                    size_t *kept, void *arg, int64_t deadline);
int cos_flow_reject(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *out,
                    size_t *kept, void *arg, int64_t deadline);
/* 1 when fn says yes for any item (every: for all), 0 when not. Stops at the
 * first item that decides. */
int cos_flow_some(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *arg,
                  int64_t deadline);
int cos_flow_every(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, void *arg,
                   int64_t deadline);
/* 1 and *index of an item for which fn says yes (the first in time), or 0. */
int cos_flow_detect(const struct cos_flow_list *list, int limit, cos_flow_fn *fn, size_t *index,
                    void *arg, int64_t deadline);
/* fn appends any number of bytes to its own buffer (result is a struct cos_buf *,
 * ceiling that of out); out gets them joined in the order of the list. */
int cos_flow_concat(const struct cos_flow_list *list, int limit, cos_flow_fn *fn,
                    struct cos_buf *out, void *arg, int64_t deadline);
/* Folds in series: result is memo, which every call may change. */
int cos_flow_reduce(const struct cos_flow_list *list, cos_flow_fn *fn, void *memo, void *arg,
                    int64_t deadline);

/* Loops. test returns 1 to go on, 0 to end, or an error. */
int cos_flow_whilst(int (*test)(void *arg), int (*body)(void *arg), void *arg, int64_t deadline);
int cos_flow_until(int (*test)(void *arg), int (*body)(void *arg), void *arg, int64_t deadline);
/* Ends only by an error of body; COS_ESTOP ends it well (0). */
int cos_flow_forever(int (*body)(void *arg), void *arg, int64_t deadline);

/* A job that stands alone. */
struct cos_flow_task {
    int (*run)(void *result, void *arg);
    void *arg;
};
/* One after the other, or side by side; results[i] belongs to task i. */
int cos_flow_series(const struct cos_flow_task *tasks, size_t count, void *results,
                    size_t result_size, int64_t deadline);
int cos_flow_parallel(const struct cos_flow_task *tasks, size_t count, int limit, void *results,
                      size_t result_size, int64_t deadline);
/* One after the other; result is the value that every task reads and changes. */
int cos_flow_waterfall(const struct cos_flow_task *tasks, size_t count, void *value,
                       int64_t deadline);
/* All at once; ends when k of them have finished, or at the first error: an
 * error wins too. winners (room for k, may be NULL) gets their indices in the
 * order they came in; a stop may leave some of them SIZE_MAX. k above count is
 * COS_EINVAL; k = 0 starts nothing. */
int cos_flow_race(const struct cos_flow_task *tasks, size_t count, size_t k, size_t *winners,
                  void *results, size_t result_size, int64_t deadline);
/* One after the other until one succeeds: *winner is its index; SIZE_MAX when
 * there was none to try, or a stop. All failed: the last error. COS_ECANCELED is
 * no failure of a task's and ends it. */
int cos_flow_try_each(const struct cos_flow_task *tasks, size_t count, size_t *winner,
                      void *results, size_t result_size, int64_t deadline);

/* A graph: a node runs once all nodes named in needs (NULL-terminated, or NULL)
 * have succeeded. Unknown names, doubles and circles are COS_EINVAL, and nothing
 * has run then. At most 1,024 nodes. */
struct cos_flow_node {
    const char *name;
    const char *const *needs;
    struct cos_flow_task task;
};
int cos_flow_auto(const struct cos_flow_node *nodes, size_t count, int limit, void *results,
                  size_t result_size, int64_t deadline);

/* Tries again. Zero fields are the defaults; fewer than 0 tries are COS_EINVAL. */
struct cos_flow_retry {
    int tries;              /* 5 */
    int64_t wait;           /* ms before the second try; 0: none */
    double factor;          /* each further wait is so much longer; 1 */
    int64_t wait_max;       /* ceiling of a wait, ms; 60,000 */
    double jitter;          /* a wait is up to this part shorter, 0 … 1 */
    int (*again)(int err, void *arg); /* 0: this error is final; NULL: none is */
    void *arg;
};
int cos_flow_retry(const struct cos_flow_retry *how, const struct cos_flow_task *task,
                   void *result, int64_t deadline);
/* Runs the task, at most ms milliseconds: COS_ETIMEDOUT, and the task is cancelled. */
int cos_flow_timeout(const struct cos_flow_task *task, int64_t ms, void *result, int64_t deadline);
/* Runs the task and does not fail with it: its outcome goes to *outcome. */
int cos_flow_reflect(const struct cos_flow_task *task, int *outcome, void *result,
                     int64_t deadline);
/* Lets others run first, then runs the task: a caller may rely on the suspension.
 * With deadline 0 there is no time for that: COS_ETIMEDOUT. */
int cos_flow_ensure_async(const struct cos_flow_task *task, void *result, int64_t deadline);

#endif
