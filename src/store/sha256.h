/* sha256.h - SHA-256 (FIPS 180-4) of one buffer, for names that must not
 * collide even when somebody tries. */
#ifndef COS_STORE_SHA256_H
#define COS_STORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct cos_sha256 {
    uint32_t state[8];
    uint64_t len;
    uint8_t block[64];
};

void cos_sha256_init(struct cos_sha256 *sha);
void cos_sha256_add(struct cos_sha256 *sha, const void *data, size_t len);
/* The digest of all that was added; the struct needs a new init afterwards. */
void cos_sha256_end(struct cos_sha256 *sha, uint8_t digest[32]);

#endif
