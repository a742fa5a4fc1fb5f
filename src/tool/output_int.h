/* output_int.h - what output.c and the formats share. */
#ifndef COS_TOOL_OUTPUT_INT_H
#define COS_TOOL_OUTPUT_INT_H

#include "tool/output.h"

enum { OUTPUT_LINE_MAX = 1 << 20 };

/* Writes out->line and a newline, unless err. */
void output_flush_line(struct tool_output *out, int err);

int output_csv_begin(struct tool_output *out);
void output_csv_page(struct tool_output *out, const struct cos_crawl_page *page);
void output_csv_would(struct tool_output *out, const char *url, const char *referrer, int depth);
void output_csv_skip(struct tool_output *out, const struct cos_crawl_skip *skip);
void output_csv_failure(struct tool_output *out, const struct cos_crawl_failure *failure);

int output_dot_begin(struct tool_output *out);
int output_dot_end(struct tool_output *out);
void output_dot_page(struct tool_output *out, const struct cos_crawl_page *page);
void output_dot_node(struct tool_output *out, const char *url, const char *how);

#endif
