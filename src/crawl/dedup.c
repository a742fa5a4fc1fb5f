/* dedup.c - --dedup: once all is saved, files with the same content share their
 * place on the disk. The database knows which pages came with the same content;
 * what counts is the files, since converted links may make them differ.
 *
 * Files are only ever replaced, never written to, so that one of them changing
 * later leaves the others alone. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* Different files that came with the same content, at most. */
enum { FIRSTS = 8 };

struct dedup {
    struct cos__crawl *c;
    char hash[40];
    char *first[FIRSTS];
    int n;
};

static void forget(struct dedup *d)
{
    while (d->n)
        free(d->first[--d->n]);
}

/* 1: shared with one of those before; 0: it is another; or an error. */
static int share(struct dedup *d, const char *path)
{
    struct cos__crawl *c = d->c;
    int64_t bytes = 0;
    int got = 0;
    for (int i = 0; i < d->n && !got; i++)
        got = cos_save_share(c->save, d->first[i], path, c->opt->dedup == COS_DEDUP_REFLINK,
                             &bytes);
    if (got > 0) {
        c->stats.shared_files++;
        c->stats.shared_bytes += bytes;
    }
    return got;
}

static int each_copy(void *arg, const char *hash, const char *path)
{
    struct dedup *d = arg;
    int got;
    if (strcmp(hash, d->hash) != 0) {
        forget(d);
        strncpy(d->hash, hash, sizeof d->hash - 1);
    }
    got = share(d, path);
    /* A file that is missing, or has as many names as it can. */
    if (got == COS_ENOENT || got == COS_EFULL)
        got = 0;
    if (got)
        return got < 0 ? got : 0;
    if (d->n == FIRSTS)
        free(d->first[--d->n]);
    d->first[d->n] = strdup(path);
    return d->first[d->n++] ? 0 : COS_ENOMEM;
}

int cos__dedup(struct cos__crawl *c)
{
    struct dedup d = {.c = c};
    int err = cos_db_each_copy(c->db, each_copy, &d);
    forget(&d);
    if (err == COS_ENOTSUP)
        cos__abort(c, err, "--dedup=reflink: this file system shares no blocks; --dedup=link makes "
                   "hard links");
    return err;
}
