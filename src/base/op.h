/* op.h - one leaf operation: started once, completed exactly once, and only by
 * its provider, on the loop thread. Both faces stand on this: the coroutine
 * face starts an operation and parks, the callback face starts it and queues
 * the callback. Neither is built on the other.
 *
 * How to write a provider:
 *   struct my_op { struct cos_op op; ... inputs, results ... };   // op first
 *   static const struct cos__op_type my_type = {
 *       .name = "my", .hook = COS_HOOK_MY, .kind = COS__OP_MY, .size = sizeof(struct my_op),
 *       .start = my_start, .cancel = my_cancel, .release = my_release };
 *   struct cos_op *cos__my_op(const char *input)
 *   {
 *       struct my_op *my = (struct my_op *)cos__op_new(&my_type);   // zeroed
 *       if (my && !(my->input = strdup(input))) { cos__op_free(&my->op); my = NULL; }
 *       return my ? &my->op : NULL;
 *   }
 * Inputs are copied (or taken) when the operation is made, since a running
 * thread may outlive the caller's wait. start() begins; it may complete the
 * operation at once, and reports every failure through cos__op_complete(). An
 * argument that is wrong makes an operation all the same, with op->doom set to
 * the error: it completes with it when started, on both faces alike. NULL means
 * out of memory and nothing else.
 *
 * How the faces use it:
 *   int cos_my(const char *input, T *out, int64_t deadline)
 *   {
 *       struct cos_op *op = cos__my_op(input);
 *       int err = op ? cos__op_await(op, deadline) : COS_ENOMEM;
 *       if (!err) *out = take_result(op);
 *       cos__op_free(op);                     // NULL is fine
 *       return err;
 *   }
 * compat/cps.h (internal) has the same for callbacks: cps__begin(). */
#ifndef COS_BASE_OP_H
#define COS_BASE_OP_H

#include "base/emit.h"
#include "base/err.h"
#include "base/loop.h"

#include <stddef.h>
#include <stdint.h>

/* One free list per kind and thread. A new kind of operation gets a row. */
#define COS__OP_KINDS(X)                                                                           \
    X(SLEEP) X(FETCH) X(COOKIES) X(RESOLVE) X(FILE) X(JOB) X(POOL) X(ACQUIRE) X(PARSE) X(CALL)     \
    X(FUTURE) X(FLOW) X(QUEUE) X(GATE) X(SHARED) X(OTHER)
enum cos__op_kind {
#define COS__OP_ENUM(name) COS__OP_##name,
    COS__OP_KINDS(COS__OP_ENUM)
#undef COS__OP_ENUM
    COS__OP_COUNT
};

struct cos_op;

struct cos__op_type {
    const char *name;       /* for messages */
    enum cos_hook_type hook; /* what the hooks call it */
    enum cos__op_kind kind; /* the free list; types of one kind share a size */
    size_t size;
    int single; /* start() makes no other operation: nothing is caused by it */
    /* Begins. May complete the operation before it returns. */
    void (*start)(struct cos_op *op);
    /* Asked to stop. 0: stopped, the provider has forgotten the operation and
     * does not complete it any more (op.c does). COS_EBUSY: it cannot be stopped
     * now; the face is told at once all the same, the provider must still call
     * cos__op_complete() later, and the memory goes then. NULL: as COS_EBUSY. */
    int (*cancel)(struct cos_op *op);
    /* Frees what the operation holds, not the operation. NULL: nothing. */
    void (*release)(struct cos_op *op);
};

/* bits of cos_op.state */
enum {
    COS__OP_STARTED = 1,  /* start() was called */
    COS__OP_RUNNING = 2,  /* the provider holds it */
    COS__OP_DONE = 4,     /* the face was told */
    COS__OP_HELD = 8,     /* the face holds it */
    COS__OP_FACED = 16,   /* a face waits for it, which tells the hooks when it runs */
};

struct cos_op {
    const struct cos__op_type *type;
    struct cos__loop *loop;
    void (*done)(struct cos_op *op); /* set by the face; called once, on the loop thread */
    void *face;                      /* the face's own: the waiter, or the callback's runtime */
    int err;                         /* valid once DONE */
    int doom;                        /* set by the maker: start() is not called, this is the result */
    unsigned state;
    struct cos__timer timer;         /* the face's deadline (callback face) */
    struct cos_op *next;             /* the face's queue, or the free list */
    void (*deliver)(struct cos_op *op); /* callback face: calls cb with its own signature */
    void (*cb)(void);
    void *arg;
    int64_t ticket;                  /* callback face: what cps_cancel() takes */
    struct cos__hook *hook;          /* for the hooks, NULL while nobody listens */
};

/* A zeroed operation of that type, or NULL. The caller (the face) holds it. */
#define cos__op_new(type) cos__op_new_at((type), __FILE__, __LINE__)
struct cos_op *cos__op_new_at(const struct cos__op_type *type, const char *file, int line);
/* The face lets go of it. Freed now, or by its provider's completion when it
 * still runs. NULL is fine. */
void cos__op_free(struct cos_op *op);

/* Calls type->start. done() may run inside. */
void cos__op_start(struct cos_op *op);
/* The provider's one call at the end, on the loop thread. After it the provider
 * may not touch op. */
void cos__op_complete(struct cos_op *op, int err);
/* The face gives up waiting: done() runs before this returns, with err
 * (COS_ECANCELED, COS_ETIMEDOUT). Nothing happens when it is done already. */
void cos__op_cancel(struct cos_op *op, int err);
static inline int cos__op_is_done(const struct cos_op *op)
{
    return (op->state & COS__OP_DONE) != 0;
}

/* Starts op and parks the calling coroutine until it completes, the deadline
 * passes (COS_ETIMEDOUT) or the coroutine is closed (COS_ECANCELED). Returns the
 * operation's err; its results may be read only when that is the provider's
 * (cos__op_mine). COS_ECONTEXT inside a callback: nothing was started then.
 * Suspends. The caller frees op afterwards in every case. */
int cos__op_await(struct cos_op *op, int64_t deadline);
/* True when the provider is through with op, so that results may be read. */
static inline int cos__op_mine(const struct cos_op *op)
{
    return !(op->state & COS__OP_RUNNING);
}

/* Operations alive on this thread (made and not freed): 0 means no leak. */
size_t cos__op_count(void);
/* Gives the free lists back to malloc (cos__loop_release calls it). */
void cos__op_trim(struct cos__loop *loop);

#endif
