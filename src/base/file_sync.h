/* file_sync.h - the file operations as plain blocking functions, for use inside
 * an offload job. Never on the loop thread. All return 0 or a negative cos_err;
 * a failure leaves no half-made thing behind and no result to release. */
#ifndef COS_BASE_FILE_SYNC_H
#define COS_BASE_FILE_SYNC_H

#include "base/file.h"

/* Replaces what out holds; out->max is the ceiling (COS_ETOOBIG). */
int cos__file_read_sync(const char *path, struct cos_buf *out);
/* Writes to a temporary file beside path and renames it into place: whoever
 * opens path sees the old content or all of the new. A link is replaced, a
 * device or pipe refused (COS_ENOTSUP). flags: COS_FILE_…. */
int cos__file_write_sync(const char *path, const void *data, size_t len, unsigned flags);
/* The same for what is open already, for files below a directory descriptor. */
int cos__fd_read_sync(int fd, struct cos_buf *out);
/* All of it, or an error. */
int cos__fd_write_sync(int fd, const void *bytes, size_t len);
/* Makes the directory and those above it. Fine when it is there. */
int cos__mkdir_p_sync(const char *path);
/* The same for the directory part of a file's path. */
int cos__mkdir_parents_sync(const char *path);
int cos__list_dir_sync(const char *path, struct cos_dir *out);
int cos__stat_sync(const char *path, struct cos_stat *out);
/* A file, a link, or an empty directory. */
int cos__file_remove_sync(const char *path);

/* Temporary files of cos__file_write_sync() begin with this; what a killed
 * process left of them may be removed. */
#define COS__TEMP_PREFIX ".cos-tmp-"

#endif
