/* utf8.h - one step over bytes that claim to be UTF-8. */
#ifndef COS_BASE_UTF8_H
#define COS_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes what at[0..len) starts with (len > 0). Returns the bytes it takes and
 * sets *code; for bytes that are no UTF-8 (overlong, surrogates, cut off) *code
 * is -1 and the count that of the broken beginning, at least 1. */
size_t cos_utf8_next(const char *at, size_t len, int32_t *code);
/* Whether a terminal or a reader could be misled by it: controls, line and
 * paragraph separators, marks that turn the direction of text. */
int cos_utf8_unsafe(int32_t code);

#endif
