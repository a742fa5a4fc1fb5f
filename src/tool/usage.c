/* usage.c - how every command says that it was called wrongly, or failed: one
 * line on stderr. What the line quotes came from outside, so it is cleaned. */
#include "tool/tool.h"

#include "base/buf.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 2048 };

static void say(const char *who, const char *fmt, va_list ap)
{
    char raw[LINE];
    struct cos_buf line;
    cos_buf_init(&line, LINE * 4);
    vsnprintf(raw, sizeof raw, fmt, ap);
    cos_log_escape(&line, raw, strlen(raw));
    fprintf(stderr, "%s: %s\n", who, line.data ? line.data : "");
    cos_buf_release(&line);
}

int tool_usage(const char *who, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(who, fmt, ap);
    va_end(ap);
    return TOOL_USAGE;
}

int tool_fail(int code, const char *who, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(who, fmt, ap);
    va_end(ap);
    return code;
}
