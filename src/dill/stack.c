/* stack.c - stacks.
 *
 * Stacks are cut from slabs, one mmap for many, and committed by the kernel as
 * they are touched. Below each lies a guard: MADV_GUARD_INSTALL where the
 * kernel has it, which costs no mapping, mprotect else, which costs two and so
 * ends at vm.max_map_count. Finished stacks go to a last-in-first-out cache;
 * beyond its ceiling their pages are handed back, and a slab without users is
 * unmapped. The control block sits at the top of the stack, so that a parked
 * coroutine touches one page; tops are staggered by cache lines, since equal
 * offsets in every page would fight for the same few lines of the cache. */
#include "hot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if !defined MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#if !defined PIDFD_SELF_THREAD
#define PIDFD_SELF_THREAD (-10000)
#endif
#if !defined SYS_process_madvise
#define SYS_process_madvise 440
#endif

enum {
    STACK_DEFAULT = 256 << 10,
    STACK_MIN = 64 << 10,
    STACK_MAX = 1 << 30,
    BORROW_MIN = 4096,
    GUARD_BYTES = 16 << 10, /* a frame with a few buffers must not step over it */
    SLAB_FIRST = 8,
    SLAB_MAX = 128,
    COLOURS = 16,
    LINE = 64,
};

struct dill_slab {
    struct dill_slab *next;
    char *base;
    size_t size; /* of a stack, guard not included */
    unsigned count, cut;
    bool guarded;   /* all at once when it was made */
    unsigned nfree; /* cut before, pages handed back */
    unsigned used;  /* running, parked or warm */
    unsigned short free[];
};

_Atomic size_t dill__stack_bytes = STACK_DEFAULT;
static atomic_int guard_works; /* 0 not probed, 1 yes, -1 no */
static atomic_bool no_batches;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t guard_size(void)
{
    size_t page = page_size();
    return page > GUARD_BYTES ? page : GUARD_BYTES;
}

int dill_stack_size(size_t bytes)
{
    if (bytes < STACK_MIN || bytes > STACK_MAX)
        return dill__fail(EINVAL);
    size_t page = page_size();
    atomic_store_explicit(&dill__stack_bytes, (bytes + page - 1) / page * page,
                          memory_order_relaxed);
    return 0;
}

/* Emulators answer 0 to advice they do not know, so look whether the kernel
 * really refuses to write there. */
static int probe_guard(void)
{
    size_t page = page_size();
    void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return -1;
    int works = -1;
    if (madvise(p, page, MADV_GUARD_INSTALL) == 0)
        works = syscall(SYS_getrandom, p, 1, 1) < 0 && errno == EFAULT ? 1 : -1;
    munmap(p, page);
    return works;
}

static bool guards_are_cheap(void)
{
    int works = atomic_load_explicit(&guard_works, memory_order_relaxed);
    if (!works) {
        works = probe_guard();
        atomic_store_explicit(&guard_works, works, memory_order_relaxed);
    }
    return works > 0;
}

static int install_guard(char *low)
{
    if (guards_are_cheap())
        return madvise(low, guard_size(), MADV_GUARD_INSTALL);
    return mprotect(low, guard_size(), PROT_NONE);
}

static size_t stride(const struct dill_slab *s)
{
    return s->size + guard_size();
}

/* One call for the guards of a whole slab; kernels that do not have it get one
 * per stack, as stacks are cut. */
static bool guard_all(const struct dill_slab *s)
{
    struct iovec v[SLAB_MAX];
    if (!guards_are_cheap() || RUNNING_ON_VALGRIND ||
        atomic_load_explicit(&no_batches, memory_order_relaxed))
        return false;
    for (unsigned i = 0; i < s->count; i++)
        v[i] = (struct iovec){s->base + i * stride(s), guard_size()};
    long want = (long)(s->count * guard_size());
    if (syscall(SYS_process_madvise, PIDFD_SELF_THREAD, v, (unsigned long)s->count,
                MADV_GUARD_INSTALL, 0U) == want)
        return true;
    atomic_store_explicit(&no_batches, true, memory_order_relaxed);
    return false;
}

