/* libdill.h - structured coroutines: the interface of libdill's core.
 *
 * This is our own implementation of that interface: a program written for
 * libdill's core compiles against this header and behaves the same. Names
 * carry dill_; the short ones (go, now, yield ...) are macros at the end of
 * the file, absent when DILL_DISABLE_RAW_NAMES is defined and in C++.
 *
 * Deadlines are absolute milliseconds of dill_now(): 0 means "do not wait",
 * a negative one "for ever". Unless a comment says otherwise a function
 * returns -1 and sets errno on failure; blocking functions fail with
 * ECANCELED in a coroutine that is being cancelled, and inside the close
 * function of a handle. Handles and coroutines belong to the thread that made
 * them.
 *
 * The lower part holds what the go() macros expand to. Names that end in an
 * underscore are theirs alone. */
#ifndef LIBDILL_H_INCLUDED
#define LIBDILL_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#if defined __cplusplus
extern "C" {
#endif

#if !defined DILL_EXPORT
#define DILL_EXPORT __attribute__((visibility("default")))
#endif

/* A compiler must not look into a function that runs as a coroutine, nor into
 * one that suspends: it would see that the first keeps no pointer to its
 * arguments once it has returned, that the second writes nothing but the
 * runtime's own, and keep in registers what a coroutine changes meanwhile.
 * clang has no milder word for that than optnone. */
#if defined __clang__
#define DILL_OPAQUE_   __attribute__((noinline, optnone))
#define DILL_SUSPENDS_ DILL_EXPORT
#elif defined __has_attribute
#if __has_attribute(noipa)
#define DILL_OPAQUE_   __attribute__((noinline, noipa))
#define DILL_SUSPENDS_ DILL_EXPORT DILL_OPAQUE_
#endif
#endif
#if !defined DILL_OPAQUE_
#define DILL_OPAQUE_   __attribute__((noinline, noclone))
#define DILL_SUSPENDS_ DILL_EXPORT DILL_OPAQUE_
#endif

/* ---- time and descriptors ---- */

/* Milliseconds of a clock that never jumps. Never fails. */
DILL_EXPORT int64_t dill_now(void);

/* Suspends until the deadline; 0 and the past just let others run. */
DILL_SUSPENDS_ int dill_msleep(int64_t deadline);

/* Suspends until fd can be read (written) without blocking, or has failed or
 * been hung up. EBUSY: another coroutine waits for the same direction.
 * ENOTSUP: a regular file. EBADF: no such descriptor, or it was closed while
 * this call waited and its number was then used again. ETIMEDOUT. */
DILL_SUSPENDS_ int dill_fdin(int fd, int64_t deadline);
DILL_SUSPENDS_ int dill_fdout(int fd, int64_t deadline);

/* Forget fd, best called before close(fd). Unknown descriptors are fine.
 * EBUSY: somebody waits for it. */
DILL_EXPORT int dill_fdclean(int fd);

/* ---- handles ---- */

/* Moves ownership: returns a new number for the object and voids the old. */
DILL_EXPORT int dill_hown(int h);

/* Closes the object. A bundle's coroutines are cancelled and waited for.
 * EDEADLK: a coroutine tried to close the bundle it runs in. */
DILL_SUSPENDS_ int dill_hclose(int h);

/* ---- coroutines ---- */

/* Marks a function that may be launched. Without it the compiler may inline the
 * call, and it would run on the caller's stack. */
#define dill_coroutine DILL_OPAQUE_

struct dill_bundle_storage {
    void *dill_opaque_[8];
};

/* An empty bundle: coroutines that are waited for and cancelled together. The
 * _mem twin lives in the caller's storage until it is closed. */
DILL_EXPORT int dill_bundle(void);
DILL_EXPORT int dill_bundle_mem(struct dill_bundle_storage *mem);

/* Suspends until no coroutine of the bundle is left. ETIMEDOUT. */
DILL_SUSPENDS_ int dill_bundle_wait(int h, int64_t deadline);

/* Lets the other ready coroutines run. */
DILL_SUSPENDS_ int dill_yield(void);

/* dill_go(f(a, b)) runs the call as a coroutine in a bundle of its own and
 * returns the bundle's handle; the child runs at once, the parent is queued.
 * dill_bundle_go(h, f(a, b)) adds it to a bundle and returns 0. The _mem
 * twins use the caller's memory for the stack (and the bundle); it must stay
 * until the bundle is closed; less than 4096 bytes is ENOMEM, and such a
 * stack has no guard page. Arguments are evaluated on the new stack and must
 * not suspend; what f returns is lost. */
#define dill_go(call)                         dill_go_(call, DILL_GO_, 0, NULL, 0)
#define dill_go_mem(call, ptr, len)           dill_go_(call, DILL_GO_MEM_, 0, ptr, len)
#define dill_bundle_go(h, call)               dill_go_(call, DILL_BUNDLE_GO_, h, NULL, 0)
#define dill_bundle_go_mem(h, call, ptr, len) dill_go_(call, DILL_BUNDLE_GO_MEM_, h, ptr, len)

/* ---- channels ---- */

#define DILL_CHSEND 1
#define DILL_CHRECV 2

struct dill_chclause {
    int op; /* DILL_CHSEND or DILL_CHRECV */
    int ch;
    void *val;
    size_t len;
};

struct dill_chstorage {
    void *dill_opaque_[18];
};

/* An unbuffered channel: what is sent to chv[0] is received from chv[1] and
 * the other way round. Both halves have to be closed; closing the second one
 * wakes whoever still waits with EPIPE. */
DILL_EXPORT int dill_chmake(int chv[2]);
DILL_EXPORT int dill_chmake_mem(struct dill_chstorage *mem, int chv[2]);

/* Suspends until the peer takes (gives) a message. EMSGSIZE on both sides
 * when the lengths differ, EPIPE after chdone, ETIMEDOUT. */
DILL_SUSPENDS_ int dill_chsend(int ch, const void *val, size_t len, int64_t deadline);
DILL_SUSPENDS_ int dill_chrecv(int ch, void *val, size_t len, int64_t deadline);

/* Nothing more will be sent to ch. EPIPE: said before. */
DILL_EXPORT int dill_chdone(int ch);

/* Performs the first clause, in array order, that can be performed. Returns
 * its index, and its result in errno (0 when it went well); -1 when there is
 * none: ETIMEDOUT, ECANCELED, or EINVAL for bad arguments. */
DILL_SUSPENDS_ int dill_choose(struct dill_chclause *clauses, int nclauses, int64_t deadline);

/* ---- beyond libdill ---- */

#define DILL_HAVE_STACK_SIZE 1

/* Size of the stacks of coroutines started from now on, in all threads, guard
 * not included: 64 KiB to 1 GiB, rounded up to whole pages; 256 KiB unless
 * told. EINVAL outside that range. */
DILL_EXPORT int dill_stack_size(size_t bytes);

/* ---- what dill_go expands to ---- */

#define DILL_GO_            0
#define DILL_GO_MEM_        1
#define DILL_BUNDLE_GO_     2
#define DILL_BUNDLE_GO_MEM_ 3

struct dill_start_ {
    void *self; /* where the parent's registers go; NULL: not started */
    intptr_t handle;
};

/* The second is the first for DILL_BUNDLE_GO_, the one that has to be fast. */
DILL_SUSPENDS_ struct dill_start_ dill_prologue_(int kind, int bndl, void *ptr, size_t len);
DILL_SUSPENDS_ struct dill_start_ dill_bundle_prologue_(int bndl);
/* Does not return. Not declared so: then whatever lives after the macro lives
 * on in the child's branch too, and its stack slot cannot be reused there. Never
 * inlined: the frame it would be inlined into may be gone by then. */
DILL_SUSPENDS_ __attribute__((noinline)) void dill_epilogue_(void);
DILL_EXPORT __attribute__((noinline)) void dill_enter_(void);
/* The child's stack and its fiber for the thread sanitizer. */
DILL_EXPORT void *dill_stack_(void);
DILL_EXPORT void *dill_fiber_(void);

#if defined __SANITIZE_ADDRESS__
#define DILL_ASAN_ 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define DILL_ASAN_ 1
#endif
#endif
#if defined __SANITIZE_THREAD__
#define DILL_TSAN_ 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define DILL_TSAN_ 1
#endif
#endif

#if defined DILL_ASAN_
#define DILL_ENTER_() dill_enter_()
#else
#define DILL_ENTER_() ((void)0)
#endif

#if defined DILL_TSAN_
extern void __tsan_switch_to_fiber(void *fiber, unsigned flags);
/* Here and not in dill_prologue_: its return would be booked to the child. */
#define DILL_FIBER_() __tsan_switch_to_fiber(dill_fiber_(), 0)
#else
#define DILL_FIBER_() ((void)0)
#endif

/* DILL_SPAWN_(start, resumed): save the parent in *start.self, move the stack
 * pointer and go on as the child with resumed = 0; the parent comes out of the
 * same place later, with another value. The base registers (rbp, rbx; x29,
 * x19) stay as they are in the child, so that it still reaches the parent's
 * locals; everything else counts as clobbered. Not "asm goto": clang before 17
 * refuses two of them in a function that has variable-length arrays. */
#if defined DILL_PORT_GENERIC

#include <setjmp.h>
#define DILL_SPAWN_(start, resumed) resumed = (uintptr_t)_setjmp(*(jmp_buf *)(start).self)
#define DILL_MOVE_()                                                                               \
    uintptr_t dill_one_ = 1;                                                                       \
    __asm__ volatile("" : "+r"(dill_one_));                                                        \
    unsigned char dill_here_[dill_one_];                                                           \
    unsigned char dill_move_[(uintptr_t)dill_here_ - (uintptr_t)dill_stack_()];                    \
    __asm__ volatile("" : : "r"(dill_move_) : "memory")

#elif defined __x86_64__ && !defined __ILP32__

#if defined __AVX512F__
#define DILL_MORE_REGS_                                                                            \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",    \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",  \
        "k7"
#else
#define DILL_MORE_REGS_
#endif
#define DILL_REGS_                                                                                 \
    "memory", "cc", "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",     \
        "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",   \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)",     \
        "st(5)", "st(6)", "st(7)" DILL_MORE_REGS_
