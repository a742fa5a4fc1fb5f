/* emit.c - operations as the hooks see them: the thread's state, ids, records,
 * and the two ends of a life (emit.h). May call hook.c (to tell), run.c and
 * local.c (frames).
 *
 * Ids count up from 1 in one counter for all threads, of which a thread takes a
 * block at a time; they are never reused and stay below 2^53, so that JSON keeps
 * them: at a thousand million a second that lasts for a hundred days.
 *
 * A life must stay cheap for whoever has switched hooks on and does not look: the
 * records are kept and used again, a lookup is an index and mostly one
 * comparison, and what is told to one hook alone is told without a loop. Rejected:
 * records inside the operations. They outlive them, for the long stack. */
#include "base/hook_int.h"

#include "base/die.h"

#include <stdlib.h>
#include <string.h>

int cos__hooks_on;
_Thread_local struct cos__hooks *cos__my_hooks __attribute__((tls_model("initial-exec")));

static uint64_t taken; /* ids */

/* --- the thread's state ------------------------------------------------------------ */

struct cos__hooks *cos__hooks_make(void)
{
    struct cos__hooks *hooks = cos__my_hooks;
    if (hooks)
        return hooks;
    hooks = calloc(1, sizeof *hooks);
    if (!hooks)
        return NULL;
    hooks->mask = 255;
    hooks->table = calloc(hooks->mask + 1, sizeof *hooks->table);
    if (!hooks->table) {
        free(hooks);
        return NULL;
    }
    cos__my_hooks = hooks;
    return hooks;
}

static void release(struct cos__hooks *hooks)
{
    while (hooks->spare) {
        struct cos__hook *hook = hooks->spare;
        hooks->spare = hook->next;
        free(hook);
    }
    free(hooks->table);
    free(hooks);
    cos__my_hooks = NULL;
}

void cos__hooks_settle(struct cos__hooks *hooks)
{
    int needed = hooks->enabled || hooks->scoped || hooks->live || hooks->frames;
    if (needed != hooks->listed) {
        __atomic_add_fetch(&cos__hooks_on, needed ? 1 : -1, __ATOMIC_RELEASE);
        hooks->listed = needed;
    }
    if (!needed && !hooks->used && hooks->records == hooks->nspare && !hooks->nruns &&
        !hooks->inside)
        release(hooks);
}

/* --- records -------------------------------------------------------------------------- */

void cos__record_end(struct cos__hooks *hooks, struct cos__hook *hook)
{
    do {
        struct cos__hook *up = hook->trigger;
        if (hooks->nspare < COS__HOOK_SPARES) {
            hook->next = hooks->spare;
            hooks->spare = hook;
            hooks->nspare++;
        } else {
            hooks->records--;
            free(hook);
        }
        hook = up;
    } while (hook && !--hook->refs);
}

static __attribute__((noinline)) struct cos__hook *record_make(struct cos__hooks *hooks)
{
    struct cos__hook *hook = malloc(sizeof *hook);
    hooks->records += hook != NULL;
    return hook;
}

COS__INLINE struct cos__hook *record_new(struct cos__hooks *hooks)
{
    struct cos__hook *hook = hooks->spare;
    if (COS__UNLIKELY(!hook))
        return record_make(hooks);
    hooks->spare = hook->next;
    hooks->nspare--;
    return hook;
}

static __attribute__((noinline)) void grow(struct cos__hooks *hooks)
{
    size_t mask = hooks->mask * 2 + 1;
    struct cos__hook **table = calloc(mask + 1, sizeof *table);
    if (!table)
        return; /* longer chains will do */
    for (size_t i = 0; i <= hooks->mask; i++)
        for (struct cos__hook *at = hooks->table[i], *next; at; at = next) {
            next = at->next;
            at->next = table[at->op.id & mask];
            table[at->op.id & mask] = at;
        }
    free(hooks->table);
    hooks->table = table;
    hooks->mask = mask;
}

struct cos__hook *cos__hook_by_id(const struct cos__hooks *hooks, uint64_t id)
{
    struct cos__hook *at = hooks->table[id & hooks->mask];
    while (at && at->op.id != id)
        at = at->next;
    return at;
}

/* --- the beginning ---------------------------------------------------------------------- */

/* The chain above an operation is cut where it gets too long: a crawl's pages
 * cause each other without end. */
static __attribute__((noinline)) void cut_chain(struct cos__hooks *hooks, struct cos__hook *hook)
{
    struct cos__hook *at = hook, *rest;
    for (int i = 0; at && i < COS__HOOK_DEPTH; i++)
        at = at->trigger;
    if (!at || !at->trigger)
        return;
    rest = at->trigger;
    at->trigger = NULL;
    cos__record_drop(hooks, rest);
}

COS__INLINE void link_up(struct cos__hooks *hooks, struct cos__hook *hook,
                           struct cos__hook *trigger)
{
    hook->trigger = trigger;
    if (!trigger) {
        hook->op.trigger = 0;
        hook->depth = 0;
        return;
    }
    hook->op.trigger = trigger->op.id;
    trigger->refs++;
    hook->depth = (uint16_t)(trigger->depth + 1);
    if (hook->depth % COS__HOOK_DEPTH == 0)
        cut_chain(hooks, hook);
}

