/* metrics.h - numbers of a crawl in Prometheus' text format, in a file that is
 * replaced every second or on a port of the loopback. */
#ifndef COS_TOOL_METRICS_H
#define COS_TOOL_METRICS_H

#include "base/buf.h"
#include "crawl/options.h"
#include "tool/phases.h"

struct tool_metrics;

/* where: ":PORT" or "ADDRESS:PORT" (a server; a bare port is 127.0.0.1), else a
 * file. phases must outlive it. NULL with *why filled. */
struct tool_metrics *metrics_open(const char *where, const struct phases *phases,
                                  struct cos_buf *why);
void metrics_tick(struct tool_metrics *metrics, const struct cos_crawl_stats *stats,
                  int64_t lag_us);
/* The last numbers are written before the file is left. Blocks. NULL is fine. */
int metrics_close(struct tool_metrics *metrics, const struct cos_crawl_stats *stats);
/* "127.0.0.1:9464", or NULL when it is a file. */
const char *metrics_address(const struct tool_metrics *metrics);

/* The text, appended to out. */
int metrics_text(struct cos_buf *out, const struct cos_crawl_stats *stats,
                 const struct phases *phases, int64_t lag_us);

#endif
