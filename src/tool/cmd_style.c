/* cmd_style.c - `coscrawl --style=S --face=F URL`: the spiders of
 * examples/spider from the command line. They know five options; any other is
 * refused here, for a style that ignored one would teach the wrong thing. */
#include "tool/tool.h"

#include "../examples/spider/spider.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct style_args {
    const char *style, *face, *url, *dir;
    int level, jobs, quiet, verbose, tidy;
};

struct tally {
    const struct style_args *args;
    size_t completed, already, failed;
    int err;
};

static const char who[] = "coscrawl";

/* The value of --name=V, --name V or -xV, -x V; NULL when argv[*at] is not it. */
static const char *value_of(char **argv, int *at, const char *letter, const char *name)
{
    const char *arg = argv[*at];
    size_t len = strlen(name);
    if (letter && !strncmp(arg, letter, 2))
        return arg[2] ? arg + 2 : argv[++*at] ? argv[*at] : "";
    if (strncmp(arg, name, len) != 0 || (arg[len] && arg[len] != '='))
        return NULL;
    return arg[len] ? arg + len + 1 : argv[++*at] ? argv[*at] : "";
}

static int number(const char *text, int least, int *out)
{
    char *end;
    long n;
    errno = 0;
    n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < least || n > INT_MAX)
        return -1;
    *out = (int)n;
    return 0;
}

/* 0, or the exit code. */
static int take_number(const char *text, int least, int *out, const char *what)
{
    if (number(text, least, out) < 0)
        return tool_usage(who, "%s takes a whole number from %d on with --style, not '%s'%s", what,
                          least, text, strcmp(text, "inf") ? "" : ": these spiders need an end");
    return 0;
}

static int take_parser(struct style_args *args, const char *name)
{
    args->tidy = !strcmp(name, "tidy");
    if (args->tidy || !strcmp(name, "scan"))
        return 0;
    return tool_usage(who, "--parser is 'scan' or 'tidy', not '%s'", name);
}

static int take_option(struct style_args *args, char **argv, int *at)
{
    const char *v;
    if ((v = value_of(argv, at, NULL, "--style")))
        args->style = v;
    else if ((v = value_of(argv, at, NULL, "--face")))
        args->face = v;
    else if ((v = value_of(argv, at, "-P", "--directory-prefix")))
        args->dir = v;
    else if ((v = value_of(argv, at, "-l", "--level")))
        return take_number(v, 0, &args->level, "--level");
    else if ((v = value_of(argv, at, "-j", "--max-concurrency")))
        return take_number(v, 1, &args->jobs, "--max-concurrency");
    else if ((v = value_of(argv, at, NULL, "--parser")))
        return take_parser(args, v);
    else if (!strcmp(argv[*at], "-q") || !strcmp(argv[*at], "--quiet"))
        args->quiet = 1;
    else if (!strcmp(argv[*at], "-v") || !strcmp(argv[*at], "--verbose"))
        args->verbose = 1;
    else
        return tool_usage(who, "'%s' does not go with --style (only --face -l -j -P -q -v --parser)",
                          argv[*at]);
    return 0;
}

static int parse(struct style_args *args, int argc, char **argv)
{
    for (int at = 1; at < argc; at++) {
        int code = 0;
        if (argv[at][0] == '-' && argv[at][1])
            code = take_option(args, argv, &at);
        else if (args->url)
            code = tool_usage(who, "one URL with --style, not '%s' too", argv[at]);
        else
            args->url = argv[at];
        if (code)
            return code;
    }
    return args->url ? 0 : tool_usage(who, "what to spider? name a URL");
}

static void report(const char *url, int downloaded, int err, void *arg)
{
    struct tally *tally = arg;
    if (err) {
        tally->failed++;
        tally->err = err;
        tool_fail(0, who, "%s: %s", url, cos_strerror(err));
        return;
    }
    *(downloaded ? &tally->completed : &tally->already) += 1;
    if (tally->args->verbose && !tally->args->quiet)
        fprintf(stderr, "%s %s\n", downloaded ? "completed" : "already downloaded", url);
}

static int run_style(const struct spider_style *style, const struct style_args *args)
{
    struct tally tally = {.args = args};
    struct spider spider = {.url = args->url, .dir = args->dir, .nesting = args->level,
                            .concurrency = args->jobs, .report = report, .arg = &tally};
    struct cos_pool *tidy = NULL;
    int err = args->tidy ? cos_tidy_open(&tidy, 0) : 0;
    cos_parser_setup(tidy);
    if (!err)
        err = style->run(&spider);
    cos_parser_setup(NULL);
    cos_pool_close(tidy);
    if (err && !tally.failed)
        tool_fail(0, who, "%s: %s", args->url, cos_strerror(err));
    if (!args->quiet)
        fprintf(stderr, "%s, %s face: %zu completed, %zu already downloaded, %zu failed\n",
                style->name, style->face, tally.completed, tally.already, tally.failed);
    cos_shutdown();
    return err ? cos_err_exit(err) : 0;
}

int cmd_style(int argc, char **argv)
{
    struct style_args args = {.face = "co", .dir = ".", .level = 1, .jobs = 2};
    struct cos_buf key = {.max = 65536};
    const struct spider_style *style;
    int code = parse(&args, argc, argv), err;
    if (code)
        return code;
    style = spider_find(args.style ? args.style : "", args.face);
    if (!style)
        return tool_usage(who, "no style '%s' with face '%s': hell, discipline, sequential, "
                               "parallel, once or queue; cps or co",
                          args.style ? args.style : "", args.face);
    if (!style->run)
        return tool_usage(who, "style hell in callbacks needs nested functions or Blocks: build "
                               "with gcc, or with clang and libblocksruntime");
    err = cos_url_key(args.url, &key);
    if (err)
        code = tool_usage(who, "'%s': %s", args.url, cos_strerror(err));
    args.url = key.data;
    if (!err)
        code = run_style(style, &args);
    cos_buf_release(&key);
    return code;
}

int tool_wants_style(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strncmp(argv[i], "--style", 7) && (!argv[i][7] || argv[i][7] == '='))
            return 1;
    return 0;
}
