/* replay.c - answers out of WARC files instead of the network. The page is
 * filled on an offload thread by the rules of the fetch: same ceilings, same
 * errors, the times of the archive. What is not in the archive fails with
 * COS_EARCHIVE; nothing is ever asked for. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "base/file_sync.h"
#include "coscrawl.h"
#include "store/warc_index.h"
#include "web/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((int64_t)1024 * 1024)

/* --- one answer ------------------------------------------------------------------------- */

struct job {
    struct cos_warc_index *index;
    uint32_t record;
    struct cos_page *page;   /* the job's own: its contents are handed over at the end */
    char *spill_dir;
    int64_t spill_at, max_body, max_inflated;
    struct cos_warc_answer answer;
    struct cos_body *body;
    int64_t wire;            /* payload bytes before decompression */
    int fd;                  /* of the spill file */
};

static int64_t or_else(int64_t value, int64_t fallback)
{
    return value < 0 ? INT64_MAX : value ? value : fallback;
}

static int spill(struct job *job)
{
    struct cos_page *page = job->page;
    int err;
    if (asprintf(&page->spill, "%s/%sspill-XXXXXX", job->spill_dir, COS__TEMP_PREFIX) < 0) {
        page->spill = NULL;
        return COS_ENOMEM;
    }
    job->fd = mkostemp(page->spill, O_CLOEXEC);
    if (job->fd < 0) {
        err = cos_err_from_errno(errno);
        free(page->spill);
        page->spill = NULL;
        return err;
    }
    return 0;
}

static int write_out(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno != EINTR)
            return cos_err_from_errno(errno);
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* Decoded bytes: to memory, or beyond spill_at to a file. */
static int keep(void *arg, const void *data, size_t len)
{
    struct job *job = arg;
    struct cos_page *page = job->page;
    int err = 0;
    page->body_len += (int64_t)len;
    if (page->body_len > (cos_body_coded(job->body) ? job->max_inflated : job->max_body))
        return COS_ETOOBIG;
    if (job->fd < 0 && job->spill_dir && (int64_t)(page->body.len + len) > job->spill_at) {
        err = spill(job);
        if (!err && page->body.len)
            err = write_out(job->fd, page->body.data, page->body.len);
        cos_buf_release(&page->body);
    }
    if (err)
        return err;
    return job->fd >= 0 ? write_out(job->fd, data, len) : cos_buf_add(&page->body, data, len);
}

static int on_head(void *arg, struct cos_warc_answer *answer)
{
    struct job *job = arg;
    struct cos_buf why;
    int err = cos__fetch_told(job->page, answer->head.data, answer->head.len);
    if (err)
        return err;
    cos_buf_init(&why, 256);
    err = cos_body_new(&job->body, answer->head.data, answer->head.len, COS_BODY_CODING, keep, job,
                       &why);
    /* It could not be read then: only its length counts. */
    if (err == COS_EENCODING && answer->err)
        err = 0;
    if (why.len)
        job->page->why = strdup(why.data);
    cos_buf_release(&why);
    return err;
}

static int on_body(void *arg, const void *data, size_t len)
{
    struct job *job = arg;
    job->wire += (int64_t)len;
    return job->body ? cos_body_feed(job->body, data, len) : 0;
}

static void take_fields(struct job *job)
{
    const struct cos_warc_answer *a = &job->answer;
    struct cos_page *page = job->page;
    snprintf(page->remote, sizeof page->remote, "%s", a->remote);
    if (!strcmp(a->protocol, "h2") || !strcmp(a->protocol, "h3"))
        page->protocol = a->protocol[1] == '2' ? "h2" : "h3";
    if (a->err && a->body_len >= 0)
        page->body_len = a->body_len;
    page->wire_len = (int64_t)a->head.len +
                     (job->body && cos_body_coded(job->body) ? job->wire : page->body_len);
    if (a->wire_len >= 0)
        page->wire_len = a->wire_len;
    page->timing = (struct cos_timing){.started_at = a->date_us > 0 ? a->date_us : 0,
                                       .name = -1, .connect = -1, .tls = -1, .first_byte = -1,
                                       .transfer = -1};
}

static int job_work(void *data)
{
    struct job *job = data;
    struct cos_page *page = job->page;
    int err = cos_warc_index_read(job->index, job->record, &job->answer);
    if (!err && job->body)
        err = cos_body_end(job->body);
    take_fields(job);
    /* How it ended then is how it ends now. */
    if (job->answer.err) {
        err = job->answer.err;
        free(page->why);
        page->why = job->answer.why[0] ? strdup(job->answer.why) : NULL;
    } else if (err == COS_EARCHIVE) {
        page->why = strdup("a repeated answer whose first copy is not there");
    } else if (err && !page->why) {
        page->why = strdup(cos_strerror(err));
    }
    if (job->fd >= 0)
        close(job->fd);
    job->fd = -1;
    page->err = err;
    return 0;
}

