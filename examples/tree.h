/* tree.h - what the two examples that walk directories share: paths, and the
 * directories that were seen, by device and inode: a link that leads back to one
 * of them ends there. Nothing here waits. */
#ifndef COS_EXAMPLES_TREE_H
#define COS_EXAMPLES_TREE_H

#include <coscrawl.h>

/* dir/name for the caller to free, or NULL. */
char *tree_join(const char *dir, const char *name);

/* A zeroed one is empty. */
struct tree_seen {
    void *root;
};
/* 1: new; 0: seen before; or COS_ENOMEM. */
int tree_is_new(struct tree_seen *seen, const struct cos_stat *stat);
void tree_seen_release(struct tree_seen *seen);

#endif
