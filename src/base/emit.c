/* emit.c - operations as the hooks see them (emit.h): ids, the table of live
 * ones, the context of what runs, and the runs that are open. May call hook.c
 * (to tell) and local.c (frames).
 *
 * Ids count up from 1 in one counter for all threads, are never reused and stay
 * below 2^53, so that JSON keeps them: at a thousand million a second that lasts
 * for a hundred days.
 *
 * Runs are kept as a stack, so the pairs nest whatever coroutines do: a run that
 * starts from the loop proves that the open ones have given way. Rejected: a
 * look at every switch of the runtime, which a system libdill does not offer and
 * which would cost those who do not listen. */
#include "base/hook_int.h"

#include "base/die.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cos__hooks_on;

static _Thread_local struct cos__hooks *mine;
static _Thread_local uint8_t *the_bell;
static uint64_t last_id;

/* --- the thread's state ------------------------------------------------------------ */

struct cos__hooks *cos__hooks(void)
{
    return mine;
}

struct cos__hooks *cos__hooks_make(void)
{
    struct cos__hooks *hooks = mine;
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
    mine = hooks;
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
    mine = NULL;
}

void cos__hooks_settle(struct cos__hooks *hooks)
{
    int needed = hooks->enabled || hooks->scoped || hooks->live || hooks->frames;
    if (needed != hooks->listed) {
        __atomic_add_fetch(&cos__hooks_on, needed ? 1 : -1, __ATOMIC_RELEASE);
        hooks->listed = needed;
    }
    if (!needed && !hooks->used && !hooks->records && !hooks->nruns && !hooks->inside)
        release(hooks);
}

/* --- telling ---------------------------------------------------------------------------- */

/* Calls that callback of every hook that sees the operation. One of them may
 * remove another one, so what is left is looked at after each. */
