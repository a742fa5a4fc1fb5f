/* warc_index.h - what is where in a set of WARC files, and the answers in them.
 * Opening and reading block: they belong on offload threads. Asking does not and
 * belongs to one thread, the loop's. May call base, web/url.h and store. */
#ifndef COS_STORE_WARC_INDEX_H
#define COS_STORE_WARC_INDEX_H

#include "base/buf.h"
#include "store/warc_body.h"

#include <stddef.h>
#include <stdint.h>

struct cos_warc_index;

/* Reads all files once. *why gets a sentence with the file's name when one
 * cannot be used. A file that ends inside a record is used up to there: *torn
 * counts those. */
int cos_warc_index_open(struct cos_warc_index **out, const char *const *files, size_t n,
                        int *torn, struct cos_buf *why);
/* One more holder; each ends with cos_warc_index_free, the last one frees it. */
struct cos_warc_index *cos_warc_index_hold(struct cos_warc_index *index);
void cos_warc_index_free(struct cos_warc_index *index);

/* Answers to be had, and URLs they are for. */
size_t cos_warc_index_answers(const struct cos_warc_index *index);
size_t cos_warc_index_urls(const struct cos_warc_index *index);

/* Which record answers the next request for this URL: the last capture there is;
 * if that took several tries, one after the other and then the last again. A
 * number for cos_warc_index_read, or 0 when there is none. */
uint32_t cos_warc_index_ask(struct cos_warc_index *index, const char *url, size_t len);

/* 1: it was tried again after what was given last. */
int cos_warc_index_more(const struct cos_warc_index *index, const char *url, size_t len);

/* An answer. Zeroed, with the sinks set, before the call; release it after. */
struct cos_warc_answer {
    /* told in this order: the head once, then the body, without chunks */
    int (*on_head)(void *arg, struct cos_warc_answer *answer);
    cos_body_sink on_body;
    void *arg;
    /* filled before on_head */
    struct cos_buf head;   /* "HTTP/1.1 200 OK\r\n" … to the empty line */
    char remote[64], protocol[16];
    int64_t date_us;       /* -1: not known */
    int err;               /* how the exchange ended, and the words for it */
    char why[512];
    int64_t body_len, wire_len; /* as they were counted then; -1: not noted */
};
void cos_warc_answer_init(struct cos_warc_answer *answer);
void cos_warc_answer_release(struct cos_warc_answer *answer);
/* 0 (answer->err may say that there was no answer: then nothing is told); a
 * sink's error; COS_EARCHIVE for a revisit whose first visit is not there;
 * COS_EPARSE, COS_EIO … when the file has changed. Several threads may read. */
int cos_warc_index_read(struct cos_warc_index *index, uint32_t record,
                        struct cos_warc_answer *answer);

#endif
