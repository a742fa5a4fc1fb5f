/* future.h - one result, many listeners, on either face.
 *
 * A future is set once, with an error or a value. Whoever awaits it is served,
 * before or after; on the callback face always later. It is shared by reference
 * count: every holder frees its own reference, and the value goes with the
 * last one. Everything here belongs to one thread. */
#ifndef COS_FLOW_FUTURE_H
#define COS_FLOW_FUTURE_H

#include "flow/flow.h"

struct cos_future;

/* An unset future with one reference, or NULL. drop(value) runs when the last
 * reference goes; NULL: the value is not ours. */
struct cos_future *cos_future_new(void (*drop)(void *value));
/* One more reference to the same future, for another holder. */
struct cos_future *cos_future_ref(struct cos_future *future);
/* Gives a reference back. NULL is fine. */
void cos_future_free(struct cos_future *future);
/* Sets it and wakes every listener in the order they came. The value passes to
 * the future. COS_ESTATE when it is set already: the value stays with the caller. */
int cos_future_set(struct cos_future *future, int err, void *value);
/* 1 when it is set, 0 when not yet. */
int cos_future_is_set(const struct cos_future *future);
/* The error or 0, and the value (lent); COS_EBUSY while it is not set. */
int cos_future_get(const struct cos_future *future, void **value);
/* Parks until it is set: its error, or 0 and *value (lent while the caller holds
 * a reference; value may be NULL). COS_ETIMEDOUT, COS_ECANCELED. Suspends. */
int cos_await(struct cos_future *future, void **value, int64_t deadline);
/* Starts the task in a coroutine of its own; the future is set with what it
 * returns; its value is what the task stored through its result (a void **).
 * NULL when it could not be started: out of memory, the caller is being closed,
 * or inside a callback. Suspends (the task runs at once). cos_shutdown() cancels
 * tasks that still run. */
struct cos_future *cos_future_from(const struct cos_flow_task *task, void (*drop)(void *value));

#endif
