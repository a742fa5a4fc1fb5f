/* archive.c - every request of a crawl goes through here. With --warc-file its
 * bytes are written before anything else is done with the page: a page whose row
 * says "done" is in the archive, whenever the program is killed.
 *
 * Writing is a job on an offload thread, which owns a copy of what it needs: a
 * crawl that is cancelled does not wait for it, closing the archive does. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"
#include "store/warc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct cos__archive {
    struct cos_warc *warc;
    pthread_mutex_t lock;
    pthread_cond_t none;
    size_t running;
};

struct job {
    struct cos__archive *archive;
    struct cos_warc_exchange exchange;
    struct cos_wire *wire;
    char *url, *via, *why, *mime;
    char remote[64];
    int err;
};

static void count(struct cos__archive *archive, int more)
{
    pthread_mutex_lock(&archive->lock);
    archive->running += (size_t)more;
    if (!archive->running)
        pthread_cond_signal(&archive->none);
    pthread_mutex_unlock(&archive->lock);
}

/* --- one exchange ----------------------------------------------------------------------- */

static void job_free(void *data)
{
    struct job *job = data;
    count(job->archive, -1);
    cos_wire_free(job->wire);
    free(job->url);
    free(job->via);
    free(job->why);
    free(job->mime);
    free(job);
}

static int job_work(void *data)
{
    struct job *job = data;
    job->err = cos_warc_add(job->archive->warc, &job->exchange);
    return 0;
}

static char *copy(const char *s)
{
    return s ? strdup(s) : NULL;
}

/* Takes the page's wire; the rest is copied. */
static struct job *job_new(struct cos__crawl *c, struct cos_page *page)
{
    struct job *job = calloc(1, sizeof *job);
    const struct cos_node *node = page->id ? cos_frontier_node(&c->frontier, (uint32_t)page->id)
                                           : NULL;
    if (!job)
        return NULL;
    job->archive = c->archive;
    job->url = strdup(page->url);
    job->via = node && node->referrer ? copy(cos_frontier_text(&c->frontier, node->referrer))
                                      : NULL;
    job->why = copy(page->why);
    job->mime = copy(page->mime);
    memcpy(job->remote, page->remote, sizeof job->remote);
    job->wire = page->wire;
    page->wire = NULL;
    job->exchange = (struct cos_warc_exchange){
        .url = job->url, .via = job->via, .remote = job->remote, .protocol = page->protocol,
        .started_us = page->timing.started_at, .total_us = page->timing.total,
        .body_len = page->body_len, .wire_len = page->wire_len,
        .status = page->status, .depth = node ? node->depth & ~COS__UNREACHED : 0,
        .tries = page->tries, .err = page->err, .why = job->why, .mime = job->mime,
        .wire = job->wire};
    count(c->archive, 1);
    if (!job->url) {
        job_free(job);
        return NULL;
    }
    return job;
}

static int archive_page(struct cos__crawl *c, struct cos_page *page)
{
    struct job *job = job_new(c, page);
    void *data = job;
    int err;
    if (!job)
        return COS_ENOMEM;
    err = cos_offload(job_work, &data, job_free, -1);
    if (!data)
        return err;
    err = err ? err : job->err;
    job_free(job);
    return err;
}

int cos__get(struct cos__crawl *c, struct cos_page *page, const struct cos_request *request)
{
    int err, kept;
    if (c->replay)
        return cos__replay_get(c, page, request);
    err = cos_fetch_into(page, request, -1);
    if (!c->archive || err == COS_ECANCELED || err == COS_ECONTEXT)
        return err;
    kept = archive_page(c, page);
    if (kept == COS_ECANCELED)
        page->err = err = COS_ECANCELED;
    else if (kept)
        cos__abort(c, kept, "cannot write %s.warc.gz: %s", c->opt->warc_file, cos_strerror(kept));
    return err;
}

/* --- open and close ---------------------------------------------------------------------- */

