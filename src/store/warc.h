/* warc.h - writes WARC 1.1 files (ISO 28500:2017): each record a gzip member of
 * its own, each exchange a response (or revisit), its request and a metadata
 * record. All functions block and belong on offload threads; cos_warc_add() may
 * run on several at once. May call base, zlib and store.
 *
 * The response is kept as it came over the wire, chunks and compression
 * included; its payload digest is that of the body without the chunks, as the
 * standard has it. HTTP/2 and later have no such bytes: their heads are written
 * in the form of HTTP/1.1 and WARC-Protocol names what it was. */
#ifndef COS_STORE_WARC_H
#define COS_STORE_WARC_H

#include "base/buf.h"
#include "base/wire.h"

#include <stdint.h>

struct cos_warc;

struct cos_warc_options {
    const char *name;    /* NAME.warc.gz, or NAME-00000.warc.gz and on with max_size */
    int64_t max_size;    /* a file is not made longer, save for its first exchange; 0: one file */
    int cdx;             /* 1: NAME.cdxj, too */
    int fresh;           /* 1: what is there under these names is replaced, not continued */
    const char *agent;   /* for the warcinfo record; may be NULL */
    const char *robots;  /* "obey" or "ignore" */
};

/* What was there when it was opened. */
struct cos_warc_found {
    int64_t records;     /* whole ones, in all files */
    int64_t cut;         /* bytes of a torn record that were removed */
    char file[256];      /* the one that is continued */
};

/* One request and what came of it; all is borrowed. */
struct cos_warc_exchange {
    const char *url;
    const char *via;        /* the page it was found on, or NULL */
    const char *remote;     /* address, "" when none */
    const char *protocol;   /* "HTTP/1.1", "h2", or NULL */
    int64_t started_us;     /* since 1970 */
    int64_t total_us;       /* how long it took; -1: not known */
    int64_t body_len;       /* decoded */
    int64_t wire_len;       /* head and body as they came, interim answers too */
    int status, depth, tries;
    int err;                /* why there is no complete answer, or 0 */
    const char *why;        /* words for it, or NULL */
    const char *mime;       /* or NULL */
    const struct cos_wire *wire; /* NULL: nothing was sent */
};

/* Opens, continues after the last whole record, and writes a warcinfo record.
 * *why has a sentence when it fails: COS_ELOCKED, COS_EPARSE (there is a file,
 * and it is no WARC file), COS_EACCES … */
int cos_warc_open(struct cos_warc **out, const struct cos_warc_options *options,
                  struct cos_warc_found *found, struct cos_buf *why);
/* Appends. All of it is in the file when this returns, or (with an error) nothing. */
int cos_warc_add(struct cos_warc *warc, const struct cos_warc_exchange *exchange);
/* Waits for nobody: no cos_warc_add may run. Sorts the index. 0, or why what was
 * written may not be safe. NULL is fine. */
int cos_warc_close(struct cos_warc *warc);

/* The name of the file that is being written. */
const char *cos_warc_file(const struct cos_warc *warc);

#endif
