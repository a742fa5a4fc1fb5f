/* sha1.c - SHA-1 after FIPS 180-4, in plain C: a crypto library would be a
 * dependency for one function, and compressing the same bytes costs ten times as
 * much. Whole blocks are hashed where they are. */
#include "store/sha1.h"

#include <string.h>

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void compress(uint32_t state[5], const uint8_t block[64])
{
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (size_t i = 0; i < 16; i++)
        w[i] = big_endian(block + 4 * i);
    for (int i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
#define STEP(f, k)                                                                                 \
    do {                                                                                           \
        uint32_t t = rotate(a, 5) + (f) + e + (k) + w[i];                                          \
        e = d;                                                                                     \
        d = c;                                                                                     \
        c = rotate(b, 30);                                                                         \
        b = a;                                                                                     \
        a = t;                                                                                     \
    } while (0)
    for (int i = 0; i < 20; i++)
        STEP((b & c) | (~b & d), 0x5a827999u);
    for (int i = 20; i < 40; i++)
        STEP(b ^ c ^ d, 0x6ed9eba1u);
    for (int i = 40; i < 60; i++)
        STEP((b & c) | (b & d) | (c & d), 0x8f1bbcdcu);
    for (int i = 60; i < 80; i++)
        STEP(b ^ c ^ d, 0xca62c1d6u);
#undef STEP
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void cos_sha1_init(struct cos_sha1 *sha)
{
    static const uint32_t start[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    memcpy(sha->state, start, sizeof start);
    sha->len = 0;
}

void cos_sha1_add(struct cos_sha1 *sha, const void *data, size_t len)
{
    const uint8_t *p = data;
    while (len) {
        size_t used = (size_t)(sha->len % 64), take = 64 - used;
        if (!used && len >= 64) {
            compress(sha->state, p);
        } else {
            if (take > len)
                take = len;
            memcpy(sha->block + used, p, take);
            if (used + take == 64)
                compress(sha->state, sha->block);
        }
        sha->len += take;
        p += take;
        len -= take;
    }
}

void cos_sha1_end(struct cos_sha1 *sha, uint8_t digest[20])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = sha->len * 8;
    uint8_t tail[8];
    size_t used = (size_t)(sha->len % 64);
    for (int i = 0; i < 8; i++)
        tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    cos_sha1_add(sha, padding, used < 56 ? 56 - used : 120 - used);
    cos_sha1_add(sha, tail, 8);
    for (int i = 0; i < 20; i++)
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void cos_sha1_text(const uint8_t digest[20], char text[COS_SHA1_TEXT])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    for (int i = 0; i < 32; i++) {
        int bit = i * 5, byte = bit / 8;
        unsigned two = (unsigned)digest[byte] << 8 | (byte < 19 ? digest[byte + 1] : 0u);
        text[i] = letters[two >> (11 - bit % 8) & 31];
    }
    text[32] = 0;
}
