/* err.h - the project's errors: one list gives the enum, the names, the texts
 * and the table in the manual. Functions return 0 (or a count) or one of these,
 * all negative. An HTTP status is data and never appears here. */
#ifndef COS_BASE_ERR_H
#define COS_BASE_ERR_H

#include <stddef.h>

/* X(name, number, exit code of the program, text) */
#define COS_ERR_MAP(X)                                                                             \
    X(ENOMEM, 1, 1, "out of memory")                                                               \
    X(EINVAL, 2, 2, "invalid argument")                                                            \
    X(ECANCELED, 3, 11, "cancelled")                                                               \
    X(ETIMEDOUT, 4, 4, "timed out")                                                                \
    X(ETOOBIG, 5, 1, "larger than its ceiling")                                                    \
    X(EFULL, 6, 1, "queue is full")                                                                \
    X(EBUSY, 7, 1, "busy")                                                                         \
    X(ECLOSED, 8, 1, "closed")                                                                     \
    X(ENOENT, 9, 3, "no such file or directory")                                                   \
    X(EEXIST, 10, 3, "already exists")                                                             \
    X(EACCES, 11, 3, "permission denied")                                                          \
    X(ENOTDIR, 12, 3, "a file is where a directory must be")                                       \
    X(EISDIR, 13, 3, "a directory is where a file must be")                                        \
    X(ENOSPC, 14, 3, "no space left on the disk")                                                  \
    X(EMFILE, 15, 3, "too many open descriptors")                                                  \
    X(EIO, 16, 3, "input/output error")                                                            \
    X(ELOCKED, 17, 3, "in use by another process")                                                 \
    X(EURL, 18, 2, "not a valid http or https URL")                                                \
    X(ESCHEME, 19, 2, "neither http nor https")                                                    \
    X(ENXDOMAIN, 20, 4, "no such host name")                                                       \
    X(ENODATA, 21, 4, "host name has no address")                                                  \
    X(ESERVFAIL, 22, 4, "name server failed")                                                      \
    X(ENONS, 23, 4, "no name server answers")                                                      \
    X(ECONNREFUSED, 24, 4, "connection refused")                                                   \
    X(ECONNRESET, 25, 4, "connection reset by the server")                                         \
    X(EUNREACH, 26, 4, "host or network unreachable")                                              \
    X(ESLOW, 27, 4, "transfer too slow or stalled")                                                \
    X(ETRUNCATED, 28, 4, "body ended before its announced length")                                 \
    X(EEMPTYREPLY, 29, 4, "server closed without an answer")                                       \
    X(ESEND, 30, 4, "could not send the request")                                                  \
    X(EPROXY, 31, 4, "proxy failed")                                                               \
    X(ETLS, 32, 5, "TLS handshake failed")                                                         \
    X(ECERT, 33, 5, "certificate is not trusted")                                                  \
    X(ECERTNAME, 34, 5, "certificate is for another name")                                         \
    X(ECERTEXPIRED, 35, 5, "certificate has expired")                                              \
    X(EAUTH, 36, 6, "authentication failed")                                                       \
    X(EPROTO, 37, 7, "server broke the protocol")                                                  \
    X(EENCODING, 38, 7, "content encoding cannot be decoded")                                      \
    X(EREDIRECTS, 39, 8, "too many redirects or a redirect loop")                                  \
    X(EHTTP, 40, 8, "server answered with an error")                                               \
    X(ECHARSET, 41, 1, "unknown or broken character set")                                          \
    X(EPARSE, 42, 1, "cannot be parsed")                                                           \
    X(EDB, 43, 3, "crawl database failed")                                                         \
    X(ECRASHED, 44, 1, "worker process crashed")                                                   \
    X(EHUNG, 45, 1, "worker process hung and was killed")                                          \
    X(ECONTEXT, 46, 1, "call not allowed here")                                                    \
    X(ESTATE, 47, 1, "object is in the wrong state")                                               \
    X(ENOTSUP, 48, 1, "not supported")                                                             \
    X(ESTOP, 49, 0, "stopped early on request")                                                    \
    X(EARCHIVE, 50, 8, "not in the archive")                                                       \
    X(EFBIG, 51, 3, "file larger than the file system or ulimit -f allows")

enum cos_err {
#define COS__ERR_ENUM(name, number, exit_code, text) COS_##name = -(number),
    COS_ERR_MAP(COS__ERR_ENUM)
#undef COS__ERR_ENUM
};

/* The text for people ("no such host name"); never NULL. 0 gives "ok". */
const char *cos_strerror(int err);
/* The name for scripts and the database ("ENXDOMAIN"); never NULL. */
const char *cos_errname(int err);
/* The program's exit code for this error, as coscrawl(1) lists them. */
int cos_err_exit(int err);
/* The error whose text this is, or begins with: what a reason kept from an
 * earlier run says. 0 when none. */
int cos_err_from_text(const char *text);
/* The error for an errno value: translated once, at the place where it was seen. */
int cos_err_from_errno(int errnum);
/* The error of that name ("ENXDOMAIN", len characters of it); 0 when none. */
int cos_err_from_name(const char *name, size_t len);

#endif
