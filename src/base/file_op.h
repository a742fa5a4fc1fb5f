/* file_op.h - the file operations of file_sync.h as operations (op.h), for the
 * two faces. A maker copies its inputs; NULL when out of memory. */
#ifndef COS_BASE_FILE_OP_H
#define COS_BASE_FILE_OP_H

#include "base/file.h"
#include "base/op.h"

struct cos_op *cos__file_read_op(const char *path, size_t max);
struct cos_op *cos__file_write_op(const char *path, const void *data, size_t len, unsigned flags);
struct cos_op *cos__mkdir_p_op(const char *path);
struct cos_op *cos__list_dir_op(const char *path);
struct cos_op *cos__stat_op(const char *path);
struct cos_op *cos__file_remove_op(const char *path);

/* The results, valid when the operation is done with 0. They stay the
 * operation's: what is moved out of them must be zeroed there. */
struct cos_buf *cos__file_data(struct cos_op *op);
struct cos_dir *cos__file_dir(struct cos_op *op);
struct cos_stat *cos__file_stat(struct cos_op *op);

#endif
