/* local.c - values that follow the flow of operations (hook.h): a list of
 * frames, each with one value, never changed. Setting a value puts a frame on
 * top of what runs now; what is created then holds the top it was born under. So
 * inheriting costs one reference, and nobody sees what others set later.
 *
 * While a frame lives the emission points are on: without the operations'
 * records there would be nothing to inherit through. */
#include "base/hook_int.h"

#include "base/err.h"

#include <stdlib.h>

void cos__frame_drop(struct cos__hooks *hooks, struct cos__frame *frame)
{
    while (frame && !--frame->refs) {
        struct cos__frame *up = frame->up;
        if (frame->key->drop)
            frame->key->drop(frame->value);
        hooks->frames--;
        free(frame);
        frame = up;
    }
}

/* A value set again replaces the one on top: a loop that sets one does not grow. */
static struct cos__frame *below(struct cos__frame *top, const struct cos_local *key)
{
    return top && top->key == key ? top->up : top;
}

int cos_local_set(const struct cos_local *key, void *value)
{
    struct cos__hooks *hooks = cos__hooks_make();
    struct cos__frame *frame, *up;
    if (!hooks)
        return COS_ENOMEM;
    up = below(hooks->now.frame, key);
    if (up && up->depth >= 63)
        return COS_EFULL;
    frame = malloc(sizeof *frame);
    if (!frame)
        return COS_ENOMEM;
    *frame = (struct cos__frame){.up = up, .key = key, .value = value,
                                 .depth = up ? up->depth + 1 : 0};
    if (up)
        up->refs++;
    hooks->frames++;
    cos__context_set(hooks, hooks->now.exec, frame);
    if (!hooks->nruns)
        cos__hook_ring();
    cos__hooks_settle(hooks);
    return 0;
}

void *cos_local_get(const struct cos_local *key)
{
    const struct cos__hooks *hooks = cos__my_hooks;
    const struct cos__frame *at = hooks ? hooks->now.frame : NULL;
    while (at && at->key != key)
        at = at->up;
    return at ? at->value : NULL;
}

static void go_back(struct cos__frame *frame)
{
    struct cos__hooks *hooks = cos__my_hooks;
    cos__context_set(hooks, hooks->now.exec, frame);
    cos__frame_drop(hooks, frame);
    cos__hooks_settle(hooks);
}

int cos_local_run(const struct cos_local *key, void *value, int (*fn)(void *arg), void *arg)
{
    struct cos__hooks *hooks = cos__hooks_make();
    struct cos__frame *was = hooks ? hooks->now.frame : NULL;
    int err;
    if (was)
        was->refs++;
    err = cos_local_set(key, value);
    if (!err)
        err = fn(arg);
    if (cos__my_hooks)
        go_back(was);
    return err;
}

void cos_local_clear(void)
{
    struct cos__hooks *hooks = cos__my_hooks;
    if (!hooks)
        return;
    cos__context_set(hooks, hooks->now.exec, NULL);
    cos__hooks_settle(hooks);
}
