/* sha1.c - SHA-1 after FIPS 180-4, in plain C: a crypto library would be a
 * dependency for one function, and compressing the same bytes costs ten times as
 * much. Whole blocks are hashed where they are. */
#include "store/sha1.h"

#include <endian.h>
#include <string.h>

static inline uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static inline uint32_t big_endian(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return be32toh(word);
}

/* The next word of the schedule, in a ring of sixteen. */
static inline uint32_t next_word(uint32_t w[16], int i)
{
    return w[i & 15] = rotate(w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^ w[i & 15], 1);
}

/* Five steps at a time, the names moving instead of the values: twice as fast as
 * a loop that shifts them. */
#define STEP(a, b, c, d, e, f, k, word)                                                            \
    (e += rotate(a, 5) + (f(b, c, d)) + (k) + (word), b = rotate(b, 30))
#define FIVE(f, k, word, i)                                                                        \
    (STEP(a, b, c, d, e, f, k, word((i))), STEP(e, a, b, c, d, f, k, word((i) + 1)),               \
     STEP(d, e, a, b, c, f, k, word((i) + 2)), STEP(c, d, e, a, b, f, k, word((i) + 3)),           \
     STEP(b, c, d, e, a, f, k, word((i) + 4)))
#define CHOOSE(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define PARITY(b, c, d) ((b) ^ (c) ^ (d))
#define MAJORITY(b, c, d) (((b) & (c)) | ((d) & ((b) | (c))))
#define FIRST(i) (w[i] = big_endian(block + 4 * (size_t)(i)))
#define LATER(i) next_word(w, i)
#define EITHER(i) ((i) < 16 ? FIRST((i) & 15) : LATER(i))

static void compress(uint32_t state[5], const uint8_t block[64])
{
    uint32_t w[16], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    FIVE(CHOOSE, 0x5a827999u, FIRST, 0);
    FIVE(CHOOSE, 0x5a827999u, FIRST, 5);
    FIVE(CHOOSE, 0x5a827999u, FIRST, 10);
    FIVE(CHOOSE, 0x5a827999u, EITHER, 15);
    FIVE(PARITY, 0x6ed9eba1u, LATER, 20);
    FIVE(PARITY, 0x6ed9eba1u, LATER, 25);
    FIVE(PARITY, 0x6ed9eba1u, LATER, 30);
    FIVE(PARITY, 0x6ed9eba1u, LATER, 35);
    FIVE(MAJORITY, 0x8f1bbcdcu, LATER, 40);
    FIVE(MAJORITY, 0x8f1bbcdcu, LATER, 45);
    FIVE(MAJORITY, 0x8f1bbcdcu, LATER, 50);
    FIVE(MAJORITY, 0x8f1bbcdcu, LATER, 55);
    FIVE(PARITY, 0xca62c1d6u, LATER, 60);
    FIVE(PARITY, 0xca62c1d6u, LATER, 65);
    FIVE(PARITY, 0xca62c1d6u, LATER, 70);
    FIVE(PARITY, 0xca62c1d6u, LATER, 75);
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
