/* hook_check.h - a hook that holds the others' events to their rules. With
 * COS_HOOK_CHECK=1 in the environment every loop that is made installs one on its
 * thread, so a whole test suite can be run under it (make check-hooks); the first
 * broken rule ends the process. */
#ifndef COS_BASE_HOOK_CHECK_H
#define COS_BASE_HOOK_CHECK_H

#include "base/hook.h"

struct cos__check;

/* The checker as a log: 0, or COS_EPROTO and what is wrong in cos__check_why(). */
struct cos__check *cos__check_new(void);
void cos__check_free(struct cos__check *check);
int cos__check_init(void *check, uint64_t id, enum cos_hook_type type, uint64_t trigger);
int cos__check_before(void *check, uint64_t id, int entry);
int cos__check_after(void *check, uint64_t id, int failed);
int cos__check_destroy(void *check, uint64_t id);
const char *cos__check_why(const struct cos__check *check);
/* Operations that have not ended, and all that were seen. */
size_t cos__check_live(const struct cos__check *check);
size_t cos__check_seen(const struct cos__check *check);

/* Installs one on this thread, if the environment asks for it; and ends it. */
void cos__check_begin(void);
void cos__check_end(void);

#endif
