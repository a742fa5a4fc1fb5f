/* hook.h - where operations report their life: init, before, after, destroy.
 *
 * An operation keeps a 64-bit id, 0 while nobody listens:
 *     COS_HOOK(init, &op->hook, COS_HOOK_FETCH, 0);   created; trigger 0: whatever runs now
 *     COS_HOOK(before, op->hook, 1);                  its callback, or the coroutine that
 *     COS_HOOK(after, op->hook, 0);                   waited for it, runs / has run
 *     COS_HOOK(destroy, &op->hook);                   it ends; the id goes back to 0
 * A request has exactly one before/after pair, a handle any number. entry is 1
 * when the run starts from the loop and 0 when it is nested in another run;
 * failed is 1 when it ended by cancellation or a raised error, whatever the
 * operation's own result was. An object that goes back to a pool is destroyed
 * there and gets a new id when it is taken again.
 *
 * Unused, init costs one predicted branch on a flag and the others one on the
 * operation's own id, which is at hand. With -DCOS_NO_HOOKS all of them vanish. */
#ifndef COS_BASE_HOOK_H
#define COS_BASE_HOOK_H

#include <stdint.h>

/* X(name, text) */
#define COS_HOOK_TYPES(X)                                                                          \
    X(COROUTINE, "coroutine")                                                                      \
    X(TIMER, "timer")                                                                              \
    X(FD, "fd")                                                                                    \
    X(CHANNEL, "channel")                                                                          \
    X(FETCH, "fetch")                                                                              \
    X(DNS, "dns")                                                                                  \
    X(CONNECT, "connect")                                                                          \
    X(TLS, "tls")                                                                                  \
    X(TRANSFER, "transfer")                                                                        \
    X(FILE, "file")                                                                                \
    X(PARSE, "parse")                                                                              \
    X(POOL_JOB, "pool job")                                                                        \
    X(QUEUE_TASK, "queue task")                                                                    \
    X(FUTURE, "future")                                                                            \
    X(LISTENER, "listener")                                                                        \
    X(CONNECTION, "connection")                                                                    \
    X(CPS_REQUEST, "cps request")

enum cos_hook_type {
#define COS__HOOK_ENUM(name, text) COS_HOOK_##name,
    COS_HOOK_TYPES(COS__HOOK_ENUM)
#undef COS__HOOK_ENUM
    COS_HOOK_TYPE_COUNT
};

/* "fetch"; never NULL. */
const char *cos_hook_type_name(enum cos_hook_type type);

/* Nonzero while anyone listens, in any thread. */
extern int cos__hooks_on;

/* The emission points behind the macro. Never called while *id would stay 0. */
void cos__hook_init(uint64_t *id, enum cos_hook_type type, uint64_t trigger, const char *file,
                    int line);
void cos__hook_before(uint64_t id, int entry);
void cos__hook_after(uint64_t id, int failed);
void cos__hook_destroy(uint64_t *id);

/* Who gets the events: every member is set, or the pointer is NULL and all
 * emission is off. The hook instances of the public interface sit behind one
 * such table. Set it while no other thread emits. */
struct cos__hook_sink {
    void (*init)(uint64_t id, enum cos_hook_type type, uint64_t trigger, const char *file,
                 int line);
    void (*before)(uint64_t id, int entry);
    void (*after)(uint64_t id, int failed);
    void (*destroy)(uint64_t id);
};
void cos__hook_set_sink(const struct cos__hook_sink *sink);

#define COS__UNLIKELY(x) __builtin_expect(!!(x), 0)

#ifdef COS_NO_HOOKS
#define COS__HOOKS_ON()       0
#define COS__HOOK_LIVE(id)    0
#else
#define COS__HOOKS_ON()       COS__UNLIKELY(__atomic_load_n(&cos__hooks_on, __ATOMIC_RELAXED))
#define COS__HOOK_LIVE(id)    COS__UNLIKELY((id) != 0)
#endif

#define COS_HOOK(event, ...) COS__HOOK_##event(__VA_ARGS__)
#define COS__HOOK_init(idp, type, trigger)                                                         \
    (COS__HOOKS_ON() ? cos__hook_init((idp), (type), (trigger), __FILE__, __LINE__)                \
                     : (void)(*(idp) = 0))
#define COS__HOOK_before(id, entry)                                                                \
    (COS__HOOK_LIVE(id) ? cos__hook_before((id), (entry)) : (void)0)
#define COS__HOOK_after(id, failed)                                                                \
    (COS__HOOK_LIVE(id) ? cos__hook_after((id), (failed)) : (void)0)
#define COS__HOOK_destroy(idp) (COS__HOOK_LIVE(*(idp)) ? cos__hook_destroy(idp) : (void)0)

#endif
