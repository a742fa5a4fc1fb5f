/* markup.c - HTML Tidy in a crawl: --parser=tidy reads links from its tree, --tidy
 * saves pages as it repairs them, --lint keeps what it finds wrong. It runs in
 * worker processes (web/tidy.h), one visit to them a page whatever is asked for.
 *
 * A page that tidy cannot take (too large, too deep, it hung or crashed) is kept
 * as it came and read by the scanner; the crawl says so. */
#include "config.h"

#include "crawl/crawl_int.h"

#include "base/err.h"
#include "coscrawl.h"
#include "web/links.h"

#include <stdlib.h>
#include <string.h>

struct job {
    struct cos_links_ctx *ctx;
    struct cos_page *page;
    struct cos_text text;
    struct cos_tidied tidied;
    int html; /* 0: it is something else, and was read already */
};

static unsigned wanted(const struct cos__crawl *c)
{
    return (c->opt->tidy ? COS_TIDY_REPAIR : 0u) | (c->opt->lint ? COS_TIDY_LINT : 0u) |
           (c->opt->parser == COS_PARSER_TIDY ? COS_TIDY_OUTLINE : 0u);
}

int cos__markup_open(struct cos__crawl *c)
{
    return wanted(c) ? cos_tidy_open(&c->tidy, 0) : 0;
}

void cos__markup_close(struct cos__crawl *c)
{
    cos_pool_close(c->tidy);
    c->tidy = NULL;
}

/* --- on a thread ---------------------------------------------------------------------- */

static int decode(void *data)
{
    struct job *job = data;
    int rc = cos_links_decode(job->ctx, job->page, &job->text);
    job->html = rc > 0 || (rc == COS_ECHARSET && job->text.data);
    return 0;
}

static int read_outline(void *data)
{
    struct job *job = data;
    const struct cos_buf *outline = &job->tidied.outline;
    cos_links_read(job->ctx, job->page, outline->data ? outline->data : "", outline->len);
    return 0;
}

static void drop(void *data)
{
    struct job *job = data;
    if (!job)
        return;
    cos_links_ctx_free(job->ctx);
    cos_page_free(job->page);
    cos_tidied_release(&job->tidied);
    free(job);
}

/* --- on a worker ------------------------------------------------------------------------ */

static struct job *job_new(struct cos__visit *visit)
{
    struct job *job = calloc(1, sizeof *job);
    if (job)
        job->ctx = cos_links_ctx_new();
    if (!job || !job->ctx) {
        free(job);
        return NULL;
    }
    job->page = visit->page;
    visit->page = NULL;
    return job;
}

/* What was not UTF-8 may still say so inside: the mark wins over that. */
static int repair(struct job *job)
{
    struct cos_page *page = job->page;
    struct cos_buf *html = &job->tidied.html;
    int err;
    if (!html->len)
        return 0;
    cos_buf_clear(&page->body);
    page->body.max = html->len + 3 > page->body.max ? html->len + 3 : page->body.max;
    err = job->text.transcoded ? cos_buf_adds(&page->body, "\xef\xbb\xbf") : 0;
    if (!err)
        err = cos_buf_add(&page->body, html->data, html->len);
    page->body_len = (int64_t)page->body.len;
    free(page->charset);
    page->charset = strdup("utf-8");
    return err || !page->charset ? COS_ENOMEM : 0;
}

static void take_lint(struct cos__visit *visit, struct job *job)
{
    job->page->lint_errors = (int)job->tidied.errors + 1;
    job->page->lint_warnings = (int)job->tidied.warnings + 1;
    visit->tidied = job->tidied;
    job->tidied = (struct cos_tidied){0};
}

/* The page is with tidy's answer now; *data is NULL when it is gone. */
static int use(struct cos__visit *visit, void **data)
{
    struct job *job = *data;
    unsigned what = wanted(visit->crawl);
    int err = 0;
    if (what & COS_TIDY_OUTLINE) {
        err = cos_offload(read_outline, data, drop, -1);
        visit->read = !err;
    }
    if (!err && (what & COS_TIDY_REPAIR))
        err = repair(job);
    if (!err && (what & COS_TIDY_LINT))
        take_lint(visit, job);
    return err;
}

static int ask_tidy(struct cos__visit *visit, void **data)
{
    struct cos__crawl *c = visit->crawl;
    struct job *job = *data;
    int err = cos_tidy(c->tidy, job->text.data, job->text.len, wanted(c), &job->tidied, -1);
    if (!err)
        return use(visit, data);
    if (err == COS_ECANCELED)
        return err;
    cos__say(c, COS_SAY_WARN, "%s: not for tidy: %s", job->page->url,
             job->tidied.why ? job->tidied.why : cos_strerror(err));
    return 0;
}

int cos__markup(struct cos__visit *visit)
{
    struct cos__crawl *c = visit->crawl;
    struct job *job;
    void *data;
    int err;
    if (!c->tidy || visit->page->spill)
        return 0;
    data = job = job_new(visit);
    if (!job)
        return COS_ENOMEM;
    err = cos_offload(decode, &data, drop, -1);
    if (!err && job->html)
        err = ask_tidy(visit, &data);
    if (!data)
        return err;
    visit->page = job->page;
    job->page = NULL;
    drop(job);
    if (err && !visit->page->err)
        visit->page->err = err;
    return err;
}

/* --- what was found ------------------------------------------------------------------------ */

void cos__lint_found(struct cos__crawl *c, struct cos__visit *visit)
{
    const struct cos_page *page = visit->page;
    const struct cos_tidied *t = &visit->tidied;
    if (!page->lint_errors)
        return;
    c->stats.lint_pages += t->errors + t->warnings > 0;
    c->stats.lint_errors += t->errors;
    c->stats.lint_warnings += t->warnings;
    if (t->errors || t->warnings)
        cos__say(c, COS_SAY_DEBUG, "%s: %u errors, %u warnings in its markup", page->url, t->errors,
                 t->warnings);
    if (c->lazy)
        return;
    cos_db_put_lint(c->db, visit->id, 0, NULL);
    for (size_t i = 0; i < t->nmessages; i++) {
        struct cos_db_lint lint = {.error = t->messages[i].level == COS_TIDY_ERROR,
                                   .line = t->messages[i].line,
                                   .column = t->messages[i].column,
                                   .text = t->messages[i].text};
        cos_db_put_lint(c->db, visit->id, (uint32_t)i + 1, &lint);
    }
}
