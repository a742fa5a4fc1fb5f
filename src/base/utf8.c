/* utf8.c - decoding after the table of well-formed sequences in the Unicode
 * standard: the second byte's range depends on the first, which is what rules
 * out overlong forms and surrogates. */
#include "base/utf8.h"

size_t cos_utf8_next(const char *at, size_t len, int32_t *code)
{
    const unsigned char *p = (const unsigned char *)at;
    unsigned char lo = 0x80, hi = 0xbf;
    size_t need = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    int32_t value = p[0];
    *code = -1;
    if (need == 0 || p[0] > 0xf4)
        return 1;
    if (need > 1)
        value &= 0x7f >> need;
    if (p[0] == 0xe0)
        lo = 0xa0;
    else if (p[0] == 0xed)
        hi = 0x9f;
    else if (p[0] == 0xf0)
        lo = 0x90;
    else if (p[0] == 0xf4)
        hi = 0x8f;
    for (size_t i = 1; i < need; i++, lo = 0x80, hi = 0xbf) {
        if (i >= len || p[i] < lo || p[i] > hi)
            return i;
        value = value << 6 | (p[i] & 0x3f);
    }
    *code = value;
    return need;
}

int cos_utf8_unsafe(int32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}
