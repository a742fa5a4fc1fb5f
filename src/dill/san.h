/* san.h - telling sanitizers and valgrind about our stacks.
 * Without these notes they take a switch for a wild stack pointer and report
 * nonsense. All of it vanishes in a plain build, except a valgrind request per
 * new stack, a handful of instructions. */
#ifndef DILL_SAN_H_INCLUDED
#define DILL_SAN_H_INCLUDED

#include <stddef.h>

#if defined DILL_ASAN_
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if defined DILL_TSAN_
#include <sanitizer/tsan_interface.h>
#endif

#if defined __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#if !defined VALGRIND_STACK_REGISTER
#define RUNNING_ON_VALGRIND             0
#define VALGRIND_STACK_REGISTER(lo, hi) 0U
#define VALGRIND_STACK_DEREGISTER(id)   ((void)(id))
#endif

struct dill_san {
#if defined DILL_ASAN_
    void *fake;
    const void *bottom;
    size_t size;
#endif
#if defined DILL_TSAN_
    void *fiber;
#endif
    char none; /* a struct has to have a member */
};

static inline void dill__san_stack(struct dill_san *s, const void *low, const void *high)
{
    (void)s, (void)low, (void)high;
#if defined DILL_ASAN_
    s->bottom = low;
    s->size = (size_t)((const char *)high - (const char *)low);
#endif
}

static inline void dill__san_birth(struct dill_san *s)
{
    (void)s;
#if defined DILL_ASAN_
    s->fake = NULL;
#endif
#if defined DILL_TSAN_
    s->fiber = __tsan_create_fiber(0);
#endif
}

/* Leave for "to" with the next jump; "from" is NULL when it will not come
 * back. Inlined for TSan's sake: a return between this and the jump would be
 * taken off the wrong shadow stack. */
static inline __attribute__((always_inline)) void
dill__san_leave(struct dill_san *from, struct dill_san *dead, struct dill_san *to, int fiber)
{
    (void)from, (void)dead, (void)to, (void)fiber;
#if defined DILL_ASAN_
    __sanitizer_start_switch_fiber(from ? &from->fake : NULL, to->bottom, to->size);
#endif
#if defined DILL_TSAN_
    if (fiber)
        __tsan_switch_to_fiber(to->fiber, 0);
    if (dead)
        __tsan_destroy_fiber(dead->fiber);
#endif
}

/* Arrived on the stack of "self"; the first arrival from the thread's own
 * stack teaches us where that one lies. */
static inline void dill__san_arrive(struct dill_san *self, struct dill_san *first)
{
    (void)self, (void)first;
#if defined DILL_ASAN_
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(self ? self->fake : NULL, &bottom, &size);
    if (first && !first->bottom) {
        first->bottom = bottom;
        first->size = size;
    }
#endif
}

/* Memory that becomes or was a stack: drop the redzones of dead frames. */
static inline void dill__san_wipe(const void *low, size_t len)
{
    (void)low, (void)len;
#if defined DILL_ASAN_
    __asan_unpoison_memory_region(low, len);
#endif
}

/* Stacks may hold the only pointers to allocated memory. */
static inline void dill__san_root(const void *low, size_t len, int add)
{
    (void)low, (void)len, (void)add;
#if defined DILL_ASAN_
    if (add)
        __lsan_register_root_region(low, len);
    else
        __lsan_unregister_root_region(low, len);
#endif
}

#endif
