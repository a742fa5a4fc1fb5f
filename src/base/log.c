/* log.c - the log of log.h. A line is built in a buffer on the stack and leaves
 * in one write under one lock, so lines of two threads never mix. stdio was
 * rejected: its buffers are copied by fork, and a worker would repeat them. */
#include "base/log.h"

#include "base/err.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    int level;  /* atomic: read without the lock */
    int colour;
    int fd;     /* of the file, -1: stderr */
    void (*sink)(void *arg, const char *line, size_t len);
    void *arg;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .level = COS_LOG_NORMAL, .fd = -1};

void cos_log_level(enum cos_log_level level)
{
    __atomic_store_n(&state.level, (int)level, __ATOMIC_RELAXED);
}

int cos_log_shows(enum cos_log_kind kind)
{
    static const int from[] = {COS_LOG_QUIET, COS_LOG_NORMAL, COS_LOG_NORMAL, COS_LOG_VERBOSE,
                               COS_LOG_ALL};
    return __atomic_load_n(&state.level, __ATOMIC_RELAXED) >= from[kind];
}

void cos_log_colour(int on)
{
    pthread_mutex_lock(&state.lock);
    state.colour = on;
    pthread_mutex_unlock(&state.lock);
}

void cos_log_sink(void (*fn)(void *arg, const char *line, size_t len), void *arg)
{
    pthread_mutex_lock(&state.lock);
    state.sink = fn;
    state.arg = arg;
    pthread_mutex_unlock(&state.lock);
}

int cos_log_open(const char *path)
{
    int fd = -1, old;
    if (path) {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (fd < 0)
            return cos_err_from_errno(errno);
    }
    pthread_mutex_lock(&state.lock);
    old = state.fd;
    state.fd = fd;
    pthread_mutex_unlock(&state.lock);
    if (old >= 0)
        close(old);
    return 0;
}

static int escape_code(struct cos_buf *out, const char *at, size_t n, int32_t code)
{
    int err = 0;
    if (code == '\n')
        return cos_buf_adds(out, "\\n");
    if (code == '\t')
        return cos_buf_adds(out, "\\t");
    if (code >= 0 && !cos_utf8_unsafe(code))
        return cos_buf_add(out, at, n);
    if (code > 0xff)
        return cos_buf_addf(out, "\\u{%x}", (unsigned)code);
    for (size_t i = 0; i < n && !err; i++)
        err = cos_buf_addf(out, "\\x%02x", (unsigned char)at[i]);
    return err;
}

int cos_log_escape(struct cos_buf *out, const char *s, size_t len)
{
    int32_t code;
    int err = 0;
    while (len && !err) {
        size_t n = 0;
        while (n < len && (unsigned char)s[n] >= 0x20 && (unsigned char)s[n] < 0x7f)
            n++;
        if (n) {
            if (n > out->max - out->len && out->max > out->len)
                n = out->max - out->len;
            err = cos_buf_add(out, s, n);
        } else {
            n = cos_utf8_next(s, len, &code);
            err = escape_code(out, s, n, code);
        }
        s += n;
        len -= n;
    }
    return err;
}

static void add_time(struct cos_buf *line)
{
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    cos_buf_addf(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ ", tm.tm_year + 1900, tm.tm_mon + 1,
                 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(now.tv_nsec / 1000000));
}

static void put_line(struct cos_buf *line)
{
    const char *at = line->data;
    size_t left = line->len;
    int fd = state.fd >= 0 ? state.fd : STDERR_FILENO;
    if (state.sink) {
        state.sink(state.arg, at, left);
        return;
    }
    while (left) {
        ssize_t n = write(fd, at, left);
        if (n < 0 && errno != EINTR)
            return; /* nowhere left to say so */
        if (n > 0) {
            at += n;
            left -= (size_t)n;
        }
    }
}

void cos_log(enum cos_log_kind kind, const char *fmt, ...)
{
    static const char *const colours[] = {"\033[31m", "\033[33m", "", "", "\033[2m"};
    char text[COS_LOG_LINE_MAX], room[COS_LOG_LINE_MAX + 128];
    struct cos_buf line = {.data = room, .cap = sizeof room, .max = COS_LOG_LINE_MAX};
    int saved = errno, len, coloured;
    va_list ap;
    if (!cos_log_shows(kind))
        return;
    va_start(ap, fmt);
    len = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (len < 0)
        len = 0;
    pthread_mutex_lock(&state.lock);
    coloured = state.colour && state.fd < 0 && *colours[kind];
    if (coloured)
        cos_buf_adds(&line, colours[kind]);
    if (state.fd >= 0 && !state.sink)
        add_time(&line);
    if (cos_log_escape(&line, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1) ||
        (size_t)len >= sizeof text) {
        line.max = sizeof room - 1;
        cos_buf_adds(&line, "…");
    }
    line.max = sizeof room - 1;
    cos_buf_adds(&line, coloured ? "\033[0m\n" : "\n");
    put_line(&line);
    pthread_mutex_unlock(&state.lock);
    errno = saved;
}