#define TELL(hooks, hook, event, ...)                                                              \
    for (uint32_t left_ = (hook)->sees; left_; left_ &= (left_ - 1) & (hook)->sees) {              \
        const struct cos_hook *to_ = (hooks)->slot[__builtin_ctz(left_)];                          \
        int rc_;                                                                                   \
        if (!to_->calls.event)                                                                     \
            continue;                                                                              \
        (hooks)->inside++;                                                                         \
        rc_ = to_->calls.event(to_->calls.arg, (hook)->op.id, ##__VA_ARGS__);                      \
        (hooks)->inside--;                                                                         \
        if (COS__UNLIKELY(rc_))                                                                    \
            cos__hook_fail(to_, #event, rc_);                                                      \
    }

/* --- records -------------------------------------------------------------------------- */

static void record_end(struct cos__hooks *hooks, struct cos__hook *hook)
{
    do {
        struct cos__hook *up = hook->trigger;
        hooks->records--;
        if (hooks->nspare < COS__HOOK_SPARES) {
            hook->next = hooks->spare;
            hooks->spare = hook;
            hooks->nspare++;
        } else {
            free(hook);
        }
        hook = up;
    } while (hook && !--hook->refs);
}

static inline void record_drop(struct cos__hooks *hooks, struct cos__hook *hook)
{
    if (!--hook->refs)
        record_end(hooks, hook);
}

static struct cos__hook *record_new(struct cos__hooks *hooks)
{
    struct cos__hook *hook = hooks->spare;
    if (hook) {
        hooks->spare = hook->next;
        hooks->nspare--;
    } else {
        hook = malloc(sizeof *hook);
        if (!hook)
            return NULL;
    }
    hooks->records++;
    return hook;
}

static void grow(struct cos__hooks *hooks)
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

/* The chain above an operation is cut where it gets too long: a crawl's pages
 * cause each other without end. */
static void cut_chain(struct cos__hooks *hooks, struct cos__hook *hook)
{
    struct cos__hook *at = hook, *rest;
    for (int i = 0; at && i < COS__HOOK_DEPTH; i++)
        at = at->trigger;
    if (!at || !at->trigger)
        return;
    rest = at->trigger;
    at->trigger = NULL;
    record_drop(hooks, rest);
}

static void link_up(struct cos__hooks *hooks, struct cos__hook *hook, struct cos__hook *trigger)
{
    hook->trigger = trigger;
    hook->op.trigger = 0;
    hook->depth = 0;
    if (!trigger)
        return;
    hook->op.trigger = trigger->op.id;
    trigger->refs++;
    hook->depth = (uint16_t)(trigger->depth + 1);
    if (hook->depth % COS__HOOK_DEPTH == 0)
        cut_chain(hooks, hook);
}

static void place(struct cos__hooks *hooks, struct cos__hook *hook, const char *file, int line)
{
    hook->op.file = hooks->file ? hooks->file : file;
    hook->op.line = hooks->file ? hooks->line : line;
    hooks->file = NULL;
    hook->next = hooks->table[hook->op.id & hooks->mask];
    hooks->table[hook->op.id & hooks->mask] = hook;
    if (++hooks->live > hooks->mask)
        grow(hooks);
}

static uint64_t next_id(void)
{
    uint64_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    if (COS__UNLIKELY(id >= (uint64_t)1 << 53))
        cos__die("hooks: no ids are left below 2^53");
    return id;
}

void cos__hook_init(struct cos__hook **at, enum cos_hook_type type, struct cos__hook *trigger,
                    const char *name, const char *file, int line)
{
    struct cos__hooks *hooks = mine;
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
    *hook = (struct cos__hook){.op = {.id = next_id(), .type = type, .name = name,
                                      .execution = exec ? exec->op.id : 0},
                               .frame = frame, .chain = chain, .refs = 1,
                               .sees = chain & hooks->wants[type]};
    if (frame)
        frame->refs++;
    link_up(hooks, hook, trigger);
    place(hooks, hook, file, line);
    *at = hook;
    TELL(hooks, hook, init, type, hook->op.trigger)
}

void cos__hook_complete(struct cos__hook *hook)
{
    hook->op.complete = 1;
}

int cos__hook_ran(const struct cos__hook *hook)
{
    return hook->ran;
}

static void end(struct cos__hooks *hooks, struct cos__hook *hook)
{
    struct cos__hook **at = &hooks->table[hook->op.id & hooks->mask];
    hook->op.complete = 0;
    TELL(hooks, hook, destroy)
    while (*at != hook)
        at = &(*at)->next;
    *at = hook->next;
    hooks->live--;
    hook->dead = 1;
    if (hook->frame)
        cos__frame_drop(hooks, hook->frame);
    hook->frame = NULL;
    record_drop(hooks, hook);
    if (!hooks->live)
        cos__hooks_settle(hooks);
}

void cos__hook_destroy(struct cos__hook **at)
{
    struct cos__hook *hook = *at;
    *at = NULL;
    if (hook->open)
        hook->doomed = 1;
    else
        end(mine, hook);
}

/* --- what runs -------------------------------------------------------------------------- */

static inline struct cos__context context_hold(struct cos__hook *exec,
                                                struct cos__frame *frame)
{
    if (exec)
        exec->refs++;
    if (frame)
        frame->refs++;
    return (struct cos__context){exec, frame};
}

static inline void context_drop(struct cos__hooks *hooks, struct cos__context old)
{
    if (old.exec)
        record_drop(hooks, old.exec);
    if (old.frame)
        cos__frame_drop(hooks, old.frame);
}

void cos__context_set(struct cos__hooks *hooks, struct cos__hook *exec, struct cos__frame *frame)
{
    struct cos__context old = hooks->now;
    hooks->now = context_hold(exec, frame);
    context_drop(hooks, old);
}

/* Ends the run on top. */
static void close_run(struct cos__hooks *hooks, int failed)
{
    struct cos__run *run = &hooks->runs[hooks->nruns - 1];
    struct cos__hook *hook = run->hook;
    struct cos__context old = hooks->now, under = run->under;
    TELL(hooks, hook, after, failed)
    hooks->nruns--;
    hooks->now = under;
    hook->open = 0;
    if (!hooks->nruns)
        hooks->scoped = 0;
    if (hook->doomed)
        end(hooks, hook);
    context_drop(hooks, old);
}

static void close_all(struct cos__hooks *hooks)
{
    while (hooks->nruns)
        close_run(hooks, 0);
}

static void open_run(struct cos__hooks *hooks, struct cos__hook *hook, struct cos__frame *frame)
{
    int entry = !hooks->nruns;
    if (hooks->nruns == COS__HOOK_RUNS)
        cos__die("hooks: %d runs inside each other", COS__HOOK_RUNS);
    hooks->runs[hooks->nruns++] = (struct cos__run){hook, hooks->now};
    hooks->now = context_hold(hook, frame);
    hook->open = hook->ran = 1;
    hook->op.complete = 1;
    TELL(hooks, hook, before, entry)
}

void cos__hook_before(struct cos__hook *hook, int entry)
{
    if (entry)
        close_all(mine);
    if (!hook->open)
        open_run(mine, hook, hook->frame);
}

void cos__hook_after(struct cos__hook *hook, int failed)
{
    struct cos__hooks *hooks = mine;
    if (!hook->open)
        return; /* it gave way, and that was told */
    while (hooks->runs[hooks->nruns - 1].hook != hook)
        close_run(hooks, 0);
    close_run(hooks, failed);
}

void cos__hook_cancelled(void)
{
    if (mine && mine->now.exec)
        mine->now.exec->cancelled = 1;
}

void cos__hook_under(struct cos__hook *hook, struct cos_hook_wait *wait)
{
    wait->exec = mine->now.exec;
    wait->frame = mine->now.frame;
    mine->now = context_hold(hook, hook->frame);
}

void cos__hook_above(struct cos_hook_wait *wait)
{
    struct cos__context old = mine->now;
    mine->now = (struct cos__context){wait->exec, wait->frame};
    context_drop(mine, old);
}

void cos__hook_detach(void)
{
    if (!mine)
        return;
    close_all(mine);
    cos__context_set(mine, NULL, NULL);
}

void cos_hook_at(const char *file, int line)
{
    if (!mine)
        return;
    mine->file = file;
    mine->line = line;
}

void cos__hook_set_bell(uint8_t *bell)
{
    the_bell = bell;
}

void cos__hook_ring(void)
{
    if (the_bell)
        *the_bell |= 2;
}

void cos__hook_callback_end(void)
{
    if (!mine)
        return;
    mine->scoped = 0;
    cos__hook_detach();
    cos__hooks_settle(mine);
}

/* --- waits ---------------------------------------------------------------------------------- */

static inline int nobody_runs(const struct cos__hooks *hooks)
{
    return !hooks->nruns && !hooks->now.exec && !hooks->now.frame;
}

/* The context stays: a coroutine that is launched meanwhile inherits it. */
void cos_co_pause(struct cos_hook_wait *wait)
{
    struct cos__hooks *hooks = mine;
    struct cos__context own;
    wait->on = 0;
    if (!hooks || hooks->inside)
        return;
    hooks->scoped = 0;
    if (nobody_runs(hooks))
        return;
    own = context_hold(hooks->now.exec, hooks->now.frame);
    wait->on = 1;
    wait->exec = own.exec;
    wait->frame = own.frame;
    wait->open = own.exec && own.exec->open;
    close_all(hooks);
    cos__context_set(hooks, own.exec, own.frame);
}

void cos_co_resume(struct cos_hook_wait *wait)
{
    struct cos__hooks *hooks = mine;
    struct cos__hook *exec = wait->on ? wait->exec : NULL;
    struct cos__frame *frame = wait->on ? wait->frame : NULL;
    int saved = errno;
    if (!hooks || hooks->inside || (!wait->on && nobody_runs(hooks) && hooks->live))
        return;
    close_all(hooks);
    if (exec && wait->open && !exec->dead && !exec->open) {
        cos__context_set(hooks, NULL, NULL);
        open_run(hooks, exec, frame);
    } else {
        cos__context_set(hooks, exec, frame);
    }
    if (wait->on)
        context_drop(hooks, (struct cos__context){exec, frame});
    wait->on = 0;
    cos__hooks_settle(hooks);
    errno = saved;
}

void cos_co_wait_begin(struct cos_hook_wait *wait, enum cos_hook_type type, const char *file,
                     int line)
{
    struct cos__hook *hook = NULL;
    wait->op = NULL;
    wait->on = 0;
    if (!COS__HOOKS_ON())
        return;
    cos__hook_init(&hook, type, NULL, NULL, file, line);
    COS_HOOK(complete, hook);
    cos_co_pause(wait);
    wait->op = hook;
}

void cos_co_wait_end(struct cos_hook_wait *wait)
{
    struct cos__hook *hook = wait->op;
    int saved = errno;
    if (hook) {
        cos__hook_before(hook, 1);
        cos__hook_after(hook, saved == ECANCELED);
        cos__hook_destroy(&hook);
    }
    COS_HOOK(resume, wait);
    errno = saved;
}

/* --- coroutines ---------------------------------------------------------------------------- */

void cos__co_begin_as(struct cos_hook_wait *self, struct cos__hook *hook)
{
    self->on = hook != NULL;
    self->op = hook;
    if (!hook)
        return;
    cos__hook_detach();
    cos__hook_before(hook, 1);
}

void cos_co_begin_at(struct cos_hook_wait *self, const char *file, int line)
{
    struct cos__hook *hook = NULL;
    self->on = 0;
    if (!COS__HOOKS_ON())
        return;
    cos__hook_init(&hook, COS_HOOK_COROUTINE, NULL, NULL, file, line);
    cos__co_begin_as(self, hook);
}

void cos_co_end(struct cos_hook_wait *self)
{
    struct cos__hook *hook;
    if (!self->on)
        return;
    hook = self->op;
    self->on = 0;
    cos__hook_after(hook, hook->cancelled);
    cos__hook_destroy(&hook);
}