static void job_free(void *data)
{
    struct job *job = data;
    if (job->fd >= 0)
        close(job->fd);
    cos_warc_index_free(job->index);
    cos_page_free(job->page);
    cos_body_free(job->body);
    cos_warc_answer_release(&job->answer);
    free(job->spill_dir);
    free(job);
}

static struct job *job_new(struct cos__crawl *c, uint32_t record, const struct cos_page *page,
                           const struct cos_request *request)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    *job = (struct job){.index = cos_warc_index_hold(c->replay), .record = record, .fd = -1};
    cos_warc_answer_init(&job->answer);
    job->answer.on_head = on_head;
    job->answer.on_body = on_body;
    job->answer.arg = job;
    job->max_body = or_else(request->max_body, request->spill_dir ? INT64_MAX : 64 * MIB);
    job->max_inflated = or_else(request->max_inflated, 64 * MIB);
    if (job->max_inflated > job->max_body)
        job->max_inflated = job->max_body;
    job->spill_at = or_else(request->spill_at, 1 * MIB);
    job->spill_dir = request->spill_dir ? strdup(request->spill_dir) : NULL;
    job->page = cos_page_new(page->url);
    if (!job->page || (request->spill_dir && !job->spill_dir)) {
        job_free(job);
        return NULL;
    }
    job->page->body.max = SIZE_MAX / 2;
    return job;
}

/* All that was filled; what the frontier set stays. */
static void hand_over(struct cos_page *page, struct job *job)
{
    struct cos_page old = *page;
    *page = *job->page;
    page->id = old.id;
    page->referrer = old.referrer;
    page->depth = old.depth;
    page->tries = old.tries;
    *job->page = old;
}

int cos__replay_get(struct cos__crawl *c, struct cos_page *page, const struct cos_request *request)
{
    uint32_t record = cos_warc_index_ask(c->replay, page->url, strlen(page->url));
    struct job *job;
    void *data;
    int err;
    cos_page_reset(page);
    if (!record)
        return page->err = COS_EARCHIVE;
    data = job = job_new(c, record, page, request);
    if (!job)
        return page->err = COS_ENOMEM;
    err = cos_offload(job_work, &data, job_free, -1);
    if (!data)
        return page->err = err;
    if (!err)
        hand_over(page, job);
    else
        page->err = err;
    job_free(job);
    return page->err;
}

/* --- open and close ------------------------------------------------------------------------ */

struct opening {
    char **files;
    size_t n;
    struct cos_warc_index *index;
    struct cos_buf why;
    int torn, err;
};

static int open_work(void *data)
{
    struct opening *o = data;
    o->err = cos_warc_index_open(&o->index, (const char *const *)o->files, o->n, &o->torn, &o->why);
    return 0;
}

static void opening_free(void *data)
{
    struct opening *o = data;
    cos_warc_index_free(o->index);
    cos_buf_release(&o->why);
    for (size_t i = 0; i < o->n; i++)
        free(o->files[i]);
    free(o->files);
    free(o);
}

/* Copied: a cancelled crawl does not wait for the thread. */
static int copy_names(struct opening *o, const struct cos_strings *files)
{
    o->files = calloc(files->n, sizeof *o->files);
    if (!o->files)
        return COS_ENOMEM;
    for (; o->n < files->n; o->n++)
        if (!(o->files[o->n] = strdup(files->v[o->n])))
            return COS_ENOMEM;
    return 0;
}

int cos__replay_open(struct cos__crawl *c, struct cos_buf *why)
{
    struct opening *o = calloc(1, sizeof *o);
    void *data = o;
    int err;
    if (!o)
        return COS_ENOMEM;
    cos_buf_init(&o->why, why->max);
    if (copy_names(o, &c->opt->from_warc)) {
        opening_free(o);
        return COS_ENOMEM;
    }
    err = cos_offload(open_work, &data, opening_free, -1);
    if (!data)
        return err;
    err = err ? err : o->err;
    if (!err) {
        c->replay = o->index;
        o->index = NULL;
        if (o->torn)
            cos__say(c, COS_SAY_WARN, "%d of the archives end inside a record; what is whole is "
                     "used", o->torn);
        cos__say(c, COS_SAY_INFO, "%zu answers for %zu URLs in the archive, nothing is asked of "
                 "the network", cos_warc_index_answers(c->replay), cos_warc_index_urls(c->replay));
    } else if (o->why.len) {
        cos_buf_adds(why, o->why.data);
    }
    opening_free(o);
    return err;
}

void cos__replay_close(struct cos__crawl *c)
{
    cos_warc_index_free(c->replay);
    c->replay = NULL;
}
