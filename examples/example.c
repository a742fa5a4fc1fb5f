/* example.c - the command lines of the examples: options first or last or in
 * between, "--" ends them. getopt_long was not used: every example has the same
 * two options and perhaps some numbers, and this says which number was wrong. */
#include "example.h"

#include <coscrawl.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void wrong(const struct example *example, const char *what, const char *arg)
{
    fprintf(stderr, "%s: %s '%s'; try '%s --help'\n", example->name, what, arg, example->name);
    exit(2);
}

static void read_number(const struct example *example, const struct example_option *option,
                        const char *text, const char *arg)
{
    char *end;
    long long n;
    errno = 0;
    n = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        wrong(example, "not a whole number in", arg);
    if (n < option->min || n > option->max)
        wrong(example, "number out of bounds in", arg);
    *option->value = n;
}

static void read_option(struct example *example, const char *arg)
{
    size_t len = strcspn(arg, "=");
    if (!strcmp(arg, "--help")) {
        fputs(example->usage, stdout);
        exit(example_flush(example));
    }
    if (!strcmp(arg, "--face=cps") || !strcmp(arg, "--face=co")) {
        example->is_cps = arg[8] == 'p';
        return;
    }
    if (len == 6 && !strncmp(arg, "--face", len))
        wrong(example, "the face is cps or co, not", arg);
    for (const struct example_option *o = example->options; o && o->name; o++) {
        if (len == strlen(o->name) + 2 && !strncmp(arg + 2, o->name, len - 2)) {
            read_number(example, o, arg[len] ? arg + len + 1 : "", arg);
            return;
        }
    }
    wrong(example, "unknown option", arg);
}

void example_start(struct example *example, int argc, char **argv)
{
    int options = 1;
    example->args = argv + 1;
    for (int i = 1; i < argc; i++) {
        if (options && !strcmp(argv[i], "--"))
            options = 0;
        else if (options && argv[i][0] == '-' && argv[i][1] == '-')
            read_option(example, argv[i]);
        else
            example->args[example->nargs++] = argv[i];
    }
    if (example->nargs < example->min_operands)
        wrong(example, "too few arguments:", example->nargs ? example->args[0] : "");
    if (example->max_operands >= 0 && example->nargs > example->max_operands)
        wrong(example, "too many arguments:", example->args[example->max_operands]);
}

int example_fail(const struct example *example, const char *what, int err)
{
    fprintf(stderr, "%s: %s: %s\n", example->name, what, cos_strerror(err));
    return 1;
}

int example_flush(const struct example *example)
{
    if (!fflush(stdout) && !ferror(stdout))
        return 0;
    return example_fail(example, "standard output", COS_EIO);
}
