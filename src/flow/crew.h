/* crew.h - the one engine behind every parallel function of the coroutine face. */
#ifndef COS_FLOW_CREW_H
#define COS_FLOW_CREW_H

#include <stddef.h>
#include <stdint.h>

/* Workers take steps until there are none, one fails, or one says stop. */
struct cos__crew {
    /* Set by the caller. take() hands out the next step: 1 and *index (and the
     * item, into room of item_size bytes), 0 for the end, negative for an error;
     * it is not called again after an end, and may set dry with the last step,
     * which saves a worker. Never suspends. step() runs it and may
     * suspend: 0 or more go on, COS_ESTOP end well, negative end badly. */
    int (*take)(struct cos__crew *crew, size_t *index, void *item);
    int (*step)(struct cos__crew *crew, size_t index, const void *item);
    size_t item_size;
    int limit;
    void *self;
    /* The crew's own. */
    int64_t deadline;
    size_t next;      /* for take(): how many were handed out */
    int err;          /* the first error */
    int running;      /* workers that have not ended */
    uint8_t over;     /* no new step starts */
    uint8_t dry;      /* there is nothing left to take */
    uint8_t waiting;  /* the caller stands at done */
    int done[2];      /* the last one out, or the first to end it, sends here */
};

/* Runs it to its end. 0 (also after a stop), the first error, COS_EINVAL for
 * limit <= 0, COS_ETIMEDOUT, COS_ECANCELED. Suspends. */
int cos__crew_run(struct cos__crew *crew, int64_t deadline);

#endif
