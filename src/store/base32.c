/* base32.c - five bytes become eight characters, and back (base32.h). */
#include "store/base32.h"

#include "base/err.h"

#include <string.h>

void cos_base32_write(char *text, const uint8_t *bytes, size_t n, enum cos_base32_case letters)
{
    const char *alphabet = letters == COS_BASE32_UPPER ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
                                                       : "abcdefghijklmnopqrstuvwxyz234567";
    for (size_t at = 0; at + 5 <= n; at += 5) {
        uint64_t group = 0;
        for (int i = 0; i < 5; i++)
            group = group << 8 | bytes[at + (size_t)i];
        for (int shift = 35; shift >= 0; shift -= 5)
            *text++ = alphabet[group >> shift & 31];
    }
    *text = 0;
}

static int value_of(char c)
{
    if (c >= '2' && c <= '7')
        return c - '2' + 26;
    c = (char)(c & ~0x20);
    return c >= 'A' && c <= 'Z' ? c - 'A' : -1;
}

int cos_base32_read(uint8_t *bytes, size_t n, const char *text)
{
    if (strlen(text) != n / 5 * 8)
        return COS_EPARSE;
    for (size_t at = 0; at + 5 <= n; at += 5) {
        uint64_t group = 0;
        for (int i = 0; i < 8; i++) {
            int value = value_of(*text++);
            if (value < 0)
                return COS_EPARSE;
            group = group << 5 | (uint64_t)value;
        }
        for (int i = 0; i < 5; i++)
            bytes[at + (size_t)i] = (uint8_t)(group >> (32 - 8 * i));
    }
    return 0;
}
