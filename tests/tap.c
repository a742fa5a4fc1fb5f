/* tap.c - the TAP producer behind tap.h.
 * State is one static struct: a test is one process with one stream of
 * results. Output is line buffered so that a crash keeps what came before. */
#include "tap.h"

#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

static struct {
    int planned;  /* NO_PLAN until known */
    int run;
    int failed;
    int in_todo;
    char todo[128];
} tap = {.planned = NO_PLAN};

static void vsay(FILE *out, const char *lead, const char *fmt, va_list ap)
{
    char text[4096];
    char *line = text, *end;
    vsnprintf(text, sizeof text, fmt, ap);
    do {
        end = strchr(line, '\n');
        if (end)
            *end = 0;
        fprintf(out, "%s%s\n", lead, line);
        line = end ? end + 1 : NULL;
    } while (line && *line);
}

int diag(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsay(stderr, "# ", fmt, ap);
    va_end(ap);
    return 0;
}

int note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsay(stdout, "# ", fmt, ap);
    va_end(ap);
    return 0;
}

/* Only async-signal-safe calls: the test may hang inside malloc. */
static void watchdog(int sig)
{
    static const char text[] = "Bail out! the test hung and its watchdog ended it\n";
    (void)sig;
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

void tap_plan(int tests, const char *fmt, ...)
{
    const char *limit = getenv("TAP_TIMEOUT");
    va_list ap;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (tests == SKIP_ALL) {
        char why[256];
        va_start(ap, fmt);
        vsnprintf(why, sizeof why, fmt ? fmt : "no reason given", ap);
        va_end(ap);
        printf("1..0 # SKIP %s\n", why);
        exit(0);
    }
    tap.planned = tests;
    if (tests >= 0)
        printf("1..%d\n", tests);
    /* A shell that ran us in the background left it ignored, and our children
     * would inherit that. */
    signal(SIGINT, SIG_DFL);
    signal(SIGALRM, watchdog);
    alarm(limit ? (unsigned)atoi(limit) : 60);
}

static int vresult(const char *file, int line, int held, const char *fmt, va_list ap)
{
    char name[1024];
    vsnprintf(name, sizeof name, fmt, ap);
    /* '#' would start a directive. */
    for (char *p = name; (p = strchr(p, '#')) != NULL;)
        *p = '.';
    printf("%s %d - %s", held ? "ok" : "not ok", ++tap.run, name);
    if (tap.in_todo)
        printf(" # TODO %s", tap.todo);
    putchar('\n');
    if (!held && !tap.in_todo) {
        tap.failed++;
        diag("failed '%s' at %s:%d", name, file, line);
    }
    return held;
}

#define RESULT(held)                                                                               \
    do {                                                                                           \
        va_list ap_;                                                                               \
        va_start(ap_, fmt);                                                                        \
        vresult(file, line, (held), fmt, ap_);                                                     \
        va_end(ap_);                                                                               \
    } while (0)

int tap_ok(const char *file, int line, int held, const char *fmt, ...)
{
    RESULT(held);
    return held;
}

static int same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

int tap_is(const char *file, int line, const char *got, const char *want, const char *fmt, ...)
{
    int held = same(got, want);
    RESULT(held);
    if (!held)
        diag("     got: '%s'\nexpected: '%s'", got ? got : "(null)", want ? want : "(null)");
    return held;
}

int tap_isnt(const char *file, int line, const char *got, const char *bad, const char *fmt, ...)
{
    int held = !same(got, bad);
    RESULT(held);
    if (!held)
        diag("     got: '%s', which it must not be", got ? got : "(null)");
    return held;
}

static int compare(long long a, const char *op, long long b)
{
    if (!strcmp(op, "=="))
        return a == b;
    if (!strcmp(op, "!="))
        return a != b;
    if (!strcmp(op, "<"))
        return a < b;
    if (!strcmp(op, "<="))
        return a <= b;
    if (!strcmp(op, ">"))
        return a > b;
    if (!strcmp(op, ">="))
        return a >= b;
    tap_bail_out("cmp_ok: no operator '%s'", op);
}

int tap_cmp_ok(const char *file, int line, long long a, const char *op, long long b,
               const char *fmt, ...)
{
    int held = compare(a, op, b);
    RESULT(held);
    if (!held)
        diag("    %lld %s %lld does not hold", a, op, b);
    return held;
}

int tap_cmp_mem(const char *file, int line, const void *got, const void *want, size_t len,
                const char *fmt, ...)
{
    const unsigned char *a = got, *b = want;
    size_t at = 0;
    int held = a == b || (a && b && memcmp(a, b, len) == 0);
    RESULT(held);
    if (!held && a && b) {
        while (at < len && a[at] == b[at])
            at++;
        diag("    differ at byte %zu: got 0x%02x, expected 0x%02x", at, a[at], b[at]);
    }
    return held;
}

int tap_like(const char *file, int line, int wanted, const char *got, const char *regex,
             const char *fmt, ...)
{
    regex_t re;
    int held;
    if (regcomp(&re, regex, REG_EXTENDED | REG_NOSUB))
        tap_bail_out("bad regular expression '%s'", regex);
    held = (got && regexec(&re, got, 0, NULL, 0) == 0) == wanted;
    regfree(&re);
    RESULT(held);
    if (!held)
        diag("    '%s' %s '%s'", got ? got : "(null)", wanted ? "does not match" : "matches", regex);
    return held;
}

int tap_died(int status_wanted, pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 0;
    return (status != 0) == status_wanted;
}

void tap_skip(int count, const char *fmt, ...)
{
    char why[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    while (count-- > 0)
        printf("ok %d # SKIP %s\n", ++tap.run, why);
}

void tap_todo(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(tap.todo, sizeof tap.todo, fmt, ap);
    va_end(ap);
    tap.in_todo = 1;
}

void tap_endtodo(void)
{
    tap.in_todo = 0;
}

void tap_bail_out(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsay(stdout, "Bail out! ", fmt, ap);
    va_end(ap);
    exit(255);
}

int exit_status(void)
{
    if (tap.planned == NO_PLAN) {
        tap.planned = tap.run;
        printf("1..%d\n", tap.run);
    }
    if (tap.run != tap.planned)
        diag("planned %d checks but ran %d", tap.planned, tap.run);
    if (tap.failed)
        diag("%d of %d checks failed", tap.failed, tap.run);
    return tap.failed || tap.run != tap.planned;
}

int tap_done_testing(void)
{
    return exit_status();
}
