/* warc.c - the archive being written: its files, its lock, and what is in it.
 *
 * Records are made without the lock (warc_record.c) and appended under it, a
 * whole exchange in one write: whoever kills the program leaves whole records and
 * at most one torn one, at the end (warc_old.c). A write that fails is taken back.
 *
 * Rejected: a thread of its own with a queue (it would need a ceiling and make
 * pages wait as well, and would compress on one core only). */
#include "config.h"

#include "store/warc_int.h"

#include "base/err.h"
#include "base/file_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CDX_MAX = 1 << 30 };

/* --- names ------------------------------------------------------------------------------ */

const char *cos__warc_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* NAME, with or without an ending that says what it is. */
static char *base_of(const char *name)
{
    static const char *const endings[] = {".warc.gz", ".warc"};
    size_t n = strlen(name);
    for (int i = 0; i < 2; i++) {
        size_t m = strlen(endings[i]);
        if (n > m && !strcmp(name + n - m, endings[i]))
            return strndup(name, n - m);
    }
    return strdup(name);
}

static void path_of(const struct cos_warc *w, int number, char path[COS__WARC_PATH])
{
    if (w->options.max_size > 0)
        snprintf(path, COS__WARC_PATH, "%s-%05d.warc.gz", w->base, number);
    else
        snprintf(path, COS__WARC_PATH, "%s.warc.gz", w->base);
}

static void cdx_path(const struct cos_warc *w, char path[COS__WARC_PATH])
{
    snprintf(path, COS__WARC_PATH, "%s.cdxj", w->base);
}

const char *cos_warc_file(const struct cos_warc *w)
{
    return w->path;
}

/* --- writing ------------------------------------------------------------------------------ */

static int write_all(int fd, const char *data, size_t len, int64_t at)
{
    while (len) {
        ssize_t n = pwrite(fd, data, len, at);
        if (n < 0 && errno != EINTR)
            return cos_err_from_errno(errno);
        if (n > 0) {
            data += n;
            len -= (size_t)n;
            at += n;
        }
    }
    return 0;
}

static int append(struct cos_warc *w, struct cos__warc_group *g)
{
    int err = write_all(w->fd, g->out.data, g->out.len, w->size + g->flushed);
    if (err)
        return err;
    g->flushed += (int64_t)g->out.len;
    cos_buf_clear(&g->out);
    return 0;
}

static int flush(struct cos__warc_group *g)
{
    return append(g->arg, g);
}

