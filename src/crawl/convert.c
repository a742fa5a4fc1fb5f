/* convert.c - --convert-links: once all is saved, references become relative
 * where their target was saved, and absolute where it was not.
 *
 * Every page and style sheet is converted from what the server sent (store keeps
 * it, save.h), so the result depends on that and on what is saved, never on how
 * often or how far an earlier conversion came: after a kill, a resume or a
 * revalidation it is that of a fresh copy. A file that would not change is not
 * written. web/rewrite.h edits, store/save.h puts into place.
 *
 * The work runs on the database thread, which has the rows, some files at a time;
 * between them the loop has its turn. A byte per URL says what is saved: the name
 * of a file follows from its URL and its type. */
#define DILL_DISABLE_RAW_NAMES
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "crawl/place.h"
#include "store/path.h"
#include "web/rewrite.h"

#include <libdill.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_AT_ONCE = 64, BODY_MAX = 256 << 20, HOPS_MAX = 256, ENOUGH = 1 };
enum { SAVED = 1, SOUGHT = 128 }; /* in kept: SAVED + its type; a redirect leads here */

struct convert {
    struct cos__crawl *c;
    uint8_t *kept; /* by id */
    uint32_t last; /* id of the row looked at last */
    int files;     /* in this turn */
    int64_t edited;
    struct cos_url target;
    struct cos_buf body, out, path, backup;
    const char *from; /* path of the file at work */
};

/* --- what is saved ------------------------------------------------------------------ */

static int note_row(void *arg, const struct cos_db_row *row)
{
    struct convert *v = arg;
    struct cos__crawl *c = v->c;
    if (row->id > c->frontier.count)
        return COS_EDB;
    if (row->state == COS_DB_DONE && row->path)
        v->kept[row->id] |= (uint8_t)(SAVED + (c->opt->adjust_extension
                                                   ? cos__place_type(row->mime)
                                                   : 0));
    /* The text of a redirect's target is needed and may have been spilled. */
    if ((v->kept[row->id] & SOUGHT) && !cos_frontier_text(&c->frontier, row->id))
        return cos_frontier_set_text(&c->frontier, row->id, row->url, row->url_len);
    return 0;
}

static int look_around(struct convert *v)
{
    const struct cos_frontier *f = &v->c->frontier;
    v->kept = calloc((size_t)f->count + 1, 1);
    if (!v->kept)
        return COS_ENOMEM;
    for (uint32_t id = 1; id <= f->count; id++) {
        const struct cos_node *node = cos_frontier_node(f, id);
        if (node->redirects && node->next && node->next <= f->count)
            v->kept[node->next] = SOUGHT;
    }
    return cos_db_each(v->c->db, note_row, v);
}

/* --- one reference -------------------------------------------------------------------- */

static int is_plain(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26 || (unsigned)(c - '0') < 10 ||
           strchr("-._~/,@=+!$*", c) != NULL;
}

/* A comma at the end would be taken for a separator in srcset, and in prose. */
static int put_path(struct cos_buf *out, const char *path)
{
    int err = 0;
    for (; *path && !err; path++)
        err = is_plain(*path) && (*path != ',' || path[1])
                  ? cos_buf_addc(out, *path)
                  : cos_buf_addf(out, "%%%02X", (unsigned)(unsigned char)*path);
    return err;
}

/* From the directory of one file to another; always begins with a dot, so that
 * nothing in it is taken for a scheme. */
static int put_relative(struct cos_buf *out, const char *from, const char *to)
{
    size_t common = 0;
    int err = 0, up = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/')
            common = i + 1;
    for (const char *p = from + common; *p; p++)
        if (*p == '/') {
            err = err ? err : cos_buf_adds(out, "../");
            up = 1;
        }
    if (!err && !up)
        err = cos_buf_adds(out, "./");
    return err ? err : put_path(out, to + common);
}

/* Follows redirects to what is saved; 0: nothing is. */
static uint32_t saved_id(const struct convert *v, uint32_t id)
{
    const struct cos_frontier *f = &v->c->frontier;
    for (int hops = 0; id && id <= f->count && hops < HOPS_MAX; hops++) {
        const struct cos_node *node = cos_frontier_node(f, id);
        if (v->kept[id] & ~SOUGHT)
            return id;
        id = node->redirects ? node->next : 0;
    }
    return 0;
}

