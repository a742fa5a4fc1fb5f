/* revalidate.c - -N: a finished crawl is asked about again. Every page whose file
 * is there goes out with the validators of its row; 304 keeps file and row, and
 * its links are those of the row, which were offered when the crawl was loaded.
 *
 * A row stays as it is until the new answer commits, so a kill loses nothing. A
 * note with the time of the beginning makes a revalidation that was cut off go on
 * with the pages that were not asked since. An unfinished crawl is finished first.
 *
 * A server in trouble (5xx, no answer) is no reason to give a page up that is
 * here: the failure is told, the row stays. Other 4xx mean that the page is not
 * to be had any more (404 and 410: gone), and the row says so; its file stays,
 * and the row still names it. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static const char NOTE[] = "revalidating";

/* What is known of a loaded page; c->marks, by id. */
enum { HAS_FILE = 1, FRESH = 2, SITEMAP = 4, ASK = 8, REDIRECTED = 16, WAS_DONE = 32,
       WAS_FAILED = 64 };

/* --- loading ----------------------------------------------------------------------- */

int cos__revalidate_begin(struct cos__crawl *c)
{
    struct cos_buf note;
    int err;
    if (!c->opt->timestamping || !c->save)
        return 0;
    cos_buf_init(&note, sizeof c->since);
    err = cos_db_note_get(c->db, NOTE, &note);
    if (!err && note.len < sizeof c->since)
        memcpy(c->since, note.data ? note.data : "", note.len);
    cos_buf_release(&note);
    return err == COS_ENOENT ? 0 : err;
}

static int grow_marks(struct cos__crawl *c, uint32_t id)
{
    size_t room = c->marks_room ? c->marks_room : 1024;
    uint8_t *more;
    if (id < c->marks_room)
        return 0;
    while (room <= id)
        room *= 2;
    more = realloc(c->marks, room);
    if (!more)
        return COS_ENOMEM;
    memset(more + c->marks_room, 0, room - c->marks_room);
    c->marks = more;
    c->marks_room = room;
    return 0;
}

/* On the database thread, which may look at files. */
int cos__revalidate_row(struct cos__crawl *c, uint32_t id, const struct cos_db_row *row)
{
    uint8_t mark = 0;
    if (!c->opt->timestamping || !c->save)
        return 0;
    if (grow_marks(c, id))
        return COS_ENOMEM;
    if (!row->path || cos_save_exists(c->save, row->path))
        mark |= HAS_FILE;
    if (c->since[0] && row->checked && strcmp(row->checked, c->since) >= 0)
        mark |= FRESH;
    if (row->reason && !strncmp(row->reason, "sitemap", 7))
        mark |= SITEMAP;
    c->marks[id] = mark;
    return 0;
}

/* --- what is asked again --------------------------------------------------------------- */

static int worth_asking(const struct cos_node *node, uint8_t mark)
{
    if (mark & FRESH)
        return 0;
    return node->state == COS_URL_DONE || node->state == COS_URL_FAILED ||
           (node->state == COS_URL_SKIPPED &&
            (node->note == COS_SKIP_ROBOTS || node->note == COS_SKIP_TYPE ||
             node->note == COS_SKIP_SIZE));
}

static void uncount(struct cos__crawl *c, const struct cos_node *node)
{
    if (node->state == COS_URL_DONE) {
        c->stats.done--;
        c->stats.resumed--;
    } else if (node->state == COS_URL_FAILED) {
        c->stats.failed--;
        c->failed_before--;
    } else {
        c->stats.skipped--;
        c->stats.skipped_by[node->note]--;
    }
}

static void ask_again(struct cos__crawl *c, uint32_t id)
{
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    uint8_t *mark = &c->marks[id];
    if (node->state == COS_URL_DONE)
        *mark |= WAS_DONE;
    if (node->state == COS_URL_FAILED)
        *mark |= WAS_FAILED;
    if (node->redirects)
        *mark |= REDIRECTED;
    *mark |= ASK;
    uncount(c, node);
    /* next belongs to the queue from here on. */
    node->redirects = 0;
    if (!(*mark & SITEMAP) || cos__resume_sitemap(c, id))
        cos_frontier_queue(&c->frontier, id);
}

static int note_time(struct cos__crawl *c)
{
    int err;
    if (c->since[0])
        return 0;
    cos__now_text(c->since);
    err = cos_db_note(c->db, NOTE, c->since);
    if (err)
        c->since[0] = 0;
    return err;
}

/* What is not asked about is told as it is: a list is one of all URLs. */
static int64_t ask_all(struct cos__crawl *c)
{
    int64_t n = 0;
    for (uint32_t id = 1; id <= c->frontier.count && id < c->marks_room; id++) {
        const struct cos_node *node = cos_frontier_node(&c->frontier, id);
        if (worth_asking(node, c->marks[id])) {
            ask_again(c, id);
            n++;
        } else if (node->state == COS_URL_SKIPPED) {
            cos__skipped_before(c, id);
        }
    }
    return n;
}

