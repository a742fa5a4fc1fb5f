/* digest.c - what happens to a body on an offload thread, while its bytes are
 * warm: scan and resolve the links, hash content and links, write the file.
 * One job per page: handing it over costs more than most of the steps.
 *
 * The job owns the page meanwhile. If the crawl is cancelled it does not wait
 * for the thread: the job frees what it holds, and cos__digests_free() blocks
 * until the last one is through, since they use the crawl's directory. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/offload.h"
#include "coscrawl.h"
#include "crawl/place.h"
#include "web/links.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SPARE = 16, PATH_ROOM = 4096 };

/* What one job needs and the next one can use again. */
struct tools {
    pthread_t user; /* who used it last */
    struct cos_links_ctx *links;
    struct cos_url url;
    struct cos_buf path;
};

struct cos__digests {
    pthread_mutex_t lock;
    pthread_cond_t none;
    struct tools *spare[SPARE];
    int nspare;
    size_t running;
};

struct job {
    struct cos__digests *digests;
    struct cos_page *page;
    struct cos_save *save;
    const struct cos_frontier *frontier; /* its key only */
    int keep, named, no_host; /* -E, -nH */
    int read;        /* by --parser=tidy */
    int again;       /* -N: what is there already is not written */
    char *old_path;  /* its file in an earlier run */
    uint64_t *hashes;
    int saved;
    int ran; /* does not use the crawl any more */
};

/* --- tools ------------------------------------------------------------------------ */

static void tools_free(struct tools *tools)
{
    if (!tools)
        return;
    cos_links_ctx_free(tools->links);
    cos_url_release(&tools->url);
    cos_buf_release(&tools->path);
    free(tools);
}

/* The thread's own if they are there: they are in its processor's cache. */
static struct tools *tools_spare(struct cos__digests *digests)
{
    int at = digests->nspare - 1;
    struct tools *tools;
    while (at > 0 && !pthread_equal(digests->spare[at]->user, pthread_self()))
        at--;
    if (at < 0)
        return NULL;
    tools = digests->spare[at];
    digests->spare[at] = digests->spare[--digests->nspare];
    return tools;
}

static struct tools *tools_take(struct cos__digests *digests)
{
    struct tools *tools;
    pthread_mutex_lock(&digests->lock);
    tools = tools_spare(digests);
    pthread_mutex_unlock(&digests->lock);
    if (tools)
        return tools;
    tools = calloc(1, sizeof *tools);
    if (!tools)
        return NULL;
    cos_url_init(&tools->url);
    cos_buf_init(&tools->path, PATH_ROOM);
    tools->links = cos_links_ctx_new();
    if (!tools->links) {
        tools_free(tools);
        tools = NULL;
    }
    return tools;
}

static void tools_give(struct cos__digests *digests, struct tools *tools)
{
    pthread_mutex_lock(&digests->lock);
    if (tools && digests->nspare < SPARE) {
        tools->user = pthread_self();
        digests->spare[digests->nspare++] = tools;
        tools = NULL;
    }
    pthread_mutex_unlock(&digests->lock);
    tools_free(tools);
}

int cos__digests_new(struct cos__digests **out)
{
    struct cos__digests *digests = calloc(1, sizeof *digests);
    if (!digests)
        return COS_ENOMEM;
    pthread_mutex_init(&digests->lock, NULL);
    pthread_cond_init(&digests->none, NULL);
    *out = digests;
    return 0;
}

void cos__digests_free(struct cos__digests *digests)
{
    if (!digests)
        return;
    pthread_mutex_lock(&digests->lock);
    while (digests->running)
        pthread_cond_wait(&digests->none, &digests->lock);
    pthread_mutex_unlock(&digests->lock);
    for (int i = 0; i < digests->nspare; i++)
        tools_free(digests->spare[i]);
    pthread_cond_destroy(&digests->none);
    pthread_mutex_destroy(&digests->lock);
    free(digests);
}

static void count(struct cos__digests *digests, int more)
{
    pthread_mutex_lock(&digests->lock);
    digests->running += (size_t)more;
    if (!digests->running)
        pthread_cond_signal(&digests->none);
    pthread_mutex_unlock(&digests->lock);
}

/* --- the steps ---------------------------------------------------------------------- */

static int64_t microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int hash_links(struct job *job)
{
    struct cos_page *page = job->page;
    if (!page->nlinks)
        return 0;
    job->hashes = malloc(page->nlinks * sizeof *job->hashes);
    if (!job->hashes)
        return COS_ENOMEM;
    for (size_t i = 0; i < page->nlinks; i++)
        job->hashes[i] = cos_frontier_hash(
            job->frontier, page->link_text.data + page->links[i].text, page->links[i].len);
    return 0;
}

