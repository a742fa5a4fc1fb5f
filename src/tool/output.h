/* output.h - the data of a crawl: a line per URL, as text or as JSON, on stdout
 * or in the file of -o. */
#ifndef COS_TOOL_OUTPUT_H
#define COS_TOOL_OUTPUT_H

#include "crawl/options.h"
#include "tool/options.h"

#include <stdio.h>

struct tool_output {
    FILE *file;   /* NULL: no data is wanted */
    int format;
    int mode;     /* enum cos_crawl_mode */
    int err;      /* first failed write */
    struct cos_buf line;
};

/* Opens it when --list, --dry-run, -o or --format ask for data. 0 or a negative
 * error. */
int output_init(struct tool_output *out, const struct tool_options *options);
/* Sends what there is on its way; the first error that is known. Never waits for
 * a disk. */
int output_tick(struct tool_output *out);
/* Writes the rest and closes; the first error of all writes. Blocks. */
int output_end(struct tool_output *out);
int output_release(struct tool_output *out);

void output_page(struct tool_output *out, const struct cos_crawl_page *page);
void output_would(struct tool_output *out, const char *url, const char *referrer, int depth);
void output_skip(struct tool_output *out, const struct cos_crawl_skip *skip);
void output_failure(struct tool_output *out, const struct cos_crawl_failure *failure);

#endif
