/* tool.h - what the commands of the program share. */
#ifndef COS_TOOL_H
#define COS_TOOL_H

int cmd_links(int argc, char **argv);

/* One clear line on stderr, "WHO: TEXT", and the exit code for bad usage (2). */
int tool_usage(const char *who, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
