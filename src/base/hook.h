/* hook.h - async hooks: see what every operation of a thread waits for.
 *
 * An operation is a fetch, a timer, a name lookup, a coroutine, a queue's task …
 * (COS_HOOK_TYPES). It has an id of its own and four moments:
 *   init     it was created; trigger is the operation that caused it, 0 when none
 *   before   what waited for it (a callback, a coroutine) begins to run
 *   after    and has returned, or waits for something else
 *   destroy  it is over, or went back to its pool; the id never comes again
 * A request (fetch, timer, file …) has exactly one before and after; a handle
 * (coroutine, listener, connection, queue task) any number, none included: a
 * listener that is closed unused has init and destroy only. A coroutine has a
 * pair for each stretch between two waits. Pairs nest like parentheses.
 *
 * A fetch causes operations in its turn, each begun when the one before has ended:
 * dns (unless the name is known), connect and tls (unless a connection is used
 * again), transfer with the name "first byte", from the request to the first line
 * of the answer, and transfer, to its end.
 *
 * What is covered is operations, not switches: it works on any libdill. A
 * coroutine of one's own takes part with cos_co_begin() and cos_co_end(), and its
 * bare libdill calls with cos_co_wait(); without them it runs under the name of
 * whatever ran before it.
 *
 * Hooks belong to the thread that enables them and see that thread only. A hook
 * may not suspend. What it starts is not seen by any hook. */
#ifndef COS_BASE_HOOK_H
#define COS_BASE_HOOK_H

#include "base/buf.h"

#include <stdint.h>

/* X(NAME, text) */
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
/* 1 for types whose operations may run any number of times. */
int cos_hook_is_handle(enum cos_hook_type type);

/* --- instances ------------------------------------------------------------------- */

/* What a hook listens to. Every callback is optional and returns 0; another
 * value ends the process with a message on stderr (exit, so that atexit handlers
 * run): a tool for finding faults must not have silent ones. */
struct cos_hook_calls {
    const char *name; /* for that message; must outlive the hook */
    uint32_t types;   /* 1u << COS_HOOK_FETCH | …; 0: all */
    void *arg;
    int (*init)(void *arg, uint64_t id, enum cos_hook_type type, uint64_t trigger);
    /* entry: 1 when the run starts from the loop, 0 inside another run */
    int (*before)(void *arg, uint64_t id, int entry);
    /* failed: 1 when it ended by cancellation or a raised error, whatever the
     * operation's own result was */
    int (*after)(void *arg, uint64_t id, int failed);
    int (*destroy)(void *arg, uint64_t id);
};

struct cos_hook;

/* A hook, not enabled. COS_ENOMEM. */
int cos_hook_new(struct cos_hook **out, const struct cos_hook_calls *calls);
/* Removes and frees it. NULL is fine. */
void cos_hook_free(struct cos_hook *hook);

/* From now on it sees every operation that is created on this thread, for that
 * operation's whole life. COS_EFULL: 32 hooks are in use on this thread;
 * COS_EBUSY: it is enabled on another one; COS_ENOMEM. */
int cos_hook_enable(struct cos_hook *hook);
/* No new roots: it goes on seeing the operations it has seen the birth of, and
 * those they cause. */
void cos_hook_disable(struct cos_hook *hook);
/* Enabled until the current synchronous run ends: the first wait of a coroutine,
 * or the return of a callback. Errors as cos_hook_enable. */
int cos_hook_scope(struct cos_hook *hook);
/* Never called again until enabled anew, not even for an after that is due. */
void cos_hook_remove(struct cos_hook *hook);
/* Removes every hook of this thread. */
void cos_hook_off(void);

/* --- operations ------------------------------------------------------------------ */

/* The operation that runs now, and the one that caused it. 0: none, or one that
 * no hook has seen. Of the hook's callbacks: before and after run as the
 * operation, init and destroy as whatever creates and ends it. */
