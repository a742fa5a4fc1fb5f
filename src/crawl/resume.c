/* resume.c - the beginning and the end of a crawl: open the directory, compare
 * its settings, load what an earlier run left, add the seeds; and at the end
 * write what is still only in memory.
 *
 * A killed run may leave depths and referrers behind that a later page had
 * already improved. They follow from the links, which are all there, so they
 * are computed again: passes over the stored links until nothing changes. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"
#include "web/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_MAX = 1 << 28, STALE_BATCH = 20000, IS_SITEMAP = 1, BASE_BYTES = 24 << 20 };

/* A page that an earlier run lost is lost in this one too. */
static int exit_of_row(const struct cos_db_row *row)
{
    int err = row->reason ? cos_err_from_text(row->reason) : 0;
    if (row->status == 401 || row->status == 407)
        return cos_err_exit(COS_EAUTH);
    return err && cos_err_exit(err) ? cos_err_exit(err) : cos_err_exit(COS_EHTTP);
}

void cos__count_row(struct cos__crawl *c, const struct cos_db_row *row)
{
    int err = row->reason ? cos_err_from_text(row->reason) : 0;
    char status[16], url[256];
    snprintf(status, sizeof status, "%d", row->status);
    snprintf(url, sizeof url, "%.*s", (int)row->url_len, row->url);
    cos__count_failure(c, err ? cos_strerror(err) : status, url);
}

/* --- loading ---------------------------------------------------------------------------- */

static void load_state(struct cos__crawl *c, uint32_t id, const struct cos_db_row *row)
{
    struct cos_node *node = cos_frontier_node(&c->frontier, id);
    static const uint8_t states[] = {[COS_DB_QUEUED] = COS_URL_NEW,
                                     [COS_DB_DONE] = COS_URL_DONE,
                                     [COS_DB_FAILED] = COS_URL_FAILED,
                                     [COS_DB_SKIPPED] = COS_URL_SKIPPED};
    node->state = states[row->state] & 7u;
    node->written = 1;
    node->expanded = row->has_links != 0;
    node->referrer = row->referrer;
    node->depth = (uint16_t)row->depth;
    node->rank = row->referrer || row->depth ? UINT32_MAX : 0;
    if (row->state == COS_DB_SKIPPED) {
        node->note = (uint8_t)cos__skip_of(row->reason);
        if (node->note == COS_SKIP_NOFOLLOW || node->note == COS_SKIP_FOLLOW)
            node->depth |= COS__UNREACHED;
        c->stats.skipped++;
        c->stats.skipped_by[node->note]++;
    }
    if (row->state == COS_DB_DONE) {
        c->stats.done++;
        c->stats.resumed++;
        if (row->hash)
            cos__count_content(c, row->hash);
    }
    if (row->state == COS_DB_FAILED) {
        c->stats.failed++;
        c->failed_before++;
        cos__count_row(c, row);
        cos__remember_error(c, exit_of_row(row));
    }
    if (row->state == COS_DB_QUEUED && row->reason && !strcmp(row->reason, "sitemap"))
        node->note = IS_SITEMAP;
    else if (row->depth == 0 && row->referrer == 0 && !row->reason)
        cos_scope_seed(c->scope, row->url, row->url_len);
}

static int load_row(void *arg, const struct cos_db_row *row)
{
    struct cos__crawl *c = arg;
    uint32_t id = 0;
    int err;
    if (row->id != c->frontier.count + 1)
        return COS_EDB;
    err = cos_frontier_add(&c->frontier, cos_frontier_hash(&c->frontier, row->url, row->url_len),
                           row->url, row->url_len, &id);
    if (err)
        return err;
    load_state(c, id, row);
    err = cos__revalidate_row(c, id, row);
    if (err)
        return err;
    if (c->frontier.max_bytes && c->frontier.bytes > c->frontier.max_bytes)
        cos_frontier_spill(&c->frontier);
    return 0;
}

static int relax(void *arg, uint32_t src, const char *url, size_t len, const uint32_t *links,
                 size_t n)
{
    struct cos__crawl *c = arg;
    struct cos_node *node = cos_frontier_node(&c->frontier, src);
    if (n == 1 && (links[0] & COS_DB_KIND) == COS_LINK_REDIRECT) {
        const char *to = cos_frontier_text(&c->frontier, links[0] >> COS_DB_SHIFT);
        node->next = links[0] >> COS_DB_SHIFT;
        if (!node->redirects && cos__is_seed(c, src) && to)
            cos_scope_seed(c->scope, to, strlen(to));
        node->redirects = 1;
    }
    c->relaxed |= cos__found_again(c, src, url, len, links, n);
    return 0;
}

/* What found.c would offer again later is offered here, pass by pass. */
static void hold_back(struct cos__crawl *c)
{
    for (uint32_t id = 1; id <= c->frontier.count; id++)
        cos_frontier_node(&c->frontier, id)->again = 1;
}

