/* output.h - the data of a crawl: a line per URL, as text or as JSON, on stdout
 * or in the file of -o. */
#ifndef COS_TOOL_OUTPUT_H
#define COS_TOOL_OUTPUT_H

#include "crawl/options.h"
#include "tool/options.h"

#include <stdio.h>

struct tool_output {
    FILE *file;   /* NULL: no data is wanted */
    int owned;    /* file is to be closed */
    int format;
    int mode;     /* enum cos_crawl_mode */
    int err;      /* first failed write */
    struct cos_buf line;
};

/* Opens it when --list, --dry-run, -o or --format ask for data. 0 or a negative
 * error. */
int output_init(struct tool_output *out, const struct tool_options *options);
/* The first error of all writes so far. */
int output_flush(struct tool_output *out);
/* Flushes and closes; returns the first error of all writes. */
int output_release(struct tool_output *out);

void output_page(struct tool_output *out, const struct cos_crawl_page *page);
void output_would(struct tool_output *out, const char *url, const char *referrer, int depth);
void output_skip(struct tool_output *out, const struct cos_crawl_skip *skip);
void output_failure(struct tool_output *out, const struct cos_crawl_failure *failure);

#endif