COS__INLINE void place(struct cos__hooks *hooks, struct cos__hook *hook, const char *file,
                         int line)
{
    struct cos__hook **at = &hooks->table[hook->op.id & hooks->mask];
    if (hooks->file) {
        file = hooks->file;
        line = hooks->line;
        hooks->file = NULL;
    }
    hook->op.file = file;
    hook->op.line = line;
    hook->next = *at;
    *at = hook;
    if (COS__UNLIKELY(++hooks->live > hooks->mask))
        grow(hooks);
}

static __attribute__((noinline)) void take_ids(struct cos__hooks *hooks)
{
    hooks->last_id = __atomic_add_fetch(&taken, COS__HOOK_IDS, __ATOMIC_RELAXED);
    hooks->id = hooks->last_id - COS__HOOK_IDS;
    if (hooks->last_id >= (uint64_t)1 << 53)
        cos__die("hooks: no ids are left below 2^53");
}

COS__INLINE uint64_t next_id(struct cos__hooks *hooks)
{
    if (COS__UNLIKELY(hooks->id == hooks->last_id))
        take_ids(hooks);
    return ++hooks->id;
}

void cos__hook_init(struct cos__hook **at, enum cos_hook_type type, struct cos__hook *trigger,
                    const char *name, const char *file, int line)
{
    struct cos__hooks *hooks = cos__my_hooks;
    struct cos__hook *hook, *exec;
    struct cos__frame *frame;
    uint32_t chain;
    *at = NULL;
    if (!hooks || hooks->inside)
        return;
    exec = hooks->now.exec;
    frame = trigger ? trigger->frame : hooks->now.frame;
    if (!trigger)
        trigger = exec;
    chain = hooks->enabled | hooks->scoped | (trigger ? trigger->chain : 0);
    if ((!chain && !frame) || !(hook = record_new(hooks))) {
        hooks->file = NULL;
        return;
    }
    hook->op.id = next_id(hooks);
    hook->op.execution = exec ? exec->op.id : 0;
    hook->op.type = type;
    hook->op.complete = 0;
    hook->op.name = name;
    hook->frame = frame;
    hook->chain = chain;
    hook->sees = chain & hooks->wants[type];
    hook->refs = 1;
    hook->open = hook->ran = hook->doomed = hook->dead = hook->cancelled = 0;
    if (frame)
        frame->refs++;
    link_up(hooks, hook, trigger);
    place(hooks, hook, file, line);
    *at = hook;
    COS__TELL(hooks, hook, init, type, hook->op.trigger);
    hook->op.complete = 1;
}

/* --- the end ------------------------------------------------------------------------------ */

/* Mostly nothing else holds it, and what caused it is held by others, too. */
COS__INLINE void record_drop_last(struct cos__hooks *hooks, struct cos__hook *hook)
{
    struct cos__hook *up = hook->trigger;
    if (--hook->refs)
        return;
    if (hooks->nspare >= COS__HOOK_SPARES || (up && up->refs == 1)) {
        cos__record_end(hooks, hook);
        return;
    }
    if (up)
        up->refs--;
    hook->next = hooks->spare;
    hooks->spare = hook;
    hooks->nspare++;
}

COS__INLINE void end(struct cos__hooks *hooks, struct cos__hook *hook)
{
    struct cos__hook **at = &hooks->table[hook->op.id & hooks->mask];
    hook->op.complete = 0;
    COS__TELL(hooks, hook, destroy);
    while (*at != hook)
        at = &(*at)->next;
    *at = hook->next;
    hooks->live--;
    hook->dead = 1;
    if (hook->frame) {
        cos__frame_drop(hooks, hook->frame);
        hook->frame = NULL;
    }
    record_drop_last(hooks, hook);
    if (!hooks->live && !hooks->enabled)
        cos__hooks_settle(hooks);
}

void cos__hook_end(struct cos__hooks *hooks, struct cos__hook *hook)
{
    end(hooks, hook);
}

void cos__hook_destroy(struct cos__hook **at)
{
    struct cos__hook *hook = *at;
    *at = NULL;
    if (hook->open)
        hook->doomed = 1;
    else
        end(cos__my_hooks, hook);
}

/* A run with nothing in it needs no place among the runs. */
COS__INLINE void pass(struct cos__hooks *hooks, struct cos__hook *hook, int failed)
{
    struct cos__context under = hooks->now, own;
    hooks->now = cos__context_hold(hook, hook->frame);
    hook->open = hook->ran = 1;
    COS__TELL(hooks, hook, before, !hooks->nruns);
    COS__TELL(hooks, hook, after, failed);
    hook->open = 0;
    own = hooks->now;
    hooks->now = under;
    if (!hooks->nruns)
        hooks->scoped = 0;
    cos__context_drop(hooks, own);
}

void cos__hook_pass(struct cos__hook *hook, int failed)
{
    pass(cos__my_hooks, hook, failed);
}

void cos__hook_moment(struct cos__hook **at, int failed)
{
    struct cos__hooks *hooks = cos__my_hooks;
    struct cos__hook *hook = *at;
    *at = NULL;
    pass(hooks, hook, failed);
    end(hooks, hook);
}

void cos_hook_at(const char *file, int line)
{
    struct cos__hooks *hooks = cos__my_hooks;
    if (!hooks)
        return;
    hooks->file = file;
    hooks->line = line;
}
