/* ctx.h - what the files of the runtime share.
 *
 * One struct dill_ctx per thread holds everything: no locks, no globals that
 * change. A coroutine is a struct dill_cr at the top of its own stack, so that
 * a parked one costs a single page. It is on at most one of: the CPU, the
 * ready queue, a wait. Whoever ends a wait (dill__wake) first takes the
 * coroutine out of everything it was waiting on; hence a wait ends exactly
 * once, and nothing can point to a coroutine that went on.
 *
 * Rejected: a scheduler coroutine (two switches instead of one), callbacks per
 * wait (an indirect call where a switch over five kinds does), reference
 * counts. */
#ifndef DILL_CTX_H_INCLUDED
#define DILL_CTX_H_INCLUDED

#if defined DILL_PORT_GENERIC
#undef _FORTIFY_SOURCE /* its longjmp takes a switch of stacks for an attack */
#endif
#ifndef DILL_DISABLE_RAW_NAMES
#define DILL_DISABLE_RAW_NAMES
#endif
#include "libdillimpl.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "port.h"
#include "san.h"

/* The short paths are in hot.h. */
#pragma GCC visibility push(hidden)

#define dill_fast(x) __builtin_expect(!!(x), 1)
#define dill_slow(x) __builtin_expect(!!(x), 0)

struct dill_bundle;
struct dill_slab;

/* Why blocking calls are refused. */
enum { DILL_STOP_CANCEL = 1, DILL_STOP_CLOSING = 2 };

/* What a coroutine waits for, a deadline aside. */
enum dill_wait {
    DILL_WAIT_NOT, /* running, ready, or in the middle of a yield */
    DILL_WAIT_SLEEP,
    DILL_WAIT_CHAN,
    DILL_WAIT_MESSAGE, /* the same, for one message and no deadline */
    DILL_WAIT_FD,
    DILL_WAIT_BUNDLE,
    DILL_WAIT_CLOSE, /* for members to end; not to be interrupted */
};

/* One side of a channel operation; lives on the waiting coroutine's stack. */
struct dill_clause {
    struct dill_clause *next, *prev;
    struct dill_half *dir; /* the queue it is in */
    struct dill_cr *cr;
    void *val;
    size_t len;
    int op;
    int index;
};

struct dill_cr {
    struct dill_jmp jmp;  /* first: the asm and the go macros count on it */
    struct dill_cr *next; /* ready queue, bundle waiters, stack cache */
    uint8_t stop;         /* DILL_STOP_ bits */
    uint8_t wait;         /* enum dill_wait */
    uint8_t out;          /* DILL_WAIT_FD: the direction */
    int err;              /* result of the last wait */
    int index;            /* of the clause that ended it */
    uint32_t timer;       /* id of its timer, 0: none */
    union {
        struct {
            struct dill_clause *clauses;
            int nclauses;
        };
        int fd;
        struct dill_bundle *awaited;
    };
    struct dill_bundle *bundle;
    struct dill_cr *member, **memberp; /* links of the bundle's list */
    struct dill_slab *slab;            /* NULL: the stack is the caller's */
    uint32_t slot;
    unsigned vgid;
    struct dill_san san;
};

struct dill_bundle {
    struct dill_hvfs vfs;
    struct dill_cr *members;
    struct dill_cr *waiters;
    bool mem; /* storage is the caller's */
};

struct dill_timer {
    int64_t deadline;
    struct dill_cr *cr;
    uint32_t seq; /* equal deadlines end in the order they were set */
    uint32_t id;
};

struct dill_handle {
    struct dill_hvfs *vfs; /* NULL: free */
    uint32_t next_free;
};

struct dill_fd {
    struct dill_cr *waiter[2]; /* in, out */
    uint32_t gen;              /* tells events of an older registration */
    bool added;                /* the kernel knew it when we last looked */
};

enum {
    DILL_EVENTS = 128,
    DILL_WARM_STACKS = 512,
    DILL_FEW = 4,
    /* Some compilers store arguments above the stack pointer they believe to
     * have made room below. */
    DILL_HEADROOM = 128,
};

struct dill_poller {
    struct dill_fd *fds;
    int nfds;
    int epfd_plus1;
    unsigned nwaiting;
    bool lost; /* forked, or our epoll was closed: register anew */
    struct epoll_event *events;
};

