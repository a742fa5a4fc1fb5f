/* cmd_bench.c - `coscrawl bench`: options to struct bench_options, no more. The
 * --worker options are between the benchmark and its own processes. */
#include "tool/tool.h"

#include "bench/bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_STYLE = 256,
    OPT_FACE,
    OPT_LEAVES,
    OPT_SHAPE,
    OPT_LATENCY,
    OPT_CONCURRENCY,
    OPT_PARSER,
    OPT_QUICK,
    OPT_ROUNDS,
    OPT_TIME,
    OPT_NO_INSTRUCTIONS,
    OPT_JSON,
    OPT_CSV,
    OPT_HTML,
    OPT_SIDE,
    OPT_HELP,
    OPT_WORKER,
    OPT_WORKER_DIR,
    OPT_WORKER_RUNS,
    OPT_WORKER_COUNT,
    OPT_WORKER_PROBE,
    OPT_WORKER_WEIGH,
    OPT_WORKER_NOFILE,
};

static const struct option names[] = {
    {"style", 1, NULL, OPT_STYLE},
    {"face", 1, NULL, OPT_FACE},
    {"leaves", 1, NULL, OPT_LEAVES},
    {"shape", 1, NULL, OPT_SHAPE},
    {"latency", 1, NULL, OPT_LATENCY},
    {"concurrency", 1, NULL, OPT_CONCURRENCY},
    {"parser", 1, NULL, OPT_PARSER},
    {"quick", 0, NULL, OPT_QUICK},
    {"rounds", 1, NULL, OPT_ROUNDS},
    {"max-time", 1, NULL, OPT_TIME},
    {"no-instructions", 0, NULL, OPT_NO_INSTRUCTIONS},
    {"json", 0, NULL, OPT_JSON},
    {"csv", 0, NULL, OPT_CSV},
    {"html", 1, NULL, OPT_HTML},
    {"side-by-side", 1, NULL, OPT_SIDE},
    {"quiet", 0, NULL, 'q'},
    {"help", 0, NULL, OPT_HELP},
    {"worker", 1, NULL, OPT_WORKER},
    {"worker-dir", 1, NULL, OPT_WORKER_DIR},
    {"worker-runs", 1, NULL, OPT_WORKER_RUNS},
    {"worker-count", 1, NULL, OPT_WORKER_COUNT},
    {"worker-weigh", 1, NULL, OPT_WORKER_WEIGH},
    {"worker-probe", 0, NULL, OPT_WORKER_PROBE},
    {"worker-nofile", 1, NULL, OPT_WORKER_NOFILE},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "usage: coscrawl bench [OPTION]...\n"
    "\n"
    "Measures the spiders of examples/spider, six styles on two faces, side by side.\n"
    "Starts the site it needs itself; nothing leaves this machine. Lists: a,b,c.\n"
    "\n"
    "  --quick              the most telling cells only, under a minute\n"
    "  --style=LIST         hell, discipline, sequential, parallel, once, queue\n"
    "  --face=LIST          cps, co\n"
    "  --leaves=LIST        null: tiny answers, no parser; replay: pages from memory;\n"
    "                       real: over loopback and to the disk\n"
    "  --shape=LIST         one (hell and discipline), chain, tree, cross, star, lost,\n"
    "                       errors\n"
    "  --latency=LIST       of real leaves, ms: 0, 5, 20, tail\n"
    "  --concurrency=LIST   limits of the queue beside 16: 1, 4, 64, 256\n"
    "  --parser=LIST        of real leaves: scan, tidy [scan with --quick]\n"
    "  --rounds=N           measured rounds after the warm-up [10; --quick: 3]\n"
    "  --max-time=S         seconds in all: there may be time for fewer rounds\n"
    "                       [1150; --quick: 54]\n"
    "  --no-instructions    do not count instructions (valgrind, when it is there)\n"
    "  --json, --csv        instead of the table\n"
    "  --html=FILE          a page with plots, too\n"
    "  --side-by-side=A,B   the sources on that page [parallel-cps,parallel-co]\n"
    "  -q, --quiet          no progress on stderr\n"
    "\n"
    "Interrupted, it writes what it has and exits with 11.\n";

struct bench_args {
    struct bench_options opt;
    struct bench_work work;
    char *worker_count;
    int weigh;
};

static const char who[] = "coscrawl bench";

static int number(const char *text, int least, int most, int *to)
{
    char *end;
    long n;
    errno = 0;
    n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < least || n > most)
        return -1;
    *to = (int)n;
    return 0;
}

/* "queue-co,queue-cps"; the pieces live as long as the program. */
static int set_sides(struct bench_options *o, const char *text)
{
    static char room[64];
    char *comma;
    if (strlen(text) >= sizeof room)
        return -1;
    strcpy(room, text);
    comma = strchr(room, ',');
    if (!comma)
        return -1;
    *comma = 0;
    o->left = room;
    o->right = comma + 1;
    return bench_side(o->left) && bench_side(o->right) ? 0 : -1;
}

