/* fetch_spill.h - a body too large for memory goes to a file, written on the
 * offload threads. The loop only passes buffers on. May call base. */
#ifndef COS_WEB_FETCH_SPILL_H
#define COS_WEB_FETCH_SPILL_H

#include "base/op.h"

#include <stddef.h>

/* One file being written: at most one buffer is with a thread and one is being
 * filled. Beyond COS__SPILL_FULL waiting bytes the sender must pause. */
enum { COS__SPILL_FULL = 256 * 1024 };
struct cos__spill;

/* dir is copied. changed(arg) runs on the loop each time a buffer was written
 * or writing failed. NULL when out of memory. */
struct cos__spill *cos__spill_new(const char *dir, void (*changed)(void *arg), void *arg);
/* Takes the bytes over, in order. 0, COS_ENOMEM, or why writing failed. */
int cos__spill_add(struct cos__spill *spill, const void *data, size_t len);
/* Whether more should wait. */
int cos__spill_full(const struct cos__spill *spill);
/* No more will come. COS_EBUSY: not all is written, changed() will be called;
 * 0: all is in the file; or why writing failed. */
int cos__spill_end(struct cos__spill *spill);
/* The file's name; the caller frees it and removes the file. */
char *cos__spill_take(struct cos__spill *spill);
/* Ends it; a file that was not taken is removed. changed() is not called any
 * more. NULL is fine. */
void cos__spill_free(struct cos__spill *spill);

#endif
