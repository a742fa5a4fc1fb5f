/* hook.c - hook instances, and what a hook may ask (hook.h). May call emit.c.
 *
 * A hook that is enabled has a slot, a bit in the masks of the operations it
 * sees. An operation keeps the bits of its birth for life, so a hook never sees
 * half a life; what it causes inherits them, so a chain once seen is seen to its
 * end. Only removing a hook takes its bit out of operations that live. */
#include "base/hook_int.h"

#include "base/err.h"
#include "base/hook_check.h"

#include <stdio.h>
#include <stdlib.h>

const char *cos_hook_type_name(enum cos_hook_type type)
{
    static const char *const names[] = {
#define NAME(name, text) [COS_HOOK_##name] = (text),
        COS_HOOK_TYPES(NAME)
#undef NAME
    };
    return (unsigned)type < COS_HOOK_TYPE_COUNT ? names[type] : "unknown";
}

int cos_hook_is_handle(enum cos_hook_type type)
{
    return type == COS_HOOK_COROUTINE || type == COS_HOOK_LISTENER ||
           type == COS_HOOK_CONNECTION || type == COS_HOOK_QUEUE_TASK;
}

_Noreturn void cos__hook_fail(const struct cos_hook *hook, const char *event, int rc)
{
    fprintf(stderr, "coscrawl: hook '%s' failed in %s (%d: %s)\n",
            hook->calls.name ? hook->calls.name : "unnamed", event, rc,
            rc < 0 ? cos_strerror(rc) : "its own number");
    exit(EXIT_FAILURE);
}

/* --- instances ----------------------------------------------------------------------------- */

int cos_hook_new(struct cos_hook **out, const struct cos_hook_calls *calls)
{
    struct cos_hook *hook = calloc(1, sizeof *hook);
    if (!hook)
        return COS_ENOMEM;
    hook->calls = *calls;
    *out = hook;
    return 0;
}

void cos_hook_free(struct cos_hook *hook)
{
    if (!hook)
        return;
    cos_hook_remove(hook);
    free(hook);
}

static void find_only(struct cos__hooks *hooks)
{
    uint32_t used = hooks->used;
    hooks->only = used && !(used & (used - 1)) ? hooks->slot[__builtin_ctz(used)] : NULL;
}

/* The checking hook comes before all others, so that it knows every trigger. */
static int attach(struct cos_hook *hook)
{
    struct cos__hooks *hooks;
    if (!cos__my_hooks)
        cos__check_begin();
    hooks = cos__hooks_make();
    if (!hooks)
        return COS_ENOMEM;
    if (hook->home)
        return hook->home == hooks ? 0 : COS_EBUSY;
    if (hooks->used == UINT32_MAX)
        return COS_EFULL;
    hook->slot = __builtin_ctz(~hooks->used);
    hook->home = hooks;
    hooks->slot[hook->slot] = hook;
    hooks->used |= 1u << hook->slot;
    find_only(hooks);
    for (int type = 0; type < COS_HOOK_TYPE_COUNT; type++)
        if (!hook->calls.types || hook->calls.types >> type & 1)
            hooks->wants[type] |= 1u << hook->slot;
    return 0;
}

int cos_hook_enable(struct cos_hook *hook)
{
    int err = attach(hook);
    if (err)
        return err;
    hook->home->enabled |= 1u << hook->slot;
    cos__hooks_settle(hook->home);
    return 0;
}

void cos_hook_disable(struct cos_hook *hook)
{
    if (!hook->home)
        return;
    hook->home->enabled &= ~(1u << hook->slot);
    hook->home->scoped &= ~(1u << hook->slot);
    cos__hooks_settle(hook->home);
}

int cos_hook_scope(struct cos_hook *hook)
{
    int err = attach(hook);
    if (err)
        return err;
    hook->home->scoped |= 1u << hook->slot;
    cos__hook_ring();
    cos__hooks_settle(hook->home);
    return 0;
}

static void forget(struct cos__hook *op, uint32_t bit)
{
    op->chain &= ~bit;
    op->sees &= ~bit;
}

void cos_hook_remove(struct cos_hook *hook)
{
    struct cos__hooks *hooks = hook->home;
    uint32_t bit = 1u << hook->slot;
    if (!hooks)
        return;
    for (size_t i = 0; i <= hooks->mask; i++)
        for (struct cos__hook *op = hooks->table[i]; op; op = op->next)
            forget(op, bit);
    if (hooks->now.exec)
        forget(hooks->now.exec, bit);
    hooks->enabled &= ~bit;
    hooks->scoped &= ~bit;
    hooks->used &= ~bit;
    find_only(hooks);
    for (int type = 0; type < COS_HOOK_TYPE_COUNT; type++)
        hooks->wants[type] &= ~bit;
    hooks->slot[hook->slot] = NULL;
    hook->home = NULL;
    cos__hooks_settle(hooks);
}

void cos_hook_off(void)
{
    struct cos__hooks *hooks = cos__my_hooks;
    for (uint32_t left = hooks ? hooks->used : 0; left; left &= left - 1)
        cos_hook_remove(hooks->slot[__builtin_ctz(left)]);
}

/* --- questions -------------------------------------------------------------------------------- */

uint64_t cos_hook_execution(void)
{
    const struct cos__hooks *hooks = cos__my_hooks;
    return hooks && hooks->now.exec ? hooks->now.exec->op.id : 0;
}

uint64_t cos_hook_trigger(void)
{
    const struct cos__hooks *hooks = cos__my_hooks;
    return hooks && hooks->now.exec ? hooks->now.exec->op.trigger : 0;
}

const struct cos_hook_op *cos_hook_find(uint64_t id)
{
    const struct cos__hooks *hooks = cos__my_hooks;
    const struct cos__hook *hook = hooks ? cos__hook_by_id(hooks, id) : NULL;
    return hook ? &hook->op : NULL;
}

int cos_hook_stack(uint64_t id, struct cos_buf *out)
{
    const struct cos__hooks *hooks = cos__my_hooks;
    const struct cos__hook *at = hooks ? cos__hook_by_id(hooks, id) : NULL;
    int err = at ? 0 : COS_ENOENT;
    for (int i = 0; at && !err && i < COS__HOOK_DEPTH; i++, at = at->trigger) {
        const char *type = cos_hook_type_name(at->op.type);
        err = cos_buf_addf(out, "%s at %s:%d\n", at->op.name ? at->op.name : type, at->op.file,
                           at->op.line);
    }
    return err;
}
