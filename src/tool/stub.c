/* stub.c - stands in for the crawl until its room is filled. */
#include "crawl/options.h"

#if !__has_include("crawl/crawl.c")
#include <stdio.h>

int cos_crawl(const struct cos_crawl_options *options, const struct cos_crawl_events *events,
              struct cos_crawl_result *result)
{
    (void)options;
    (void)events;
    *result = (struct cos_crawl_result){.stop = COS_STOP_ERROR, .err = COS_ENOTSUP, .exit_code = 1};
    snprintf(result->message, sizeof result->message, "this build cannot crawl yet");
    return COS_ENOTSUP;
}
#endif
