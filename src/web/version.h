/* version.h - the libraries of this room as they are loaded now. Each function
 * stands in the file that may include its library, so that the program can
 * show versions without seeing a library's header. */
#ifndef COS_WEB_VERSION_H
#define COS_WEB_VERSION_H

#include "base/buf.h"

/* Lines "name<TAB>version"; 0 or what cos_buf_add says. */
int cos_web_versions(struct cos_buf *out);
/* The version of HTML Tidy; static. */
const char *cos_tidy_version(void);
/* The line of libcurl, with the libraries it stands on. */
int cos_fetch_versions(struct cos_buf *out);
/* Words such as "HTTP/2 brotli zstd", for the line of features. */
int cos_fetch_features(struct cos_buf *out);

#endif
