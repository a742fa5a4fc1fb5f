/* wait.c - coroutines and their waits, as the hooks see them (emit.h): what ran
 * is put away for the time of a wait and taken up again after it. May call emit.c
 * and run.c. libdill is not asked who runs, so any libdill will do. */
#include "base/hook_int.h"

#include <errno.h>

/* --- waits ---------------------------------------------------------------------------------- */

static inline int nobody_runs(const struct cos__hooks *hooks)
{
    return !hooks->nruns && !hooks->now.exec && !hooks->now.frame;
}

/* The context stays: a coroutine that is launched meanwhile inherits it. */
static __attribute__((noinline)) void put_away(struct cos__hooks *hooks,
                                               struct cos_hook_wait *wait)
{
    struct cos__context own = cos__context_hold(hooks->now.exec, hooks->now.frame);
    wait->on = 1;
    wait->exec = own.exec;
    wait->frame = own.frame;
    wait->open = own.exec && own.exec->open;
    cos__runs_close(hooks);
    cos__context_set(hooks, own.exec, own.frame);
}

void cos_co_pause(struct cos_hook_wait *wait)
{
    struct cos__hooks *hooks = cos__my_hooks;
    wait->on = 0;
    if (!hooks || hooks->inside)
        return;
    hooks->scoped = 0;
    if (!nobody_runs(hooks))
        put_away(hooks, wait);
}

static __attribute__((noinline)) void take_up(struct cos__hooks *hooks,
                                              struct cos_hook_wait *wait)
{
    struct cos__hook *exec = wait->on ? wait->exec : NULL;
    struct cos__frame *frame = wait->on ? wait->frame : NULL;
    int saved = errno;
    cos__runs_close(hooks);
    if (exec && wait->open && !exec->dead && !exec->open) {
        cos__context_set(hooks, NULL, NULL);
        cos__run_open(hooks, exec, frame);
    } else {
        cos__context_set(hooks, exec, frame);
    }
    if (wait->on)
        cos__context_drop(hooks, (struct cos__context){exec, frame});
    wait->on = 0;
    cos__hooks_settle(hooks);
    errno = saved;
}

void cos_co_resume(struct cos_hook_wait *wait)
{
    struct cos__hooks *hooks = cos__my_hooks;
    if (!hooks || hooks->inside ||
        (!wait->on && nobody_runs(hooks) && (hooks->enabled || hooks->live)))
        return;
    take_up(hooks, wait);
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
    cos_co_pause(wait);
    wait->op = hook;
}

void cos_co_wait_end(struct cos_hook_wait *wait)
{
    struct cos__hook *hook = wait->op;
    int saved = errno;
    if (hook) {
        cos__runs_close(cos__my_hooks);
        cos__hook_moment(&hook, saved == ECANCELED);
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