static int set_worker(struct bench_args *args, int option, char *arg)
{
    if (option == OPT_WORKER)
        args->work.cell = arg;
    else if (option == OPT_WORKER_DIR)
        args->work.dir = arg;
    else if (option == OPT_WORKER_COUNT || option == OPT_WORKER_WEIGH)
        args->worker_count = arg, args->weigh = option == OPT_WORKER_WEIGH;
    else if (option == OPT_WORKER_PROBE)
        args->work.probe = 1;
    else if (option == OPT_WORKER_NOFILE)
        return number(arg, 1, 1000000, &args->work.nofile);
    else
        return number(arg, 0, 1000000, &args->work.repeat);
    return 0;
}

/* 0, or -1 when the argument does not fit the option. */
static int set(struct bench_args *args, int option, char *arg)
{
    struct bench_options *o = &args->opt;
    switch (option) {
    case OPT_STYLE:
        o->styles = arg;
        return 0;
    case OPT_FACE:
        o->faces = arg;
        return 0;
    case OPT_LEAVES:
        o->leaves = arg;
        return 0;
    case OPT_SHAPE:
        o->shapes = arg;
        return 0;
    case OPT_LATENCY:
        o->latencies = arg;
        return 0;
    case OPT_CONCURRENCY:
        o->concurrencies = arg;
        return 0;
    case OPT_PARSER:
        o->parsers = arg;
        return 0;
    case OPT_QUICK:
        o->quick = 1;
        return 0;
    case OPT_ROUNDS:
        return number(arg, 1, BENCH_ROUNDS_MAX, &o->rounds);
    case OPT_TIME:
        return number(arg, 1, 86400, &o->seconds);
    case OPT_NO_INSTRUCTIONS:
        o->no_instructions = 1;
        return 0;
    case OPT_JSON:
        o->format = BENCH_JSON;
        return 0;
    case OPT_CSV:
        o->format = BENCH_CSV;
        return 0;
    case OPT_HTML:
        o->html = arg;
        return 0;
    case OPT_SIDE:
        return set_sides(o, arg);
    case 'q':
        o->quiet = 1;
        return 0;
    default:
        return set_worker(args, option, arg);
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
static int parse(int argc, char **argv, struct bench_args *args)
{
    int c;
    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, ":q", names, NULL)) != -1) {
        if (c == OPT_HELP) {
            fputs(help, stdout);
            return 0;
        }
        if (c == ':')
            return tool_usage(who, "%s needs a value", argv[optind - 1]);
        if (c == '?')
            return tool_usage(who, "unknown option %s; try --help", argv[optind - 1]);
        if (set(args, c, optarg))
            return tool_usage(who, "--%s does not take '%s'", option_name(c), optarg);
    }
    if (optind < argc)
        return tool_usage(who, "what is '%s'? only options are expected", argv[optind]);
    if (!args->opt.rounds)
        args->opt.rounds = args->opt.quick ? 3 : 10;
    if (!args->opt.seconds)
        args->opt.seconds = args->opt.quick ? 54 : 1150;
    return -1;
}

static int write_html(const struct bench *bench, FILE *file)
{
    int err = bench_write_html(bench, file);
    if (fclose(file) && !err)
        err = COS_EIO;
    if (err)
        return tool_fail(TOOL_FILE, who, "%s: %s", bench->opt.html, cos_strerror(err));
    return 0;
}

static int measure(struct bench *bench)
{
    FILE *html = bench->opt.html ? fopen(bench->opt.html, "w") : NULL;
    int err, code = 0;
    /* Known before the work, not after it. */
    if (bench->opt.html && !html)
        return tool_fail(TOOL_FILE, who, "%s: %s", bench->opt.html, strerror(errno));
    err = bench_run(bench);
    if (!err)
        err = bench->opt.format == BENCH_JSON  ? bench_write_json(bench, stdout)
              : bench->opt.format == BENCH_CSV ? bench_write_csv(bench, stdout)
                                               : bench_write_table(bench, stdout);
    if (html)
        code = write_html(bench, html);
    if (err)
        return tool_fail(cos_err_exit(err), who, "%s", cos_strerror(err));
    return bench->interrupted ? TOOL_INTERRUPTED : code;
}

int cmd_bench(int argc, char **argv)
{
    struct bench_args args = {{.left = "parallel-cps", .right = "parallel-co"},
                              {.dir = "/tmp"}, NULL, 0};
    static struct bench bench;
    char why[200] = "";
    int code = parse(argc, argv, &args), err;
    if (code >= 0)
        return code;
    if (args.work.cell)
        return bench_worker(&args.work);
    if (args.worker_count)
        return bench_count_worker(&args.work, args.worker_count, args.weigh);
    bench.opt = args.opt;
    err = bench_matrix(&bench, why);
    if (err)
        code = *why ? tool_usage(who, "%s", why) : tool_fail(1, who, "%s", cos_strerror(err));
    else
        code = measure(&bench);
    for (size_t i = 0; i < bench.count; i++) {
        free(bench.results[i].samples);
        free(bench.results[i].have);
    }
    free(bench.results);
    return code;
}
