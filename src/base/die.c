/* die.c - die.h in one screen. */
#include "base/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void cos__die(const char *fmt, ...)
{
    va_list ap;
    fputs("coscrawl: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}
