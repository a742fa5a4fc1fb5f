/* values.h - the values that options take: "10M", "1.5s", "inf", "30/m". Each
 * parser takes the whole string or refuses it; *out is set only on success. */
#ifndef COS_TOOL_VALUES_H
#define COS_TOOL_VALUES_H

#include <stdint.h>

/* All: 0 or COS_EINVAL; COS_ETOOBIG when the number does not fit. */

/* A whole number without sign. */
int value_number(const char *s, int64_t *out);
/* Bytes: a number, decimals allowed, with k, M, G or T (1024 each), or KB, KiB … */
int value_size(const char *s, int64_t *out);
/* Milliseconds: a number of seconds, or with ms, s, m, h or d. */
int value_duration(const char *s, int64_t *out);
/* A number per second, per minute (/m), per hour (/h) as one per second. > 0. */
int value_rate(const char *s, double *out);

#endif
