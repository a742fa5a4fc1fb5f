/* main.c - argv to a command. `coscrawl COMMAND …` runs the command named in
 * the table; anything else is a crawl. Each command lives in its own file,
 * cmd_<name>.c. */
#include "config.h"

#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"links", cmd_links},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    if (argc > 1)
        for (const struct command *c = commands; c->name; c++)
            if (!strcmp(argv[1], c->name))
                return c->run(argc - 1, argv + 1);
    if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
        printf("coscrawl %s\n", VERSION);
        return 0;
    }
    return tool_usage("coscrawl", "what to crawl? name a URL, or try 'coscrawl --help'");
}
