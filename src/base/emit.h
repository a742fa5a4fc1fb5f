/* emit.h - where operations report their life to the hooks (hook.h).
 *
 * An operation keeps a pointer, NULL while nobody listens:
 *     COS_HOOK(init, &op->hook, COS_HOOK_FETCH, NULL, "name");  trigger NULL: what runs now
 *     COS_HOOK(before, op->hook, 1);   its callback, or the coroutine that waited
 *     COS_HOOK(after, op->hook, 0);    for it, runs / has run
 *     COS_HOOK(destroy, &op->hook);    it ends; the pointer goes back to NULL
 * A destroy between before and after is told after the after.
 *
 * What runs is a context, one per thread: the operation and its frame of local
 * values. A coroutine keeps its own across a wait by COS_WAIT(): libdill is not
 * asked who runs, so any libdill will do. The operations and coroutines that
 * forget it are found out when the next run starts from the loop: what is still
 * open then has given way, and gets its after there.
 *
 * Unused, init and a wait cost one predicted branch on a flag, the others one on
 * the operation's own pointer. With -DCOS_NO_HOOKS all of them vanish. */
#ifndef COS_BASE_EMIT_H
#define COS_BASE_EMIT_H

#include "base/hook.h"

struct cos__hook;

/* Nonzero while anyone listens, in any thread. */
extern int cos__hooks_on;

/* The emission points behind the macro. */
void cos__hook_init(struct cos__hook **at, enum cos_hook_type type, struct cos__hook *trigger,
                    const char *name, const char *file, int line);
void cos__hook_before(struct cos__hook *hook, int entry);
void cos__hook_after(struct cos__hook *hook, int failed);
void cos__hook_destroy(struct cos__hook **at);
/* before and after at once, for what has nothing to run: the coroutine that waited
 * has runs of its own; and with the destroy. */
void cos__hook_pass(struct cos__hook *hook, int failed);
void cos__hook_moment(struct cos__hook **at, int failed);
/* before, the callback, after: what was started from the loop. *err is read after
 * the callback, to know whether it was cancelled. */
struct cos_op;
void cos__hook_deliver(struct cos__hook *hook, void (*deliver)(struct cos_op *op),
                       struct cos_op *op, const int *err);
/* What runs now is being cancelled. */
void cos__hook_cancelled(void);

/* Makes hook what runs, without telling anybody: what is created until
 * cos__hook_above() is caused by it. */
void cos__hook_under(struct cos__hook *hook, struct cos_hook_wait *wait);
void cos__hook_above(struct cos_hook_wait *wait);
/* What runs now belongs to nobody: the loop itself. */
void cos__hook_detach(void);
/* The byte that tells a loop over callbacks that the one that runs, an operation
 * or not, has opened a scope or set a value: bit 2. Both end with it. */
void cos__hook_set_bell(uint8_t *bell);
void cos__hook_callback_end(void);

/* A handle as the coroutine that serves it. */
void cos__co_begin_as(struct cos_hook_wait *self, struct cos__hook *hook);

#define COS__INLINE      static inline __attribute__((always_inline))
#define COS__UNLIKELY(x) __builtin_expect(!!(x), 0)

#ifdef COS_NO_HOOKS
#define COS__HOOKS_ON()       0
#define COS__HOOK_LIVE(hook)  0
#else
#define COS__HOOKS_ON()       COS__UNLIKELY(__atomic_load_n(&cos__hooks_on, __ATOMIC_RELAXED))
#define COS__HOOK_LIVE(hook)  COS__UNLIKELY((hook) != NULL)
#endif

#define COS_HOOK(event, ...) COS__HOOK_##event(__VA_ARGS__)
#define COS__HOOK_init(at, type, trigger, name)                                                    \
    COS__HOOK_init_at(at, type, trigger, name, __FILE__, __LINE__)
#define COS__HOOK_init_at(at, type, trigger, name, file, line)                                     \
    (COS__HOOKS_ON() ? cos__hook_init((at), (type), (trigger), (name), (file), (line))             \
                     : (void)(*(at) = NULL))
#define COS__HOOK_moment(at, failed)                                                               \
    (COS__HOOK_LIVE(*(at)) ? cos__hook_moment((at), (failed)) : (void)0)
#define COS__HOOK_before(hook, entry)                                                              \
    (COS__HOOK_LIVE(hook) ? cos__hook_before((hook), (entry)) : (void)0)
#define COS__HOOK_after(hook, failed)                                                              \
    (COS__HOOK_LIVE(hook) ? cos__hook_after((hook), (failed)) : (void)0)
#define COS__HOOK_destroy(at) (COS__HOOK_LIVE(*(at)) ? cos__hook_destroy(at) : (void)0)
#define COS__HOOK_pause(wait)                                                                      \
    (COS__HOOKS_ON() ? cos_co_pause(wait) : (void)((wait)->on = 0))
#define COS__HOOK_resume(wait)                                                                     \
    (COS__HOOKS_ON() || (wait)->on ? cos_co_resume(wait) : (void)0)
#define COS__HOOK_co_begin(self)                                                                   \
    (COS__HOOKS_ON() ? cos_co_begin_at((self), __FILE__, __LINE__) : (void)((self)->on = 0))
#define COS__HOOK_co_end(self) (COS__UNLIKELY((self)->on) ? cos_co_end(self) : (void)0)
#define COS__HOOK_detach() (COS__HOOKS_ON() ? cos__hook_detach() : (void)0)

/* The value of a call during which other coroutines run. */
#define COS_WAIT(call)                                                                             \
    __extension__({                                                                                \
        struct cos_hook_wait cos__w;                                                               \
        COS_HOOK(pause, &cos__w);                                                                  \
        __typeof__(call) cos__r = (call);                                                          \
        COS_HOOK(resume, &cos__w);                                                                 \
        cos__r;                                                                                    \
    })

#endif
