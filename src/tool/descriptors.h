/* descriptors.h - how many files and sockets a crawl may have open. */
#ifndef COS_TOOL_DESCRIPTORS_H
#define COS_TOOL_DESCRIPTORS_H

#include "tool/options.h"
#include "tool/ui.h"

/* Raises the limit as far as is needed and allowed; lowers -j, aloud, to what
 * then fits. 0, or an exit code after one line on stderr. */
int tool_descriptors(struct tool_options *options, struct tool_ui *ui);

#endif
