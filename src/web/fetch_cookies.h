/* fetch_cookies.h - the cookie jar of this thread's engine, to and from a file
 * in Netscape's format, as operations. */
#ifndef COS_WEB_FETCH_COOKIES_H
#define COS_WEB_FETCH_COOKIES_H

#include "base/op.h"

struct cos_op *cos__cookies_load_op(const char *path);
struct cos_op *cos__cookies_save_op(const char *path);

#endif