static void queue_loaded(struct cos__crawl *c)
{
    for (uint32_t id = 1; id <= c->frontier.count; id++) {
        struct cos_node *node = cos_frontier_node(&c->frontier, id);
        node->again = 0;
        if (node->state != COS_URL_NEW)
            continue;
        if (node->note != IS_SITEMAP || cos__resume_sitemap(c, id))
            cos_frontier_queue(&c->frontier, id);
    }
}

static int load(struct cos__crawl *c)
{
    int err = cos_db_each(c->db, load_row, c);
    if (err || !c->frontier.count)
        return err;
    hold_back(c);
    for (int pass = 0; !err && pass < 64; pass++) {
        c->relaxed = 0;
        err = cos_db_each_links(c->db, relax, c);
        if (!c->relaxed)
            break;
    }
    queue_loaded(c);
    return err;
}

/* --- seeds -------------------------------------------------------------------------------- */

static int each_seed(struct cos__crawl *c, int (*fn)(struct cos__crawl *, const char *, size_t))
{
    struct cos_url url;
    int err = 0;
    cos_url_init(&url);
    for (size_t i = 0; i < c->opt->nurls && !err; i++) {
        const char *text = c->opt->urls[i];
        err = cos_url_parse(&url, text, strlen(text), NULL);
        if (err) {
            cos__abort(c, err, "%.300s: %s", text, cos_strerror(err));
            break;
        }
        cos_url_drop_fragment(&url);
        err = cos__take_login(c, &url);
        if (!err)
            err = fn(c, url.href.data, url.href.len);
    }
    cos_url_release(&url);
    return err;
}

static int seed_scope(struct cos__crawl *c, const char *url, size_t len)
{
    struct cos_host *host = cos_frontier_origin(&c->frontier, url, len, NULL);
    if (!host)
        return COS_ENOMEM;
    host->seeded = 1;
    return cos_scope_seed(c->scope, url, len);
}

static int seed_queue(struct cos__crawl *c, const char *url, size_t len)
{
    return cos__found_seed(c, url, len) ? 0 : COS_ENOMEM;
}

static int add_sitemaps(struct cos__crawl *c)
{
    struct cos_url url;
    int err = 0;
    cos_url_init(&url);
    for (size_t i = 0; i < c->opt->sitemaps.n && !err; i++) {
        const char *text = c->opt->sitemaps.v[i];
        err = cos_url_parse(&url, text, strlen(text), NULL);
        if (err) {
            cos__abort(c, err, "%.300s: %s", text, cos_strerror(err));
            break;
        }
        cos_url_drop_fragment(&url);
        if (!c->opt->nurls)
            err = seed_scope(c, url.href.data, url.href.len);
        if (!err)
            err = cos__ask_sitemap(c, url.href.data, url.href.len, 0);
    }
    cos_url_release(&url);
    return err;
}

static int add_seeds(struct cos__crawl *c)
{
    int err = each_seed(c, seed_scope);
    if (!err)
        err = cos__revalidate_begin(c);
    if (!err)
        err = load(c);
    if (!err)
        err = cos__revalidate(c);
    if (!err)
        err = each_seed(c, seed_queue);
    return err ? err : add_sitemaps(c);
}

/* --- open and close -------------------------------------------------------------------------- */

/* What is left for the frontier when everything else has its share. */
static size_t frontier_bytes(const struct cos__crawl *c)
{
    int64_t max = c->opt->max_memory > 0 ? c->opt->max_memory : (int64_t)256 << 20;
    int64_t rest = max - BASE_BYTES - (int64_t)c->limit.concurrency * (128 << 10);
    return (size_t)(rest < max / 4 ? max / 4 : rest);
}

struct opening {
    struct cos__crawl *c;
    struct cos_buf *why;
};

static int open_save(void *data)
{
    struct opening *o = data;
    return cos_save_open(&o->c->save, o->c->opt->dir ? o->c->opt->dir : ".", o->why);
}

static int open_store(struct cos__crawl *c, struct cos_buf *why)
{
    struct cos_db_events events;
    struct opening *o;
    void *data;
    const char *dir = !c->limit.save ? NULL : c->opt->dir ? c->opt->dir : ".";
    int err;
    cos__db_events_init(c, &events);
    err = cos_db_open(&c->db, dir, c->opt->fresh ? COS_DB_FRESH : 0, &events, why);
    if (err || !dir)
        return err;
    err = cos__check_settings(c, why);
    if (err)
        return err;
    o = malloc(sizeof *o);
    if (!o)
        return COS_ENOMEM;
    *o = (struct opening){c, why};
    data = o;
    err = cos_offload(open_save, &data, NULL, -1);
    free(data);
    return err;
}

