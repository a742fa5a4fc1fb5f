/* output_csv.c - the list as a table for spreadsheets (RFC 4180), one row a URL.
 *
 * What pages call themselves goes into cells, so a cell must not be taken for a
 * formula: one that begins like one gets an apostrophe in front, which the usual
 * programs do not show. Control characters are escaped as for a terminal, so a
 * row is always one line. */
#include "tool/output_int.h"

#include "base/log.h"

#include <string.h>

static const char HEADER[] = "url,state,status,reason,detail,depth,bytes,mime,title,location,path,"
                             "links,tries,total_ms,referrer\n";

int output_csv_begin(struct tool_output *out)
{
    return fputs(HEADER, out->file) < 0 ? COS_EIO : 0;
}

/* Past what a program may take for blank, or does not show: spaces of all widths,
 * a byte order mark, and control characters. */
static const char *skip_blanks(const char *text)
{
    static const char *const blanks[] = {"\xc2\xa0", "\xc2\x85", "\xc2\xad", "\xe1\x9a\x80",
                                         "\xe3\x80\x80", "\xef\xbb\xbf"};
    for (;;) {
        size_t n = 0;
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            n = *text != 0;
        else if (!strncmp(text, "\xe2\x80", 2) || !strncmp(text, "\xe2\x81", 2))
            n = text[2] ? 3 : 2;
        for (size_t i = 0; !n && i < sizeof blanks / sizeof *blanks; i++)
            if (!strncmp(text, blanks[i], strlen(blanks[i])))
                n = strlen(blanks[i]);
        if (!n)
            return text;
        text += n;
    }
}

/* Also behind blanks, and in the full-width forms that some programs take. */
static int like_formula(const char *text)
{
    static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
                                       "\xef\xbc\xa0"};
    text = skip_blanks(text);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (!strncmp(text, wide[i], 3))
            return 1;
    return *text && strchr("=+-@", *text) != NULL;
}

static int put_quoted(struct cos_buf *line, const char *text)
{
    int err = cos_buf_addc(line, '"');
    for (; *text && !err; text++)
        err = *text == '"' ? cos_buf_adds(line, "\"\"") : cos_buf_addc(line, *text);
    return err ? err : cos_buf_addc(line, '"');
}

static void cell(struct tool_output *out, const char *text)
{
    struct cos_buf clean;
    if (out->line.len)
        cos_buf_addc(&out->line, ',');
    if (!text || !*text)
        return;
    cos_buf_init(&clean, OUTPUT_LINE_MAX);
    if (like_formula(text))
        cos_buf_addc(&clean, '\'');
    cos_log_escape(&clean, text, strlen(text));
    if (clean.data && strpbrk(clean.data, ",\"' "))
        put_quoted(&out->line, clean.data);
    else
        cos_buf_adds(&out->line, clean.data ? clean.data : "");
    cos_buf_release(&clean);
}

static void number(struct tool_output *out, int64_t value)
{
    cos_buf_addf(&out->line, ",%lld", (long long)value);
}

static void empty(struct tool_output *out, int cells)
{
    while (cells--)
        cos_buf_addc(&out->line, ',');
}

static void finish(struct tool_output *out, const char *referrer)
{
    cell(out, referrer);
    output_flush_line(out, 0);
}

void output_csv_page(struct tool_output *out, const struct cos_crawl_page *p)
{
    const struct cos_page *page = p->page;
    cell(out, p->url);
    cell(out, p->skip ? "skipped" : "done");
    if (!page) {
        empty(out, 12);
    } else {
        number(out, page->status);
        cell(out, p->skip ? cos_skip_name(p->skip) : NULL);
        cell(out, p->skip ? cos_skip_text(p->skip) : NULL);
        number(out, page->depth);
        number(out, page->body_len);
        cell(out, page->mime);
        cell(out, page->title);
        cell(out, page->location);
        cell(out, page->path);
        number(out, (int64_t)page->nlinks);
        number(out, page->tries);
        number(out, page->timing.total > 0 ? page->timing.total / 1000 : 0);
    }
    finish(out, p->referrer);
}

void output_csv_would(struct tool_output *out, const char *url, const char *referrer, int depth)
{
    cell(out, url);
    cell(out, "would");
    empty(out, 3);
    number(out, depth);
    empty(out, 8);
    finish(out, referrer);
}

void output_csv_skip(struct tool_output *out, const struct cos_crawl_skip *s)
{
    cell(out, s->url);
    cell(out, s->queued ? "queued" : "skipped");
    number(out, s->status);
    cell(out, cos_skip_name(s->reason));
    cell(out, s->detail ? s->detail : cos_skip_text(s->reason));
    number(out, s->depth);
    empty(out, 6);
    number(out, s->tries);
    empty(out, 1);
    finish(out, s->referrer);
}

void output_csv_failure(struct tool_output *out, const struct cos_crawl_failure *f)
{
    cell(out, f->url);
    cell(out, "failed");
    number(out, f->status);
    cell(out, cos_errname(f->err));
    cell(out, f->why ? f->why : cos_strerror(f->err));
    number(out, f->depth);
    empty(out, 6);
    number(out, f->tries);
    empty(out, 1);
    finish(out, f->referrer);
}
