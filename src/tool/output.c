/* output.c - one line per URL.
 *
 * text: the URL of every page that was fetched. A dry run says "fetch URL" or
 * "skip URL  # why". csv and dot: output_csv.c, output_dot.c. jsonl: an object for every URL that reached its end, with
 * "state" done, failed or skipped, or would for a dry run. URLs are ASCII by
 * construction, and the JSON writer escapes the rest, so nothing from the
 * network reaches a terminal raw. */
#include "tool/output_int.h"

#include "base/json.h"
#include "base/log.h"
#include "tool/sink.h"

#include <errno.h>
#include <string.h>

static int begin(struct tool_output *out)
{
    return out->format == TOOL_FORMAT_CSV   ? output_csv_begin(out)
           : out->format == TOOL_FORMAT_DOT ? output_dot_begin(out)
                                            : 0;
}

int output_init(struct tool_output *out, const struct tool_options *o)
{
    *out = (struct tool_output){.format = o->format, .mode = o->crawl.mode};
    cos_buf_init(&out->line, OUTPUT_LINE_MAX);
    if (o->crawl.mode == COS_MODE_SAVE && !o->output && !o->format_given)
        return 0;
    out->file = sink_stream(!o->output || !strcmp(o->output, "-") ? NULL : o->output, 0);
    return out->file ? begin(out) : cos_err_from_errno(errno);
}

int output_tick(struct tool_output *out)
{
    if (out->file && fflush(out->file) && !out->err)
        out->err = cos_err_from_errno(errno);
    return out->err;
}

int output_end(struct tool_output *out)
{
    if (out->file && out->format == TOOL_FORMAT_DOT && output_dot_end(out) && !out->err)
        out->err = COS_EIO;
    if (out->file && fclose(out->file) && !out->err)
        out->err = cos_err_from_errno(errno);
    out->file = NULL;
    return out->err;
}

int output_release(struct tool_output *out)
{
    output_end(out);
    cos_buf_release(&out->line);
    return out->err;
}

void output_flush_line(struct tool_output *out, int err)
{
    if (!err)
        err = cos_buf_addc(&out->line, '\n');
    if (!err && !out->err && fwrite(out->line.data, 1, out->line.len, out->file) != out->line.len)
        err = cos_err_from_errno(errno);
    if (err && !out->err)
        out->err = err;
    cos_buf_clear(&out->line);
}

static void text_line(struct tool_output *out, const char *word, const char *url)
{
    cos_buf_adds(&out->line, word);
    output_flush_line(out, cos_log_escape(&out->line, url, strlen(url)));
}

static void start(struct cos_json *json, struct tool_output *out, const char *url,
                  const char *state, const char *referrer)
{
    cos_json_init(json, &out->line);
    cos_json_object(json);
    cos_json_key(json, "url");
    cos_json_str(json, url);
    cos_json_key(json, "state");
    cos_json_str(json, state);
    cos_json_key(json, "referrer");
    cos_json_str(json, referrer);
}

static void end(struct cos_json *json, struct tool_output *out)
{
    cos_json_end(json);
    output_flush_line(out, cos_json_done(json));
}

static void field(struct cos_json *json, const char *key, const char *value)
{
    cos_json_key(json, key);
    cos_json_str(json, value);
}

static void number(struct cos_json *json, const char *key, int64_t value)
{
    cos_json_key(json, key);
    cos_json_int(json, value);
}

/* Microseconds to milliseconds; a phase that did not happen is null. */
static void phase(struct cos_json *json, const char *key, int64_t us)
{
    cos_json_key(json, key);
    if (us < 0)
        cos_json_null(json);
    else
        cos_json_double(json, (double)us / 1000);
}

static void page_fields(struct cos_json *json, const struct cos_page *page)
{
    number(json, "status", page->status);
    number(json, "depth", page->depth);
    number(json, "bytes", page->body_len);
    field(json, "mime", page->mime);
    field(json, "title", page->title);
    field(json, "location", page->location);
    field(json, "path", page->path);
    number(json, "links", (int64_t)page->nlinks);
    number(json, "tries", page->tries);
    if (page->lint_errors) {
        number(json, "lint_errors", page->lint_errors - 1);
        number(json, "lint_warnings", page->lint_warnings - 1);
    }
    cos_json_key(json, "ms");
    cos_json_object(json);
    phase(json, "queue", page->timing.queue);
    phase(json, "wait", page->timing.wait);
    phase(json, "name", page->timing.name);
    phase(json, "connect", page->timing.connect);
    phase(json, "tls", page->timing.tls);
    phase(json, "first_byte", page->timing.first_byte);
    phase(json, "transfer", page->timing.transfer);
    phase(json, "total", page->timing.total);
    cos_json_end(json);
}