#if defined __CET__ /* an indirect jump may only land on endbr64 */
#define DILL_LAND_ "\n1:\tendbr64"
#else
#define DILL_LAND_ "\n1:"
#endif
#define DILL_SPAWN_(start, resumed)                                                                \
    void *dill_self_ = (start).self;                                                               \
    __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"                                                   \
                     "movq %%rax, (%0)\n\t"                                                        \
                     "movq %%rsp, 8(%0)\n\t"                                                       \
                     "movq %%rbp, 16(%0)\n\t"                                                      \
                     "movq %%rbx, 24(%0)\n\t"                                                      \
                     "movq 32(%0), %%rsp\n\t"                                                      \
                     "xorl %%esi, %%esi\n\t" DILL_LAND_                                            \
                     : "+D"(dill_self_), "=S"(resumed)                                             \
                     :                                                                             \
                     : DILL_REGS_)
#define DILL_MOVE_() ((void)0)

#elif defined __aarch64__ && !defined __ILP32__

#define DILL_REGS_                                                                                 \
    "memory", "cc", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",    \
        "x14", "x15", "x16", "x17", "x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", \
        "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",    \
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", \
        "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#if defined __ARM_FEATURE_BTI_DEFAULT
#define DILL_LAND_ "\n1:\thint #36"
#else
#define DILL_LAND_ "\n1:"
#endif
#define DILL_SPAWN_(start, resumed)                                                                \
    register void *dill_x0_ __asm__("x0") = (start).self;                                          \
    register uintptr_t dill_x1_ __asm__("x1");                                                     \
    __asm__ volatile("adr x1, 1f\n\t"                                                              \
                     "mov x2, sp\n\t"                                                              \
                     "stp x1, x2, [%0]\n\t"                                                        \
                     "stp x29, x19, [%0, #16]\n\t"                                                 \
                     "ldr x2, [%0, #32]\n\t"                                                       \
                     "mov sp, x2\n\t"                                                              \
                     "mov x1, #0" DILL_LAND_                                                       \
                     : "+r"(dill_x0_), "=r"(dill_x1_)                                              \
                     :                                                                             \
                     : DILL_REGS_);                                                                \
    resumed = dill_x1_
