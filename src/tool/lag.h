/* lag.h - which operation held the loop: every run of a callback or coroutine is
 * timed by a hook (base/hook.h), no sampling. */
#ifndef COS_TOOL_LAG_H
#define COS_TOOL_LAG_H

#include <stdint.h>

struct tool_lag;

/* Says so, once for each operation up to a ceiling, when a run takes longer than
 * that many milliseconds: say(arg, "… held the loop for 57 ms", stack), a line a
 * step. NULL when out of memory. */
struct tool_lag *lag_open(int64_t ms, void (*say)(void *arg, const char *what, const char *stack),
                          void *arg);
/* Runs that were too long, and the longest of all in microseconds. */
uint64_t lag_count(const struct tool_lag *lag);
int64_t lag_longest(const struct tool_lag *lag);
void lag_close(struct tool_lag *lag);

#endif
