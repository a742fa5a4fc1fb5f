/* usage.c - how every command says that it was called wrongly. */
#include "tool/tool.h"

#include <stdarg.h>
#include <stdio.h>

int tool_usage(const char *who, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s: ", who);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return 2;
}
