/* main.c - `spider [url [nesting [concurrency]]]`: the queued spider as a
 * program of its own, on the coroutine face. It says what became of each page
 * and ends with 1 when one failed. */
#include "spider.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: spider [url [nesting [concurrency]]]\n"
                            "Saves a page and, nesting levels deep, the pages of the same host it\n"
                            "links to. Defaults: http://www.example.com 1 2.\n";

static void report(const char *url, int downloaded, int err, void *arg)
{
    int *failed = arg;
    if (err) {
        ++*failed;
        fprintf(stderr, "spider: %s: %s\n", url, cos_strerror(err));
    } else {
        printf("%s %s\n", downloaded ? "completed" : "already downloaded", url);
    }
}

/* A whole number within its bounds, or the program ends. */
static int number(const char *text, int least, const char *what)
{
    char *end;
    long n;
    errno = 0;
    n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < least || n > INT_MAX) {
        fprintf(stderr, "spider: %s must be a whole number from %d on, not '%s'\n", what, least,
                text);
        exit(2);
    }
    return (int)n;
}

int main(int argc, char **argv)
{
    int failed = 0, err;
    struct spider spider = {.url = argc > 1 ? argv[1] : "http://www.example.com",
                            .dir = ".",
                            .report = report,
                            .arg = &failed};
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc > 1 && argv[1][0] == '-') {
        fprintf(stderr, "spider: unknown option '%s'; try 'spider --help'\n", argv[1]);
        return 2;
    }
    if (argc > 4) {
        fputs("spider: too many arguments; try 'spider --help'\n", stderr);
        return 2;
    }
    spider.nesting = argc > 2 ? number(argv[2], 0, "nesting") : 1;
    spider.concurrency = argc > 3 ? number(argv[3], 1, "concurrency") : 2;
    err = spider_queue_co(&spider);
    if (err && !failed)
        fprintf(stderr, "spider: %s: %s\n", spider.url, cos_strerror(err));
    cos_shutdown();
    return err || failed ? 1 : 0;
}