void output_page(struct tool_output *out, const struct cos_crawl_page *page)
{
    struct cos_json json;
    if (!out->file || (out->mode == COS_MODE_DRY_RUN && out->format == TOOL_FORMAT_TEXT))
        return;
    if (out->format == TOOL_FORMAT_CSV) {
        output_csv_page(out, page);
        return;
    }
    if (out->format == TOOL_FORMAT_DOT) {
        output_dot_page(out, page);
        return;
    }
    if (out->format == TOOL_FORMAT_TEXT) {
        /* A redirect is not a page: its target has a line of its own. */
        if ((!page->page || !page->page->location) && !page->skip)
            text_line(out, "", page->url);
        return;
    }
    start(&json, out, page->url, page->skip ? "skipped" : "done", page->referrer);
    if (page->skip) {
        field(&json, "reason", cos_skip_name(page->skip));
        field(&json, "detail", cos_skip_text(page->skip));
    }
    if (page->page)
        page_fields(&json, page->page);
    end(&json, out);
}

void output_would(struct tool_output *out, const char *url, const char *referrer, int depth)
{
    struct cos_json json;
    if (!out->file)
        return;
    if (out->format == TOOL_FORMAT_TEXT) {
        text_line(out, "fetch ", url);
        return;
    }
    if (out->format == TOOL_FORMAT_CSV) {
        output_csv_would(out, url, referrer, depth);
        return;
    }
    if (out->format == TOOL_FORMAT_DOT) {
        output_dot_node(out, url, ";");
        return;
    }
    start(&json, out, url, "would", referrer);
    number(&json, "depth", depth);
    end(&json, out);
}

void output_skip(struct tool_output *out, const struct cos_crawl_skip *skip)
{
    struct cos_json json;
    const char *detail = skip->detail ? skip->detail : cos_skip_text(skip->reason);
    if (!out->file)
        return;
    if (out->format == TOOL_FORMAT_TEXT) {
        if (out->mode != COS_MODE_DRY_RUN)
            return;
        cos_buf_adds(&out->line, "skip ");
        cos_log_escape(&out->line, skip->url, strlen(skip->url));
        cos_buf_addf(&out->line, "  # %s: ", cos_skip_name(skip->reason));
        output_flush_line(out, cos_log_escape(&out->line, detail, strlen(detail)));
        return;
    }
    if (out->format == TOOL_FORMAT_CSV) {
        output_csv_skip(out, skip);
        return;
    }
    if (out->format == TOOL_FORMAT_DOT) {
        output_dot_node(out, skip->url, " [style=dotted];");
        return;
    }
    start(&json, out, skip->url, skip->queued ? "queued" : "skipped", skip->referrer);
    field(&json, "reason", cos_skip_name(skip->reason));
    field(&json, "detail", detail);
    number(&json, "status", skip->status);
    number(&json, "depth", skip->depth);
    number(&json, "tries", skip->tries);
    end(&json, out);
}

void output_failure(struct tool_output *out, const struct cos_crawl_failure *f)
{
    struct cos_json json;
    if (!out->file || !f->final || out->format == TOOL_FORMAT_TEXT)
        return;
    if (out->format == TOOL_FORMAT_CSV) {
        output_csv_failure(out, f);
        return;
    }
    if (out->format == TOOL_FORMAT_DOT) {
        output_dot_node(out, f->url, " [color=red];");
        return;
    }
    start(&json, out, f->url, "failed", f->referrer);
    field(&json, "reason", cos_errname(f->err));
    field(&json, "detail", f->why ? f->why : cos_strerror(f->err));
    number(&json, "status", f->status);
    number(&json, "depth", f->depth);
    number(&json, "tries", f->tries);
    end(&json, out);
}
