/* warc_int.h - shared by warc*.c, the writers of WARC files. */
#ifndef COS_STORE_WARC_INT_H
#define COS_STORE_WARC_INT_H

#include "store/base32.h"
#include "store/map64.h"
#include "store/warc.h"

#include <pthread.h>
#include <zlib.h>

/* --- warc_seen.c: payloads that are in the archive -------------------------------- */
enum { COS__WARC_SEEN_MAX = 2000000, COS__WARC_SEEN_TEXT = 256 << 20 };

struct cos__warc_seen {
    struct cos_map64 map;  /* first bytes of a digest to its row, from 1 */
    uint8_t (*digests)[20];
    uint32_t *texts;       /* where "date\0url\0" is */
    size_t n, room;
    struct cos_buf text;
};

void cos__warc_seen_init(struct cos__warc_seen *seen);
void cos__warc_seen_release(struct cos__warc_seen *seen);
/* 1 and where it was first; lent until the next add. */
int cos__warc_seen_find(const struct cos__warc_seen *seen, const uint8_t digest[20],
                        const char **date, const char **url);
/* Beyond the ceilings nothing more is remembered. COS_ENOMEM. */
int cos__warc_seen_add(struct cos__warc_seen *seen, const uint8_t digest[20], const char *date,
                       const char *url);
/* "sha1:BASE32" to bytes; 0, or COS_EPARSE. */
int cos__warc_digest(const char *text, uint8_t digest[20]);

/* --- warc_cdx.c: the index ------------------------------------------------------------ */
struct cos__warc_line {
    const char *url, *date, *mime, *digest; /* digest: base32; mime and digest may be NULL */
    int status;
    int64_t offset, length;
    const char *file;                       /* without its directory */
};
/* Adds one line of CDXJ. */
int cos__warc_cdx_line(struct cos_buf *out, const struct cos__warc_line *line);
/* The key that lines are sorted by. */
int cos__warc_surt(struct cos_buf *out, const char *url);
/* Sorts the lines of a file, by way of a new one; a file too long for memory
 * stays as it is. */
int cos__warc_cdx_sort(const char *path);

/* --- warc_record.c: one exchange as records --------------------------------------------- */
/* A place in what was written. */
struct cos__warc_piece {
    int64_t at, len;
};

/* Where compressed bytes go: into out, or with flush set from there to the file
 * whenever it has grown. */
struct cos__warc_group {
    z_stream large, small; /* for answers, and for records of a few hundred bytes */
    z_stream *z;           /* the one at work */
    int ready;
    struct cos_buf out;
    int64_t flushed;
    int (*flush)(struct cos__warc_group *group);
    void *arg;
    int fd;              /* of a body that is in a file */
    /* the exchange */
    struct cos_buf head, request, text;
    char id[37], date[32];
    uint8_t payload[20];
    int has_payload, answered;
    int64_t body_len, payload_len;
    char block_text[COS_BASE32_TEXT(20)], payload_text[COS_BASE32_TEXT(20)];
    struct cos__warc_piece answer; /* the record that the index names */
    int revisit;
};

/* Makes ids: never the same twice. */
struct cos__warc_ids {
    uint64_t seed[2], count;
};
void cos__warc_ids_init(struct cos__warc_ids *ids);
void cos__warc_id(const struct cos__warc_ids *ids, uint64_t number, char id[37]);

struct cos__warc_group *cos__warc_group_new(void);
void cos__warc_group_free(struct cos__warc_group *group);
/* Heads, digests, date: all that must be known before records are made. */
int cos__warc_prepare(struct cos__warc_group *group, const struct cos_warc_exchange *exchange);
/* The records; refers_* as found by the payload's digest, or NULL. */
int cos__warc_records(struct cos__warc_group *group, const struct cos_warc_exchange *exchange,
                      const char *id, const char *request_id, const char *metadata_id,
                      const char *refers_date, const char *refers_url);
int cos__warc_info(struct cos__warc_group *group, const char *id, int64_t now_us,
                   const char *file, const struct cos_warc_options *options);
void cos__warc_date(int64_t us, char out[32]);

/* --- warc.c: the archive ---------------------------------------------------------------- */
enum { COS__WARC_GROUPS = 16, COS__WARC_FILES = 100000, COS__WARC_PATH = 4096 };

struct cos_warc {
    pthread_mutex_t lock;
    struct cos_warc_options options;
    char *base, *agent;            /* name without its ending; copies */
    char path[COS__WARC_PATH];
    int fd, lock_fd, cdx_fd;
    int number;                    /* of the file, with max_size */
    int64_t size;
    int exchanges;                 /* in this file, in this run or before */
    struct cos__warc_ids ids;
    struct cos__warc_seen seen;
    struct cos__warc_group *groups[COS__WARC_GROUPS];
    int ngroups;
    struct cos_buf cdx;
};

/* Opens (or makes) the file of that number. */
int cos__warc_open_file(struct cos_warc *warc, int number);
int cos__warc_exists(const struct cos_warc *warc, int number);
int cos__warc_flush_cdx(struct cos_warc *warc);
/* The name without its directory. */
const char *cos__warc_last_part(const char *path);

/* --- warc_old.c: what is there already ----------------------------------------------------- */
/* Every file there is; the last one is left open and is continued. */
int cos__warc_scan(struct cos_warc *warc, struct cos_warc_found *found);

#endif