struct dill_ctx {
    struct dill_cr *running; /* NULL: this thread has not used us yet */
    struct dill_cr *ready, *ready_last;
    int budget;     /* switches until the next look at clock and poller */
    int quota;      /* what budget restarts from */
    int64_t now;    /* as of that look, milliseconds */
    int64_t looked; /* the same in microseconds */
    int64_t polled; /* when the kernel was last asked for events */

    struct dill_cr *stacks; /* warm ones, last in first out */
    size_t stack_size;      /* of those */
    unsigned nstacks;
    struct dill_slab *slabs;

    struct dill_handle *handles;
    uint32_t nhandles, free_handle;
    uint32_t tag; /* of this thread's handles, already shifted */

    struct dill_timer *timers; /* heap, [1] is the next to expire */
    uint32_t *places;          /* by id: place in the heap, or the next free id */
    struct dill_timer few[DILL_FEW];
    uint32_t few_places[DILL_FEW];
    uint32_t ntimers, captimers;
    uint32_t free_timer;
    uint32_t ncr; /* live coroutines; captimers stays above it */
    uint32_t seq;

    struct dill_poller poller;
    struct dill_cr main;
};

extern __thread struct dill_ctx dill__tls __attribute__((tls_model("initial-exec")));
/* Its address. Where AddressSanitizer and UBSan meet, gcc 12 tests a thread's
 * variable for being at NULL with flags that it has lost on the way: hide what
 * the pointer is. */
static inline __attribute__((always_inline)) struct dill_ctx *dill__here(void)
{
    struct dill_ctx *c = &dill__tls;
#if defined __SANITIZE_ADDRESS__
    __asm__("" : "+r"(c));
#endif
    return c;
}

void dill__ctx_init(struct dill_ctx *c);

/* cr.c */
void dill__wake(struct dill_ctx *c, struct dill_cr *cr, int err);
/* Park the running coroutine, already linked to what it waits for; add the
 * deadline if there is one. Returns how the wait ended: 0 or an errno. */
int dill__wait(struct dill_ctx *c, enum dill_wait kind, int64_t deadline);
void dill__look(struct dill_ctx *c, bool block);

/* bundle.c */
extern const int dill__bundle_type;
void *dill__bundle_query(struct dill_hvfs *vfs, const void *type);
int dill__bundle_make(struct dill_ctx *c, struct dill_bundle *mem, struct dill_bundle **out);
void dill__bundle_empty(struct dill_ctx *c, struct dill_bundle *b);
void dill__bundle_forget(struct dill_cr *cr);
bool dill__bundle_discard(struct dill_hvfs *vfs);
bool dill__bundle_runs(const struct dill_hvfs *vfs, const struct dill_cr *cr);

/* chan.c */
void dill__chan_forget(struct dill_cr *cr);
void dill__chan_discard(struct dill_hvfs *vfs);

/* handle.c */
int dill__handle_make(struct dill_ctx *c, struct dill_hvfs *vfs);
void dill__handle_free(struct dill_ctx *c, int h);
void dill__handles_release(struct dill_ctx *c);

/* stack.c */
extern _Atomic size_t dill__stack_bytes;
struct dill_cr *dill__stack_find(struct dill_ctx *c, size_t size);
struct dill_cr *dill__stack_borrow(void *ptr, size_t len, struct dill_bundle **b);
void dill__stack_return(struct dill_cr *cr);
void dill__stack_cool(struct dill_ctx *c);
void dill__stacks_release(struct dill_ctx *c);

/* timer.c */
int64_t dill__clock_us(void);
void dill__timers_init(struct dill_ctx *c);
int dill__timers_grow(struct dill_ctx *c);
void dill__timer_add(struct dill_ctx *c, struct dill_cr *cr, int64_t deadline);
void dill__timer_remove(struct dill_ctx *c, struct dill_cr *cr);
void dill__timers_expire(struct dill_ctx *c);
void dill__timers_release(struct dill_ctx *c);

/* pollset.c */
void dill__poll(struct dill_ctx *c, int64_t until);
void dill__fd_forget(struct dill_ctx *c, struct dill_cr *cr);
void dill__poller_forked(struct dill_ctx *c);
void dill__poller_release(struct dill_ctx *c);

#pragma GCC visibility pop

#endif
