/* backoff.h - how long a retry waits; both faces and the crawl use it. */
#ifndef COS_FLOW_BACKOFF_H
#define COS_FLOW_BACKOFF_H

#include "flow/flow.h"

/* The spec with its defaults filled in. */
struct cos_flow_retry cos__retry_defaults(const struct cos_flow_retry *how);
/* Milliseconds to wait after the given try (1 is the first). */
int64_t cos__retry_wait(const struct cos_flow_retry *how, int tried);
/* 1: try again after this error. */
int cos__retry_again(const struct cos_flow_retry *how, int tried, int err);

#endif