static void say_how_it_goes_on(struct cos__crawl *c)
{
    const struct cos_frontier *f = &c->frontier;
    if (!c->stats.resumed && !c->stats.failed)
        return;
    if (f->open)
        cos__say(c, COS_SAY_INFO, "resumed: %lld done, %lld queued", (long long)c->stats.done,
                 (long long)f->queued);
    else
        c->stop = COS_STOP_ALREADY;
}

/* As the frontier knows it: without a password. */
static const char *first_seed(const struct cos__crawl *c)
{
    const char *url = c->frontier.count ? cos_frontier_text(&c->frontier, 1) : NULL;
    return c->opt->nurls && url ? url : "";
}

int cos__open(struct cos__crawl *c)
{
    struct cos_polite_rules rules = cos__polite_rules(c->opt);
    struct cos_buf why;
    int err;
    cos_buf_init(&why, sizeof c->result->message);
    cos__limits_init(c);
    c->lazy = !c->limit.save && c->limit.level < 0;
    cos_ring_init(&c->again, sizeof(uint32_t), RING_MAX);
    cos_ring_init(&c->errands, sizeof(struct cos__visit *), RING_MAX);
    err = cos_frontier_init(&c->frontier, &rules, frontier_bytes(c));
    if (!err)
        err = cos__request_init(c);
    if (!err)
        err = cos_scope_new(&c->scope, c->opt, &why);
    if (!err)
        err = cos__digests_new(&c->digests);
    if (!err)
        err = open_store(c, &why);
    if (!err)
        err = cos__archive_open(c, &why);
    if (!err)
        err = cos__load_cookies(c);
    if (!err)
        err = add_seeds(c);
    if (!err)
        err = cos_db_run_begin(c->db, first_seed(c));
    if (!err)
        err = cos__before(c);
    if (!err)
        say_how_it_goes_on(c);
    if (err && c->db && !why.len)
        cos_db_err(c->db, &why);
    if (err && c->stop != COS_STOP_ERROR)
        cos__abort(c, err, "%s", why.len ? why.data : cos_strerror(err));
    cos_buf_release(&why);
    return err;
}

/* Rows whose depth or referrer changed after they were written. */
static int write_stale(struct cos__crawl *c)
{
    int err = 0;
    for (uint32_t id = 1; id <= c->frontier.count && !err; id++) {
        struct cos_node *node = cos_frontier_node(&c->frontier, id);
        if (!node->stale || c->lazy)
            continue;
        cos_db_put_depth(c->db, id, node->depth & ~COS__UNREACHED, node->referrer);
        node->stale = 0;
        if (cos_db_waiting(c->db) >= STALE_BATCH)
            err = cos_db_flush(c->db, -1);
    }
    return err ? err : cos_db_flush(c->db, -1);
}

static int end_run(struct cos__crawl *c)
{
    static const char *const how[] = {"finished", "already finished", "interrupted", "failures",
                                      "pages",    "quota",            "time",        "error"};
    int err = write_stale(c);
    cos__fill_stats(c);
    cos__judge_exit(c);
    if (!err)
        err = cos_db_run_end(c->db, c->result->exit_code,
                             c->stop == COS_STOP_FINISHED && c->put_off ? "incomplete"
                                                                        : how[c->stop],
                             c->stats.done - c->stats.resumed, c->stats.failed - c->failed_before,
                             c->stats.bytes);
    return err;
}

static int close_work(void *save)
{
    cos_save_close(save);
    return 0;
}

/* A directory is removed; who is being closed does it on the spot. */
static void close_save(struct cos_save *save)
{
    void *data = save;
    if (save && cos_offload(close_work, &data, NULL, -1) && data)
        cos_save_close(data);
}

int cos__close(struct cos__crawl *c)
{
    struct cos__visit *visit;
    int err = 0, closed, archived;
    if (c->stop == COS__RUNNING)
        c->stop = COS_STOP_FINISHED;
    cos__digests_free(c->digests);
    archived = cos__archive_close(c);
    if (archived && c->stop != COS_STOP_ERROR)
        cos__abort(c, archived, "%s: %s", c->opt->warc_file, cos_strerror(archived));
    cos__markup_close(c);
    if (c->db && c->result->err != COS_ECANCELED && !cos_db_err(c->db, NULL) &&
        c->result->err != COS_EINVAL)
        err = end_run(c);
    if (c->result->err != COS_ECANCELED)
        cos__keep_cookies(c, 1);
    if (c->stop != COS_STOP_ERROR)
        cos__save_cookies(c);
    cos__fill_stats(c);
    closed = cos_db_close(c->db);
    close_save(c->save);
    cos_scope_free(c->scope);
    cos__robots_free_all(c);
    cos_frontier_release(&c->frontier);
    while (cos_ring_pop(&c->errands, &visit) == 0)
        cos__visit_free(visit);
    cos_ring_release(&c->errands);
    cos_ring_release(&c->again);
    cos__request_release(c);
    cos__phases_free(c);
    free(c->contents);
    free(c->marks);
    return err ? err : closed;
}
