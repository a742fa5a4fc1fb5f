/* hook_int.h - what hook.c, emit.c and local.c share: one struct cos__hooks per
 * thread that listens, made on demand and gone when nothing needs it. No locks:
 * ids are the only thing that threads share. */
#ifndef COS_BASE_HOOK_INT_H
#define COS_BASE_HOOK_INT_H

#include "base/emit.h"

#include <stddef.h>

enum { COS__HOOKS_MAX = 32, COS__HOOK_RUNS = 256, COS__HOOK_DEPTH = 64, COS__HOOK_SPARES = 4096 };

/* A value and the frame it was added to. Never changed once made. */
struct cos__frame {
    struct cos__frame *up;
    const struct cos_local *key;
    void *value;
    unsigned refs, depth;
};

/* What runs. Whoever stores one holds a reference to both. */
struct cos__context {
    struct cos__hook *exec;
    struct cos__frame *frame;
};

/* An operation; it stays in memory after its end while something it caused
 * lives, for the long stack. */
struct cos__hook {
    struct cos_hook_op op;
    struct cos__hook *next;    /* of its slot in the table; of the spares */
    struct cos__hook *trigger; /* held; cut off when the chain gets too long */
    struct cos__frame *frame;  /* inherited at creation; held */
    uint32_t chain;            /* the hooks whose chain it belongs to */
    uint32_t sees;             /* of these, those that want its type */
    unsigned refs;
    uint16_t depth;            /* of the chain above it */
    uint8_t open, ran, doomed, dead, cancelled;
};

struct cos__run {
    struct cos__hook *hook;
    struct cos__context under; /* what ran before it */
};

struct cos__hooks {
    struct cos_hook *slot[COS__HOOKS_MAX];
    uint32_t used, enabled, scoped; /* bits: slots */
    uint32_t wants[COS_HOOK_TYPE_COUNT]; /* by type: who has not filtered it out */
    struct cos__context now;
    struct cos__run runs[COS__HOOK_RUNS];
    int nruns;
    int inside;                /* a hook's callback runs */
    int listed;                /* counted in cos__hooks_on */
    struct cos__hook **table;  /* live ones by id */
    size_t mask, live, records, frames;
    struct cos__hook *spare;
    size_t nspare;
    const char *file;          /* cos__hook_at */
    int line;
};

struct cos_hook {
    struct cos_hook_calls calls;
    struct cos__hooks *home; /* NULL: in no thread's list */
    int slot;
};

/* This thread's; NULL when nobody listens, or out of memory. */
struct cos__hooks *cos__hooks(void);
struct cos__hooks *cos__hooks_make(void);
/* Rings it, if there is one. */
void cos__hook_ring(void);
/* After anything that may have ended the need for it. */
void cos__hooks_settle(struct cos__hooks *hooks);

struct cos__hook *cos__hook_by_id(const struct cos__hooks *hooks, uint64_t id);
void cos__frame_drop(struct cos__hooks *hooks, struct cos__frame *frame);
void cos__context_set(struct cos__hooks *hooks, struct cos__hook *exec, struct cos__frame *frame);

/* hook.c: a callback has failed. */
_Noreturn void cos__hook_fail(const struct cos_hook *hook, const char *event, int rc);

#endif
