/* log.t - levels, escapes, files, colours, lines from many threads. */
#include "tap.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

static struct cos_buf seen;

static void keep(void *arg, const char *line, size_t len)
{
    (void)arg;
    cos_buf_add(&seen, line, len);
}

static const char *logged(enum cos_log_kind kind, const char *text, size_t len)
{
    cos_buf_clear(&seen);
    cos_log(kind, "%.*s", (int)len, text);
    return seen.len ? seen.data : "";
}

static void levels(void)
{
    static const char *const names[] = {"quiet", "normal", "verbose", "debug"};
    static const char *const want[] = {"E", "EWI", "EWID", "EWIDd"};
    for (int level = COS_LOG_QUIET; level <= COS_LOG_ALL; level++) {
        char got[8] = "", *end = got;
        cos_log_level(level);
        for (int kind = COS_LOG_ERROR; kind <= COS_LOG_DEBUG; kind++)
            if (*logged(kind, "x", 1))
                *end++ = "EWIDd"[kind];
        is(got, want[level], "%s shows %s", names[level], want[level]);
    }
    ok(cos_log_shows(COS_LOG_DEBUG), "one can ask first");
    cos_log_level(COS_LOG_NORMAL);
}

static void escapes(void)
{
    static char text[3 * COS_LOG_LINE_MAX];
    errno = ENOENT;
    is(logged(COS_LOG_INFO, "a\x1b[31m\r\n\tb", 11), "a\\x1b[31m\\x0d\\n\\tb\n",
       "controls are shown, not obeyed; one message is one line");
    cmp_ok(errno, "==", ENOENT, "errno stays");
    is(logged(COS_LOG_INFO, "\xff\xc3(\xc3\xa9", 5), "\\xff\\xc3(\xc3\xa9\n",
       "broken UTF-8 is shown");
    is(logged(COS_LOG_INFO, "\xc2\x9b\xe2\x80\xae", 5), "\\xc2\\x9b\\u{202e}\n",
       "C1 controls and direction marks too");
    memset(text, 'x', sizeof text);
    logged(COS_LOG_INFO, text, sizeof text);
    like(seen.data, "x…\n$", "a long line is cut and says so");
    cmp_ok(seen.len, "<=", COS_LOG_LINE_MAX + 4, "at the ceiling");
    memset(text, 1, sizeof text);
    logged(COS_LOG_INFO, text, sizeof text);
    cmp_ok(seen.len, "<=", COS_LOG_LINE_MAX + 4, "also when escapes make it longer");
    like(seen.data, "x01…\n$", "and it ends in a whole escape");
    cos_log_colour(1);
    is(logged(COS_LOG_ERROR, "bad", 3), "\x1b[31mbad\x1b[0m\n", "colours when switched on");
    cos_log_colour(0);
    is(logged(COS_LOG_ERROR, "bad", 3), "bad\n", "and none by default");
}

enum { THREADS = 4, LINES = 500 };

static void *writer(void *arg)
{
    char text[101];
    memset(text, *(char *)arg, 100);
    text[100] = 0;
    for (int i = 0; i < LINES; i++)
        cos_log(COS_LOG_INFO, "%s", text);
    return NULL;
}

static void long_line(const char *path)
{
    static char text[2 * COS_LOG_LINE_MAX], got[2 * COS_LOG_LINE_MAX];
    FILE *file;
    memset(text, 'x', sizeof text - 1);
    cos_log_open(path);
    cos_log(COS_LOG_INFO, "%s", text);
    cos_log_open(NULL);
    file = fopen(path, "r");
    ok(file && fgets(got, sizeof got, file) && strstr(got, "xx…\n") &&
           strlen(got) > COS_LOG_LINE_MAX,
       "a long line behind the time is cut, not lost");
    if (file)
        fclose(file);
    unlink(path);
}

static void threads(const char *path)
{
    pthread_t ids[THREADS];
    char letters[THREADS], line[256];
    int lines = 0, mixed = 0;
    FILE *file;
    cmp_ok(cos_log_open(path), "==", 0, "open a file");
    for (int i = 0; i < THREADS; i++) {
        letters[i] = (char)('a' + i);
        pthread_create(&ids[i], NULL, writer, &letters[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    cos_log_open(NULL);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        size_t start = strlen("2026-01-01T00:00:00.000Z ");
        lines++;
        mixed += strlen(line) != start + 101 || line[10] != 'T' || line[start - 2] != 'Z' ||
                 strspn(line + start, (char[]){line[start], 0}) != 100;
    }
    if (file)
        fclose(file);
    cmp_ok(lines, "==", THREADS * LINES, "every line of every thread is in the file");
    cmp_ok(mixed, "==", 0, "each whole, with the time before it");
}

int main(void)
{
    char dir[] = "/tmp/cos-log-XXXXXX", path[64];
    plan(NO_PLAN);
    cos_buf_init(&seen, 1 << 20);
    cos_log_sink(keep, NULL);
    levels();
    escapes();
    cos_log_sink(NULL, NULL);
    if (!mkdtemp(dir))
        BAIL_OUT("mkdtemp failed");
    snprintf(path, sizeof path, "%s/log", dir);
    long_line(path);
    threads(path);
    cmp_ok(cos_log_open("/nonexistent/dir/log"), "==", COS_ENOENT, "a file that cannot be opened");
    unlink(path);
    rmdir(dir);
    cos_buf_release(&seen);
    done_testing();
}
