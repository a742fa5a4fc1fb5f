/* shared.h - values that several processes share: one SQLite file, a key, a
 * value, a time to live.
 *
 * It is the second level under a cache (flow/cache.h): the cache's load() asks
 * here first and makes the value only when nobody has. Processes that make the
 * same value at the same time agree through cos_shared_offer(): the first offer
 * counts, and the others are handed it.
 *
 * Times are those of the wall clock, since processes and machines that restart
 * have no other in common. The file is read and written on a thread of its own.
 * All functions but close suspend; beside the errors named: COS_EDB (no such
 * store, or broken), COS_ELOCKED (another process held the file for seconds),
 * COS_ENOSPC, COS_EACCES. The callback twins are in cps_shared.h. */
#ifndef COS_STORE_SHARED_H
#define COS_STORE_SHARED_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

struct cos_shared;

/* Zero fields are the defaults. */
struct cos_shared_opts {
    size_t max;       /* values kept; beyond it those stored longest ago go; 100,000 */
    size_t value_max; /* bytes of one value; beyond: COS_ETOOBIG; 1 MiB, at most 256 MiB */
};

enum { COS_SHARED_KEY_MAX = 65536 };

/* Opens the store at path, making it if need be (its directory must be there).
 * 0 and *out (cos_shared_close). opts may be NULL. COS_EINVAL. */
int cos_shared_open(const char *path, const struct cos_shared_opts *opts, struct cos_shared **out,
                    int64_t deadline);
/* Operations under way end first. Does not suspend, but may block for as long as
 * a statement takes. NULL is fine. */
void cos_shared_close(struct cos_shared *shared);
/* The value of key replaces what out holds; out->max is a ceiling, too. COS_ENOENT
 * when there is none or its time is over: out is as it was then. */
int cos_shared_get(struct cos_shared *shared, const char *key, struct cos_buf *out,
                   int64_t deadline);
/* Stores a value for ttl milliseconds (negative: for ever), in place of any other.
 * data is copied. COS_ETOOBIG for a key or a value beyond its ceiling. */
int cos_shared_put(struct cos_shared *shared, const char *key, const void *data, size_t len,
                   int64_t ttl, int64_t deadline);
/* Stores it unless there is a value already, and gives the one that counts: 0 when
 * it is the caller's (out is as it was), 1 when it is another's (now in out). */
int cos_shared_offer(struct cos_shared *shared, const char *key, const void *data, size_t len,
                     int64_t ttl, struct cos_buf *out, int64_t deadline);
/* Forgets the key (NULL: all), for every process. 0 also when there was none. */
int cos_shared_forget(struct cos_shared *shared, const char *key, int64_t deadline);

#endif
