/* cps_flow.h - control flow over any job, on the callback face: the twins of
 * flow/flow.h. coscrawl-cps.h includes this.
 *
 * A job gets a callback of ours and calls it once, at once or later; a chain of
 * jobs that all answer at once needs no more stack than one. The laws of
 * coscrawl-cps.h and the rules of flow/flow.h hold, with one difference: a
 * callback cannot be taken back, so jobs that still run when the outcome is
 * known (an error, a stop, a race won, the deadline) are ignored when they
 * answer. Their slots stay until then; the arrays they were given are ours, and
 * what the final callback gets of them is lent until it returns.
 *
 * Lists and task arrays are copied at the start; what the items and args point
 * to is not. Up to 1,048,576 jobs of one call may run at once. */
#ifndef COS_COMPAT_CPS_FLOW_H
#define COS_COMPAT_CPS_FLOW_H

#include "coscrawl-cps.h"
#include "flow/cache.h"
#include "flow/flow.h"
#include "flow/future.h"
#include "flow/gate.h"
#include "flow/once.h"
#include "flow/queue.h"

/* A job for one item. Answers through done(err, token): 0, COS_ESTOP or an
 * error; a test answers 1 for yes and 0 for no. result is its slot, or NULL. */
typedef void cps_flow_fn(struct cps_rt *rt, const void *item, size_t index, void *result,
                         void *arg, cps_cb *done, void *token);
/* A job that stands alone. */
struct cps_flow_task {
    void (*run)(struct cps_rt *rt, void *result, void *arg, cps_cb *done, void *token);
    void *arg;
};

/* What the final callback gets; lent. Also after an error: what there is so far. */
struct cps_flow_result {
    void *values;   /* map, series, parallel …: the slots; filter: the items kept;
                       reduce, waterfall: the value; race: unused */
    size_t count;   /* of values; concat: bytes */
    size_t index;   /* detect, try_each: who it was; SIZE_MAX: nobody (try_each) */
    size_t *winners; /* race */
    int answer;     /* some, every, detect: 1 yes, 0 no; reflect: the outcome */
};
typedef void cps_flow_cb(int err, const struct cps_flow_result *result, void *arg);

