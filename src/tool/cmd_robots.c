/* cmd_robots.c - `coscrawl robots`: what a robots.txt says about a URL, and why.
 * URLs are taken as written, from their first '/' on: encoding them first would
 * answer for another URL than the one asked about. */
#include "config.h"

#include "tool/tool.h"

#include "base/err.h"
#include "web/robots.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char WHO[] = "coscrawl robots";
static const char HELP[] =
    "Usage: coscrawl robots --agent UA FILE URL...\n"
    "Says for each URL whether the robots.txt in FILE ('-': stdin) allows it, and by which rule.\n";

/* One byte more than counts, so that a longer file is seen to be longer. */
static int read_file(const char *name, struct cos_buf *text)
{
    FILE *file = strcmp(name, "-") ? fopen(name, "rb") : stdin;
    int err = file ? cos_buf_reserve(text, COS_ROBOTS_MAX + 1) : cos_err_from_errno(errno);
    if (!err) {
        text->len = fread(text->data, 1, COS_ROBOTS_MAX + 1, file);
        if (ferror(file))
            err = COS_EIO;
    }
    if (file && file != stdin)
        fclose(file);
    return err;
}

/* Path and query of a URL as written; a query without a path follows "/". */
static int read_target(const char *url, struct cos_buf *target)
{
    const char *s = strstr(url, "://");
    size_t len;
    int err = 0;
    s = s ? s + 3 : url;
    s += strcspn(s, "/?#");
    len = strcspn(s, "#");
    cos_buf_clear(target);
    if (*s != '/')
        err = cos_buf_addc(target, '/');
    return err ? err : cos_buf_add(target, s, len);
}

/* The rule comes from outside: nothing in it may reach the terminal raw. */
static void print_rule(const struct cos_robots_verdict *why)
{
    printf(" %s: ", why->is_allow_rule ? "Allow" : "Disallow");
    for (size_t i = 0; i < why->rule_len; i++) {
        unsigned char c = (unsigned char)why->rule[i];
        if (c < ' ' || c >= 0x7F)
            printf("%%%02X", c);
        else
            putchar(c);
    }
    printf(" (line %u)\n", why->line);
}

static int print_verdict(const struct cos_robots *robots, const char *url, struct cos_buf *target)
{
    struct cos_robots_verdict why = {0};
    int rc = read_target(url, target);
    if (!rc)
        rc = cos_robots_check(robots, target->data, target->len, &why);
    if (rc < 0)
        return rc;
    fputs(rc ? "allow" : "deny", stdout);
    if (why.rule)
        print_rule(&why);
    else
        puts(" no rule matches");
    return 0;
}

static int print_all(const struct cos_robots *robots, int count, char **urls)
{
    struct cos_buf target;
    int err = 0;
    cos_buf_init(&target, 1 << 20);
    for (int i = 0; i < count && !err; i++)
        err = print_verdict(robots, urls[i], &target);
    cos_buf_release(&target);
    return err;
}

static int run(const char *agent, const char *file, int count, char **urls)
{
    struct cos_robots *robots = NULL;
    struct cos_buf text;
    int err;
    cos_buf_init(&text, COS_ROBOTS_MAX + 1);
    err = read_file(file, &text);
    if (!err)
        err = cos_robots_parse(&robots, text.data, text.len, agent);
    if (!err)
        err = print_all(robots, count, urls);
    cos_robots_free(robots);
    cos_buf_release(&text);
    return err ? tool_fail(1, WHO, "%s: %s", file, cos_strerror(err)) : 0;
}

int cmd_robots(int argc, char **argv)
{
    const char *agent = NULL;
    int i = 1;
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return fputs(HELP, stdout) < 0;
    if (argc > 1 && !strncmp(argv[1], "--agent=", 8)) {
        agent = argv[1] + 8;
        i = 2;
    } else if (argc > 2 && !strcmp(argv[1], "--agent")) {
        agent = argv[2];
        i = 3;
    }
    if (!agent)
        return tool_usage(WHO, "for which crawler? --agent UA comes first");
    if (argc - i < 2)
        return tool_usage(WHO, "a FILE and at least one URL");
    return run(agent, argv[i], argc - i - 1, argv + i + 1);
}