#define DILL_MOVE_() ((void)0)

#else
#error "libdill.h: no port for this CPU yet; -DDILL_PORT_GENERIC may work"
#endif

/* The first branch is never taken; it is there for the compiler. A function
 * with an array of unknown length addresses its locals by the frame pointer,
 * whatever the stack pointer does. And what the child is given may have been
 * given away before the parent goes on, so nothing about it can be known there;
 * a plain loop would say so too, until a compiler peels it. That the way leads
 * back from the epilogue keeps it from being the last call of the function,
 * which may tear down the frame first. */
#define dill_go_(call, kind, bndl, ptr, len)                                                       \
    __extension__({                                                                                \
        __label__ dill_again_, dill_child_, dill_parent_;                                          \
        struct dill_start_ dill_s_ = (kind) == DILL_BUNDLE_GO_                                     \
                                         ? dill_bundle_prologue_(bndl)                             \
                                         : dill_prologue_(kind, bndl, ptr, len);                   \
        if (dill_s_.self) {                                                                        \
            uintptr_t dill_resumed_ = 0;                                                           \
            DILL_FIBER_();                                                                         \
            __asm__ volatile("" : "+r"(dill_s_.handle));                                           \
            if (__builtin_expect(dill_s_.handle < -1, 0)) {                                        \
                unsigned char dill_frame_[(uintptr_t)dill_s_.self];                                \
                __asm__ volatile("" : : "r"(dill_frame_) : "memory");                              \
                goto dill_child_;                                                                  \
            }                                                                                      \
        dill_again_ : {                                                                            \
            DILL_SPAWN_(dill_s_, dill_resumed_);                                                   \
        }                                                                                          \
            DILL_ENTER_();                                                                         \
            if (dill_resumed_)                                                                     \
                goto dill_parent_;                                                                 \
        dill_child_ : {                                                                            \
            DILL_MOVE_();                                                                          \
            call;                                                                                  \
            dill_epilogue_();                                                                      \
            goto dill_again_;                                                                      \
        }                                                                                          \
        dill_parent_:;                                                                             \
        }                                                                                          \
        (int)dill_s_.handle;                                                                       \
    })

#if defined __cplusplus
}
#endif

/* ---- short names ---- */

#if !defined DILL_DISABLE_RAW_NAMES && !defined __cplusplus
#define now            dill_now
#define msleep         dill_msleep
#define fdin           dill_fdin
#define fdout          dill_fdout
#define fdclean        dill_fdclean
#define hown           dill_hown
#define hclose         dill_hclose
#define coroutine      dill_coroutine
#define bundle_storage dill_bundle_storage
#define bundle         dill_bundle
#define bundle_mem     dill_bundle_mem
#define bundle_wait    dill_bundle_wait
#define yield          dill_yield
#define go             dill_go
#define go_mem         dill_go_mem
#define bundle_go      dill_bundle_go
#define bundle_go_mem  dill_bundle_go_mem
#define CHSEND         DILL_CHSEND
#define CHRECV         DILL_CHRECV
#define chclause       dill_chclause
#define chstorage      dill_chstorage
#define chmake         dill_chmake
#define chmake_mem     dill_chmake_mem
#define chsend         dill_chsend
#define chrecv         dill_chrecv
#define chdone         dill_chdone
#define choose         dill_choose
#endif

#endif
