/* after.c - what happens to a copy once all of it is saved: links are converted,
 * then equal files share their place.
 * A note in the database says whether that was done and nothing has come since;
 * it is taken back before the first page of a run, so that a killed one is known
 * to have left work. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

static const char NOTE[] = "finished";
enum { KIND = 64 };

/* What was to be done, as the note has it. */
static const char *kind_of(const struct cos__crawl *c, char kind[KIND])
{
    static const char *const shared[] = {"", " link", " reflink"};
    snprintf(kind, KIND, "done%s%s%s", c->opt->convert_links ? " convert" : "",
             c->opt->backup_converted ? " backup" : "", shared[c->opt->dedup]);
    return kind;
}

int cos__before(struct cos__crawl *c)
{
    struct cos_buf note;
    char kind[KIND];
    int err;
    if (!c->save)
        return 0;
    cos_buf_init(&note, KIND);
    err = cos_db_note_get(c->db, NOTE, &note);
    c->finished = !err && note.data && !strcmp(note.data, kind_of(c, kind));
    if (err == COS_ENOENT || (!err && !c->frontier.open))
        err = 0;
    else if (!err)
        err = cos_db_note(c->db, NOTE, "no");
    cos_buf_release(&note);
    return err;
}

static int convert(struct cos__crawl *c)
{
    int err = cos__convert(c);
    if (err < 0)
        cos__abort(c, err, "cannot convert the links: %s", cos_strerror(err));
    return err;
}

static int share(struct cos__crawl *c)
{
    int err = cos__dedup(c);
    if (err)
        cos__abort(c, err, "cannot share equal files: %s", cos_strerror(err));
    return err;
}

int cos__after(struct cos__crawl *c)
{
    char kind[KIND];
    int err;
    if (!c->save || c->stop == COS_STOP_ERROR || c->stop == COS_STOP_INTERRUPTED)
        return 0;
    err = cos_db_flush(c->db, -1);
    if (!err)
        err = cos__revalidate_end(c);
    if (err || (!c->opt->convert_links && !c->opt->dedup))
        return err;
    if (c->opt->convert_links && (!c->finished || c->changed))
        err = convert(c);
    if (!err && c->opt->dedup && (!c->finished || c->changed))
        err = share(c);
    if (!err)
        err = cos_db_note(c->db, NOTE, kind_of(c, kind));
    return err < 0 ? err : 0;
}
