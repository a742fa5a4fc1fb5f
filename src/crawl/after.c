/* after.c - what happens to a copy once all of it is saved: links are converted.
 * A note in the database says whether that was done and nothing has come since;
 * it is taken back before the first page of a run, so that a killed one is known
 * to have left work. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

#include <string.h>

static const char NOTE[] = "converted";

static const char *kind_of(const struct cos__crawl *c)
{
    return c->opt->backup_converted ? "with originals" : "yes";
}

int cos__before(struct cos__crawl *c)
{
    struct cos_buf note;
    int err;
    if (!c->save)
        return 0;
    cos_buf_init(&note, 64);
    err = cos_db_note_get(c->db, NOTE, &note);
    c->converted = !err && note.data && !strcmp(note.data, kind_of(c));
    if (err == COS_ENOENT || (!err && !c->frontier.open))
        err = 0;
    else if (!err)
        err = cos_db_note(c->db, NOTE, "no");
    cos_buf_release(&note);
    return err;
}

static int convert(struct cos__crawl *c)
{
    int err = c->converted && !c->changed ? 0 : cos__convert(c);
    return err ? err : cos_db_note(c->db, NOTE, kind_of(c));
}

int cos__after(struct cos__crawl *c)
{
    int err;
    if (!c->save || c->stop == COS_STOP_ERROR || c->stop == COS_STOP_INTERRUPTED)
        return 0;
    err = cos_db_flush(c->db, -1);
    if (!err)
        err = cos__revalidate_end(c);
    if (!err && c->opt->convert_links)
        err = convert(c);
    if (err > 0)
        return 0;
    if (err)
        cos__abort(c, err, "cannot convert the links: %s", cos_strerror(err));
    return err;
}