/* The file of id, into v->path. url: what the reference says. */
static int file_of(struct convert *v, uint32_t id, uint32_t named, const struct cos_url *url)
{
    const struct cos__crawl *c = v->c;
    int type = (v->kept[id] & ~SOUGHT) - SAVED, err;
    if (id != named) {
        const char *text = cos_frontier_text(&c->frontier, id);
        err = text ? cos_url_parse(&v->target, text, strlen(text), NULL) : COS_EDB;
        if (err)
            return err;
        url = &v->target;
    }
    return cos__place(url, type,
                      c->opt->no_host_directories &&
                          cos_scope_seeded(c->scope, url->href.data, url->fragment),
                      &v->path);
}

static int new_reference(void *arg, const struct cos_url *url, struct cos_buf *out)
{
    struct convert *v = arg;
    const struct cos_frontier *f = &v->c->frontier;
    uint32_t named = cos_frontier_find(f, cos_frontier_hash(f, url->href.data, url->fragment));
    uint32_t id = saved_id(v, named);
    int err;
    if (!id) {
        err = cos_buf_add(out, url->href.data, url->fragment);
    } else {
        err = file_of(v, id, named, url);
        if (!err)
            err = put_relative(out, v->from, v->path.data);
    }
    return err ? err : id ? 2 : 1;
}

/* --- one file ---------------------------------------------------------------------------- */

static int keep_backup(struct convert *v, const char *path)
{
    int err;
    if (!v->c->opt->backup_converted)
        return 0;
    cos_buf_clear(&v->backup);
    err = cos_buf_addf(&v->backup, "%s,.orig", path);
    if (!err)
        err = cos_save_backup(v->c->save, path, v->backup.data);
    return err < 0 ? err : 0;
}

static int convert_file(struct convert *v, const struct cos_db_row *row)
{
    struct cos_rewrite in = {.mime = row->mime, .charset = row->charset, .url = row->url};
    int got;
    v->from = row->path;
    got = cos_save_original(v->c->save, row->path, &v->body);
    if (got)
        return got;
    in.data = v->body.data ? v->body.data : "";
    in.len = v->body.len;
    got = cos_rewrite(&in, new_reference, v, &v->out);
    if (got > 0)
        got = cos_save_edit(v->c->save, row->path, v->out.data, v->out.len);
    else if (got == 0 || got == COS_ECHARSET)
        return cos_save_restore(v->c->save, row->path);
    if (got >= 0 && keep_backup(v, row->path))
        return COS_EIO;
    return got;
}

/* Only these hold references; where no type was sent, the content says what it is. */
static int may_refer(const char *mime)
{
    return !mime || !strcmp(mime, "text/html") || !strcmp(mime, "text/css") ||
           strstr(mime, "xhtml") || !strcmp(mime, "text/xml") || !strcmp(mime, "application/xml");
}

static int convert_row(void *arg, const struct cos_db_row *row)
{
    struct convert *v = arg;
    int got;
    if (v->files >= FILES_AT_ONCE)
        return COS_EFULL;
    v->last = row->id;
    if (row->state != COS_DB_DONE || !row->path || !may_refer(row->mime))
        return 0;
    v->files++;
    got = convert_file(v, row);
    if (got > 0)
        v->edited++;
    /* A file that somebody removed is no reason to leave the others as they are. */
    return got == COS_ENOENT || got == COS_ETOOBIG || got > 0 ? 0 : got;
}

/* --- the whole ------------------------------------------------------------------------------ */

static int all_files(struct convert *v)
{
    struct cos__crawl *c = v->c;
    int err;
    do {
        v->files = 0;
        err = cos_db_each_after(c->db, v->last, convert_row, v);
        c->now = dill_now();
        cos__tick(c);
        if (err == COS_EFULL && c->stop == COS_STOP_INTERRUPTED)
            return ENOUGH;
    } while (err == COS_EFULL);
    return err;
}

static void release(struct convert *v)
{
    free(v->kept);
    cos_url_release(&v->target);
    cos_buf_release(&v->body);
    cos_buf_release(&v->out);
    cos_buf_release(&v->path);
    cos_buf_release(&v->backup);
}

int cos__convert(struct cos__crawl *c)
{
    struct convert v = {.c = c};
    int err;
    cos_url_init(&v.target);
    cos_buf_init(&v.body, BODY_MAX);
    cos_buf_init(&v.out, (size_t)BODY_MAX * 4);
    cos_buf_init(&v.path, COS_PATH_MAX);
    cos_buf_init(&v.backup, COS_PATH_MAX + 16);
    err = look_around(&v);
    if (!err)
        err = all_files(&v);
    c->stats.converted = v.edited;
    release(&v);
    return err;
}
