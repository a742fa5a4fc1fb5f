/* summary.c - the closing words: what was fetched, what was not and why, where
 * it is, and how to go on. On stderr: stdout is for data. */
#include "tool/text.h"
#include "tool/ui.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

static const char *dir_of(const struct tool_options *o)
{
    return o->crawl.dir ? o->crawl.dir : ".";
}

static const char *scope_name(int scope)
{
    static const char *const names[] = {"host", "page", "prefix", "host", "domain", "any"};
    return names[scope >= 0 && scope <= COS_SCOPE_ANY ? scope : 0];
}

/* Why, and what would change it, in the words of the command line. */
static void add_reason(struct cos_buf *out, const struct tool_options *o, int reason, int64_t n)
{
    char count[TEXT_SHORT];
    const struct cos_crawl_options *c = &o->crawl;
    text_count(count, n);
    if (reason == COS_SKIP_LEVEL)
        cos_buf_addf(out, "%s beyond -l %d; use -l inf", count,
                     c->level == COS_OPT_ZERO ? 0 : c->level > 0 ? c->level : 5);
    else if (reason == COS_SKIP_SCOPE)
        cos_buf_addf(out, "%s outside --scope=%s", count, scope_name(c->scope));
    else if (reason == COS_SKIP_ROBOTS)
        cos_buf_addf(out, "%s disallowed by robots.txt", count);
    else if (reason == COS_SKIP_PARENT)
        cos_buf_addf(out, "%s above the start directory (-np)", count);
    else if (reason == COS_SKIP_SIZE)
        cos_buf_addf(out, "%s larger than --max-size", count);
    else if (reason == COS_SKIP_TRAP)
        cos_buf_addf(out, "%s like an endless trap (--trap-limit)", count);
    else
        cos_buf_addf(out, "%s %s", count, cos_skip_text(reason));
}

static void line(struct tool_ui *ui, const char *head, const char *text)
{
    struct cos_buf buf;
    cos_buf_init(&buf, 8192);
    cos_buf_addf(&buf, "  %s%-10s%s", ui_color(ui, "1"), head, ui_color(ui, "0"));
    cos_log_escape(&buf, text, strlen(text));
    if (buf.data)
        ui_line(ui, COS_SAY_INFO, buf.data);
    cos_buf_release(&buf);
}

static int by_count(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return x[1] < y[1] ? 1 : x[1] > y[1] ? -1 : 0;
}

static void say_skipped(struct tool_ui *ui, const struct tool_options *o,
                        const struct cos_crawl_stats *st)
{
    int64_t reasons[COS_SKIP_COUNT][2];
    size_t n = 0;
    char head[TEXT_SHORT] = "skipped";
    for (int i = 1; i < COS_SKIP_COUNT; i++)
        if (st->skipped_by[i]) {
            reasons[n][0] = i;
            reasons[n++][1] = st->skipped_by[i];
        }
    qsort(reasons, n, sizeof reasons[0], by_count);
    for (size_t i = 0; i < n; i++) {
        struct cos_buf buf;
        cos_buf_init(&buf, 512);
        add_reason(&buf, o, (int)reasons[i][0], reasons[i][1]);
        line(ui, i ? "" : head, buf.data ? buf.data : "");
        cos_buf_release(&buf);
    }
}

static void say_failed(struct tool_ui *ui, const struct cos_crawl_result *r)
{
    char count[TEXT_SHORT], name[TEXT_SHORT], text[512];
    int64_t told = 0;
    for (size_t i = 0; i < r->nerrors && i < COS_TOP_ERRORS; i++) {
        const char *what = r->errors[i].text;
        /* A bare status gets its name. */
        if (strspn(what, "0123456789") == 3 && !what[3])
            what = text_status(name, atoi(what));
        snprintf(text, sizeof text, "%s with %s, such as %s",
                 text_count(count, r->errors[i].count), what, r->errors[i].example);
        line(ui, i ? "" : "failed", text);
        told += r->errors[i].count;
    }
    if (told < r->stats.failed) {
        snprintf(text, sizeof text, "%s %s", text_count(count, r->stats.failed - told),
                 r->nerrors ? "for other reasons" : "pages");
        line(ui, r->nerrors ? "" : "failed", text);
    }
}

static const char *how_it_ended(const struct cos_crawl_result *r)
{
    static const char *const words[] = {
        [COS_STOP_FINISHED] = "finished",
        [COS_STOP_ALREADY] = "nothing to do: this crawl is finished",
        [COS_STOP_INTERRUPTED] = "interrupted, state saved",
        [COS_STOP_FAILURES] = "stopped by --max-failures",
        [COS_STOP_PAGES] = "stopped by --max-pages",
        [COS_STOP_QUOTA] = "stopped by the quota (-Q)",
        [COS_STOP_TIME] = "stopped by --max-time",
        [COS_STOP_ERROR] = "stopped by an error",
    };
    /* A host went away, or asked to come back much later. */
    if (r->stop == COS_STOP_FINISHED && r->stats.queued > 0)
        return "ended, not finished,";
    return words[r->stop];
}

