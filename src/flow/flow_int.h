/* flow_int.h - small things the functions of both faces agree on. */
#ifndef COS_FLOW_FLOW_INT_H
#define COS_FLOW_FLOW_INT_H

#include "base/err.h"

#include <libdill.h>
#include <stdint.h>

/* What a job that stands alone said, as an outcome: a stop is no error. */
static inline int cos__outcome(int said)
{
    return said > 0 || said == COS_ESTOP ? 0 : said;
}

/* The deadline ms milliseconds from now; -1 (never) for "never" and for what
 * lies beyond the end of time. */
static inline int64_t cos__after(int64_t ms)
{
    int64_t end;
    return ms < 0 || __builtin_add_overflow(dill_now(), ms, &end) ? -1 : end;
}

/* The earlier of two deadlines. */
static inline int64_t cos__sooner(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* True once a deadline that is a time has passed; 0 means "do not wait", and
 * what need not wait may still run. */
static inline int cos__passed(int64_t deadline)
{
    return deadline > 0 && dill_now() >= deadline;
}

#endif
