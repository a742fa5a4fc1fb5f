/* port.h - the context switch.
 *
 * dill__jump(from, to) saves the running coroutine in *from and goes on with
 * *to. Four words are kept: where to resume, the stack pointer, and the two
 * registers a compiler may use as base of a frame. All others are declared
 * clobbered, so the compiler saves just those that live across the switch. An
 * indirect jump beats a return: the CPU's return predictor would be wrong
 * every time. The target travels in the register that libdill.h's DILL_SPAWN_
 * keeps, and the origin, never 0, in the one that tells a parent from a child.
 *
 * The generic port is setjmp and longjmp: slower, any CPU. Not ucontext: it
 * makes a system call for the signal mask at every switch. */
#ifndef DILL_PORT_H_INCLUDED
#define DILL_PORT_H_INCLUDED

#if defined DILL_PORT_GENERIC

struct dill_jmp {
    jmp_buf buf;
    void *start;
};

#define DILL_INLINE static __attribute__((unused)) /* setjmp cannot be inlined */

/* A macro: a function that calls setjmp must still be there at the longjmp. */
#define dill__jump(from, to)                                                                       \
    do {                                                                                           \
        if (_setjmp((from)->buf) == 0)                                                             \
            _longjmp((to)->buf, 1);                                                                \
    } while (0)
#define dill__jump_last(to) _longjmp((to)->buf, 1)

#else

#define DILL_INLINE static inline __attribute__((always_inline))

struct dill_jmp {
    void *pc;
    void *sp;
    void *base[2]; /* rbp and rbx, or x29 and x19 */
    void *start;   /* the stack of the child being launched */
};

#if defined __x86_64__

#if defined __CET__
#define DILL_LANDING "1:\tendbr64"
#else
#define DILL_LANDING "1:"
#endif

DILL_INLINE void dill__jump(struct dill_jmp *from, struct dill_jmp *to)
{
    __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
                     "movq %%rax, (%1)\n\t"
                     "movq %%rsp, 8(%1)\n\t"
                     "movq %%rbp, 16(%1)\n\t"
                     "movq %%rbx, 24(%1)\n\t"
                     "movq 8(%0), %%rsp\n\t"
                     "movq 16(%0), %%rbp\n\t"
                     "movq 24(%0), %%rbx\n\t"
                     "jmpq *(%0)\n" DILL_LANDING
                     : "+D"(to), "+S"(from)
                     :
                     : DILL_REGS_);
}

/* The same for good: what runs now will not go on. The compiler is not told so;
 * libdill.h, at dill_epilogue_, says why. */
DILL_INLINE void dill__jump_last(struct dill_jmp *to)
{
    __asm__ volatile("movq 8(%0), %%rsp\n\t"
                     "movq 16(%0), %%rbp\n\t"
                     "movq 24(%0), %%rbx\n\t"
                     "jmpq *(%0)"
                     :
                     : "D"(to), "S"(to)
                     : "memory");
}

#else

#if defined __ARM_FEATURE_BTI_DEFAULT
#define DILL_LANDING "1:\thint #36"
#else
#define DILL_LANDING "1:"
#endif

DILL_INLINE void dill__jump(struct dill_jmp *from, struct dill_jmp *to)
{
    register struct dill_jmp *x0 __asm__("x0") = to;
    register struct dill_jmp *x1 __asm__("x1") = from;
    __asm__ volatile("adr x16, 1f\n\t"
                     "mov x17, sp\n\t"
                     "stp x16, x17, [%1]\n\t"
                     "stp x29, x19, [%1, #16]\n\t"
                     "ldp x16, x17, [%0]\n\t"
                     "ldp x29, x19, [%0, #16]\n\t"
                     "mov sp, x17\n\t"
                     "br x16\n" DILL_LANDING
                     : "+r"(x0), "+r"(x1)
                     :
                     : DILL_REGS_);
}

DILL_INLINE void dill__jump_last(struct dill_jmp *to)
{
    register struct dill_jmp *x0 __asm__("x0") = to;
    register struct dill_jmp *x1 __asm__("x1") = to;
    __asm__ volatile("ldp x16, x17, [%0]\n\t"
                     "ldp x29, x19, [%0, #16]\n\t"
                     "mov sp, x17\n\t"
                     "br x16"
                     :
                     : "r"(x0), "r"(x1)
                     : "memory");
}

#endif
#endif
#endif
