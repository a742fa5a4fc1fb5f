/* sha1.h - SHA-1 (FIPS 180-4), the digest that archives and their readers use.
 * Not for anything that must resist an attacker: store/sha256.h is. */
#ifndef COS_STORE_SHA1_H
#define COS_STORE_SHA1_H

#include <stddef.h>
#include <stdint.h>

struct cos_sha1 {
    uint32_t state[5];
    uint64_t len;
    uint8_t block[64];
};

enum { COS_SHA1_TEXT = 33 }; /* base32 and its NUL */

void cos_sha1_init(struct cos_sha1 *sha);
void cos_sha1_add(struct cos_sha1 *sha, const void *data, size_t len);
/* The digest of all that was added; the struct needs a new init afterwards. */
void cos_sha1_end(struct cos_sha1 *sha, uint8_t digest[20]);
/* In base32 (RFC 4648), as WARC files have it. */
void cos_sha1_text(const uint8_t digest[20], char text[COS_SHA1_TEXT]);

#endif
