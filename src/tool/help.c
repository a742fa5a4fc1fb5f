/* help.c - --help, from the table. */
#include "tool/options.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

enum { COLUMN = 31 }; /* where the explanations begin */

static void print_option(const struct tool_option *o)
{
    char left[80];
    int n = 0;
    if (o->letter)
        n = snprintf(left, sizeof left, "  -%s, ", o->letter);
    else
        n = snprintf(left, sizeof left, o->no_letter ? " -%s, " : "      ", o->no_letter);
    n += snprintf(left + n, sizeof left - (size_t)n, "--%s%s", o->flags & OPT_NO ? "[no-]" : "",
                  o->name);
    if (o->arg != ARG_NONE)
        snprintf(left + n, sizeof left - (size_t)n, o->arg == ARG_OPTIONAL ? "[=%s]" : "=%s",
                 o->meta);
    if (strlen(left) < COLUMN)
        printf("%-*s%s", COLUMN, left, o->help);
    else
        printf("%s\n%*s%s", left, COLUMN, "", o->help);
    if (o->letter && o->no_letter)
        printf(" (-%s: less)", o->no_letter);
    if (o->def && strlen(o->help) + strlen(o->def) + COLUMN + 3 > 80)
        printf("\n%*s[%s]\n", COLUMN, "", o->def);
    else if (o->def)
        printf(" [%s]\n", o->def);
    else
        putchar('\n');
}

static void print_commands(void)
{
    puts("\nCommands (each has its own --help)");
    for (const struct tool_command *c = tool_commands(); c->name; c++)
        if (c->text)
            printf("  coscrawl %-20s%s\n", c->name, c->text);
    puts("  coscrawl --style=S --face=F  one spider, six ways, two faces (see the manual)");
}

void tool_help(void)
{
    size_t n;
    const struct tool_option *table = tool_option_table(&n);
    puts("Usage: coscrawl [OPTION]... URL...\n"
         "Crawl web sites and keep them below a directory: politely, resumably, and with\n"
         "a database that says what happened to every URL.");
    for (int group = 0; group < GROUP_COUNT; group++) {
        printf("\n%s\n", tool_group_title(group));
        for (size_t i = 0; i < n; i++)
            if (table[i].group == group)
                print_option(&table[i]);
    }
    print_commands();
    puts("\nTimes: 5, 1.5s, 200ms, 2m, 1h. Sizes: 500k, 10M, 2G. Lists: a,b,c.\n"
         "Example: coscrawl -l inf -P mirror https://example.org/\n"
         "More: man coscrawl");
}
