/* spider_run.h - for the tests of the spiders: a directory, the styles by name, and
 * what a run reported. All functions are static: include it and go. */
#ifndef COS_TESTS_SPIDER_RUN_H
#define COS_TESTS_SPIDER_RUN_H

#include "../examples/spider/spider.h"
#include "site.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static char dir[] = "/tmp/cos-spider-XXXXXX";
static int pages, downloads, failures, first_error;
static size_t left; /* in the set of URLs under way, at the end */
static char order[4096]; /* the last parts of the URLs, as they were reported */

static site__unused void report(const char *url, int downloaded, int err, void *arg)
{
    const char *last = strrchr(url, '/');
    (void)arg;
    pages++;
    downloads += downloaded;
    failures += err != 0;
    if (err && !first_error)
        first_error = err;
    last = last ? last + 1 : url;
    if (strlen(order) + strlen(last) < sizeof order - 2)
        strcat(strcat(order, last), " ");
}

static site__unused void clean(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", dir, dir);
    if (system(command))
        BAIL_OUT("cannot clean %s", dir);
}

static site__unused int run(const struct spider_style *style, const char *url, int nesting,
                            int concurrency)
{
    struct spider spider = {.url = url, .dir = dir, .nesting = nesting,
                            .concurrency = concurrency, .report = report, .left = &left};
    pages = downloads = failures = first_error = 0;
    left = SIZE_MAX;
    order[0] = 0;
    return style->run(&spider);
}

static site__unused int is_style(const struct spider_style *style, const char *names)
{
    return strstr(names, style->name) != NULL && style->run;
}

#endif
