/* worker.h - life inside a worker process: limits, then one job after another. */
#ifndef COS_BASE_WORKER_H
#define COS_BASE_WORKER_H

#include "base/pool.h"

#include <stddef.h>
#include <stdint.h>

struct cos__worker_setup {
    cos_work_fn *run;
    size_t memory;      /* address space beyond what it starts with; 0: no limit */
    size_t message_max;
    int32_t cpu_s;      /* of each job; of its whole life for a program; 0: no limit */
    int32_t no_seccomp;
};

/* Serves jobs from fd until it closes. Does not return. */
_Noreturn void cos__worker_main(int fd, const struct cos__worker_setup *setup);
/* The limits that hold for programs too. */
void cos__worker_limits(const struct cos__worker_setup *setup);

#endif
