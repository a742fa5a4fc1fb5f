/* path.h - the file name of a URL, and the URL of a file name.
 *
 * Names are stateless (the same URL has the same name in every run), injective
 * (also on a file system that ignores case), stay below the crawl directory, and
 * can be read back, except where a name was too long and had to be hashed.
 *
 *   https://h.org/a/b.html        h.org/a/b.html       plain names stay plain
 *   https://h.org/a/              h.org/a/,_index.html a directory itself
 *   https://h.org/about           h.org/about,         a file without an extension
 *   https://h.org/v1.js/x.css     h.org/v1.js,/x.css   a directory that has one
 *   https://h.org/a.php?x=/Y      h.org/a.php,@x=,2f,Y a query
 *   https://h.org//a.html         h.org/,_/a.html      an empty segment
 *   https://h.org/Caf%C3%A9.html  h.org/,Caf%C3%A9.html
 *   http://h.org/                 h.org,http/,_index.html
 *   http://h.org:81/              h.org,http81/,_index.html
 *   https://u:p@h.org/            h.org,@u,3ap/,_index.html
 *
 * The comma is the only escape; what follows it says what is meant:
 *   a letter    the letter in its unusual case (upper; lower inside %XX)
 *   two hex     a byte that names cannot hold or that means something: , / : * ? " < > | \
 *   @           the query (after a host: the credentials)
 *   _           nothing: an empty segment
 *   .ext        an extension that the URL does not have (struct cos_path_opt)
 *   ~hash       the name was longer than COS_PATH_COMPONENT
 *   nothing     a file without an extension, or a directory with one: /a and /a/b
 *               need a file and a directory, which cannot share a name */
#ifndef COS_STORE_PATH_H
#define COS_STORE_PATH_H

#include "base/buf.h"
#include "web/url.h"

enum {
    COS_PATH_COMPONENT = 200, /* longer components are hashed; none exceeds 255 */
    COS_PATH_MAX = 2048,      /* longest path given, in bytes */
};

/* Zero means default. */
struct cos_path_opt {
    int no_host;           /* leave the host's directory out; such a path cannot be read back */
    const char *extension; /* ".html": what the content is, appended when the name lacks it */
};

/* The path of url below the crawl directory, without a leading '/', replaces
 * *out, whose ceiling must be at least COS_PATH_MAX. The fragment plays no part.
 * opt may be NULL. 0; COS_EINVAL for an empty URL or a strange extension;
 * COS_ETOOBIG, COS_ENOMEM. */
int cos_path_from_url(const struct cos_url *url, struct cos_buf *out);
int cos_path_from_url_opt(const struct cos_url *url, const struct cos_path_opt *opt,
                          struct cos_buf *out);

/* The URL that has this path replaces *out. 0; COS_ENOENT when a component is
 * hashed, so that only the crawl database knows it; COS_EINVAL when no URL has
 * this path; COS_ETOOBIG, COS_ENOMEM. */
int cos_path_to_url(const char *path, struct cos_buf *out);

/* The URL of a path in the crawl database below dir, which is only read. 0;
 * COS_ENOENT when it is not there, COS_EDB when the database cannot be read. */
int cos__path_lookup(const char *dir, const char *path, struct cos_buf *out);

/* Whether a file of this name ends in an extension; where its '.' is, or 0. */
size_t cos__path_extension(const char *name, size_t len);

#endif
