/* warc_index.c - one pass over the files notes where each answer is: 24 bytes a
 * record, whatever its size. URLs are compared in their normal form.
 *
 * A URL may have several answers. Tries of one visit belong together (our own
 * archives number them); a later visit replaces an earlier one. */
#include "config.h"

#include "store/warc_index.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/wire.h"
#include "store/map64.h"
#include "store/warc_read.h"
#include "web/url.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 4096, RECORDS_MAX = 1 << 28, PIECE = 64 << 10 };

struct entry {
    int64_t at;
    uint32_t next;  /* the next try, or 0 */
    uint32_t file;
};

/* A URL's tries: the one to give next, the one given last, the last there is. */
struct visit {
    uint32_t turn, given, last;
};

struct cos_warc_index {
    atomic_int holders;
    int *fds;
    size_t nfds;
    struct entry *entries; /* from 1 */
    size_t n, room;
    struct visit *visits;  /* from 1 */
    size_t nvisits, visit_room;
    struct cos_map64 urls, payloads;
};

static uint64_t key_of(const char *text, size_t len)
{
    return cos_hash_keyed(cos_hash_process_key(), text, len);
}

/* Room for one more; the first place stays empty, so that 0 is none. */
static int grow(void **array, size_t n, size_t *room, size_t size)
{
    size_t more = *room ? *room * 2 : 256;
    void *bigger;
    if (n + 1 < *room)
        return 0;
    if (more > RECORDS_MAX)
        return COS_EFULL;
    bigger = realloc(*array, more * size);
    if (!bigger)
        return COS_ENOMEM;
    *array = bigger;
    *room = more;
    return 0;
}

/* --- building -------------------------------------------------------------------------- */

static int is_answer(const struct cos_warc_head *head)
{
    if (!head->uri)
        return 0;
    if (head->type == COS_WARC_METADATA)
        return head->error != NULL;
    return head->type == COS_WARC_REVISIT ||
           (head->type == COS_WARC_RESPONSE && head->mime &&
            !strncmp(head->mime, "application/http", 16));
}

static int add_entry(struct cos_warc_index *index, uint32_t file, int64_t at)
{
    int err = grow((void **)&index->entries, index->n, &index->room, sizeof *index->entries);
    if (err)
        return err;
    index->entries[++index->n] = (struct entry){.at = at, .file = file};
    return 0;
}

static int add_visit(struct cos_warc_index *index, uint64_t key, int is_retry)
{
    uint32_t *place = cos_map64_add(&index->urls, key), n = (uint32_t)index->n;
    struct visit *visit;
    int err;
    if (!place)
        return COS_ENOMEM;
    if (!*place) {
        err = grow((void **)&index->visits, index->nvisits, &index->visit_room,
                   sizeof *index->visits);
        if (err)
            return err;
        index->visits[++index->nvisits] = (struct visit){.turn = n, .last = n};
        *place = (uint32_t)index->nvisits;
        return 0;
    }
    visit = &index->visits[*place];
    if (is_retry) {
        index->entries[visit->last].next = n;
        visit->last = n;
    } else {
        *visit = (struct visit){.turn = n, .last = n};
    }
    return 0;
}

static int add_record(struct cos_warc_index *index, struct cos_url *url, uint32_t file,
                      int64_t at, const struct cos_warc_head *head)
{
    uint32_t *place;
    int err;
    if (!is_answer(head) || cos_url_parse(url, head->uri, strlen(head->uri), NULL))
        return 0;
    cos_url_drop_fragment(url);
    err = add_entry(index, file, at);
    if (!err)
        err = add_visit(index, key_of(url->href.data, url->href.len),
                        head->tries && atoi(head->tries) > 1);
    if (err || head->type != COS_WARC_RESPONSE || !head->payload || head->truncated)
        return err;
    place = cos_map64_add(&index->payloads, key_of(head->payload, strlen(head->payload)));
    if (!place)
        return COS_ENOMEM;
    if (!*place)
        *place = (uint32_t)index->n;
    return 0;
}

static int add_file(struct cos_warc_index *index, uint32_t file, int *torn)
{
    struct cos_warc_reader *r = cos_warc_reader_new(cos_warc_from_file, &index->fds[file]);
    const struct cos_warc_head *head;
    struct cos_url url;
    int more = 0, err = r ? 0 : COS_ENOMEM, any = 0;
    cos_url_init(&url);
    while (!err && (more = cos_warc_reader_next(r, &head)) > 0) {
        any = 1;
        err = add_record(index, &url, file, cos_warc_reader_start(r), head);
    }
    if (!err && more == COS_ETRUNCATED && any) {
        /* The last record noted may be the torn one: reading it will say so. */
        ++*torn;
        more = 0;
    }
    cos_url_release(&url);
    cos_warc_reader_free(r);
    return err ? err : more;
}