static struct dill_slab *slab_make(struct dill_ctx *c, size_t size)
{
    unsigned n = SLAB_FIRST;
    if (c->slabs)
        n = c->slabs->count * 2 < SLAB_MAX ? c->slabs->count * 2 : SLAB_MAX;
    struct dill_slab *s = malloc(sizeof *s + n * sizeof s->free[0]);
    if (!s)
        return NULL;
    *s = (struct dill_slab){.next = c->slabs, .size = size, .count = n};
    s->base = mmap(NULL, n * stride(s), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (s->base == MAP_FAILED) {
        free(s);
        return NULL;
    }
    /* A huge page would commit many stacks at the first touch of one. */
    madvise(s->base, n * stride(s), MADV_NOHUGEPAGE);
    s->guarded = guard_all(s);
    c->slabs = s;
    return s;
}

static char *slot_top(const struct dill_slab *s, unsigned i)
{
    return s->base + (i + 1) * stride(s);
}

static char *slot_low(const struct dill_slab *s, unsigned i)
{
    return slot_top(s, i) - s->size;
}

static struct dill_cr *block_at(char *top)
{
    uintptr_t p = ((uintptr_t)top - sizeof(struct dill_cr)) & ~(uintptr_t)(LINE - 1);
    return (struct dill_cr *)p;
}

static struct dill_cr *slot_block(const struct dill_slab *s, unsigned i)
{
    return block_at(slot_top(s, i) - (size_t)(i % COLOURS) * LINE);
}

static struct dill_cr *block_init(struct dill_cr *cr, char *low, char *high)
{
    memset(cr, 0, sizeof *cr);
    cr->jmp.start = (char *)cr - DILL_HEADROOM;
    dill__san_stack(&cr->san, low, high);
    return cr;
}

static void slab_free(struct dill_slab *s)
{
    for (unsigned i = 0; i < s->cut; i++)
        dill__san_root(slot_low(s, i), s->size, 0);
    dill__san_wipe(s->base, s->count * stride(s));
    munmap(s->base, s->count * stride(s));
    free(s);
}

/* Hand a warm stack's pages back to the kernel. */
void dill__stack_cool(struct dill_ctx *c)
{
    struct dill_cr *cr = c->stacks;
    struct dill_slab *s = cr->slab;
    c->stacks = cr->next;
    c->nstacks--;
    unsigned i = cr->slot;
    VALGRIND_STACK_DEREGISTER(cr->vgid);
    dill__san_wipe(slot_low(s, i), s->size);
    madvise(slot_low(s, i), s->size, MADV_DONTNEED);
    s->free[s->nfree++] = (unsigned short)i;
    if (--s->used)
        return;
    struct dill_slab **p = &c->slabs;
    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    slab_free(s);
}

static struct dill_cr *slot_take(struct dill_slab *s)
{
    unsigned i = s->nfree ? s->free[s->nfree - 1] : s->cut;
    if (s->nfree) {
        s->nfree--;
    } else {
        if (!s->guarded && install_guard(slot_low(s, i) - guard_size()) < 0)
            return NULL;
        dill__san_root(slot_low(s, i), s->size, 1);
        s->cut++;
    }
    s->used++;
    struct dill_cr *cr = block_init(slot_block(s, i), slot_low(s, i), slot_top(s, i));
    cr->slab = s;
    cr->slot = i;
    cr->vgid = VALGRIND_STACK_REGISTER(slot_low(s, i), (char *)cr - 1);
    return cr;
}

static struct dill_cr *take_cold(struct dill_ctx *c, size_t size)
{
    struct dill_slab *s = c->slabs;
    while (s && (s->size != size || (!s->nfree && s->cut == s->count)))
        s = s->next;
    if (!s)
        s = slab_make(c, size);
    struct dill_cr *cr = s ? slot_take(s) : NULL;
    if (!cr)
        errno = ENOMEM;
    return cr;
}

/* No warm stack, or not of the size that is now wanted. */
struct dill_cr *dill__stack_find(struct dill_ctx *c, size_t size)
{
    while (c->stacks)
        dill__stack_cool(c);
    c->stack_size = size;
    return take_cold(c, size);
}

/* The same in the caller's memory, with room for a bundle at its low end. */
struct dill_cr *dill__stack_borrow(void *ptr, size_t len, struct dill_bundle **b)
{
    if (!ptr) {
        errno = EINVAL;
        return NULL;
    }
    if (len < BORROW_MIN || len > UINTPTR_MAX - (uintptr_t)ptr) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t low = ((uintptr_t)ptr + LINE - 1) & ~(uintptr_t)(LINE - 1);
    char *high = (char *)ptr + len;
    *b = (struct dill_bundle *)low;
    low += LINE;
    struct dill_cr *cr = block_init(block_at(high), (char *)low, high);
    cr->vgid = VALGRIND_STACK_REGISTER((char *)low, (char *)cr - 1);
    return cr;
}

void dill__stack_return(struct dill_cr *cr)
{
    VALGRIND_STACK_DEREGISTER(cr->vgid);
}

void dill__stacks_release(struct dill_ctx *c)
{
    while (c->slabs) {
        struct dill_slab *s = c->slabs;
        c->slabs = s->next;
        slab_free(s);
    }
    c->stacks = NULL;
    c->nstacks = 0;
}
