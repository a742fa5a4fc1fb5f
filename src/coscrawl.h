/* coscrawl.h - the public header of the coroutine face. */
#ifndef COSCRAWL_H
#define COSCRAWL_H

#ifdef __cplusplus
extern "C" {
#endif

#include "base/err.h"
#include "base/file.h"
#include "base/page.h"

/* --- files and threads ------------------------------------------------------
 * Files are read and written on threads of their own: the loop never waits for
 * a disk. Every call suspends the coroutine, takes an absolute deadline in
 * milliseconds of dill_now() (negative: none) and returns 0 or a negative
 * cos_err: COS_ETIMEDOUT, COS_ECANCELED when the coroutine is being closed,
 * COS_ECONTEXT inside a callback, COS_EFULL when too many wait, COS_ENOMEM, or
 * what the file system said. An operation that has begun when its caller gives
 * up runs to its end unseen. */

/* Reads the whole file; out->max is the ceiling (COS_ETOOBIG). On success out
 * holds the file and nothing else; on failure it is untouched. */
int cos_file_read(const char *path, struct cos_buf *out, int64_t deadline);
/* Replaces the file at once: nobody ever sees a part of it. data is copied.
 * flags: COS_FILE_SYNC, COS_FILE_PARENTS. COS_ENOTSUP for a device or a pipe. */
int cos_file_write(const char *path, const void *data, size_t len, unsigned flags,
                   int64_t deadline);
/* Removes a file, a link or an empty directory (COS_EEXIST: not empty). */
int cos_file_remove(const char *path, int64_t deadline);
/* Makes the directory and those above it. 0 when it is there already;
 * COS_ENOTDIR when a file is where a directory must be. */
int cos_mkdir_p(const char *path, int64_t deadline);
/* The entries, sorted; cos_dir_release() frees them. *out is only set on 0. */
int cos_list_dir(const char *path, struct cos_dir *out, int64_t deadline);
/* Follows links. */
int cos_stat(const char *path, struct cos_stat *out, int64_t deadline);
/* Runs work(*data) on a thread and returns what it returns. *data belongs to
 * the job meanwhile. Afterwards *data is as it was: the caller has it back; or
 * NULL: the caller gave up while it ran, and drop (may be NULL) gets it when
 * work is through. */
int cos_offload(int (*work)(void *data), void **data, void (*drop)(void *data), int64_t deadline);

#ifdef __cplusplus
}
#endif

#endif
