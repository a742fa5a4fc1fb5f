/* hash.c - SipHash-1-3 for tables, XXH3 for content.
 * XXH3 with a secret seed was rejected for tables: inputs are known that collide
 * under every seed, and links come from strangers. */
#include "base/hash.h"

#include "base/hash_int.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { WIDE_FROM = 1024 };

static uint64_t rotl(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* The state in four variables, not in an array: the compiler keeps it in registers. */
struct sip {
    uint64_t a, b, c, d;
};

static inline struct sip sip_round(struct sip v)
{
    v.a += v.b;
    v.b = rotl(v.b, 13) ^ v.a;
    v.a = rotl(v.a, 32);
    v.c += v.d;
    v.d = rotl(v.d, 16) ^ v.c;
    v.a += v.d;
    v.d = rotl(v.d, 21) ^ v.a;
    v.c += v.b;
    v.b = rotl(v.b, 17) ^ v.c;
    v.c = rotl(v.c, 32);
    return v;
}

static inline struct sip sip_word(struct sip v, uint64_t word)
{
    v.d ^= word;
    v = sip_round(v);
    v.a ^= word;
    return v;
}

static uint64_t load_le(const unsigned char *at, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, at, n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

uint64_t cos_hash_keyed(const uint64_t key[2], const void *data, size_t len)
{
    const unsigned char *at = data;
    struct sip v = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                    key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    uint64_t last = (uint64_t)len << 56;
    for (size_t left = len; left >= 8; left -= 8, at += 8)
        v = sip_word(v, load_le(at, 8));
    if (len % 8)
        last |= load_le(at, len % 8);
    v = sip_word(v, last);
    v.c ^= 0xff;
    v = sip_round(sip_round(sip_round(v)));
    return v.a ^ v.b ^ v.c ^ v.d;
}

static uint64_t process_key[2];

static void draw_key(void)
{
    struct timespec now;
    if (getrandom(process_key, sizeof process_key, GRND_NONBLOCK) == (ssize_t)sizeof process_key)
        return;
    /* Early boot or a sandbox without getrandom: weaker, but never fixed. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    process_key[0] ^= (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15;
    process_key[1] ^= (uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_sec;
}

const uint64_t *cos_hash_process_key(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, draw_key);
    return process_key;
}

void cos_hash128(const void *data, size_t len, uint64_t out[2])
{
    XXH128_hash_t h;
#if COS__HASH_WIDE
    if (len >= WIDE_FROM && __builtin_cpu_supports("avx2")) {
        cos__hash128_wide(data, len, out);
        return;
    }
#endif
    h = XXH3_128bits(len ? data : "", len);
    out[0] = h.low64;
    out[1] = h.high64;
}

struct cos_hasher {
    XXH3_state_t state;
};

struct cos_hasher *cos_hasher_new(void)
{
    struct cos_hasher *hasher = aligned_alloc(64, sizeof *hasher);
    if (hasher) {
        memset(hasher, 0, sizeof *hasher);
        XXH3_128bits_reset(&hasher->state);
    }
    return hasher;
}

void cos_hasher_add(struct cos_hasher *hasher, const void *data, size_t len)
{
    if (len)
        XXH3_128bits_update(&hasher->state, data, len);
}

void cos_hasher_get(const struct cos_hasher *hasher, uint64_t out[2])
{
    XXH128_hash_t h = XXH3_128bits_digest(&hasher->state);
    out[0] = h.low64;
    out[1] = h.high64;
}

void cos_hasher_free(struct cos_hasher *hasher)
{
    free(hasher);
}
