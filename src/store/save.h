/* save.h - files below the crawl directory, put into place whole or not at all.
 * Everything here blocks on the disk: for offload threads only. Safe to call
 * from several threads at once, except open and close. */
#ifndef COS_STORE_SAVE_H
#define COS_STORE_SAVE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

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

/* --- edit.c: files that are edited after they were saved ------------------------
 * A file that is edited keeps its original in .coscrawl/original, so that it can
 * be edited again, otherwise, and always from what the server sent. Both are put
 * into place by link and rename: at every moment the original is there, or the
 * file is the original. */

/* What was saved under path before any edit: replaces *out, whose ceiling holds. */
int cos_save_original(struct cos_save *save, const char *path, struct cos_buf *out);
/* Makes path hold the edited bytes and keeps its original, unless path holds them
 * already. 1 when something was written, 0, or an error. */
int cos_save_edit(struct cos_save *save, const char *path, const void *data, size_t len);
/* Makes path hold its original again. 1 when it did not, 0, or an error. */
int cos_save_restore(struct cos_save *save, const char *path);
/* The original of path, for people, as a second name of it. 1, 0, or an error. */
int cos_save_backup(struct cos_save *save, const char *path, const char *as);
/* Something else was saved under path: its original is none any more. */
int cos_save_forget(struct cos_save *save, const char *path);
/* 1 when path is there and these bytes are what was saved under it. */
int cos_save_same(struct cos_save *save, const char *path, const void *data, size_t len);
/* Whether a file of that name is there. */
int cos_save_exists(const struct cos_save *save, const char *path);
/* Makes path share its place on the disk with first, if both hold the same bytes.
 * 1 and *bytes, the size; 0: they differ, are empty, or share it already; COS_ENOENT;
 * COS_EFULL: first has as many names as it can; COS_ENOTSUP: no reflinks here. */
int cos_save_share(struct cos_save *save, const char *first, const char *path, int by_reflink,
                   int64_t *bytes);
void cos_save_remove(struct cos_save *save, const char *path);

#endif
