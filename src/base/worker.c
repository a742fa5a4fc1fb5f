/* worker.c - the worker process's own side (worker.h). Runs in a child of the
 * zygote: no loop, no coroutine, no thread; everything blocks.
 * The CPU limit counts from the start of each job: RLIMIT_CPU counts a
 * process's whole life, so its soft limit is moved ahead before every job.
 * Sanitizers reserve terabytes of addresses and make system calls of their
 * own: address limit and filter are left out in such builds, and the filter
 * under valgrind. */
#include "config.h"

#include "base/worker.h"

#include "base/err.h"
#include "base/frame.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_SECCOMP
#include <seccomp.h>
#endif

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct cos_work {
    int fd;
    struct cos__worker_setup setup;
    struct cos_buf in, out;
    int ended; /* "end" or "error" was sent for this job */
};

/* --- limits --- */

static void set_soft(int what, rlim_t value)
{
    struct rlimit lim;
    if (getrlimit(what, &lim))
        return;
    lim.rlim_cur = lim.rlim_max == RLIM_INFINITY || value < lim.rlim_max ? value : lim.rlim_max;
    setrlimit(what, &lim);
}

/* Bytes of addresses in use; 0 when unknown. */
static rlim_t addresses_used(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return 0;
    if (fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

void cos__worker_limits(const struct cos__worker_setup *setup)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (setup->memory && !SANITIZED)
        set_soft(RLIMIT_AS, addresses_used() + setup->memory);
    if (setup->cpu_s)
        set_soft(RLIMIT_CPU, (rlim_t)setup->cpu_s);
}

static void allow_cpu(int32_t seconds)
{
    struct rusage used;
    if (!seconds || getrusage(RUSAGE_SELF, &used))
        return;
    /* The limit has whole seconds; what is begun counts as one. */
    set_soft(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + seconds));
}

#ifdef HAVE_SECCOMP
/* What computing in memory and talking on open descriptors needs. */
static const int allowed[] = {
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(recvfrom),
    SCMP_SYS(sendto), SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(poll), SCMP_SYS(ppoll),
    SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(lseek), SCMP_SYS(mmap),
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(brk), SCMP_SYS(madvise),
    SCMP_SYS(futex), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(getrusage),
    SCMP_SYS(prlimit64), SCMP_SYS(getrlimit), SCMP_SYS(setrlimit), SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(getpid),
    SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(sched_yield), SCMP_SYS(restart_syscall),
    SCMP_SYS(getrandom),
};

static int filter_calls(void)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int rc = ctx ? 0 : -1;
    for (size_t i = 0; !rc && i < sizeof allowed / sizeof allowed[0]; i++) {
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
        if (rc == -EDOM) /* not a call of this architecture */
            rc = 0;
    }
    if (!rc)
        rc = seccomp_load(ctx);
    seccomp_release(ctx);
    return rc;
}
#else
static int filter_calls(void)
{
    return 0;
}
#endif

static int under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "vgpreload");
}

/* --- messages --- */

static void write_all(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0); /* nobody listens any more */
        data += n;
        len -= (size_t)n;
    }
}

int cos_work_send(struct cos_work *work, const char *event, const void *data, size_t len)
{
    int err;
    if (len > work->setup.message_max)
        return COS_ETOOBIG;
    cos_buf_clear(&work->out);
    err = cos__frame_add(&work->out, event, data, len);
    if (err)
        return err;
    if (!strcmp(event, "end") || !strcmp(event, "error"))
        work->ended = 1;
    write_all(work->fd, work->out.data, work->out.len);
    return 0;
}

static void read_more(struct cos_work *work)
{
    enum { STEP = 256 * 1024 };
    size_t room = work->in.max - work->in.len;
    ssize_t n;
    if (cos_buf_reserve(&work->in, room < STEP ? room : STEP) || !room)
        _exit(12);
    do
        n = read(work->fd, work->in.data + work->in.len, room < STEP ? room : STEP);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        _exit(0);
    work->in.len += (size_t)n;
}

static void run_job(struct cos_work *work, const struct cos__frame *frame)
{
    char number[16];
    int err;
    work->ended = 0;
    allow_cpu(work->setup.cpu_s);
    err = work->setup.run(work, frame->event, work->in.data + frame->head, frame->len);
    if (work->ended)
        return;
    snprintf(number, sizeof number, "%d", err);
    cos_work_send(work, err ? "error" : "end", number, err ? strlen(number) : 0);
}

static void serve_one(struct cos_work *work)
{
    struct cos__frame frame;
    size_t used;
    int got;
    while (!(got = cos__frame_head(work->in.data ? work->in.data : "", work->in.len,
                                   work->setup.message_max, &frame)))
        read_more(work);
    if (got < 0)
        _exit(13);
    used = frame.head + frame.len;
    while (work->in.len < used)
        read_more(work);
    run_job(work, &frame);
    memmove(work->in.data, work->in.data + used, work->in.len - used);
    work->in.len -= used;
    /* What one large page needed is not kept for all the small ones. */
    if (!work->in.len && work->in.cap > (1 << 20))
        cos_buf_release(&work->in);
    if (work->out.cap > (1 << 20))
        cos_buf_release(&work->out);
}

void cos__worker_main(int fd, const struct cos__worker_setup *setup)
{
    struct cos_work work = {.fd = fd, .setup = *setup};
    prctl(PR_SET_NAME, "cos-worker");
    /* The same words everywhere, and no locale file to open behind the filter. */
    setenv("LC_ALL", "C", 1);
    cos_buf_init(&work.in, setup->message_max + COS__FRAME_HEAD_MAX);
    cos_buf_init(&work.out, setup->message_max + COS__FRAME_HEAD_MAX);
    cos__worker_limits(setup);
    if (!setup->no_seccomp && !SANITIZED && !under_valgrind() && filter_calls())
        _exit(14);
    for (;;)
        serve_one(&work);
}
