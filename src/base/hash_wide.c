/* hash_wide.c - XXH3 with registers of 32 bytes, for processors that have them.
 * The same values as hash.c's, half the instructions. The program itself is
 * built for any processor of its kind: hash.c asks before it calls this. Only
 * gcc can change what a file is compiled for in the middle of it. */
#include "base/hash_int.h"

#if COS__HASH_WIDE
#pragma GCC target("avx2")
#define XXH_INLINE_ALL
#include <xxhash.h>

void cos__hash128_wide(const void *data, size_t len, uint64_t out[2])
{
    XXH128_hash_t h = XXH3_128bits(data, len);
    out[0] = h.low64;
    out[1] = h.high64;
}
#endif
