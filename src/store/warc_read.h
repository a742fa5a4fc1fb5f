/* warc_read.h - the records of a WARC file one after the other: 1.0 and 1.1,
 * compressed record by record or not at all. Everything is bounded: a record's
 * head by COS_WARC_HEAD_MAX, its block is read in pieces. May call base and
 * zlib; the bytes come from the caller, so files, memory and fuzzers read alike. */
#ifndef COS_STORE_WARC_READ_H
#define COS_STORE_WARC_READ_H

#include <stddef.h>
#include <stdint.h>

enum { COS_WARC_HEAD_MAX = 64 << 10 };

enum cos_warc_type {
    COS_WARC_OTHER,
    COS_WARC_INFO,
    COS_WARC_RESPONSE,
    COS_WARC_REQUEST,
    COS_WARC_METADATA,
    COS_WARC_REVISIT,
    COS_WARC_RESOURCE,
};

/* The named fields we look at; NULL where a record has none. Lent until the
 * next call. */
struct cos_warc_head {
    int type;              /* enum cos_warc_type */
    int64_t length;        /* of the block */
    const char *uri;
    const char *date;
    const char *payload;   /* "sha1:…" */
    const char *block;
    const char *ip;
    const char *protocol;  /* "h2" */
    const char *mime;      /* Content-Type */
    const char *refers_uri;
    const char *truncated;
    const char *error;     /* ours: "ECONNREFUSED words" */
    const char *tries;     /* ours */
    const char *bytes;     /* ours: "decoded wire", where they do not follow from the block */
};

/* Up to len bytes from that place: the count, 0 at the end, or a cos_err. */
typedef int64_t (*cos_warc_source)(void *arg, void *buf, size_t len, int64_t at);

struct cos_warc_reader;

/* NULL when out of memory. Begins at byte 0. */
struct cos_warc_reader *cos_warc_reader_new(cos_warc_source source, void *arg);
void cos_warc_reader_free(struct cos_warc_reader *reader);
/* The next record will be the one that begins there. */
void cos_warc_reader_seek(struct cos_warc_reader *reader, int64_t at);

/* Goes to the next record, past what is left of this one. 1 and *head; 0 at the
 * end; COS_ETRUNCATED: the file ends inside a record; COS_EPARSE: not a record;
 * COS_ENOTSUP: compressed, but not record by record; or the source's error. */
int cos_warc_reader_next(struct cos_warc_reader *reader, const struct cos_warc_head **head);
/* Bytes of the record's block: the count, 0 at its end, or an error as above. */
int64_t cos_warc_reader_read(struct cos_warc_reader *reader, void *buf, size_t len);
/* Where the record begins, and where the last whole one ends. */
int64_t cos_warc_reader_start(const struct cos_warc_reader *reader);
int64_t cos_warc_reader_good(const struct cos_warc_reader *reader);

/* Microseconds since 1970 of a WARC-Date; -1 when it is none. */
int64_t cos_warc_time(const char *date);

/* A source over an open file: arg points to its descriptor. */
int64_t cos_warc_from_file(void *fd, void *buf, size_t len, int64_t at);

#endif