static void say_why(struct cos_buf *why, const char *file, int err)
{
    const char *text = err == COS_EPARSE     ? "not a WARC file, or damaged"
                       : err == COS_ENOTSUP  ? "not compressed record by record"
                       : err == COS_ETRUNCATED ? "not one whole record in it"
                                             : cos_strerror(err);
    cos_buf_addf(why, "%.300s: %s", file, text);
}

int cos_warc_index_open(struct cos_warc_index **out, const char *const *files, size_t n,
                        int *torn, struct cos_buf *why)
{
    struct cos_warc_index *index = calloc(1, sizeof *index);
    int err = n > FILES_MAX ? COS_EFULL : 0;
    *torn = 0;
    if (index)
        atomic_init(&index->holders, 1);
    if (index)
        index->fds = malloc((n + 1) * sizeof *index->fds);
    if (!index || !index->fds)
        err = COS_ENOMEM;
    for (size_t i = 0; i < n && !err; i++) {
        int fd = open(files[i], O_RDONLY | O_CLOEXEC);
        err = fd < 0 ? cos_err_from_errno(errno) : 0;
        if (!err) {
            index->fds[index->nfds++] = fd;
            err = add_file(index, (uint32_t)i, torn);
        }
        if (err)
            say_why(why, files[i], err);
    }
    if (err) {
        cos_warc_index_free(index);
        return err;
    }
    *out = index;
    return 0;
}

struct cos_warc_index *cos_warc_index_hold(struct cos_warc_index *index)
{
    atomic_fetch_add(&index->holders, 1);
    return index;
}

void cos_warc_index_free(struct cos_warc_index *index)
{
    if (!index || atomic_fetch_sub(&index->holders, 1) > 1)
        return;
    for (size_t i = 0; i < index->nfds; i++)
        close(index->fds[i]);
    free(index->fds);
    free(index->entries);
    free(index->visits);
    cos_map64_release(&index->urls);
    cos_map64_release(&index->payloads);
    free(index);
}

size_t cos_warc_index_answers(const struct cos_warc_index *index)
{
    return index->n;
}

size_t cos_warc_index_urls(const struct cos_warc_index *index)
{
    return index->nvisits;
}

/* --- asking ------------------------------------------------------------------------------ */

uint32_t cos_warc_index_ask(struct cos_warc_index *index, const char *url, size_t len)
{
    const uint32_t *place = cos_map64_find(&index->urls, key_of(url, len));
    struct visit *visit = place ? &index->visits[*place] : NULL;
    uint32_t turn;
    if (!visit)
        return 0;
    turn = visit->given = visit->turn;
    if (index->entries[turn].next)
        visit->turn = index->entries[turn].next;
    return turn;
}

int cos_warc_index_more(const struct cos_warc_index *index, const char *url, size_t len)
{
    const uint32_t *place = cos_map64_find(&index->urls, key_of(url, len));
    return place && index->visits[*place].given != index->visits[*place].last;
}

/* --- reading ------------------------------------------------------------------------------ */

void cos_warc_answer_init(struct cos_warc_answer *a)
{
    memset(a, 0, sizeof *a);
    cos_buf_init(&a->head, COS_WIRE_HEAD_MAX + 64);
    a->date_us = a->body_len = a->wire_len = -1;
}

void cos_warc_answer_release(struct cos_warc_answer *a)
{
    cos_buf_release(&a->head);
}

/* "ECONNREFUSED words": back to what the exchange ended with. */
static void take_error(struct cos_warc_answer *a, const char *text)
{
    size_t n = strcspn(text, " ");
    a->err = cos_err_from_name(text, n);
    if (!a->err)
        a->err = COS_EPROTO;
    snprintf(a->why, sizeof a->why, "%s", text[n] ? text + n + 1 : "");
}

static void take_fields(struct cos_warc_answer *a, const struct cos_warc_head *head)
{
    a->date_us = cos_warc_time(head->date);
    if (head->ip)
        snprintf(a->remote, sizeof a->remote, "%s", head->ip);
    if (head->protocol)
        snprintf(a->protocol, sizeof a->protocol, "%s", head->protocol);
    if (head->error)
        take_error(a, head->error);
    if (head->bytes) {
        char *end;
        a->body_len = strtoll(head->bytes, &end, 10);
        a->wire_len = strtoll(end, NULL, 10);
    }
}

