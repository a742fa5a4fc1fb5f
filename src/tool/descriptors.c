/* descriptors.c - see descriptors.h. What a crawl needs beside its connections:
 * the database with its log and lock, the poller, threads' wake-ups, the name
 * servers, the list and the log; a file being written for each thread. The
 * directories that the store keeps open give way when it gets tight. */
#include "tool/descriptors.h"

#include "tool/tool.h"

#include <sys/resource.h>

enum { OWN = 40, KEPT = 64, CONCURRENCY = 64 };

static rlim_t raise_limit(rlim_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return wanted;
    if (limit.rlim_cur >= wanted)
        return limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

int tool_descriptors(struct tool_options *options, struct tool_ui *ui)
{
    int *wanted = &options->crawl.concurrency;
    int jobs = *wanted > 0 ? *wanted : CONCURRENCY;
    rlim_t limit = raise_limit((rlim_t)jobs + OWN + KEPT);
    if (limit < OWN + 2)
        return tool_fail(TOOL_FILE, "coscrawl",
                         "only %llu files may be open at a time, and a crawl needs %d; see "
                         "ulimit -n", (unsigned long long)limit, OWN + 2);
    if (limit >= (rlim_t)jobs + OWN)
        return 0;
    *wanted = (int)(limit - OWN);
    ui_say(ui, COS_SAY_WARN, "only %llu files may be open at a time (ulimit -n): -j is %d, not %d",
           (unsigned long long)limit, *wanted, jobs);
    return 0;
}
