/* cmd_tidy.c - `coscrawl tidy`: a page as HTML Tidy repairs it, or what it finds
 * wrong with it. The work is web/tidy*.c's; this reads, decodes and prints. */
#include "config.h"

#include "tool/tool.h"

#include "base/file_sync.h"
#include "base/log.h"
#include "coscrawl.h"
#include "web/charset.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char WHO[] = "coscrawl tidy";

static const char HELP[] =
    "Usage: coscrawl tidy [--repair|--lint] [--charset X] [FILE]\n"
    "Prints FILE (or standard input) as HTML Tidy repairs it, in UTF-8; or with --lint\n"
    "what is wrong with it, one finding a line: FILE:LINE:COLUMN: error|warning: TEXT.\n"
    "  --repair      the default\n"
    "  --lint        findings only; exit status 1 when there are errors\n"
    "  --charset X   the character set the server announced\n"
    "Tidy runs in a process of its own, within limits: 16 MiB, 500 open elements,\n"
    "1000 attributes an element, 10 seconds, 512 MiB of memory.\n";

enum { INPUT_MAX = 256 << 20 };

enum { MESSAGE_MAX = 1 << 16 };

struct job {
    const char *file, *charset;
    unsigned what;
};

static const char *name_of(const struct job *job)
{
    return job->file ? job->file : "standard input";
}

/* Messages quote the page. */
static int print_message(const struct job *job, const struct cos_tidy_message *m)
{
    struct cos_buf text;
    int bad;
    cos_buf_init(&text, MESSAGE_MAX);
    cos_log_escape(&text, m->text, strlen(m->text));
    bad = printf("%s:%u:%u: %s: %s\n", job->file ? job->file : "-", m->line, m->column,
                 m->level == COS_TIDY_WARNING ? "warning" : "error",
                 text.data ? text.data : "") < 0;
    cos_buf_release(&text);
    return bad;
}

static int print_messages(const struct job *job, const struct cos_tidied *tidied)
{
    int bad = 0;
    for (size_t i = 0; i < tidied->nmessages; i++)
        bad |= print_message(job, &tidied->messages[i]);
    if (tidied->errors + tidied->warnings > tidied->nmessages)
        bad |= printf("%s: %u errors, %u warnings, of which %zu are shown\n",
                      job->file ? job->file : "-", tidied->errors, tidied->warnings,
                      tidied->nmessages) < 0;
    return bad ? COS_EIO : 0;
}

static int print(const struct job *job, const struct cos_tidied *tidied)
{
    if (job->what == COS_TIDY_LINT)
        return print_messages(job, tidied);
    return fwrite(tidied->html.data, 1, tidied->html.len, stdout) == tidied->html.len ? 0
                                                                                      : COS_EIO;
}

/* The exit code. */
static int tidy(const struct job *job, const char *data, size_t len)
{
    struct cos_tidied tidied = {0};
    struct cos_pool *pool = NULL;
    int err = cos_tidy_open(&pool, 1), code;
    if (!err)
        err = cos_tidy(pool, data, len, job->what, &tidied, -1);
    if (!err)
        err = print(job, &tidied);
    if (err)
        code = tool_fail(1, WHO, "%s: %s%s%s", name_of(job), cos_strerror(err),
                         tidied.why ? ": " : "", tidied.why ? tidied.why : "");
    else
        code = job->what == COS_TIDY_LINT && tidied.errors;
    cos_tidied_release(&tidied);
    cos_pool_close(pool);
    cos_shutdown();
    return code;
}

/* 0, or the exit code plus one. */
static int parse_options(int argc, char **argv, struct job *job)
{
    static const struct option options[] = {
        {"repair", no_argument, NULL, 'r'},        {"lint", no_argument, NULL, 'l'},
        {"charset", required_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (c == 'r' || c == 'l')
            job->what = c == 'r' ? COS_TIDY_REPAIR : COS_TIDY_LINT;
        else if (c == 'c')
            job->charset = optarg;
        else if (c == 'h')
            return 1 + (fputs(HELP, stdout) < 0);
        else if (c == ':')
            return 1 + tool_usage(WHO, "%s needs a value", argv[optind - 1]);
        else
            return 1 + tool_usage(WHO, "unknown option %s; try --help", argv[optind - 1]);
    }
    if (argc - optind > 1)
        return 1 + tool_usage(WHO, "one FILE at most, not also %s", argv[optind + 1]);
    job->file = optind < argc && strcmp(argv[optind], "-") ? argv[optind] : NULL;
    if (job->charset && !cos_charset_find(job->charset, strlen(job->charset)))
        return 1 + tool_usage(WHO, "--charset=%s: no such character set", job->charset);
    return 0;
}

int cmd_tidy(int argc, char **argv)
{
    struct job job = {.what = COS_TIDY_REPAIR};
    struct cos_buf in, own = {0};
    struct cos_text text;
    int err, code = parse_options(argc, argv, &job);
    if (code)
        return code - 1;
    cos_buf_init(&in, INPUT_MAX);
    /* Nothing else runs yet, so reading may block. */
    err = cos__file_read_sync(job.file ? job.file : "/dev/stdin", &in);
    if (!err)
        err = cos_charset_decode(in.data ? in.data : "", in.len,
                                 cos_charset_detect(in.data ? in.data : "", in.len, job.charset,
                                                    COS_CHARSET_HTML, NULL),
                                 &own, &text);
    code = err ? tool_fail(1, WHO, "%s: %s", name_of(&job), cos_strerror(err))
               : tidy(&job, text.data, text.len);
    cos_buf_release(&own);
    cos_buf_release(&in);
    return code;
}
