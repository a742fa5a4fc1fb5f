/* file_sync.c - files, blocking (file_sync.h). Calls the kernel only.
 * A file appears whole or not at all: temporary file, then rename. O_TMPFILE
 * with linkat was rejected, it cannot replace a file that is there. The name of
 * the temporary does not grow with the name of the file, which may already be
 * as long as the file system allows. */
#include "config.h"

#include "base/file_sync.h"

#include "base/err.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024, ENTRIES_MAX = 1000000 };

static int sys_err(void)
{
    return cos_err_from_errno(errno);
}

/* --- read -------------------------------------------------------------------- */

static int read_all(int fd, struct cos_buf *out, size_t hint)
{
    for (;;) {
        size_t room = out->max - out->len, want = hint > CHUNK ? hint : CHUNK;
        ssize_t n;
        int err;
        char past;
        if (!room) {
            n = read(fd, &past, 1);
            return n > 0 ? COS_ETOOBIG : n < 0 ? sys_err() : 0;
        }
        if (want > room)
            want = room;
        err = cos_buf_reserve(out, want);
        if (err)
            return err;
        n = read(fd, out->data + out->len, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sys_err();
        out->len += (size_t)n;
        out->data[out->len] = 0;
        if (n == 0)
            return 0;
        hint = 1;
    }
}

int cos__fd_read_sync(int fd, struct cos_buf *out)
{
    struct stat st;
    int err;
    cos_buf_clear(out);
    if (fstat(fd, &st) < 0)
        err = sys_err();
    else if (S_ISDIR(st.st_mode))
        err = COS_EISDIR;
    else if (st.st_size > 0 && (uintmax_t)st.st_size > out->max)
        err = COS_ETOOBIG;
    else
        /* One byte more than its size: the read that finds the end. */
        err = read_all(fd, out, st.st_size > 0 ? (size_t)st.st_size + 1 : 0);
    if (err)
        cos_buf_clear(out);
    return err;
}

int cos__file_read_sync(const char *path, struct cos_buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), err;
    cos_buf_clear(out);
    if (fd < 0)
        return sys_err();
    err = cos__fd_read_sync(fd, out);
    close(fd);
    return err;
}

/* --- directories -------------------------------------------------------------- */

/* It is there already: fine when it is a directory. */
static int check_dir(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return sys_err();
    return S_ISDIR(st.st_mode) ? 0 : COS_ENOTDIR;
}

static int make_dir(const char *path)
{
    if (!mkdir(path, 0777))
        return 0;
    /* A read-only parent answers EROFS or EACCES for a directory that is there. */
    if (errno == EEXIST || errno == EROFS || errno == EACCES || errno == EISDIR) {
        int err = sys_err(), there = check_dir(path);
        return there == COS_ENOENT ? err : there;
    }
    return sys_err();
}

/* Makes path[0..len), from the first missing part on. */
static int make_dirs(const char *path, size_t len)
{
    char *copy;
    int err;
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (!len || len >= PATH_MAX)
        return len ? COS_ETOOBIG : COS_ENOENT;
    copy = strndup(path, len);
    if (!copy)
        return COS_ENOMEM;
    err = make_dir(copy); /* the usual case: only the last part is missing */
    if (err == COS_ENOENT) {
        err = 0;
        for (char *p = copy + 1; !err && (p = strchr(p, '/')); p++) {
            *p = 0;
            err = make_dir(copy);
            *p = '/';
        }
        if (!err)
            err = make_dir(copy);
    }
    free(copy);
    return err;
}

int cos__mkdir_p_sync(const char *path)
{
    return make_dirs(path, strlen(path));
}

int cos__mkdir_parents_sync(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash > path ? make_dirs(path, (size_t)(slash - path)) : 0;
}

static enum cos_file_type type_of_mode(mode_t mode)
{
    return S_ISREG(mode)   ? COS_FILE_REGULAR
           : S_ISDIR(mode) ? COS_FILE_DIR
           : S_ISLNK(mode) ? COS_FILE_LINK
                           : COS_FILE_OTHER;
}