static void take_back(struct cos_warc *w)
{
    if (ftruncate(w->fd, w->size) < 0)
        return; /* the next open cuts it off */
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct cos__warc_group *group_take(struct cos_warc *w)
{
    return w->ngroups ? w->groups[--w->ngroups] : cos__warc_group_new();
}

static void group_give(struct cos_warc *w, struct cos__warc_group *g)
{
    if (!g)
        return;
    if (g->fd >= 0)
        close(g->fd);
    g->fd = -1;
    if (w->ngroups < COS__WARC_GROUPS && g->out.cap <= 1 << 20)
        w->groups[w->ngroups++] = g;
    else
        cos__warc_group_free(g);
}

static int write_info(struct cos_warc *w)
{
    struct cos__warc_group *g = group_take(w);
    char id[37];
    int err = g ? 0 : COS_ENOMEM;
    if (!err) {
        cos__warc_id(&w->ids, w->ids.count++, id);
        err = cos__warc_info(g, id, now_us(), cos__warc_last_part(w->path), &w->options);
    }
    if (!err)
        err = append(w, g);
    if (err)
        take_back(w);
    else
        w->size += g->flushed;
    group_give(w, g);
    return err;
}

/* --- files --------------------------------------------------------------- */

int cos__warc_open_file(struct cos_warc *w, int number)
{
    struct stat st;
    path_of(w, number, w->path);
    w->fd = open(w->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (w->fd < 0 || fstat(w->fd, &st) < 0)
        return cos_err_from_errno(errno);
    if (!S_ISREG(st.st_mode))
        return COS_ENOTSUP;
    w->number = number;
    w->size = 0;
    w->exchanges = 0;
    return 0;
}

int cos__warc_exists(const struct cos_warc *w, int number)
{
    char path[COS__WARC_PATH];
    path_of(w, number, path);
    return access(path, F_OK) == 0;
}

static void remove_all(const struct cos_warc *w)
{
    char path[COS__WARC_PATH];
    int n = w->options.max_size > 0 ? COS__WARC_FILES : 1;
    for (int i = 0; i < n && cos__warc_exists(w, i); i++) {
        path_of(w, i, path);
        /* The first one is locked: emptied, it stays ours. */
        if (i || truncate(path, 0) < 0)
            unlink(path);
    }
}

int cos__warc_flush_cdx(struct cos_warc *w)
{
    off_t end = w->cdx_fd < 0 ? 0 : lseek(w->cdx_fd, 0, SEEK_END);
    int err = w->cdx_fd < 0 || !w->cdx.len ? 0 : write_all(w->cdx_fd, w->cdx.data, w->cdx.len, end);
    cos_buf_clear(&w->cdx);
    return err;
}

/* --- open and close --------------------------------------------------------------------------- */

static int lock_archive(struct cos_warc *w)
{
    char path[COS__WARC_PATH];
    int err = cos__mkdir_parents_sync(w->base);
    path_of(w, 0, path);
    if (err)
        return err;
    w->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (w->lock_fd < 0)
        return cos_err_from_errno(errno);
    return flock(w->lock_fd, LOCK_EX | LOCK_NB) < 0 ? COS_ELOCKED : 0;
}

/* Written anew from what the archive holds: never more, never less. */
static int open_cdx(struct cos_warc *w)
{
    char path[COS__WARC_PATH];
    if (!w->options.cdx)
        return 0;
    cdx_path(w, path);
    w->cdx_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return w->cdx_fd < 0 ? cos_err_from_errno(errno) : 0;
}

static int open_all(struct cos_warc *w, struct cos_warc_found *found)
{
    int err = lock_archive(w);
    if (!err && w->options.fresh)
        remove_all(w);
    if (!err)
        err = open_cdx(w);
    if (!err)
        err = cos__warc_scan(w, found);
    return err ? err : write_info(w);
}

static struct cos_warc *warc_new(const struct cos_warc_options *o)
{
    struct cos_warc *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    w->fd = w->lock_fd = w->cdx_fd = -1;
    w->options = *o;
    w->base = base_of(o->name);
    w->agent = o->agent ? strdup(o->agent) : NULL;
    w->options.agent = w->agent;
    w->options.name = NULL;
    cos__warc_ids_init(&w->ids);
    cos__warc_seen_init(&w->seen);
    cos_buf_init(&w->cdx, CDX_MAX);
    return w;
}

static void warc_free(struct cos_warc *w)
{
    const int fds[] = {w->fd, w->cdx_fd, w->lock_fd};
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    while (w->ngroups)
        cos__warc_group_free(w->groups[--w->ngroups]);
    cos__warc_seen_release(&w->seen);
    cos_buf_release(&w->cdx);
    pthread_mutex_destroy(&w->lock);
    free(w->base);
    free(w->agent);
    free(w);
}

static void say_why(const struct cos_warc *w, int err, struct cos_buf *why)
{
    const char *path = w->path[0] ? w->path : w->base;
    if (err == COS_EPARSE)
        cos_buf_addf(why, "%s: no WARC file from byte %lld on; it was left as it is", path,
                     (long long)w->size);
    else if (err == COS_ENOTSUP)
        cos_buf_addf(why, "%s: not a file, or not compressed record by record", path);
    else
        cos_buf_addf(why, "%s: %s", path, cos_strerror(err));
}

int cos_warc_open(struct cos_warc **out, const struct cos_warc_options *o,
                  struct cos_warc_found *found, struct cos_buf *why)
{
    struct cos_warc *w = warc_new(o);
    int err = w && w->base ? 0 : COS_ENOMEM;
    memset(found, 0, sizeof *found);
    if (!err && strlen(w->base) > COS__WARC_PATH - 32)
        err = COS_ETOOBIG;
    if (!err)
        err = open_all(w, found);
    if (err) {
        if (w && w->base)
            say_why(w, err, why);
        if (w)
            warc_free(w);
        return err;
    }
    *out = w;
    return 0;
}

int cos_warc_close(struct cos_warc *w)
{
    char path[COS__WARC_PATH];
    int err;
    if (!w)
        return 0;
    err = w->fd >= 0 && fdatasync(w->fd) < 0 ? cos_err_from_errno(errno) : 0;
    cdx_path(w, path);
    if (w->cdx_fd >= 0 && !err)
        err = cos__warc_cdx_sort(path);
    warc_free(w);
    return err;
}

/* --- adding ------------------------------------------------------------------------------------- */

static int next_file(struct cos_warc *w)
{
    int err;
    if (fdatasync(w->fd) < 0)
        return cos_err_from_errno(errno);
    close(w->fd);
    w->fd = -1;
    if (w->number + 1 >= COS__WARC_FILES)
        return COS_EFULL;
    err = cos__warc_open_file(w, w->number + 1);
    if (!err)
        err = ftruncate(w->fd, 0) < 0 ? cos_err_from_errno(errno) : write_info(w);
    return err;
}

static int index_it(struct cos_warc *w, const struct cos__warc_group *g,
                    const struct cos_warc_exchange *x)
{
    struct cos__warc_line line = {.url = x->url, .date = g->date, .status = x->status,
                                  .mime = g->revisit ? "warc/revisit" : x->mime,
                                  .digest = g->has_payload ? g->payload_text : NULL,
                                  .offset = w->size + g->answer.at,
                                  .length = g->answer.len, .file = cos__warc_last_part(w->path)};
    int err = 0;
    if (!g->revisit && !x->err && !x->wire->cut && g->payload_len && g->has_payload)
        err = cos__warc_seen_add(&w->seen, g->payload, g->date, x->url);
    if (!err && w->cdx_fd >= 0) {
        err = cos__warc_cdx_line(&w->cdx, &line);
        if (!err)
            err = cos__warc_flush_cdx(w);
    }
    return err;
}

/* Under the lock: the bytes, then what is known of them. */
static int append_exchange(struct cos_warc *w, struct cos__warc_group *g,
                           const struct cos_warc_exchange *x)
{
    int err = 0;
    if (w->options.max_size > 0 && w->exchanges &&
        w->size + (int64_t)g->out.len > w->options.max_size)
        err = next_file(w);
    if (!err)
        err = append(w, g);
    if (err) {
        take_back(w);
        return err;
    }
    if (g->answered)
        err = index_it(w, g, x);
    w->size += g->flushed;
    w->exchanges++;
    return err;
}

struct names {
    char answer[37], request[37], metadata[37];
};

/* A body in a file is compressed while it is written: all of it under the lock. */
static int add_large(struct cos_warc *w, struct cos__warc_group *g,
                     const struct cos_warc_exchange *x, const struct names *names)
{
    int err = 0;
    if (w->options.max_size > 0 && w->exchanges &&
        w->size + g->body_len > w->options.max_size)
        err = next_file(w);
    g->flush = flush;
    g->arg = w;
    if (!err)
        err = cos__warc_records(g, x, names->answer, names->request, names->metadata, NULL, NULL);
    if (!err)
        err = append(w, g);
    if (err) {
        take_back(w);
        return err;
    }
    err = index_it(w, g, x);
    w->size += g->flushed;
    w->exchanges++;
    return err;
}

static void find_first(struct cos_warc *w, const struct cos__warc_group *g,
                       const struct cos_warc_exchange *x, char **date, char **url)
{
    const char *old_date, *old_url;
    *date = *url = NULL;
    if (!g->has_payload || x->err || !g->payload_len ||
        !cos__warc_seen_find(&w->seen, g->payload, &old_date, &old_url))
        return;
    *date = strdup(old_date);
    *url = *date ? strdup(old_url) : NULL;
}

static int add(struct cos_warc *w, struct cos__warc_group *g, const struct cos_warc_exchange *x)
{
    struct names names;
    uint64_t number;
    char *date, *url;
    int err = cos__warc_prepare(g, x);
    if (err)
        return err;
    pthread_mutex_lock(&w->lock);
    number = w->ids.count;
    w->ids.count += 3;
    find_first(w, g, x, &date, &url);
    pthread_mutex_unlock(&w->lock);
    cos__warc_id(&w->ids, number, names.answer);
    cos__warc_id(&w->ids, number + 1, names.request);
    cos__warc_id(&w->ids, number + 2, names.metadata);
    if (g->fd >= 0 && !url) {
        pthread_mutex_lock(&w->lock);
        err = add_large(w, g, x, &names);
        pthread_mutex_unlock(&w->lock);
    } else {
        err = cos__warc_records(g, x, names.answer, names.request, names.metadata, date, url);
        pthread_mutex_lock(&w->lock);
        if (!err)
            err = append_exchange(w, g, x);
        pthread_mutex_unlock(&w->lock);
    }
    free(date);
    free(url);
    return err;
}

int cos_warc_add(struct cos_warc *w, const struct cos_warc_exchange *x)
{
    struct cos__warc_group *g;
    int err;
    pthread_mutex_lock(&w->lock);
    g = group_take(w);
    pthread_mutex_unlock(&w->lock);
    err = g ? add(w, g, x) : COS_ENOMEM;
    pthread_mutex_lock(&w->lock);
    group_give(w, g);
    pthread_mutex_unlock(&w->lock);
    return err;
}
