/* main.c - argv to a command. `coscrawl COMMAND …` runs the command named in
 * the table; anything else is a crawl. Each command lives in its own file,
 * cmd_<name>.c. */
#include "tool/tool.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

static const struct tool_command commands[] = {
    {"links", cmd_links, "the links of an HTML or CSS file"},
    {"path", cmd_path, "the file of a URL, and the URL of a file"},
    {"resolve", cmd_resolve, "what a reference means on a page"},
    {"robots", cmd_robots, "what a robots.txt allows, and by which rule"},
    {"tidy", cmd_tidy, "repair or check an HTML file with HTML Tidy"},
    {"why", cmd_why, "what happened to a URL, and by which rule"},
    {"site", cmd_site, "serve a synthetic site to try things on"},
    {"bench", cmd_bench, "one spider in six styles, measured"},
    {NULL, NULL, NULL},
};

const struct tool_command *tool_commands(void)
{
    return commands;
}

/* curl takes and gives back a buffer for every transfer. When that is the end of
 * the heap, malloc returns it to the system and has it cleared again each time. */
static void keep_heap(void)
{
#ifdef __GLIBC__
    enum { TRIM = 16 << 20, PAD = 256 << 10, MAP = 1 << 20 };
    mallopt(M_TRIM_THRESHOLD, TRIM);
    mallopt(M_TOP_PAD, PAD);
    /* Once one of these is set, malloc does not find this one out by itself. */
    mallopt(M_MMAP_THRESHOLD, MAP);
#endif
}

int main(int argc, char **argv)
{
    int code = -1;
    keep_heap();
    if (argc > 1)
        for (const struct tool_command *c = commands; c->name && code < 0; c++)
            if (!strcmp(argv[1], c->name))
                code = c->run(argc - 1, argv + 1);
    if (code < 0)
        code = tool_wants_style(argc, argv) ? cmd_style(argc, argv) : cmd_crawl(argc, argv);
    /* Help or data that could not be written is no success. */
    if (fflush(stdout) && !code)
        code = tool_fail(TOOL_FILE, "coscrawl", "stdout: %s", strerror(errno));
    return code;
}