/* See cos_flow_each() … cos_flow_reduce(). fnarg goes to fn, arg to cb. */
int64_t cps_flow_each(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                      cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_times(struct cps_rt *rt, size_t count, int limit, cps_flow_fn *fn,
                       size_t result_size, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                       void *arg);
int64_t cps_flow_map(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                     cps_flow_fn *fn, size_t result_size, void *fnarg, int64_t deadline,
                     cps_flow_cb *cb, void *arg);
int64_t cps_flow_filter(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                        cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                        void *arg);
int64_t cps_flow_reject(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                        cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                        void *arg);
int64_t cps_flow_some(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                      cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_every(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                       cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_detect(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                        cps_flow_fn *fn, void *fnarg, int64_t deadline, cps_flow_cb *cb,
                        void *arg);
/* result of fn is a struct cos_buf * with ceiling max, as has the joined one. */
int64_t cps_flow_concat(struct cps_rt *rt, const struct cos_flow_list *list, int limit,
                        cps_flow_fn *fn, size_t max, void *fnarg, int64_t deadline,
                        cps_flow_cb *cb, void *arg);
/* memo (size bytes) is copied; fn changes the copy, and values is it. */
int64_t cps_flow_reduce(struct cps_rt *rt, const struct cos_flow_list *list, cps_flow_fn *fn,
                        const void *memo, size_t size, void *fnarg, int64_t deadline,
                        cps_flow_cb *cb, void *arg);

/* See cos_flow_whilst() … test answers at once; task->run is the body. */
int64_t cps_flow_whilst(struct cps_rt *rt, int (*test)(void *arg), const struct cps_flow_task *body,
                        int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_until(struct cps_rt *rt, int (*test)(void *arg), const struct cps_flow_task *body,
                       int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_forever(struct cps_rt *rt, const struct cps_flow_task *body, int64_t deadline,
                         cps_flow_cb *cb, void *arg);

/* See cos_flow_series() … cos_flow_auto(). */
int64_t cps_flow_series(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count,
                        size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_parallel(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count,
                          int limit, size_t result_size, int64_t deadline, cps_flow_cb *cb,
                          void *arg);
int64_t cps_flow_waterfall(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count,
                           const void *value, size_t size, int64_t deadline, cps_flow_cb *cb,
                           void *arg);
int64_t cps_flow_race(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count, size_t k,
                      size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_try_each(struct cps_rt *rt, const struct cps_flow_task *tasks, size_t count,
                          size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg);
/* name and needs must live until cb runs. */
struct cps_flow_node {
    const char *name;
    const char *const *needs;
    struct cps_flow_task task;
};
int64_t cps_flow_auto(struct cps_rt *rt, const struct cps_flow_node *nodes, size_t count,
                      int limit, size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg);

/* See cos_flow_retry() … cos_flow_ensure_async(). values is the one result. */
int64_t cps_flow_retry(struct cps_rt *rt, const struct cos_flow_retry *how,
                       const struct cps_flow_task *task, size_t result_size, int64_t deadline,
                       cps_flow_cb *cb, void *arg);
int64_t cps_flow_timeout(struct cps_rt *rt, const struct cps_flow_task *task, int64_t ms,
                         size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_reflect(struct cps_rt *rt, const struct cps_flow_task *task, size_t result_size,
                         int64_t deadline, cps_flow_cb *cb, void *arg);
int64_t cps_flow_ensure_async(struct cps_rt *rt, const struct cps_flow_task *task,
                              size_t result_size, int64_t deadline, cps_flow_cb *cb, void *arg);

/* --- futures, cache, gate, once --------------------------------------------------- */

/* The value is lent while someone holds a reference to the future. */
typedef void cps_value_cb(int err, void *value, void *arg);
/* See cos_await(). */
int64_t cps_await(struct cps_rt *rt, struct cos_future *future, int64_t deadline, cps_value_cb *cb,
                  void *arg);
/* See cos_future_from(): the task's result is a void **. It starts at once. */
struct cos_future *cps_future_from(struct cps_rt *rt, const struct cps_flow_task *task,
                                   void (*drop)(void *value));
/* See cos_flow_cache_get(). load makes the value when there is none and stores it
 * in *value; key is lent until it answers. The cache's own load is not used. */
typedef void cps_load_fn(struct cps_rt *rt, const char *key, void **value, void *arg, cps_cb *done,
                         void *token);
int64_t cps_flow_cache_get(struct cps_rt *rt, struct cos_flow_cache *cache, const char *key,
                           cps_load_fn *load, void *loadarg, int64_t deadline, cps_value_cb *cb,
                           void *arg);
/* See cos_flow_gate_init(), cos_flow_gate_pass(). An init that is cancelled, or
 * whose deadline passes, fails the gate at once; what its task answers later is
 * ignored. */
int64_t cps_flow_gate_init(struct cps_rt *rt, struct cos_flow_gate *gate,
                           const struct cps_flow_task *task, int64_t deadline, cps_cb *cb,
                           void *arg);
int64_t cps_flow_gate_pass(struct cps_rt *rt, struct cos_flow_gate *gate, int64_t deadline,
                           cps_cb *cb, void *arg);
/* See cos_flow_once_run(). */
int64_t cps_flow_once_run(struct cps_rt *rt, struct cos_flow_once *once, const char *key,
                          const struct cps_flow_task *task, int64_t deadline, cps_cb *cb,
                          void *arg);

/* --- the queue -------------------------------------------------------------------- */

struct cps_flow_queue;

/* As struct cos_flow_queue_opts; work and run_cargo answer through done. */
struct cps_flow_queue_opts {
    int concurrency;
    size_t capacity, overflow;
    int by_priority;
    size_t cargo;
    int buffer;
    void (*work)(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done, void *token);
    void (*run_cargo)(struct cps_flow_queue *queue, void **items, size_t count, void *arg,
                      cps_cb *done, void *token);
    void (*done)(void *item, int err, void *arg);
    void (*event)(enum cos_flow_event event, void *item, int err, void *arg);
    void *arg;
};

/* A new queue into *out (cps_flow_queue_free). 0, COS_EINVAL, COS_ENOMEM. */
int cps_flow_queue_new(struct cps_rt *rt, const struct cps_flow_queue_opts *opts,
                       struct cps_flow_queue **out);
/* Kills it; freed once the last running item has answered. From inside a task or
 * a handler, too. NULL is fine. */
void cps_flow_queue_free(struct cps_flow_queue *queue);
/* See cos_flow_queue_push(): cb says that the item is in (0), or why not. In a
 * full queue it waits for room; through the queue that work() is given it never
 * does. A cancel or a deadline that comes when the item is in changes nothing. */
int64_t cps_flow_queue_push(struct cps_flow_queue *queue, void *item, int64_t deadline, cps_cb *cb,
                            void *arg);
int64_t cps_flow_queue_push_priority(struct cps_flow_queue *queue, void *item, int priority,
                                     int64_t deadline, cps_cb *cb, void *arg);
/* The same at once and without a callback, see cos_flow_queue_add(): 0, or
 * COS_EFULL when the queue and its overflow are full, COS_ECLOSED, COS_ENOMEM. */
int cps_flow_queue_add(struct cps_flow_queue *queue, void *item, int priority);
/* See cos_flow_queue_drain(). */
int64_t cps_flow_queue_drain(struct cps_flow_queue *queue, int64_t deadline, cps_cb *cb, void *arg);
/* See cos_flow_queue_pause() … kill(). Resuming may fail: COS_ENOMEM, COS_EFULL. */
void cps_flow_queue_pause(struct cps_flow_queue *queue);
int cps_flow_queue_resume(struct cps_flow_queue *queue);
void cps_flow_queue_kill(struct cps_flow_queue *queue);
/* Changes how many items run at once. 0 or COS_EINVAL. */
int cps_flow_queue_concurrency(struct cps_flow_queue *queue, int concurrency);
/* How many items wait, and how many run. */
size_t cps_flow_queue_waiting(const struct cps_flow_queue *queue);
size_t cps_flow_queue_running(const struct cps_flow_queue *queue);

#endif
