/* dill_util.h - what the tests of the runtime share. */
#ifndef COS_TESTS_DILL_UTIL_H
#define COS_TESTS_DILL_UTIL_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Did the call fail, and with that errno? */
#define fails(call, err) (errno = 0, (call) == -1 && errno == (err))

#if defined __SANITIZE_THREAD__
#define SANITIZED_THREADS 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define SANITIZED_THREADS 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined SANITIZED_THREADS
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined SANITIZED
#define SANITIZED 0
#endif
#if !defined SANITIZED_THREADS
#define SANITIZED_THREADS 0
#endif

/* Checkers slow everything down and bring memory of their own: figures that
 * the clock or the resident set decide are only taken without them. */
static inline bool checked_run(void)
{
    return SANITIZED || getenv("UNDER_VALGRIND");
}

#endif