/* Failures that an interrupted revalidation has seen count still, others not. */
static int still_failed(void *arg, const struct cos_db_row *row)
{
    struct cos__crawl *c = arg;
    if (row->state == COS_DB_FAILED && row->id <= c->frontier.count &&
        cos_frontier_node(&c->frontier, row->id)->state == COS_URL_FAILED)
        cos__count_row(c, row);
    return 0;
}

static int count_failures(struct cos__crawl *c)
{
    free(c->kinds);
    c->kinds = NULL;
    c->nkinds = 0;
    if (c->stats.failed)
        return cos_db_each(c->db, still_failed, c);
    c->worst = 0;
    return 0;
}

int cos__revalidate(struct cos__crawl *c)
{
    int64_t n = 0;
    int err;
    if (!c->marks || (!c->since[0] && c->frontier.open))
        return 0;
    err = note_time(c);
    if (!err)
        n = ask_all(c);
    if (!err)
        err = count_failures(c);
    free(c->contents);
    c->contents = NULL;
    c->contents_mask = c->contents_used = 0;
    c->stats.duplicates = 0;
    if (!err)
        cos__say(c, COS_SAY_INFO, "asking again about %lld URLs", (long long)n);
    return err;
}

int cos__revalidate_end(struct cos__crawl *c)
{
    int err;
    if (!c->since[0] || c->stop != COS__RUNNING)
        return 0;
    err = cos__ways(c);
    return err ? err : cos_db_note(c->db, NOTE, "");
}

/* --- one page ------------------------------------------------------------------------------ */

static uint8_t mark_of(const struct cos__crawl *c, uint32_t id)
{
    return c->marks && id && id < c->marks_room ? c->marks[id] : 0;
}

void cos__recall(struct cos__visit *visit, struct cos_request *request)
{
    struct cos__crawl *c = visit->crawl;
    uint8_t mark = mark_of(c, visit->id);
    if (!(mark & ASK) || cos_db_recall(c->db, visit->id, &visit->known))
        return;
    /* The validators of an error page are not those of a page. */
    if (!(mark & HAS_FILE) || (mark & WAS_FAILED))
        return;
    request->etag = visit->known.etag;
    request->modified = visit->known.modified;
    visit->conditional = request->etag || request->modified;
}

int cos__is_unchanged(const struct cos__visit *visit)
{
    return visit->page->status == 304 && visit->conditional;
}

/* --list and its kin tell what the page is, not how it was sent. */
void cos__recall_page(struct cos__visit *visit)
{
    struct cos__crawl *c = visit->crawl;
    int err;
    if (!c->ev.page || !visit->page || visit->page->err || !cos__is_unchanged(visit))
        return;
    err = cos_db_recall_page(c->db, visit->id, visit->page);
    if (err && err != COS_ENOENT)
        visit->page->err = err;
}

void cos__unchanged(struct cos__crawl *c, struct cos__visit *visit)
{
    struct cos_page *page = visit->page;
    struct cos_node *node = cos_frontier_node(&c->frontier, visit->id);
    int skip = cos_scope_keeps(c->scope, page->url, strlen(page->url));
    c->stats.unchanged++;
    if (skip) {
        c->stats.skipped++;
        c->stats.skipped_by[skip]++;
    } else {
        c->stats.done++;
    }
    page->path = visit->known.path;
    visit->known.path = NULL;
    if (visit->known.hash[0] || visit->known.hash[1])
        cos__count_content(c, visit->known.hash);
    cos__tell_page(c, page, skip);
    cos_frontier_settle(&c->frontier, visit->id, skip ? COS_URL_SKIPPED : COS_URL_DONE);
    node->note = (uint8_t)skip;
    cos_db_put_checked(c->db, visit->id, page->timing.started_at, NULL);
}

/* Says that a page is not to be had, and not that it cannot be asked for now. */
static int is_answer(int err, int status)
{
    return err == COS_EHTTP && status >= 400 && status < 500 && status != 408 && status != 425 &&
           status != 429;
}

const char *cos__gone(struct cos__crawl *c, struct cos__visit *visit, int err)
{
    struct cos_page *page = visit->page;
    int gone = page->status == 404 || page->status == 410;
    if (!is_answer(err, page->status) || !(mark_of(c, visit->id) & HAS_FILE) ||
        !visit->known.path)
        return NULL;
    free(page->path);
    page->path = visit->known.path;
    visit->known.path = NULL;
    c->stats.gone += gone;
    return gone ? "gone; the file of an earlier run stays" : "the file of an earlier run stays";
}

int cos__keeps_old(struct cos__crawl *c, struct cos__visit *visit, int err)
{
    struct cos_page *page = visit->page;
    if (!(mark_of(c, visit->id) & WAS_DONE) || !(mark_of(c, visit->id) & HAS_FILE))
        return 0;
    if (is_answer(err, page->status))
        return 0;
    cos_frontier_settle(&c->frontier, visit->id, COS_URL_DONE);
    cos_frontier_node(&c->frontier, visit->id)->note = 0;
    cos_db_put_checked(c->db, visit->id, 0, "not revalidated");
    return 1;
}

void cos__no_redirect(struct cos__crawl *c, uint32_t id)
{
    if (mark_of(c, id) & REDIRECTED)
        cos_db_put_redirect(c->db, id, 0, 0);
}
