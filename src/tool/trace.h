/* trace.h - a crawl as a file for Perfetto and chrome://tracing: a process per
 * host, a lane for each page it works on at a time, the phases of the page,
 * counters, and arrows from the page that found a link to its fetch. */
#ifndef COS_TOOL_TRACE_H
#define COS_TOOL_TRACE_H

#include "crawl/options.h"

#include <stdint.h>

struct tool_trace;

/* The file grows to max bytes at most; what comes later is left out, and the
 * file is whole all the same. NULL with errno. */
struct tool_trace *trace_open(const char *path, uint64_t max);
/* A page ended; failed: err, else 0. */
void trace_page(struct tool_trace *trace, const struct cos_page *page, int64_t referrer, int err);
/* Counters of this moment. */
void trace_tick(struct tool_trace *trace, const struct cos_crawl_stats *stats, int64_t lag_us);
/* Pages that are not in it: the ceiling, or the disk. */
uint64_t trace_left_out(const struct tool_trace *trace);
/* Ends and closes the file. Blocks. 0 or an errno. NULL is fine. */
int trace_close(struct tool_trace *trace);

#endif
