/* tree.c - see tree.h. The set is the C library's tree: a linear list would make
 * a walk over many directories quadratic. */
#define _GNU_SOURCE
#include "tree.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *tree_join(const char *dir, const char *name)
{
    size_t len = strlen(dir);
    char *path = NULL;
    const char *slash = len && dir[len - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", dir, slash, name) < 0 ? NULL : path;
}

struct inode {
    uint64_t dev, ino;
};

static int by_inode(const void *a, const void *b)
{
    const struct inode *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino < y->ino ? -1 : x->ino > y->ino;
}

int tree_is_new(struct tree_seen *seen, const struct cos_stat *stat)
{
    struct inode *inode = malloc(sizeof *inode), **found;
    if (!inode)
        return COS_ENOMEM;
    *inode = (struct inode){stat->dev, stat->ino};
    found = tsearch(inode, &seen->root, by_inode);
    if (found && *found == inode)
        return 1;
    free(inode);
    return found ? 0 : COS_ENOMEM;
}

void tree_seen_release(struct tree_seen *seen)
{
    tdestroy(seen->root, free);
    seen->root = NULL;
}
