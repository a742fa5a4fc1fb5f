/* cps_crew.h - the one engine behind every function of cps_flow.h that runs more
 * than one job: the callback face's twin of flow/crew.h. */
#ifndef COS_COMPAT_CPS_CREW_H
#define COS_COMPAT_CPS_CREW_H

#include "cps.h"
#include "cps_flow.h"

#include <stddef.h>

struct cps__crew;

/* One running job; its address is the token the job answers with. */
struct cps__slot {
    struct cps__slot *next;  /* free list */
    struct cps__crew *crew;
    size_t index;
    uint8_t busy;
    _Alignas(max_align_t) char item[]; /* a generated item */
};

/* take: 1 and slot->index (and item), 0 nothing for now, negative an error.
 * launch: starts the job; it answers to cps__crew_landed. land: files the
 * answer; 0 go on, COS_ESTOP end well, negative end badly. */
struct cps__crew_type {
    int (*take)(struct cps__crew *crew, struct cps__slot *slot);
    void (*launch)(struct cps__crew *crew, struct cps__slot *slot);
    int (*land)(struct cps__crew *crew, struct cps__slot *slot, int err);
    int (*close)(struct cps__crew *crew, int err); /* last look at the result, may be NULL */
    void (*hurry)(struct cps__crew *crew); /* the outcome is known and a job runs, may be NULL */
};

struct cps__crew {
    struct cos_op op;
    struct cps_rt *rt;
    const struct cps__crew_type *type;
    int limit;
    size_t item_size;
    /* what the functions need of it */
    struct cos_flow_list list;
    cps_flow_fn *fn;
    void *fnarg;
    struct cps_flow_task *tasks;
    size_t count;
    size_t result_size;
    void *own_items;          /* the copy behind list or tasks */
    unsigned char *yes;
    struct cos_buf *parts;
    struct cos_buf joined;
    int (*test)(void *arg);
    int wanted;
    size_t wanted_count;
    int last;
    void *extra;              /* the graph of auto, the spec of retry */
    void (*extra_free)(void *extra);
    struct cps_flow_result result;
    /* the crew's own */
    struct cps__slot *free_slots;
    int64_t deadline;
    size_t next;
    size_t launched;
    int running;
    int err;
    uint8_t over;    /* nothing new starts */
    uint8_t dry;     /* take() said 0, for now */
    uint8_t ended;   /* for take(): the source has ended */
    uint8_t pumping;
    uint8_t told;    /* the face knows the outcome */
    uint8_t wrong;   /* err is to be reported instead of running */
};

/* A zeroed crew, or NULL. wrong: an error to report instead of running. */
struct cps__crew *cps__crew_new(struct cps_rt *rt, const struct cps__crew_type *type, int limit);
/* The crew will only report err. The first one counts. */
void cps__crew_refuse(struct cps__crew *crew, int err);
/* Room for count results of that size. 0 or an error (the crew is refused). */
int cps__crew_results(struct cps__crew *crew, size_t count, size_t size);
/* Starts it; the ticket, as cps__begin. crew NULL: out of memory. */
int64_t cps__crew_begin(struct cps__crew *crew, struct cps_rt *rt, int64_t deadline,
                        cps_flow_cb *cb, void *arg);
/* The callback that every job gets, its slot as token. */
void cps__crew_landed(int err, void *token);
/* More may be taken now (auto): looks again. */
void cps__crew_pump(struct cps__crew *crew);

static inline void *cps__crew_slot(const struct cps__crew *crew, size_t index)
{
    return crew->result.values && crew->result_size
               ? (char *)crew->result.values + index * crew->result_size
               : crew->result.values;
}

#endif
