/* cmd_resolve.c - `coscrawl resolve`: what a reference means on a page. */
#include "config.h"

#include "tool/tool.h"

#include "base/err.h"
#include "web/url.h"

#include <stdio.h>
#include <string.h>

static const char HELP[] =
    "Usage: coscrawl resolve BASE REF...\n"
    "Prints each REF resolved against the URL BASE (may be ''), or 'error: ...'.\n";

/* Prints one reference; 0, or 1 when it has no URL. */
static int print_resolved(struct cos_url *url, const char *ref, const struct cos_url *base,
                          int base_err)
{
    int err = base_err ? base_err : cos_url_parse(url, ref, strlen(ref), base);
    if (err)
        printf("error: %s%s\n", base_err ? "base: " : "", cos_strerror(err));
    else
        printf("%s\n", url->href.data);
    return err != 0;
}

int cmd_resolve(int argc, char **argv)
{
    struct cos_url base, url;
    int err = 0, failed = 0;
    if (argc == 2 && !strcmp(argv[1], "--help"))
        return fputs(HELP, stdout) < 0;
    if (argc < 3)
        return tool_usage("coscrawl resolve", "a base URL (or '') and at least one reference");
    cos_url_init(&base);
    cos_url_init(&url);
    if (*argv[1])
        err = cos_url_parse(&base, argv[1], strlen(argv[1]), NULL);
    for (int i = 2; i < argc; i++)
        failed |= print_resolved(&url, argv[i], *argv[1] ? &base : NULL, err);
    cos_url_release(&url);
    cos_url_release(&base);
    return failed;
}
