/* run.c - what runs: the context of the thread and the runs that are open
 * (emit.h). May call emit.c and local.c (frames).
 *
 * Runs are kept as a stack, so the pairs nest whatever coroutines do: a run that
 * starts from the loop proves that the open ones have given way. Rejected: a
 * look at every switch of the runtime, which a system libdill does not offer and
 * which would cost those who do not listen. */
#include "base/hook_int.h"

#include "base/die.h"
#include "base/err.h"

static _Thread_local uint8_t *the_bell;

void cos__context_set(struct cos__hooks *hooks, struct cos__hook *exec, struct cos__frame *frame)
{
    struct cos__context old = hooks->now;
    hooks->now = cos__context_hold(exec, frame);
    cos__context_drop(hooks, old);
}

/* --- runs ----------------------------------------------------------------------------- */

/* Ends the run on top. */
COS__INLINE void close_run(struct cos__hooks *hooks, struct cos__hook *hook, int failed)
{
    struct cos__context old;
    COS__TELL(hooks, hook, after, failed);
    old = hooks->now;
    hooks->now = hooks->runs[--hooks->nruns].under;
    hook->open = 0;
    if (!hooks->nruns)
        hooks->scoped = 0;
    if (COS__UNLIKELY(hook->doomed))
        cos__hook_end(hooks, hook);
    cos__context_drop(hooks, old);
}

void cos__run_close(struct cos__hooks *hooks, int failed)
{
    close_run(hooks, hooks->runs[hooks->nruns - 1].hook, failed);
}

COS__INLINE void open_run(struct cos__hooks *hooks, struct cos__hook *hook,
                            struct cos__frame *frame)
{
    struct cos__run *run = hooks->runs + hooks->nruns;
    int first = !hooks->nruns;
    if (hooks->nruns == COS__HOOK_RUNS)
        cos__die("hooks: %d runs inside each other", COS__HOOK_RUNS);
    run->hook = hook;
    run->under = hooks->now;
    hooks->nruns++;
    hook->refs++;
    if (frame)
        frame->refs++;
    hooks->now = (struct cos__context){hook, frame};
    hook->open = hook->ran = 1;
    COS__TELL(hooks, hook, before, first);
}

void cos__run_open(struct cos__hooks *hooks, struct cos__hook *hook, struct cos__frame *frame)
{
    open_run(hooks, hook, frame);
}

void cos__hook_before(struct cos__hook *hook, int entry)
{
    struct cos__hooks *hooks = cos__my_hooks;
    if (entry)
        cos__runs_close(hooks);
    if (!hook->open)
        open_run(hooks, hook, hook->frame);
}

void cos__hook_after(struct cos__hook *hook, int failed)
{
    struct cos__hooks *hooks = cos__my_hooks;
    if (!hook->open)
        return; /* it gave way, and that was told */
    while (hooks->runs[hooks->nruns - 1].hook != hook)
        cos__run_close(hooks, 0);
    close_run(hooks, hook, failed);
}

void cos__hook_deliver(struct cos__hook *hook, void (*deliver)(struct cos_op *op),
                       struct cos_op *op, const int *err)
{
    struct cos__hooks *hooks = cos__my_hooks;
    cos__runs_close(hooks);
    open_run(hooks, hook, hook->frame);
    deliver(op);
    if (hook->open && hooks->runs[hooks->nruns - 1].hook == hook)
        close_run(hooks, hook, *err == COS_ECANCELED);
    else
        cos__hook_after(hook, *err == COS_ECANCELED);
}

void cos__hook_cancelled(void)
{
    struct cos__hooks *hooks = cos__my_hooks;
    if (hooks && hooks->now.exec)
        hooks->now.exec->cancelled = 1;
}

/* --- the context without a run ----------------------------------------------------------- */

void cos__hook_under(struct cos__hook *hook, struct cos_hook_wait *wait)
{
    struct cos__hooks *hooks = cos__my_hooks;
    wait->exec = hooks->now.exec;
    wait->frame = hooks->now.frame;
    hooks->now = cos__context_hold(hook, hook->frame);
}

void cos__hook_above(struct cos_hook_wait *wait)
{
    struct cos__hooks *hooks = cos__my_hooks;
    struct cos__context old = hooks->now;
    hooks->now = (struct cos__context){wait->exec, wait->frame};
    cos__context_drop(hooks, old);
}

void cos__hook_detach(void)
{
    struct cos__hooks *hooks = cos__my_hooks;
    if (!hooks)
        return;
    cos__runs_close(hooks);
    cos__context_set(hooks, NULL, NULL);
}

/* --- the end of a callback ----------------------------------------------------------------- */

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
    struct cos__hooks *hooks = cos__my_hooks;
    if (!hooks)
        return;
    hooks->scoped = 0;
    cos__hook_detach();
    cos__hooks_settle(hooks);
}
