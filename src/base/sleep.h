/* sleep.h - the simplest leaf operation: it completes when a time has come. */
#ifndef COS_BASE_SLEEP_H
#define COS_BASE_SLEEP_H

#include "base/op.h"

/* Completes with 0 at that time of dill_now(); a negative one never comes. */
struct cos_op *cos__sleep_op(int64_t at);

#endif
