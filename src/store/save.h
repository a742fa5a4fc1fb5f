/* save.h - files below the crawl directory, put into place whole or not at all.
 * Everything here blocks on the disk: for offload threads only. Safe to call
 * from several threads at once, except open and close. */
#ifndef COS_STORE_SAVE_H
#define COS_STORE_SAVE_H

#include "base/buf.h"

#include <stddef.h>

struct cos_save;

/* dir exists (cos_db_open made and locked it). Removes what a killed crawl left
 * half-written. *why gets a sentence on failure. */
int cos_save_open(struct cos_save **out, const char *dir, struct cos_buf *why);
/* NULL is fine. */
void cos_save_close(struct cos_save *save);
/* Where unfinished files go, on the same file system: good for spilled bodies. */
const char *cos_save_tmp(const struct cos_save *save);

/* Makes path (relative, from cos_path_from_url) hold these bytes: it is written
 * beside and renamed, so nobody ever sees a part of it; missing directories are
 * made. COS_ENOTDIR: a file is where a directory must be; COS_EISDIR: a directory
 * is where the file must be; COS_ENOSPC, COS_EACCES, COS_EIO … Nothing is left
 * behind on failure. */
int cos_save_body(struct cos_save *save, const char *path, const void *data, size_t len);
/* The same with a file that exists below cos_save_tmp(): it is moved. */
int cos_save_move(struct cos_save *save, const char *path, const char *from);

#endif
