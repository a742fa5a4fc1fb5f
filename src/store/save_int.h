/* save_int.h - what save.c and edit.c share. */
#ifndef COS_STORE_SAVE_INT_H
#define COS_STORE_SAVE_INT_H

#include "store/save.h"

#include <pthread.h>
#include <stdint.h>

enum { COS__KEPT = 64, COS__TEMP_NAME = 32 };
#define COS__ORIGINALS ".coscrawl/original"

struct cos__kept {
    char *path; /* NULL: free */
    uint64_t hash;
    int fd;
    int users;      /* threads that use fd now: not to be closed */
    unsigned used;  /* time of last use */
};

struct cos_save {
    int root, tmp;
    int originals; /* 1: there are some */
    char *tmp_path;
    pthread_mutex_t lock;
    struct cos__kept kept[COS__KEPT];
    unsigned clock;
    unsigned serial; /* names of temporary files */
};

/* A name that no other temporary file has. */
void cos__save_temp(struct cos_save *save, char name[COS__TEMP_NAME]);
/* Another name for a file, in the place of whatever has it. */
int cos__save_link(struct cos_save *save, const char *from, const char *to);
/* Renames from, below the directory from_fd, to path; makes directories. */
int cos__save_place(struct cos_save *save, const char *path, int from_fd, const char *from);

#endif
