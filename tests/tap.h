/* tap.h - a small TAP producer with libtap's interface.
 *
 * A test is a program: plan(n) or plan(NO_PLAN) first, then checks, then
 * done_testing(). Every check prints one line of TAP and returns whether it
 * held. A watchdog ends a test that hangs: TAP_TIMEOUT seconds (default 60)
 * after plan(), the process reports "Bail out!" and leaves. */
#ifndef COS_TESTS_TAP_H
#define COS_TESTS_TAP_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_PLAN  (-1)
#define SKIP_ALL (-2)

#define tap__fmt(n, m) __attribute__((format(printf, n, m)))

void tap_plan(int tests, const char *fmt, ...);
int tap_ok(const char *file, int line, int held, const char *fmt, ...) tap__fmt(4, 5);
int tap_is(const char *file, int line, const char *got, const char *want, const char *fmt, ...)
    tap__fmt(5, 6);
int tap_isnt(const char *file, int line, const char *got, const char *bad, const char *fmt, ...)
    tap__fmt(5, 6);
int tap_cmp_ok(const char *file, int line, long long a, const char *op, long long b,
               const char *fmt, ...) tap__fmt(6, 7);
int tap_cmp_mem(const char *file, int line, const void *got, const void *want, size_t len,
                const char *fmt, ...) tap__fmt(6, 7);
int tap_like(const char *file, int line, int wanted, const char *got, const char *regex,
             const char *fmt, ...) tap__fmt(6, 7);
int tap_died(int status_wanted, pid_t child);
void tap_skip(int count, const char *fmt, ...) tap__fmt(2, 3);
void tap_todo(const char *fmt, ...) tap__fmt(1, 2);
void tap_endtodo(void);
int diag(const char *fmt, ...) tap__fmt(1, 2);
int note(const char *fmt, ...) tap__fmt(1, 2);
int exit_status(void);
int tap_done_testing(void);
_Noreturn void tap_bail_out(const char *fmt, ...) tap__fmt(1, 2);

/* plan(3), plan(NO_PLAN), plan(SKIP_ALL, "why") */
#define plan(...)             tap_plan(__VA_ARGS__, NULL)
#define ok(test, ...)         tap_ok(__FILE__, __LINE__, !!(test), __VA_ARGS__)
#define pass(...)             tap_ok(__FILE__, __LINE__, 1, __VA_ARGS__)
#define fail(...)             tap_ok(__FILE__, __LINE__, 0, __VA_ARGS__)
#define is(got, want, ...)    tap_is(__FILE__, __LINE__, got, want, __VA_ARGS__)
#define isnt(got, bad, ...)   tap_isnt(__FILE__, __LINE__, got, bad, __VA_ARGS__)
#define cmp_ok(a, op, b, ...) tap_cmp_ok(__FILE__, __LINE__, (long long)(a), op, (long long)(b), __VA_ARGS__)
#define cmp_mem(got, want, n, ...) tap_cmp_mem(__FILE__, __LINE__, got, want, n, __VA_ARGS__)
#define like(got, re, ...)    tap_like(__FILE__, __LINE__, 1, got, re, __VA_ARGS__)
#define unlike(got, re, ...)  tap_like(__FILE__, __LINE__, 0, got, re, __VA_ARGS__)
#define BAIL_OUT(...)         tap_bail_out("" __VA_ARGS__)
#define done_testing()        return tap_done_testing()

#define skip(test, ...) do { if (test) { tap_skip(__VA_ARGS__); break; }
#define endskip         } while (0)
#define todo(...)       do { tap_todo("" __VA_ARGS__);
#define endtodo         tap_endtodo(); } while (0)

/* dies_ok({ code }, "name"): the code ends its process by a signal or a
 * non-zero exit; lives_ok: it does neither. The code runs in a child. */
#define dies_ok(code, ...)  tap__child(1, code, __VA_ARGS__)
#define lives_ok(code, ...) tap__child(0, code, __VA_ARGS__)
#define tap__child(wanted, code, ...)                                                              \
    do {                                                                                           \
        fflush(NULL);                                                                              \
        pid_t tap__pid = fork();                                                                   \
        if (tap__pid == 0) {                                                                       \
            if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))          \
                _exit(0);                                                                          \
            code;                                                                                  \
            _exit(0);                                                                              \
        }                                                                                          \
        tap_ok(__FILE__, __LINE__, tap_died(wanted, tap__pid), __VA_ARGS__);                       \
    } while (0)

#endif
