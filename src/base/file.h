/* file.h - what the file operations of coscrawl.h take and give. */
#ifndef COS_BASE_FILE_H
#define COS_BASE_FILE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* flags of cos_file_write, or-ed */
enum {
    COS_FILE_SYNC = 1,    /* on the disk before it counts: fsync of file and directory */
    COS_FILE_PARENTS = 2, /* make the directories above it first */
    COS_FILE_PRIVATE = 4, /* a new file, or one replaced, is for its owner's eyes only */
};

enum cos_file_type { COS_FILE_OTHER, COS_FILE_REGULAR, COS_FILE_DIR, COS_FILE_LINK };

struct cos_stat {
    enum cos_file_type type; /* never COS_FILE_LINK: links are followed */
    int64_t size;
    int64_t mtime_ns;        /* since the epoch */
    uint64_t dev, ino;       /* together they name the file: how to end a loop of links */
    unsigned mode;           /* permission bits */
};

struct cos_dirent {
    char *name;
    enum cos_file_type type; /* of the entry itself: a link is COS_FILE_LINK */
};

/* A directory's entries without "." and "..", in the order of their bytes. */
struct cos_dir {
    struct cos_dirent *entries;
    size_t n;
};

/* Frees the entries; a zeroed struct is fine. */
void cos_dir_release(struct cos_dir *dir);

#endif