static int hash_spilled(struct cos_page *page)
{
    char block[65536];
    struct cos_hasher *hasher = cos_hasher_new();
    int fd = open(page->spill, O_RDONLY | O_CLOEXEC), err = 0;
    ssize_t n = 0;
    if (!hasher || fd < 0)
        err = hasher ? COS_EIO : COS_ENOMEM;
    while (!err && (n = read(fd, block, sizeof block)) > 0)
        cos_hasher_add(hasher, block, (size_t)n);
    if (n < 0)
        err = COS_EIO;
    if (!err)
        cos_hasher_get(hasher, page->hash);
    cos_hasher_free(hasher);
    if (fd >= 0)
        close(fd);
    return err;
}

/* The original of a file that links were converted in goes after its successor
 * came: until then the earlier page is whole. */
static int put_file(struct job *job, const char *path)
{
    struct cos_page *page = job->page;
    int err;
    if (page->spill)
        err = cos_save_move(job->save, path, page->spill);
    else if (job->again && cos_save_same(job->save, path, page->body.data, page->body.len))
        return 0;
    else
        err = cos_save_body(job->save, path, page->body.data, page->body.len);
    return err ? err : cos_save_forget(job->save, path);
}

static int store(struct job *job, struct tools *tools)
{
    struct cos_page *page = job->page;
    int err = cos_url_parse_near(&tools->url, page->url, strlen(page->url));
    if (!err)
        err = cos__place(&tools->url, job->named ? cos__place_type(page->mime) : 0, job->no_host,
                         &tools->path);
    if (err)
        return err;
    err = put_file(job, tools->path.data);
    if (err)
        return err;
    if (job->old_path && strcmp(job->old_path, tools->path.data) != 0)
        cos_save_remove(job->save, job->old_path);
    page->path = strdup(tools->path.data);
    return page->path ? 0 : COS_ENOMEM;
}

/* Here, since whoever frees the page stands on the loop thread. */
int cos__drop_spill(void *data)
{
    struct cos_page *page = data;
    if (page->spill)
        unlink(page->spill);
    free(page->spill);
    page->spill = NULL;
    return 0;
}

/* What is wrong with a page's links (too many, a strange character set) is no
 * reason to lose the page: it is stored with those that were found. */
static int steps(struct job *job, struct tools *tools)
{
    struct cos_page *page = job->page;
    int64_t t0 = microseconds(), t1;
    int err = 0;
    if (!job->read)
        cos_links_extract(tools->links, page);
    if (page->spill)
        err = hash_spilled(page);
    else
        cos_hash128(page->body.data ? page->body.data : "", page->body.len, page->hash);
    if (!err)
        err = hash_links(job);
    t1 = microseconds();
    page->timing.scan = t1 - t0;
    if (!err && job->keep) {
        err = store(job, tools);
        page->timing.store = microseconds() - t1;
    }
    cos__drop_spill(page);
    return err;
}

static int digest_work(void *data)
{
    struct job *job = data;
    struct tools *tools = tools_take(job->digests);
    job->saved = tools ? steps(job, tools) : COS_ENOMEM;
    tools_give(job->digests, tools);
    job->ran = 1;
    count(job->digests, -1);
    return 0;
}

/* The crawl may be gone when this is called. */
static void drop(void *data)
{
    struct job *job = data;
    cos_page_free(job->page);
    free(job->hashes);
    free(job->old_path);
    free(job);
}

int cos__digest(struct cos__visit *visit)
{
    struct cos__crawl *c = visit->crawl;
    struct job *job = calloc(1, sizeof *job);
    struct cos_op *op = job ? cos__offload_op(digest_work, job, drop, NULL) : NULL;
    int err;
    if (!op) {
        free(job);
        return COS_ENOMEM;
    }
    ((struct cos__job *)op)->brief = 1;
    *job = (struct job){.digests = c->digests, .page = visit->page, .save = c->save,
                        .frontier = &c->frontier};
    job->keep = c->save && !cos_scope_keeps(c->scope, visit->page->url, strlen(visit->page->url));
    job->named = c->opt->adjust_extension;
    job->no_host = c->opt->no_host_directories &&
                   cos_scope_seeded(c->scope, visit->page->url, strlen(visit->page->url));
    job->read = visit->read;
    job->again = c->opt->timestamping;
    job->old_path = visit->known.path;
    visit->known.path = NULL;
    visit->page = NULL;
    count(c->digests, 1);
    err = cos__op_await(op, -1);
    job = cos__offload_take(op);
    cos__op_free(op);
    if (!job)
        return err;
    visit->page = job->page;
    visit->hashes = job->hashes;
    visit->saved = err ? err : job->saved;
    if (!job->ran)
        count(c->digests, -1);
    free(job->old_path);
    free(job);
    return err;
}
