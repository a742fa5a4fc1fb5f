/* cmd_site.c - `coscrawl site`: options to struct cos_site_options, no more. */
#include "tool/tool.h"

#include "base/err.h"
#include "site/site.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_PORT = 256,
    OPT_BIND,
    OPT_SEED,
    OPT_PAGES,
    OPT_LINKS,
    OPT_BYTES,
    OPT_DEPTH,
    OPT_SHAPE,
    OPT_LATENCY,
    OPT_ERRORS,
    OPT_CONNECTIONS,
    OPT_ROBOTS,
    OPT_SLOW,
    OPT_RICH,
    OPT_PLAIN,
    OPT_DIE,
    OPT_HELP,
};

static const struct option names[] = {
    {"port", 1, NULL, OPT_PORT},
    {"bind", 1, NULL, OPT_BIND},
    {"seed", 1, NULL, OPT_SEED},
    {"pages", 1, NULL, OPT_PAGES},
    {"links", 1, NULL, OPT_LINKS},
    {"bytes", 1, NULL, OPT_BYTES},
    {"depth", 1, NULL, OPT_DEPTH},
    {"shape", 1, NULL, OPT_SHAPE},
    {"latency", 1, NULL, OPT_LATENCY},
    {"errors", 1, NULL, OPT_ERRORS},
    {"max-connections", 1, NULL, OPT_CONNECTIONS},
    {"robots", 1, NULL, OPT_ROBOTS},
    {"slow", 1, NULL, OPT_SLOW},
    {"rich", 0, NULL, OPT_RICH},
    {"plain", 0, NULL, OPT_PLAIN},
    {"die-with-parent", 0, NULL, OPT_DIE},
    {"help", 0, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: coscrawl site [OPTION]...\n"
    "\n"
    "Serves a synthetic site until it is interrupted. The first line on stdout is\n"
    "its URL. The same options give the same bytes.\n"
    "\n"
    "  --port=N             port; 0 (default) takes a free one\n"
    "  --bind=ADDRESS       IPv4 address to listen on [127.0.0.1]\n"
    "  --seed=N             chooses texts and random links [1]\n"
    "  --pages=N            pages, the first one counted [100]\n"
    "  --links=K            links a page [5; cross: 3]\n"
    "  --bytes=B            size of a page, about [8192]\n"
    "  --depth=D            tree, chain: no page deeper than this\n"
    "  --shape=SHAPE        tree: a page links to its children\n"
    "                       chain: each page links to the next\n"
    "                       cross: a tree with random links over it\n"
    "                       star: the first page links to all\n"
    "                       lost: six pages, one slow: / > f > g > x > y, / > s > x\n"
    "                       Without it: a tree with navigation, style and images\n"
    "  --rich, --plain      with, without navigation, style and images\n"
    "  --latency=MS         wait before each page (lost: before s.html, 200)\n"
    "  --slow=PATH:MS       wait before this page; may be repeated\n"
    "  --errors=PERCENT     so many pages answer 404 or 500\n"
    "  --max-connections=N  further connections are reset [1000]\n"
    "  --robots=WHAT        robots.txt: a variant below, a file, or its text (\\n: line end)\n"
    "  --die-with-parent    end when the parent process ends\n"
    "\n"
    "GET /.stats tells what was asked for and when (ms since the start, and in which\n"
    "order), POST /.stats/reset forgets it. POST /.revise changes every seventh page.\n"
    "/sitemap.xml[.gz] names all pages.\n"
    "\n"
    "Faults, at /fault/NAME (values in brackets go into the query; /fault/ links all):\n";

/* A number from the argument into *to; 0 or -1. */
static int number(const char *text, int64_t min, int64_t max, int64_t *to)
{
    char *end;
    long long n;
    errno = 0;
    n = strtoll(text, &end, 10);
    if (errno || end == text || *end || n < min || n > max)
        return -1;
    *to = n;
    return 0;
}

static int small(const char *text, int min, int max, int *to)
{
    int64_t n;
    if (number(text, min, max, &n))
        return -1;
    *to = (int)n;
    return 0;
}

static int set_shape(struct cos_site_options *o, const char *name)
{
    static const char *const shapes[] = {"tree", "chain", "cross", "star", "lost"};
    for (int i = 0; i < 5; i++) {
        if (strcmp(shapes[i], name) != 0)
            continue;
        o->shape = (enum cos_site_shape)i;
        return 0;
    }
    return -1;
}

/* PATH:MS */
static int add_slow(struct cos_site_options *o, const char *text)
{
    const char *colon = strrchr(text, ':');
    if (!colon || *text != '/' || o->nslow == COS_SITE_SLOW_MAX ||
        number(colon + 1, 0, 600000, &o->slow[o->nslow].ms))
        return -1;
    o->slow[o->nslow].path = text;
    o->slow[o->nslow++].len = (size_t)(colon - text);
    return 0;
}

static int set_seed(struct cos_site_options *o, const char *text)
{
    int64_t seed;
    if (number(text, 0, INT64_MAX, &seed))
        return -1;
    o->seed = (uint64_t)seed;
    return 0;
}

/* 0, or -1 when the argument does not fit the option. rich: -1 not said. */
static int set(struct cos_site_options *o, int option, const char *arg)
{
    switch (option) {
    case OPT_PORT:
        return small(arg, 0, 65535, &o->port);
    case OPT_BIND:
        o->bind = arg;
        return 0;
    case OPT_SEED:
        return set_seed(o, arg);
    case OPT_PAGES:
        return number(arg, 1, 10000000, &o->pages);
    case OPT_LINKS:
        return number(arg, 1, 1000000, &o->links);
    case OPT_BYTES:
        return number(arg, 1, 100000000, &o->bytes);
    case OPT_DEPTH:
        return number(arg, 1, 10000000, &o->depth);
    case OPT_SHAPE:
        return set_shape(o, arg);
    case OPT_LATENCY:
        return number(arg, 0, 600000, &o->latency);
    case OPT_ERRORS:
        return number(arg, 0, 100, &o->errors);
    case OPT_CONNECTIONS:
        return small(arg, 1, 30000, &o->max_connections);
    case OPT_ROBOTS:
        o->robots = arg;
        return 0;
    case OPT_SLOW:
        return add_slow(o, arg);
    case OPT_DIE:
        o->die_with_parent = 1;
        return 0;
    default:
        o->rich = option == OPT_RICH;
        return 0;
    }
}

static const char *option_name(int option)
{
    for (const struct option *n = names; n->name; n++)
        if (n->val == option)
            return n->name;
    return "";
}

/* -1 to go on, else the exit code. */
static int parse(int argc, char **argv, struct cos_site_options *o)
{
    int c, shaped = 0;
    opterr = 0;
    optind = 1;
    o->rich = -1;
    while ((c = getopt_long(argc, argv, ":", names, NULL)) != -1) {
        if (c == OPT_HELP) {
            fputs(help, stdout);
            cos_site_list_faults(stdout);
            return 0;
        }
        if (c == ':')
            return tool_usage("coscrawl site", "%s needs a value", argv[optind - 1]);
        if (c == '?')
            return tool_usage("coscrawl site", "unknown option %s; try --help", argv[optind - 1]);
        if (set(o, c, optarg))
            return tool_usage("coscrawl site", "--%s does not take '%s'", option_name(c), optarg);
        shaped |= c == OPT_SHAPE;
    }
    if (optind < argc)
        return tool_usage("coscrawl site", "what is '%s'? only options are expected", argv[optind]);
    if (o->depth && o->shape != COS_SITE_TREE && o->shape != COS_SITE_CHAIN)
        return tool_usage("coscrawl site", "--depth goes with --shape=tree or chain only");
    if (o->rich < 0)
        o->rich = !shaped;
    return -1;
}

int cmd_site(int argc, char **argv)
{
    struct cos_site_options options = {.seed = 1};
    int code = parse(argc, argv, &options), err;
    if (code >= 0)
        return code;
    err = cos_site_run(&options, stdout);
    if (!err)
        return 0;
    fprintf(stderr, "coscrawl site: cannot serve on %s port %d: %s\n",
            options.bind ? options.bind : "127.0.0.1", options.port, cos_strerror(err));
    return cos_err_exit(err) ? cos_err_exit(err) : 1;
}
