/* hash_int.h - between hash.c and hash_wide.c. */
#ifndef COS_BASE_HASH_INT_H
#define COS_BASE_HASH_INT_H

#include <stddef.h>
#include <stdint.h>

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define COS__HASH_WIDE 1
void cos__hash128_wide(const void *data, size_t len, uint64_t out[2]);
#else
#define COS__HASH_WIDE 0
#endif

#endif
