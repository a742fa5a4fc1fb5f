/* base32.h - bytes as letters and digits after RFC 4648, without padding: the
 * digests of archives, and the names of files whose own would be too long. */
#ifndef COS_STORE_BASE32_H
#define COS_STORE_BASE32_H

#include <stddef.h>
#include <stdint.h>

/* Room for the text of n bytes, five or a multiple of it, and its NUL. */
#define COS_BASE32_TEXT(n) ((n) / 5 * 8 + 1)

enum cos_base32_case { COS_BASE32_LOWER, COS_BASE32_UPPER };

/* n: five or a multiple of it. */
void cos_base32_write(char *text, const uint8_t *bytes, size_t n, enum cos_base32_case letters);
/* Reads either case; exactly n bytes, or COS_EPARSE. */
int cos_base32_read(uint8_t *bytes, size_t n, const char *text);

#endif
