/* libdill.h - the coroutine runtime by the name that always works: programs
 * include <coscrawl/libdill.h>. Where the runtime is ours its own header is
 * installed under that name; where it is the system's, this one is. */
#include <libdill.h>
