/* share.c - files with the same content in one place on the disk: as names of one
 * file, or as copies that share their blocks until one is written to (reflinks,
 * where the file system has them). Bytes are compared first: a hash that two
 * contents share must not cost one of them. */
#include "config.h"

#include "store/save_int.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

/* Reads a block, whole unless the file ends; -1 on an error. */
static ssize_t read_block(int fd, char *block)
{
    size_t have = 0;
    while (have < BLOCK) {
        ssize_t n = read(fd, block + have, BLOCK - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

static int same_bytes(int a, int b)
{
    char x[BLOCK], y[BLOCK];
    ssize_t n, m;
    do {
        n = read_block(a, x);
        m = read_block(b, y);
        if (n < 0 || n != m || memcmp(x, y, (size_t)n) != 0)
            return 0;
    } while (n > 0);
    return 1;
}

static int reflink(struct cos_save *save, int from, const char *path)
{
    char temp[COS__TEMP_NAME];
    int fd, err = 0;
    cos__save_temp(save, temp);
    fd = openat(save->tmp, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return cos_err_from_errno(errno);
    if (ioctl(fd, FICLONE, from) < 0)
        err = errno == EIO || errno == ENOSPC ? cos_err_from_errno(errno) : COS_ENOTSUP;
    close(fd);
    if (!err)
        err = cos__save_place(save, path, save->tmp, temp);
    if (err)
        unlinkat(save->tmp, temp, 0);
    return err;
}

/* 1: worth sharing; 0: not; both files are open. */
static int comparable(int a, int b, int links, int64_t *bytes)
{
    struct stat x, y;
    if (fstat(a, &x) < 0 || fstat(b, &y) < 0 || !x.st_size || x.st_size != y.st_size)
        return 0;
    *bytes = x.st_size;
    return (!links || x.st_dev != y.st_dev || x.st_ino != y.st_ino) && same_bytes(a, b);
}

int cos_save_share(struct cos_save *save, const char *first, const char *path, int by_reflink,
                   int64_t *bytes)
{
    int a = openat(save->root, first, O_RDONLY | O_CLOEXEC);
    int b = openat(save->root, path, O_RDONLY | O_CLOEXEC), got = 0;
    *bytes = 0;
    if (a < 0 || b < 0)
        got = COS_ENOENT;
    else if (comparable(a, b, !by_reflink, bytes))
        got = by_reflink ? reflink(save, a, path) : cos__save_link(save, first, path);
    else
        *bytes = -1;
    if (a >= 0)
        close(a);
    if (b >= 0)
        close(b);
    return got ? got : *bytes >= 0;
}
