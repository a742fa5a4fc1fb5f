/* cmd_path.c - `coscrawl path`: the file of a URL, and the URL of a file. */
#include "config.h"

#include "tool/tool.h"

#include "base/err.h"
#include "store/path.h"

#include <stdio.h>
#include <string.h>

static const char WHO[] = "coscrawl path";
static const char HELP[] =
    "Usage: coscrawl path URL... | coscrawl path --reverse [--db DIR] FILE...\n"
    "Prints the file below the crawl directory for each URL, or the URL of each file.\n";

struct job {
    int reverse;
    const char *db; /* crawl directory whose database knows the hashed names */
    struct cos_url url;
    struct cos_buf out;
};

static int forward(struct job *job, const char *text)
{
    int err = cos_url_parse(&job->url, text, strlen(text), NULL);
    return err ? err : cos_path_from_url(&job->url, &job->out);
}

/* The name below the crawl directory, when it was given with that in front. */
static const char *below(const char *dir, const char *file)
{
    size_t len = dir ? strlen(dir) : 0;
    while (len && dir[len - 1] == '/')
        len--;
    if (len && !strncmp(file, dir, len) && file[len] == '/')
        file += len + 1;
    return file;
}

static int backward(struct job *job, const char *file)
{
    const char *name = below(job->db, file);
    int err = cos_path_to_url(name, &job->out);
    return err == COS_ENOENT && job->db ? cos__path_lookup(job->db, name, &job->out) : err;
}

static const char *reason(const struct job *job, int err)
{
    if (err == COS_ENOENT)
        return job->db ? "no page in the crawl database has this file"
                       : "a hashed name: only the crawl database knows its URL (--db DIR)";
    return err == COS_EINVAL && job->reverse ? "no URL has this file" : cos_strerror(err);
}

static int print_one(struct job *job, const char *arg)
{
    int err = job->reverse ? backward(job, arg) : forward(job, arg);
    if (err)
        printf("error: %s\n", reason(job, err));
    else
        printf("%s\n", job->out.data);
    return err != 0;
}

/* Reads the options; the index of the first argument, or 0 after a complaint. */
static int read_options(struct job *job, int argc, char **argv)
{
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--"))
            return i + 1;
        if (!strcmp(argv[i], "--reverse"))
            job->reverse = 1;
        else if (!strncmp(argv[i], "--db=", 5))
            job->db = argv[i] + 5;
        else if (!strcmp(argv[i], "--db") && i + 1 < argc)
            job->db = argv[++i];
        else
            return tool_usage(
                       WHO, !strcmp(argv[i], "--db") ? "%s needs a directory" : "unknown option %s",
                       argv[i]),
                   0;
    }
    if (job->db && !job->reverse)
        return tool_usage(WHO, "--db goes with --reverse"), 0;
    if (i == argc)
        return tool_usage(WHO, job->reverse ? "which file?" : "which URL?"), 0;
    return i;
}

int cmd_path(int argc, char **argv)
{
    struct job job = {0};
    int failed = 0, first;
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return fputs(HELP, stdout) < 0;
    first = read_options(&job, argc, argv);
    if (!first)
        return TOOL_USAGE;
    cos_url_init(&job.url);
    cos_buf_init(&job.out, COS_URL_MAX);
    for (int i = first; i < argc; i++)
        failed |= print_one(&job, argv[i]);
    cos_url_release(&job.url);
    cos_buf_release(&job.out);
    return failed;
}
