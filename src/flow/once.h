/* once.h - at most one run per key; late callers get the first one's outcome. */
#ifndef COS_FLOW_ONCE_H
#define COS_FLOW_ONCE_H

#include "flow/flow.h"

struct cos_flow_once;

/* A memory of which keys were run, or NULL when out of memory. max: keys
 * remembered, beyond it COS_EFULL; 0: 1,000,000. */
struct cos_flow_once *cos_flow_once_new(size_t max);
/* Ends it. Runs under way go on; those who wait for them get COS_ECLOSED. NULL is fine. */
void cos_flow_once_free(struct cos_flow_once *once);
/* Runs the task for key unless one ran or runs for it; then waits for that one's
 * outcome. *ran (may be NULL) says whether this call was the one. A failed run is
 * not repeated until forgotten; one that was cancelled (its caller closed, or its
 * deadline passed) has not run, and the first who waits runs its own task. On the
 * callback face those who wait hear COS_ECANCELED then. Suspends. COS_EFULL, COS_ECLOSED. */
int cos_flow_once_run(struct cos_flow_once *once, const char *key,
                      const struct cos_flow_task *task, int *ran, int64_t deadline);
/* The next run for key starts anew. */
void cos_flow_once_forget(struct cos_flow_once *once, const char *key);
/* How many keys it remembers. */
size_t cos_flow_once_size(const struct cos_flow_once *once);

/* --- between the faces ------------------------------------------------------------ */

struct cos_future;
/* As cos__cache_find: a future whose value is the run's outcome; *run is 1 when
 * the caller must run the task and end it with cos__once_ran on the cache, which
 * stays until then, whatever becomes of once. */
struct cos_future *cos__once_find(struct cos_flow_once *once, const char *key, int *run, int *err);
struct cos_flow_cache;
struct cos_flow_cache *cos__once_cache(struct cos_flow_once *once);
void cos__once_ran(struct cos_flow_cache *cache, const char *key, struct cos_future *future,
                   int outcome);

#endif
