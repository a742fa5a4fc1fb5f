/* config_file.h - options from files. */
#ifndef COS_TOOL_CONFIG_FILE_H
#define COS_TOOL_CONFIG_FILE_H

#include "tool/options.h"

/* Reads the file that --config names in argv, or the usual ones unless there is
 * --no-config, into zeroed or otherwise valid options. 0; or the exit code after
 * one line on stderr. */
int tool_config(struct tool_options *options, int argc, char **argv);

#endif