static void say_first_line(struct tool_ui *ui, const struct cos_crawl_result *r, int level)
{
    char t[TEXT_SHORT], n[TEXT_SHORT], b[TEXT_SHORT], v[TEXT_SHORT];
    char res[TEXT_SHORT + 32] = "", rate[TEXT_SHORT + 4] = "";
    const struct cos_crawl_stats *st = &r->stats;
    int64_t now = st->done - st->resumed;
    double s = (double)st->elapsed_ms / 1000;
    if (r->stop == COS_STOP_ALREADY) {
        ui_say(ui, level, "%s, with %s page%s", how_it_ended(r), text_count(n, st->done),
               st->done == 1 ? "" : "s");
        return;
    }
    if (st->resumed)
        snprintf(res, sizeof res, " and %s from before", text_count(b, st->resumed));
    if (now > 0 && s > 0)
        snprintf(rate, sizeof rate, " (%s)", text_rate(v, (double)now / s));
    ui_say(ui, level, "%s after %s: %s page%s%s, %s%s", how_it_ended(r),
           text_time(t, st->elapsed_ms), text_count(n, now), now == 1 ? "" : "s", res,
           text_bytes(b, (double)st->bytes), rate);
}

/* With --fresh the same command would forget what is there. */
static void say_how_to_go_on(struct tool_ui *ui, const struct tool_options *o,
                             const struct cos_crawl_result *r)
{
    char text[200], queued[TEXT_SHORT];
    int64_t left = r->stats.queued;
    if (r->stop == COS_STOP_ALREADY) {
        line(ui, "again", "-N asks for what changed, --fresh starts from nothing");
    } else if (r->resumable && left > 0) {
        snprintf(text, sizeof text, "%s URL%s waiting; the same command%s goes on from here",
                 text_count(queued, left), left == 1 ? " is" : "s are",
                 o->crawl.fresh ? " without --fresh" : "");
        line(ui, "go on", text);
    }
}

static void say_lint(struct tool_ui *ui, const struct tool_options *o,
                     const struct cos_crawl_stats *s)
{
    char text[256], errors[TEXT_SHORT], warnings[TEXT_SHORT], pages[TEXT_SHORT];
    if (!o->crawl.lint)
        return;
    snprintf(text, sizeof text, "%s errors and %s warnings in %s pages",
             text_count(errors, s->lint_errors), text_count(warnings, s->lint_warnings),
             text_count(pages, s->lint_pages));
    line(ui, "markup", text);
}

static void say_where(struct tool_ui *ui, const struct tool_options *o,
                      const struct cos_crawl_result *r)
{
    char text[1024], count[TEXT_SHORT];
    const char *dir = dir_of(o);
    if (o->crawl.mode != COS_MODE_SAVE)
        return;
    snprintf(text, sizeof text, "%s/ (database: %s/.coscrawl/crawl.db)", dir, dir);
    line(ui, "saved in", text);
    if (r->stats.unchanged) {
        snprintf(text, sizeof text, "%s page%s, says the server",
                 text_count(count, r->stats.unchanged), r->stats.unchanged == 1 ? "" : "s");
        line(ui, "unchanged", text);
    }
    if (r->stats.gone) {
        snprintf(text, sizeof text, "%s page%s; the file%s of an earlier run stay%s",
                 text_count(count, r->stats.gone), r->stats.gone == 1 ? "" : "s",
                 r->stats.gone == 1 ? "" : "s", r->stats.gone == 1 ? "s" : "");
        line(ui, "gone", text);
    }
    if (r->stats.shared_files) {
        char size[TEXT_SHORT];
        snprintf(text, sizeof text, "%s files, %s", text_count(count, r->stats.shared_files),
                 text_bytes(size, (double)r->stats.shared_bytes));
        line(ui, "shared", text);
    }
    if (r->stats.converted) {
        snprintf(text, sizeof text, "%s file%s converted", text_count(count, r->stats.converted),
                 r->stats.converted == 1 ? "" : "s");
        line(ui, "links", text);
    }
    say_how_to_go_on(ui, o, r);
    if (r->stats.failed || r->stats.skipped) {
        snprintf(text, sizeof text, "coscrawl why %s URL", dir);
        line(ui, "explain", text);
    }
}

void ui_summary(struct tool_ui *ui, const struct tool_options *options,
                const struct cos_crawl_result *result)
{
    ui_erase(ui);
    if (result->stop == COS_STOP_ERROR)
        ui_say(ui, COS_SAY_ERROR, "%s",
               result->message[0] ? result->message : cos_strerror(result->err));
    /* An error before the first page has nothing to sum up. */
    if (result->stop == COS_STOP_ERROR && !result->stats.known)
        return;
    say_first_line(ui, result, COS_SAY_WARN);
    say_skipped(ui, options, &result->stats);
    say_failed(ui, result);
    say_lint(ui, options, &result->stats);
    say_where(ui, options, result);
}
