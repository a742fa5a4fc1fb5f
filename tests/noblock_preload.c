/* noblock_preload.c - loaded in front of libc by tests/noblock_crawl.t: counts
 * the calls that may wait for a disk and are made on the loop thread, from its
 * first wait for events to the end of the program. Calls on a socket, a pipe or
 * an eventfd do not wait for a disk and are let through, and so are those on
 * /proc and /sys and the settings that OpenSSL reads once. The report goes to
 * the descriptor that $NOBLOCK_FD names. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_t loop;
static int waited, elsewhere;
static pthread_t main_thread;

__attribute__((constructor)) static void first(void)
{
    main_thread = pthread_self();
}

static void report(const char *what, const char *name)
{
    const char *to = getenv("NOBLOCK_FD");
    char line[600];
    int n = snprintf(line, sizeof line, "%s %.500s\n", what, name);
    if (to && syscall(SYS_write, atoi(to), line, (size_t)n) < 0)
        abort();
}

static void called(const char *what, const char *name)
{
    if (!waited)
        return;
    if (!pthread_equal(pthread_self(), loop)) {
        __atomic_fetch_add(&elsewhere, 1, __ATOMIC_RELAXED);
        return;
    }
    if (name && (!strncmp(name, "/proc/", 6) || !strncmp(name, "/sys/", 5) ||
                 strstr(name, "/ssl/openssl.cnf")))
        return;
    report(what, name ? name : "");
}

/* Only regular files are on a disk. */
static void called_fd(const char *what, int fd)
{
    char link[40], name[500] = "";
    struct stat st;
    ssize_t n;
    if (!waited || syscall(SYS_fstat, fd, &st) || !S_ISREG(st.st_mode))
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, name, sizeof name - 1);
    name[n > 0 ? n : 0] = 0;
    called(what, name);
}

__attribute__((destructor)) static void last(void)
{
    char text[40];
    snprintf(text, sizeof text, "%d", elsewhere);
    report("elsewhere", text);
}

#define NEXT(name)                                                                                 \
    static __typeof__(name) *next;                                                                 \
    if (!next)                                                                                     \
        *(void **)&next = dlsym(RTLD_NEXT, #name)

#define PATH(type, name, params, args, path)                                                       \
    type name params                                                                               \
    {                                                                                              \
        NEXT(name);                                                                                \
        called(#name, path);                                                                       \
        return next args;                                                                          \
    }
#define ON_FD(type, name, params, args, fd)                                                        \
    type name params                                                                               \
    {                                                                                              \
        NEXT(name);                                                                                \
        called_fd(#name, fd);                                                                      \
        return next args;                                                                          \
    }

int epoll_wait(int epfd, struct epoll_event *events, int max, int timeout)
{
    NEXT(epoll_wait);
    if (!waited && pthread_equal(pthread_self(), main_thread)) {
        loop = pthread_self();
        waited = 1;
    }
    return next(epfd, events, max, timeout);
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list ap;                                                                                \
        mode_t mode;                                                                               \
        NEXT(name);                                                                                \
        va_start(ap, flags);                                                                       \
        mode = va_arg(ap, mode_t);                                                                 \
        va_end(ap);                                                                                \
        called(#name, path);                                                                       \
        return next(path, flags, mode);                                                            \
    }
#define OPENAT(name)                                                                               \
    int name(int dir, const char *path, int flags, ...)                                            \
    {                                                                                              \
        va_list ap;                                                                                \
        mode_t mode;                                                                               \
        NEXT(name);                                                                                \
        va_start(ap, flags);                                                                       \
        mode = va_arg(ap, mode_t);                                                                 \
        va_end(ap);                                                                                \
        called(#name, path);                                                                       \
        return next(dir, path, flags, mode);                                                       \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
PATH(FILE *, fopen, (const char *p, const char *m), (p, m), p)
PATH(FILE *, fopen64, (const char *p, const char *m), (p, m), p)
PATH(int, stat, (const char *p, struct stat *s), (p, s), p)
PATH(int, lstat, (const char *p, struct stat *s), (p, s), p)
PATH(int, fstatat, (int d, const char *p, struct stat *s, int f), (d, p, s, f), p)
PATH(int, access, (const char *p, int m), (p, m), p)
PATH(int, unlink, (const char *p), (p), p)
PATH(int, unlinkat, (int d, const char *p, int f), (d, p, f), p)
PATH(int, remove, (const char *p), (p), p)
PATH(int, rmdir, (const char *p), (p), p)
PATH(int, mkdir, (const char *p, mode_t m), (p, m), p)
PATH(int, mkdirat, (int d, const char *p, mode_t m), (d, p, m), p)
PATH(int, rename, (const char *a, const char *b), (a, b), a)
PATH(int, renameat, (int d, const char *a, int e, const char *b), (d, a, e, b), a)
PATH(int, link, (const char *a, const char *b), (a, b), a)
PATH(int, linkat, (int d, const char *a, int e, const char *b, int f), (d, a, e, b, f), a)
PATH(int, truncate, (const char *p, off_t n), (p, n), p)
PATH(int, chmod, (const char *p, mode_t m), (p, m), p)
PATH(DIR *, opendir, (const char *p), (p), p)
PATH(int, mkstemp, (char *p), (p), p)
PATH(int, mkostemp, (char *p, int f), (p, f), p)
ON_FD(int, fsync, (int fd), (fd), fd)
ON_FD(int, fdatasync, (int fd), (fd), fd)
ON_FD(int, ftruncate, (int fd, off_t n), (fd, n), fd)
ON_FD(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), fd)
ON_FD(ssize_t, pread, (int fd, void *p, size_t n, off_t o), (fd, p, n, o), fd)
ON_FD(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), fd)
ON_FD(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t o), (fd, p, n, o), fd)
ON_FD(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), fd)

/* stdio writes inside libc, where nothing can be put in front. */
size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
    NEXT(fwrite);
    called_fd("fwrite", fileno(f));
    return next(p, size, n, f);
}
int fputs(const char *s, FILE *f)
{
    NEXT(fputs);
    called_fd("fputs", fileno(f));
    return next(s, f);
}
int fputc(int c, FILE *f)
{
    NEXT(fputc);
    called_fd("fputc", fileno(f));
    return next(c, f);
}
int fclose(FILE *f)
{
    NEXT(fclose);
    called_fd("fclose", fileno(f));
    return next(f);
}
