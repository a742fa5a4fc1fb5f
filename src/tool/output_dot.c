/* output_dot.c - the list as a graph for Graphviz: pages and what they refer to.
 * A redirect is a dashed edge; what failed is red, what was skipped dotted. */
#include "tool/output_int.h"

#include "base/log.h"

#include <string.h>

int output_dot_begin(struct tool_output *out)
{
    return fputs("strict digraph coscrawl {\n  rankdir=LR;\n  node [shape=box];\n", out->file) < 0
               ? COS_EIO
               : 0;
}

int output_dot_end(struct tool_output *out)
{
    return fputs("}\n", out->file) < 0 ? COS_EIO : 0;
}

static int name(struct tool_output *out, const char *text)
{
    struct cos_buf *line = &out->line, clean;
    int err = cos_buf_addc(line, '"');
    cos_buf_init(&clean, OUTPUT_LINE_MAX);
    if (!err)
        err = cos_log_escape(&clean, text, strlen(text));
    for (const char *s = clean.data ? clean.data : ""; *s && !err; s++) {
        if (*s == '"' || *s == '\\')
            err = cos_buf_addc(line, '\\');
        if (!err)
            err = cos_buf_addc(line, *s);
    }
    cos_buf_release(&clean);
    return err ? err : cos_buf_addc(line, '"');
}

static void edge(struct tool_output *out, const char *from, const char *to, const char *how)
{
    cos_buf_adds(&out->line, "  ");
    name(out, from);
    cos_buf_adds(&out->line, " -> ");
    name(out, to);
    output_flush_line(out, cos_buf_adds(&out->line, how));
}

void output_dot_node(struct tool_output *out, const char *url, const char *how)
{
    cos_buf_adds(&out->line, "  ");
    name(out, url);
    output_flush_line(out, cos_buf_adds(&out->line, how));
}

void output_dot_page(struct tool_output *out, const struct cos_crawl_page *p)
{
    const struct cos_page *page = p->page;
    output_dot_node(out, p->url, ";");
    if (page && page->location)
        edge(out, p->url, page->location, " [style=dashed];");
    for (size_t i = 0; page && i < page->nlinks; i++)
        edge(out, p->url, page->link_text.data + page->links[i].text, ";");
}
