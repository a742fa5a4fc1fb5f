/* tool.h - what the commands of the program share. */
#ifndef COS_TOOL_H
#define COS_TOOL_H

/* Exit codes that are not the exit code of an error (base/err.h has those). */
enum { TOOL_OK = 0, TOOL_USAGE = 2, TOOL_FILE = 3, TOOL_INTERRUPTED = 11 };

/* A command of the program: `coscrawl NAME …`. argv[0] is its name. The table
 * is in main.c; a command without a text is not shown by --help. */
struct tool_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *text;
};

/* The table, ended by a NULL name. */
const struct tool_command *tool_commands(void);

int cmd_bench(int argc, char **argv);
int cmd_crawl(int argc, char **argv);
int cmd_links(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_resolve(int argc, char **argv);
int cmd_robots(int argc, char **argv);
int cmd_site(int argc, char **argv);
/* --style among the options: the spiders of examples/spider instead of a crawl. */
int tool_wants_style(int argc, char **argv);
int cmd_style(int argc, char **argv);
int cmd_tidy(int argc, char **argv);
int cmd_why(int argc, char **argv);

/* One clear line on stderr, "WHO: TEXT", and the exit code for bad usage (2).
 * Control characters in the text are shown, not sent. */
int tool_usage(const char *who, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same line with an exit code of the caller's. */
int tool_fail(int code, const char *who, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