static enum cos_file_type type_of_entry(DIR *dir, const struct dirent *ent)
{
    struct stat st;
    if (ent->d_type != DT_UNKNOWN)
        return type_of_mode((mode_t)DTTOIF(ent->d_type));
    if (fstatat(dirfd(dir), ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return COS_FILE_OTHER;
    return type_of_mode(st.st_mode);
}

static int add_entry(struct cos_dir *out, const char *name, enum cos_file_type type)
{
    if (out->n >= ENTRIES_MAX)
        return COS_ETOOBIG;
    /* Room doubles at each power of two. */
    if ((out->n & (out->n - 1)) == 0) {
        size_t room = out->n ? out->n * 2 : 1;
        struct cos_dirent *more = realloc(out->entries, room * sizeof *more);
        if (!more)
            return COS_ENOMEM;
        out->entries = more;
    }
    out->entries[out->n].type = type;
    out->entries[out->n].name = strdup(name);
    if (!out->entries[out->n].name)
        return COS_ENOMEM;
    out->n++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct cos_dirent *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int read_entries(DIR *dir, struct cos_dir *out)
{
    struct dirent *ent;
    int err = 0;
    while (!err && (errno = 0, ent = readdir(dir)))
        if (strcmp(ent->d_name, ".") && strcmp(ent->d_name, ".."))
            err = add_entry(out, ent->d_name, type_of_entry(dir, ent));
    return err ? err : errno ? sys_err() : 0;
}

int cos__list_dir_sync(const char *path, struct cos_dir *out)
{
    DIR *dir = opendir(path);
    int err;
    *out = (struct cos_dir){0};
    if (!dir)
        return sys_err();
    err = read_entries(dir, out);
    closedir(dir);
    if (err)
        cos_dir_release(out);
    else if (out->n)
        qsort(out->entries, out->n, sizeof *out->entries, by_name);
    return err;
}

void cos_dir_release(struct cos_dir *dir)
{
    for (size_t i = 0; i < dir->n; i++)
        free(dir->entries[i].name);
    free(dir->entries);
    *dir = (struct cos_dir){0};
}

int cos__stat_sync(const char *path, struct cos_stat *out)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return sys_err();
    *out = (struct cos_stat){
        .type = type_of_mode(st.st_mode),
        .size = st.st_size,
        .mtime_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec,
        .dev = st.st_dev,
        .ino = st.st_ino,
        .mode = st.st_mode & 07777,
    };
    return 0;
}

int cos__file_remove_sync(const char *path)
{
    if (!unlink(path))
        return 0;
    if (errno == EISDIR && !rmdir(path))
        return 0;
    return errno == ENOTEMPTY ? COS_EEXIST : sys_err();
}

/* --- write -------------------------------------------------------------------- */

static int temp_name(char *out, size_t room, const char *path)
{
    static atomic_uint counter;
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash + 1 - path) : 0;
    int n = snprintf(out, room, "%.*s" COS__TEMP_PREFIX "%ld-%u", dir, path, (long)getpid(),
                     atomic_fetch_add(&counter, 1));
    return n < 0 || (size_t)n >= room ? COS_ETOOBIG : 0;
}

static int open_temp(char *temp, size_t room, const char *path, unsigned flags)
{
    int fd, err, tries = 100;
    do {
        err = temp_name(temp, room, path);
        if (err)
            return err;
        fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  flags & COS_FILE_PRIVATE ? 0600 : 0666);
        /* A process with our number died here before us: next number. */
    } while (fd < 0 && errno == EEXIST && --tries);
    return fd < 0 ? sys_err() : fd;
}

int cos__fd_write_sync(int fd, const void *bytes, size_t len)
{
    const char *data = bytes;
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sys_err();
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

static int sync_dir_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX];
    size_t len = slash ? (size_t)(slash - path) : 0;
    int fd, err = 0;
    memcpy(dir, slash ? path : ".", len ? len : 1);
    dir[len ? len : 1] = 0;
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return sys_err();
    if (fsync(fd) < 0 && errno != EINVAL)
        err = sys_err();
    close(fd);
    return err;
}

/* Fills and closes fd. close() is checked: on NFS it is where ENOSPC appears. */
static int fill(int fd, const void *data, size_t len, unsigned flags)
{
    int err = cos__fd_write_sync(fd, data, len);
    if (!err && (flags & COS_FILE_SYNC) && fsync(fd) < 0)
        err = sys_err();
    if (close(fd) < 0 && !err && errno != EINTR)
        err = sys_err();
    return err;
}

/* Renaming over a device or a pipe would destroy it: root can do that to
 * /dev/null. */
static int is_special(const char *path)
{
    struct stat st;
    return !lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
           !S_ISLNK(st.st_mode);
}

int cos__file_write_sync(const char *path, const void *data, size_t len, unsigned flags)
{
    char temp[PATH_MAX];
    int fd, err;
    if (strlen(path) >= PATH_MAX)
        return COS_ETOOBIG;
    if (is_special(path))
        return COS_ENOTSUP;
    fd = open_temp(temp, sizeof temp, path, flags);
    if (fd == COS_ENOENT && (flags & COS_FILE_PARENTS)) {
        err = cos__mkdir_parents_sync(path);
        fd = err ? err : open_temp(temp, sizeof temp, path, flags);
    }
    if (fd < 0)
        return fd;
    err = fill(fd, data, len, flags);
    if (!err && rename(temp, path) < 0)
        err = errno == ENOTEMPTY || errno == EEXIST ? COS_EISDIR : sys_err();
    if (err)
        unlink(temp);
    else if (flags & COS_FILE_SYNC)
        err = sync_dir_of(path);
    return err;
}
