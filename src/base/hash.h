/* hash.h - two hashes with two purposes. cos_hash_keyed is for tables that hold
 * strings from the network: nobody outside can aim for one bucket. cos_hash128
 * names content: fast, the same in every run and on every machine, no defence
 * against someone who builds collisions on purpose. */
#ifndef COS_BASE_HASH_H
#define COS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-1-3 under a key. */
uint64_t cos_hash_keyed(const uint64_t key[2], const void *data, size_t len);
/* The key of this process, drawn from the kernel at the first call. Thread-safe. */
const uint64_t *cos_hash_process_key(void);

/* 128-bit content hash; out[0] holds the low half. */
void cos_hash128(const void *data, size_t len, uint64_t out[2]);

/* The same in pieces. NULL when out of memory. */
struct cos_hasher;
struct cos_hasher *cos_hasher_new(void);
void cos_hasher_add(struct cos_hasher *hasher, const void *data, size_t len);
/* What all bytes so far give; more may follow. */
void cos_hasher_get(const struct cos_hasher *hasher, uint64_t out[2]);
void cos_hasher_free(struct cos_hasher *hasher);

#endif
