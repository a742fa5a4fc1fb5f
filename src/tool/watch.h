/* watch.h - what looks on while a crawl runs: --stats, --trace, --metrics and
 * --loop-lag behind one door. */
#ifndef COS_TOOL_WATCH_H
#define COS_TOOL_WATCH_H

#include "tool/options.h"
#include "tool/ui.h"

struct tool_watch;

/* Opens what the options ask for, and sets crawl.phases in them when anything
 * does. *out is NULL when nothing does. 0, or an exit code after one line on
 * stderr. */
int watch_open(struct tool_watch **out, struct tool_options *options, struct tool_ui *ui);
/* The events of a crawl; NULL is fine in all of them. */
void watch_page(struct tool_watch *watch, const struct cos_crawl_page *page);
void watch_failure(struct tool_watch *watch, const struct cos_crawl_failure *failure);
void watch_tick(struct tool_watch *watch, const struct cos_crawl_stats *stats);
/* After the summary: the times, what was left out, and the last numbers. 0, or an
 * exit code. Frees. */
int watch_close(struct tool_watch *watch, const struct cos_crawl_stats *stats);

#endif
