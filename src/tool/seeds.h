/* seeds.h - from what was typed to the URLs a crawl starts with. */
#ifndef COS_TOOL_SEEDS_H
#define COS_TOOL_SEEDS_H

#include "tool/options.h"
#include "tool/ui.h"

enum { SEEDS_MAX = 5000000 };

/* Makes a URL of what a person typed. 0: taken as it is; 1: a scheme was put
 * before it; negative: not a URL, and *why says so in one line. */
int tool_url(const char *typed, struct cos_buf *url, struct cos_buf *why);

/* Fills options->crawl.urls and .sitemaps from the operands and the -i files.
 * 0, or the exit code after one line on stderr. */
int tool_seeds(struct tool_options *options, struct tool_ui *ui);
void tool_seeds_release(struct tool_options *options);

#endif