/* The block up to the end of the head; what was read beyond it is in rest. With
 * torn it need not end: the exchange did not. */
static int read_head(struct cos_warc_reader *r, struct cos_buf *head, struct cos_buf *rest,
                     int torn)
{
    char piece[4096];
    size_t end = 0;
    int64_t n;
    int err = 0;
    cos_buf_clear(head);
    while (!err && !end && (n = cos_warc_reader_read(r, piece, sizeof piece)) != 0) {
        err = n < 0 ? (int)n : cos_buf_add(head, piece, (size_t)n);
        if (!err)
            end = cos_body_head_len(head->data, head->len);
    }
    if (!err && !end && torn)
        end = head->len;
    if (!err && !end)
        err = COS_EPARSE;
    if (!err)
        err = cos_buf_add(rest, head->data + end, head->len - end);
    if (!err)
        head->len = end;
    return err;
}

/* Chunks are taken off here, by the head of the record they are in: a revisit has
 * another. */
static int tell_body(struct cos_warc_reader *r, const struct cos_buf *head,
                     const struct cos_buf *rest, struct cos_warc_answer *a)
{
    struct cos_body *body = NULL;
    char *piece = malloc(PIECE);
    int64_t n = 0;
    int err = cos_body_new(&body, head->data, head->len, COS_BODY_CHUNKS, a->on_body, a->arg, NULL);
    if (!err && !piece)
        err = COS_ENOMEM;
    if (!err && rest->len)
        err = cos_body_feed(body, rest->data, rest->len);
    while (!err && (n = cos_warc_reader_read(r, piece, PIECE)) > 0)
        err = cos_body_feed(body, piece, (size_t)n);
    if (!err && n < 0)
        err = (int)n;
    if (!err)
        err = cos_body_end(body);
    cos_body_free(body);
    free(piece);
    return err;
}

static struct cos_warc_reader *reader_at(struct cos_warc_index *index, uint32_t record)
{
    const struct entry *e = &index->entries[record];
    struct cos_warc_reader *r = cos_warc_reader_new(cos_warc_from_file, &index->fds[e->file]);
    if (r)
        cos_warc_reader_seek(r, e->at);
    return r;
}

/* The body of the first visit: found by its digest. */
static int tell_first(struct cos_warc_index *index, uint32_t record, struct cos_warc_answer *a)
{
    struct cos_warc_reader *r = reader_at(index, record);
    const struct cos_warc_head *head;
    struct cos_buf first, rest;
    int err = r ? cos_warc_reader_next(r, &head) : COS_ENOMEM;
    cos_buf_init(&first, a->head.max);
    cos_buf_init(&rest, PIECE);
    err = err > 0 ? read_head(r, &first, &rest, 0) : err ? err : COS_EPARSE;
    if (!err)
        err = tell_body(r, &first, &rest, a);
    cos_buf_release(&first);
    cos_buf_release(&rest);
    cos_warc_reader_free(r);
    return err;
}

static int tell_revisit(struct cos_warc_index *index, const struct cos_warc_head *head,
                        struct cos_warc_answer *a, struct cos_buf *rest,
                        struct cos_warc_reader *r)
{
    const char *payload = head->payload ? head->payload : "";
    const uint32_t *place = cos_map64_find(&index->payloads, key_of(payload, strlen(payload)));
    int err = read_head(r, &a->head, rest, 0);
    if (err)
        return err;
    if (!place || !*place)
        return COS_EARCHIVE;
    err = a->on_head(a->arg, a);
    return err ? err : tell_first(index, *place, a);
}

int cos_warc_index_read(struct cos_warc_index *index, uint32_t record, struct cos_warc_answer *a)
{
    struct cos_warc_reader *r = reader_at(index, record);
    const struct cos_warc_head *head;
    struct cos_buf rest;
    int err = r ? cos_warc_reader_next(r, &head) : COS_ENOMEM;
    cos_buf_init(&rest, PIECE);
    err = err > 0 ? 0 : err ? err : COS_EPARSE;
    if (!err)
        take_fields(a, head);
    if (!err && head->type == COS_WARC_REVISIT) {
        err = tell_revisit(index, head, a, &rest, r);
    } else if (!err && head->type != COS_WARC_METADATA) {
        err = read_head(r, &a->head, &rest, a->err != 0);
        if (!err)
            err = a->on_head(a->arg, a);
        if (!err)
            err = tell_body(r, &a->head, &rest, a);
    }
    cos_buf_release(&rest);
    cos_warc_reader_free(r);
    return err;
}