struct opening {
    struct cos_warc_options options;
    char *name, *agent; /* copies: a cancelled crawl does not wait for the thread */
    struct cos_warc_found found;
    struct cos_warc *warc;
    struct cos_buf why;
    int err;
};

static int open_work(void *data)
{
    struct opening *o = data;
    o->err = cos_warc_open(&o->warc, &o->options, &o->found, &o->why);
    return 0;
}

static void opening_free(void *data)
{
    struct opening *o = data;
    cos_warc_close(o->warc);
    cos_buf_release(&o->why);
    free(o->name);
    free(o->agent);
    free(o);
}

static void say_found(struct cos__crawl *c, const struct cos_warc_found *found)
{
    if (found->cut)
        cos__say(c, COS_SAY_WARN, "%s ended inside a record: %lld bytes of it were cut off",
                 found->file, (long long)found->cut);
    if (found->records)
        cos__say(c, COS_SAY_INFO, "%s goes on after %lld records", found->file,
                 (long long)found->records);
}

static int keep_archive(struct cos__crawl *c, struct opening *o)
{
    struct cos__archive *archive = calloc(1, sizeof *archive);
    if (!archive)
        return COS_ENOMEM;
    pthread_mutex_init(&archive->lock, NULL);
    pthread_cond_init(&archive->none, NULL);
    archive->warc = o->warc;
    o->warc = NULL;
    c->archive = archive;
    say_found(c, &o->found);
    return 0;
}

int cos__archive_open(struct cos__crawl *c, struct cos_buf *why)
{
    struct opening *o;
    void *data;
    int err;
    if (c->opt->from_warc.n)
        return cos__replay_open(c, why);
    if (!c->opt->warc_file)
        return 0;
    data = o = calloc(1, sizeof *o);
    if (!o)
        return COS_ENOMEM;
    o->name = strdup(c->opt->warc_file);
    o->agent = strdup(c->limit.agent);
    if (!o->name || !o->agent) {
        opening_free(o);
        return COS_ENOMEM;
    }
    o->options = (struct cos_warc_options){.name = o->name,
                                           .max_size = c->opt->warc_max_size,
                                           .cdx = c->opt->warc_cdx,
                                           .fresh = c->opt->fresh,
                                           .agent = o->agent,
                                           .robots = c->limit.robots ? "obey" : "ignore"};
    cos_buf_init(&o->why, why->max);
    err = cos_offload(open_work, &data, opening_free, -1);
    if (!data)
        return err;
    err = err ? err : o->err ? o->err : keep_archive(c, o);
    if (err && o->why.len)
        cos_buf_adds(why, o->why.data);
    opening_free(o);
    return err;
}

struct closing {
    struct cos__archive *archive;
    int err;
};

static int close_work(void *data)
{
    struct closing *closing = data;
    struct cos__archive *archive = closing->archive;
    pthread_mutex_lock(&archive->lock);
    while (archive->running)
        pthread_cond_wait(&archive->none, &archive->lock);
    pthread_mutex_unlock(&archive->lock);
    closing->err = cos_warc_close(archive->warc);
    archive->warc = NULL;
    return 0;
}

static void closing_free(void *data)
{
    struct closing *closing = data;
    if (closing->archive->warc)
        close_work(closing);
    pthread_cond_destroy(&closing->archive->none);
    pthread_mutex_destroy(&closing->archive->lock);
    free(closing->archive);
    free(closing);
}

int cos__archive_close(struct cos__crawl *c)
{
    struct closing *closing = c->archive ? calloc(1, sizeof *closing) : NULL;
    void *data = closing;
    int err;
    cos__replay_close(c);
    if (!c->archive)
        return 0;
    if (!closing)
        return COS_ENOMEM;
    closing->archive = c->archive;
    c->archive = NULL;
    err = cos_offload(close_work, &data, closing_free, -1);
    if (!data)
        return err;
    err = err ? err : closing->err;
    closing_free(closing);
    return err;
}
