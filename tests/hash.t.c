/* hash.t - the keyed hash against an independent slow one, the content hash in
 * one piece and in many. */
#include "tap.h"

#include "base/hash.h"

#include <string.h>

/* SipHash with c = 1, d = 3, byte by byte, to check the fast one against. */
static uint64_t slow_sip(const uint64_t key[2], const unsigned char *data, size_t len)
{
    uint64_t a = key[0] ^ 0x736f6d6570736575, b = key[1] ^ 0x646f72616e646f6d;
    uint64_t c = key[0] ^ 0x6c7967656e657261, d = key[1] ^ 0x7465646279746573;
    size_t blocks = len / 8 + 1;
    for (size_t i = 0; i < blocks + 3; i++) {
        uint64_t m = 0;
        if (i < blocks)
            for (size_t j = 0; j < 8; j++)
                m |= (uint64_t)(i * 8 + j < len ? data[i * 8 + j] : 0) << (8 * j);
        if (i == blocks - 1)
            m |= (uint64_t)(len & 255) << 56;
        if (i == blocks)
            c ^= 255;
        d ^= m;
#define ROT(x, n) ((x) << (n) | (x) >> (64 - (n)))
        a += b, c += d, b = ROT(b, 13) ^ a, d = ROT(d, 16) ^ c, a = ROT(a, 32);
        c += b, a += d, b = ROT(b, 17) ^ c, d = ROT(d, 21) ^ a, c = ROT(c, 32);
        a ^= m;
    }
    return a ^ b ^ c ^ d;
}

static void keyed(void)
{
    uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908}, other[2] = {1, 2};
    unsigned char data[64];
    int wrong = 0, same = 0;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)i;
    for (size_t n = 0; n <= sizeof data; n++) {
        wrong += cos_hash_keyed(key, data, n) != slow_sip(key, data, n);
        same += cos_hash_keyed(key, data, n) == cos_hash_keyed(other, data, n);
    }
    cmp_ok(wrong, "==", 0, "agrees with a byte-by-byte SipHash-1-3 for lengths 0 to 64");
    ok(cos_hash_keyed(key, data, 0) == 0xabac0158050fc4dc,
       "the published value of the empty input");
    cmp_ok(same, "==", 0, "another key gives other hashes");
    ok(cos_hash_process_key() == cos_hash_process_key(), "one key per process");
    ok(cos_hash_process_key()[0] || cos_hash_process_key()[1], "and it was drawn");
}

static void content(void)
{
    static char data[100000];
    struct cos_hasher *hasher = cos_hasher_new();
    uint64_t whole[2], parts[2], again[2];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 31 + i / 251);
    cos_hash128(data, sizeof data, whole);
    for (size_t at = 0, n = 1; at < sizeof data; at += n, n = n * 2 % 7919 + 1) {
        if (n > sizeof data - at)
            n = sizeof data - at;
        cos_hasher_add(hasher, data + at, n);
    }
    cos_hasher_get(hasher, parts);
    cmp_mem(parts, whole, sizeof whole, "pieces give what the whole gives");
    cos_hasher_free(hasher);
    data[500] ^= 1;
    cos_hash128(data, sizeof data, again);
    ok(again[0] != whole[0] && again[1] != whole[1], "one bit changes both halves");
    cos_hash128(NULL, 0, whole);
    ok(whole[0] == 0x6001c324468d497f && whole[1] == 0x99aa06d3014798d8,
       "the empty content has its fixed name");
}

int main(void)
{
    plan(NO_PLAN);
    keyed();
    content();
    done_testing();
}
