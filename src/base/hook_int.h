/* hook_int.h - what hook.c, emit.c, run.c, wait.c and local.c share: one struct
 * cos__hooks per thread that listens, made on demand and gone when nothing needs
 * it. No locks: ids are the only thing that threads share. What is inline here is
 * on the path of every operation while a hook is on. */
#ifndef COS_BASE_HOOK_INT_H
#define COS_BASE_HOOK_INT_H

#include "base/emit.h"

#include <stddef.h>

enum { COS__HOOKS_MAX = 32, COS__HOOK_RUNS = 256, COS__HOOK_DEPTH = 64, COS__HOOK_SPARES = 4096 };
/* Ids that a thread takes from the common counter at a time. */
enum { COS__HOOK_IDS = 1024 };

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
    struct cos_hook *only;          /* the one in use, when it is the only one */
    uint32_t used, enabled, scoped; /* bits: slots */
    uint32_t wants[COS_HOOK_TYPE_COUNT]; /* by type: who has not filtered it out */
    struct cos__context now;
    struct cos__run runs[COS__HOOK_RUNS];
    int nruns;
    int inside;                /* a hook's callback runs */
    int listed;                /* counted in cos__hooks_on */
    struct cos__hook **table;  /* live ones by id */
    size_t mask, live, frames;
    struct cos__hook *spare;
    size_t nspare, records;    /* how many are spare, how many there are in all */
    uint64_t id, last_id;      /* the last one given, and the last of those taken */
    const char *file;          /* cos__hook_at */
    int line;
};

struct cos_hook {
    struct cos_hook_calls calls;
    struct cos__hooks *home; /* NULL: in no thread's list */
    int slot;
};

/* This thread's; NULL when nobody listens, or out of memory. */
extern _Thread_local struct cos__hooks *cos__my_hooks __attribute__((tls_model("initial-exec")));
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

/* emit.c: nobody holds the record any more; its destroy is due. */
void cos__record_end(struct cos__hooks *hooks, struct cos__hook *hook);
void cos__hook_end(struct cos__hooks *hooks, struct cos__hook *hook);

/* run.c */
void cos__run_open(struct cos__hooks *hooks, struct cos__hook *hook, struct cos__frame *frame);
void cos__run_close(struct cos__hooks *hooks, int failed);

static inline void cos__runs_close(struct cos__hooks *hooks)
{
    while (hooks->nruns)
        cos__run_close(hooks, 0);
}

/* --- telling ------------------------------------------------------------------------ */

#define COS__TELL_ONE(hooks, hook, to, event, ...)                                                 \
    do {                                                                                           \
        int rc_;                                                                                   \
        if (!(to)->calls.event)                                                                    \
            break;                                                                                 \
        (hooks)->inside++;                                                                         \
        rc_ = (to)->calls.event((to)->calls.arg, (hook)->op.id, ##__VA_ARGS__);                    \
        (hooks)->inside--;                                                                         \
        if (COS__UNLIKELY(rc_))                                                                    \
            cos__hook_fail((to), #event, rc_);                                                     \
    } while (0)

/* Calls that callback of every hook that sees the operation. One of them may
 * remove another one, so what is left is looked at after each. */
#define COS__TELL(hooks, hook, event, ...)                                                         \
    do {                                                                                           \
        const struct cos_hook *to_ = (hooks)->only;                                                \
        uint32_t left_ = (hook)->sees;                                                             \
        if (!left_)                                                                                \
            break;                                                                                 \
        if (to_) {                                                                                 \
            COS__TELL_ONE((hooks), (hook), to_, event, ##__VA_ARGS__);                             \
            break;                                                                                 \
        }                                                                                          \
        for (; left_; left_ &= (left_ - 1) & (hook)->sees) {                                       \
            to_ = (hooks)->slot[__builtin_ctz(left_)];                                             \
            COS__TELL_ONE((hooks), (hook), to_, event, ##__VA_ARGS__);                             \
        }                                                                                          \
    } while (0)

/* --- references ----------------------------------------------------------------------- */

static inline void cos__record_drop(struct cos__hooks *hooks, struct cos__hook *hook)
{
    if (COS__UNLIKELY(!--hook->refs))
        cos__record_end(hooks, hook);
}

static inline struct cos__context cos__context_hold(struct cos__hook *exec,
                                                    struct cos__frame *frame)
{
    if (exec)
        exec->refs++;
    if (frame)
        frame->refs++;
    return (struct cos__context){exec, frame};
}

static inline void cos__context_drop(struct cos__hooks *hooks, struct cos__context old)
{
    if (old.exec)
        cos__record_drop(hooks, old.exec);
    if (old.frame)
        cos__frame_drop(hooks, old.frame);
}

#endif
