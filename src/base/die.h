/* die.h - the end of the process when going on would break a promise. */
#ifndef COS_BASE_DIE_H
#define COS_BASE_DIE_H

/* Says why on stderr and aborts. For broken invariants only: whatever a user,
 * a server or the system can cause is an error value. */
_Noreturn void cos__die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
