/* edit.c - files that are edited after they were saved (save.h).
 *
 * Rejected: editing an edited file again. What a reference was before it became
 * the name of a file (a redirect, say) cannot be told from the name. The price is
 * a second copy of pages and style sheets; all else is not edited. */
#include "config.h"

#include "store/save_int.h"

#include "base/err.h"
#include "base/file_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_LONG = 4096 + 64 };

static int original_of(char name[PATH_LONG], const char *path)
{
    return snprintf(name, PATH_LONG, "%s/%s", COS__ORIGINALS, path) >= PATH_LONG ? COS_ETOOBIG : 0;
}

static int read_file(const struct cos_save *save, const char *name, struct cos_buf *out)
{
    int fd = openat(save->root, name, O_RDONLY | O_CLOEXEC), err;
    cos_buf_clear(out);
    if (fd < 0)
        return cos_err_from_errno(errno);
    err = cos__fd_read_sync(fd, out);
    close(fd);
    return err;
}

int cos_save_original(struct cos_save *save, const char *path, struct cos_buf *out)
{
    char name[PATH_LONG];
    int err = original_of(name, path);
    if (!err)
        err = save->originals ? read_file(save, name, out) : COS_ENOENT;
    return err == COS_ENOENT ? read_file(save, path, out) : err;
}

int cos__save_link(struct cos_save *save, const char *from, const char *to)
{
    char temp[COS__TEMP_NAME];
    int err;
    cos__save_temp(save, temp);
    if (linkat(save->root, from, save->tmp, temp, 0) < 0)
        return errno == EMLINK ? COS_EFULL : cos_err_from_errno(errno);
    err = cos__save_place(save, to, save->tmp, temp);
    /* A rename onto the same file does nothing and leaves both names. */
    unlinkat(save->tmp, temp, 0);
    return err;
}

static int same_file(const struct cos_save *save, const char *a, const char *b)
{
    struct stat x, y;
    return fstatat(save->root, a, &x, 0) == 0 && fstatat(save->root, b, &y, 0) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int holds(const struct cos_save *save, const char *name, const void *data, size_t len)
{
    struct cos_buf have;
    struct stat st;
    int same;
    if (fstatat(save->root, name, &st, 0) < 0 || (size_t)st.st_size != len)
        return 0;
    cos_buf_init(&have, len + 8192);
    same = read_file(save, name, &have) == 0 && have.len == len &&
           (!len || !memcmp(have.data, data, len));
    cos_buf_release(&have);
    return same;
}

int cos_save_edit(struct cos_save *save, const char *path, const void *data, size_t len)
{
    char name[PATH_LONG];
    int err = original_of(name, path);
    if (err)
        return err;
    if (faccessat(save->root, name, F_OK, 0) < 0) {
        err = cos__save_link(save, path, name);
        save->originals = 1;
    } else if (holds(save, path, data, len)) {
        return 0;
    }
    if (!err)
        err = cos_save_body(save, path, data, len);
    return err ? err : 1;
}

int cos_save_restore(struct cos_save *save, const char *path)
{
    char name[PATH_LONG];
    int err = save->originals ? original_of(name, path) : COS_ENOENT;
    if (err)
        return err == COS_ENOENT ? 0 : err;
    err = cos__save_link(save, name, path);
    if (err)
        return err == COS_ENOENT ? 0 : err;
    unlinkat(save->root, name, 0);
    return 1;
}

int cos_save_backup(struct cos_save *save, const char *path, const char *as)
{
    char name[PATH_LONG];
    int err = original_of(name, path);
    if (err || same_file(save, name, as))
        return err;
    err = cos__save_link(save, name, as);
    return err == COS_ENOENT ? 0 : err ? err : 1;
}

int cos_save_forget(struct cos_save *save, const char *path)
{
    char name[PATH_LONG];
    if (!save->originals || original_of(name, path))
        return 0;
    return unlinkat(save->root, name, 0) < 0 && errno != ENOENT ? cos_err_from_errno(errno) : 0;
}

int cos_save_exists(const struct cos_save *save, const char *path)
{
    return faccessat(save->root, path, F_OK, 0) == 0;
}

int cos_save_same(struct cos_save *save, const char *path, const void *data, size_t len)
{
    char name[PATH_LONG];
    if (!cos_save_exists(save, path))
        return 0;
    if (save->originals && !original_of(name, path) && cos_save_exists(save, name))
        return holds(save, name, data, len);
    return holds(save, path, data, len);
}

void cos_save_remove(struct cos_save *save, const char *path)
{
    cos_save_forget(save, path);
    unlinkat(save->root, path, 0);
}