uint64_t cos_hook_execution(void);
uint64_t cos_hook_trigger(void);

/* A live operation. */
struct cos_hook_op {
    uint64_t id, trigger;
    uint64_t execution; /* what ran when it was created */
    enum cos_hook_type type;
    int complete;       /* 0 while it is being made or taken apart: the rest may lack */
    const char *name;   /* a finer word than its type, or NULL */
    const char *file;   /* where it was created */
    int line;
};

/* Looks a live operation up; NULL when there is none. Lent until the operation
 * is destroyed or the caller suspends. Safe in every callback: in init and
 * destroy `complete` is 0, and from the next turn on 1. */
const struct cos_hook_op *cos_hook_find(uint64_t id);

/* The next operation created is created there: what the macros of base/site.h do
 * for whoever defines COS_SITES before including coscrawl.h. */
void cos_hook_at(const char *file, int line);

/* Appends the long stack of an operation: a line "type at file:line" for it, for
 * what caused it, and so on up to 64, whether these live or not. 0, COS_ENOENT,
 * or what cos_buf_add says. */
int cos_hook_stack(uint64_t id, struct cos_buf *out);

/* --- coroutines and waits of one's own ------------------------------------------- */

/* Memory of these macros; nothing in it is the caller's. */
struct cos_hook_wait {
    void *exec, *frame, *op;
    int on, open;
};

/* First and last in a coroutine of one's own:
 *     coroutine void worker(int ch) {
 *         struct cos_hook_wait self;
 *         cos_co_begin(&self);
 *         …
 *         cos_co_end(&self); } */
#define cos_co_begin(self) cos_co_begin_at((self), __FILE__, __LINE__)
void cos_co_end(struct cos_hook_wait *self);
/* A libdill call that waits, as an operation of that type (CHANNEL, FD, TIMER):
 *     cos_co_wait(COS_HOOK_CHANNEL, chrecv(ch, &x, sizeof x, -1)) */
#define cos_co_wait(type, call)                                                                    \
    __extension__({                                                                                \
        struct cos_hook_wait cos__w;                                                               \
        cos_co_wait_begin(&cos__w, (type), __FILE__, __LINE__);                                    \
        __typeof__(call) cos__r = (call);                                                          \
        cos_co_wait_end(&cos__w);                                                                  \
        cos__r;                                                                                    \
    })
/* Around a go(), a yield() or an hclose(): other coroutines run meanwhile.
 *     cos_co_pause(&w); h = go(worker(ch)); cos_co_resume(&w); */
void cos_co_pause(struct cos_hook_wait *wait);
void cos_co_resume(struct cos_hook_wait *wait);

/* What the macros above call. */
void cos_co_begin_at(struct cos_hook_wait *self, const char *file, int line);
void cos_co_wait_begin(struct cos_hook_wait *wait, enum cos_hook_type type, const char *file,
                     int line);
void cos_co_wait_end(struct cos_hook_wait *wait);

/* --- continuation-local storage ---------------------------------------------------- */

/* A name for a value that follows the flow of operations. Its address is the
 * key. drop, if set, is called once nothing can reach the value any more. */
struct cos_local {
    const char *name;
    void (*drop)(void *value);
};

/* From here on what runs now, and whatever it creates, finds value under key; who
 * was created before does not. A callback's setting ends with the callback, a
 * coroutine's with the coroutine. COS_ENOMEM, COS_EFULL (64 keys): the value is
 * the caller's still. */
int cos_local_set(const struct cos_local *key, void *value);
/* The value set by what runs now or, at the time of its creation, by its
 * creator; NULL when there is none. */
void *cos_local_get(const struct cos_local *key);
/* Sets the value for the time of one call; what fn returns. Errors as
 * cos_local_set, and fn is not called then. */
int cos_local_run(const struct cos_local *key, void *value, int (*fn)(void *arg), void *arg);
/* What runs now has no values any more. */
void cos_local_clear(void);

#endif
