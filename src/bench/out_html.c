/* out_html.c - the results as one page that needs nothing but itself: plots
 * (out_plot.c), tables, and two sources side by side. Colours follow the reader's
 * light or dark setting. */
#include "bench/bench.h"

#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fcfcfa;--fg:#1d1f21;--soft:#63676c;--line:#d9dbd6;"
    "--co:#2166ac;--cps:#b35806;--bad:#9a9a9a;--box:#f3f3ef}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#16181a;--fg:#e4e4df;--soft:#a0a4a8;"
    "--line:#373a3d;--co:#6aaee8;--cps:#f0a04b;--bad:#777;--box:#1f2225}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:96rem;background:var(--bg);color:var(--fg);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2rem 0 .5rem;"
    "border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:0}\n"
    "p,li{max-width:46rem}.soft{color:var(--soft)}\n"
    "nav{display:flex;flex-wrap:wrap;gap:.25rem .9rem;font-size:.85rem;margin:1rem 0}"
    "a{color:inherit}\n"
    ".co{color:var(--co)}.cps{color:var(--cps)}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));"
    "gap:1.5rem}\n"
    "figure{margin:0}figcaption{font-size:.9rem;color:var(--soft)}\n"
    "svg{width:100%;max-width:28rem;height:auto;display:block}\n"
    "svg text{font:12px system-ui,sans-serif;fill:var(--fg);stroke:var(--bg);stroke-width:3;"
    "paint-order:stroke}\n"
    "svg .bar-co{fill:var(--co)}svg .bar-cps{fill:var(--cps)}svg .bar-bad{fill:var(--bad);"
    "opacity:.5}\n"
    "svg line{stroke:var(--fg);stroke-width:1.5}svg .one{stroke:var(--soft);stroke-width:1;"
    "stroke-dasharray:3 3}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.15rem .5rem;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th{color:var(--soft);font-weight:600}\n"
    "th:nth-child(-n+2),td:nth-child(-n+2){text-align:left}\n"
    "th:first-child,td:first-child{position:sticky;left:0;background:var(--bg)}\n"
    ":focus-visible{outline:2px solid var(--co);outline-offset:2px}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .9rem;max-width:46rem;"
    "font-size:.9rem}dt{font-weight:600}dd{margin:0}\n"
    "tr.told td{border:0}.why{color:var(--soft);padding-left:1.5rem}tr.bad td{color:var(--soft)}\n"
    ".sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));"
    "gap:1rem}\n"
    ".sides>div{min-width:0}pre{background:var(--box);border:1px solid var(--line);"
    "border-radius:4px;padding:.75rem;overflow-x:auto;font:11px/1.45 ui-monospace,monospace;"
    "margin:.25rem 0}\npre i{color:var(--soft);font-style:normal}\n";

static void put_escaped(const char *text, size_t len, FILE *out)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '<')
            fputs("&lt;", out);
        else if (text[i] == '>')
            fputs("&gt;", out);
        else if (text[i] == '&')
            fputs("&amp;", out);
        else if (text[i] == '"')
            fputs("&quot;", out);
        else
            fputc(text[i], out);
    }
}

/* --- tables ------------------------------------------------------------------------------ */

/* A wide table is moved by the arrow keys, too. */
static void put_scroll(FILE *out)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table>\n",
          out);
}

static void put_cell(double value, FILE *out)
{
    fputs("<td>", out);
    if (value > 0)
        bench_put_number(value, out);
    else
        fputs("–", out);
    fputs("</td>", out);
}

/* A row's numbers are of two kinds, as in out_table.c. */
static void put_numbers(const struct bench_result *r, FILE *out)
{
    const struct bench_sample *m = &r->median;
    if (r->cell.leaves == BENCH_REAL) {
        put_cell((double)m->task50_us / 1e3, out);
        put_cell((double)m->task95_us / 1e3, out);
        put_cell((double)m->task99_us / 1e3, out);
        put_cell((double)m->lag_us / 1e3, out);
        fprintf(out, "<td>%lld</td>", (long long)m->fds);
    } else {
        put_cell(r->instructions_step, out);
        put_cell(r->allocations_page, out);
        put_cell(r->bytes_page, out);
    }
    fprintf(out, "<td>%lld</td>", (long long)m->in_flight);
    put_cell((double)m->memory, out);
    put_cell((double)m->stack, out);
}

static void put_row(const struct bench_result *r, FILE *out)
{
    const struct bench_cell *cell = &r->cell;
    fprintf(out, "<tr class=\"%s%s\"><td>%s", bench_is_bad(r) ? "bad" : "",
            *r->reason ? " told" : "", cell->style->name);
    if (cell->concurrency != BENCH_JOBS)
        fprintf(out, " %d", cell->concurrency);
    fprintf(out, "</td><td class=\"%s\">%s</td>", cell->style->face, cell->style->face);
    if (r->rank)
        fprintf(out, "<td>%d</td>", r->rank);
    else
        fputs("<td>–</td>", out);
    put_cell(r->pages_s, out);
    put_cell(r->cpu_ns_page, out);
    fprintf(out, "<td>%lld</td><td>%lld</td><td>%lld</td>", (long long)r->median.requests,
            (long long)r->median.duplicates, (long long)r->median.lost);
    put_numbers(r, out);
    if (r->ratio > 0)
        fprintf(out, "<td>%.2f [%.2f, %.2f]</td></tr>\n", r->ratio, r->ratio_low, r->ratio_high);
    else
        fputs("<td>–</td></tr>\n", out);
    if (*r->reason) {
        fprintf(out, "<tr><td class=\"why\" colspan=\"20\">%s", bench_is_bad(r) ? "invalid: " : "");
        put_escaped(r->reason, strlen(r->reason), out);
        fputs("</td></tr>\n", out);
    }
}

/* "real leaves, tree, latency 5 ms" */
static void put_title(const struct bench_cell *cell, FILE *out)
{
    int real = cell->leaves == BENCH_REAL;
    char latency[16];
    bench_latency_name(cell->latency, latency);
    fprintf(out, "%s leaves, %s%s%s%s%s", bench_leaves_name(cell->leaves),
            cell->shape == BENCH_ONE ? "a single page" : bench_shape_name(cell->shape),
            real ? ", latency " : "", real ? latency : "",
            real && cell->latency != BENCH_TAIL ? " ms" : "",
            cell->tidy ? ", parsed by tidy" : "");
}

static void put_table(const struct bench_table *t, FILE *out)
{
    const struct bench_cell *cell = &t->bench->results[t->from].cell;
    fprintf(out, "<h2 id=\"t%zu\">", t->from);
    put_title(cell, out);
    fputs("</h2>\n<div class=\"plots\">\n", out);
    bench_put_plots(t, out);
    fputs("</div>\n", out);
    put_scroll(out);
    fprintf(out, "<tr><th>style</th><th>face</th>"
                 "<th>rank</th><th>pages/s</th><th>cpu ns/page</th><th>requests</th>"
                 "<th>duplicates</th><th>lost</th>%s<th>peak</th><th>bytes/task</th>"
                 "<th>stack bytes</th><th>ratio [95 %%]</th></tr>\n",
            cell->leaves == BENCH_REAL
                ? "<th>p50 ms</th><th>p95 ms</th><th>p99 ms</th><th>lag ms</th><th>fds</th>"
                : "<th>instr/step</th><th>alloc/page</th><th>bytes/page</th>");
    for (size_t i = t->from; i < t->to; i++)
        put_row(&t->bench->results[i], out);
    fputs("</table></div>\n", out);
}

static void put_limits(const struct bench *bench, FILE *out)
{
    if (!bench->nlimits)
        return;
    fprintf(out, "<h2 id=\"few\">With %d descriptors</h2>\n<p>Real leaves, the engine's own limit "
                 "of connections off. In the crowd of 40 pages the duplicates are too many; on the "
                 "star of 100 pages only a limit helps.</p>\n", BENCH_NOFILE);
    put_scroll(out);
    fputs("<tr><th>style</th><th>face</th><th>shape</th><th>pages</th><th>of</th>"
          "<th>requests</th><th>outcome</th></tr>\n", out);
    for (size_t i = 0; i < bench->nlimits; i++) {
        const struct bench_limit *l = &bench->limits[i];
        fprintf(out, "<tr%s><td>%s</td><td class=\"%s\">%s</td><td>%s</td><td>%lld</td>"
                     "<td>%lld</td><td>%lld</td><td>%s</td></tr>\n",
                l->sample.err ? " class=\"bad\"" : "", l->cell.style->name, l->cell.style->face,
                l->cell.style->face, bench_shape_name(l->cell.shape), (long long)l->sample.pages,
                (long long)l->sample.expected, (long long)l->sample.requests,
                !l->have ? "not run" : l->sample.err ? cos_errname((int)l->sample.err)
                                                     : "completes");
    }
    fputs("</table></div>\n", out);
}

static void put_sources(FILE *out)
{
    fputs("<h2 id=\"sources\">The sources</h2>\n", out);
    put_scroll(out);
    fputs("<tr><th>style</th><th>face</th><th>lines</th><th>tokens</th><th>functions</th>"
          "<th>nesting</th><th>complexity</th>"
          "<th>looks at errors</th></tr>\n", out);
    for (const struct bench_source *s = bench_sources; s->file; s++) {
        struct bench_metrics m;
        bench_measure_source(s->text, &m);
        fprintf(out, "<tr><td>%s</td><td class=\"%s\">%s</td><td>%d</td><td>%d</td><td>%d</td>"
                     "<td>%d</td><td>%d</td><td>%d</td></tr>\n", s->style,
                strcmp(s->face, "co") ? "cps" : "co", s->face,
                m.lines, m.tokens, m.functions, m.depth, m.complexity, m.errors);
    }
    fputs("</table></div>\n", out);
}

/* --- code ---------------------------------------------------------------------------------- */

static void put_code(const char *name, FILE *out)
{
    const struct bench_source *s = bench_side(name);
    const char *at = s ? s->text : "";
    if (!s)
        return;
    fprintf(out, "<div><h3>%s</h3><pre>", s->file);
    while (*at) {
        const char *open = strstr(at, "/*"), *end = open ? strstr(open, "*/") : NULL;
        if (!end)
            break;
        put_escaped(at, (size_t)(open - at), out);
        fputs("<i>", out);
        put_escaped(open, (size_t)(end + 2 - open), out);
        fputs("</i>", out);
        at = end + 2;
    }
    put_escaped(at, strlen(at), out);
    fputs("</pre></div>\n", out);
}

static void put_head(const struct bench *bench, FILE *out)
{
    const struct bench_fairness *f = &bench->fairness;
    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
                 "name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                 "<title>One spider, six ways, two faces</title>\n<style>\n%s</style>\n</head>\n"
                 "<body>\n<h1>One spider, six ways, two faces</h1>\n", style);
    fprintf(out, "<p>%zu cells in %.0f s, ", bench->count, bench->seconds);
    bench_put_rounds(bench, out);
    fputs(". <b class=\"co\">co</b> is the coroutine face, "
                 "<b class=\"cps\">cps</b> the callback face. The baseline is queue co, for single "
                 "pages discipline co: the dashed line; lines on bars are 95&nbsp;% intervals of "
                 "the median ratio. "
                 "A grey bar is a cell that got other pages than it should. Ranks are by "
                 "instructions where they were counted, else by time.</p>\n", out);
    if (f->measured)
        fprintf(out, "<p class=\"soft\">Fairness: with real leaves a page costs %.0f instructions "
                     "on the coroutine face and %.0f on the callback face (%+.1f&nbsp;%%; aimed "
                     "at: within 3).</p>\n", f->co, f->cps, (f->cps / f->co - 1) * 100);
    else
        fprintf(out, "<p class=\"soft\">Fairness of the real leaves was not measured: %s.</p>\n",
                bench_unfair(bench));
}

static void put_legend(FILE *out)
{
    fputs("<details><summary>What the columns are</summary>\n<dl>\n"
          "<dt>step</dt><dd>one leaf call: a fetch, a look at a file, a file read or written, the "
          "links of a page</dd>\n"
          "<dt>task</dt><dd>one page from the first look at its file to its report; p50, p95, p99 "
          "are its time</dd>\n"
          "<dt>instr, alloc, bytes</dt><dd>instructions, allocations and their bytes, counted by "
          "valgrind</dd>\n"
          "<dt>peak</dt><dd>steps in flight at once, at most</dd>\n"
          "<dt>bytes/task</dt><dd>memory that grew up to the peak, for each step in flight</dd>\n"
          "<dt>stack</dt><dd>the deepest stack at a leaf, of a coroutine or of the loop</dd>\n"
          "<dt>lag</dt><dd>how late the worst timer of the loop was</dd>\n"
          "<dt>duplicates</dt><dd>requests for a page after the first one for it</dd>\n"
          "</dl></details>\n", out);
}

static void put_contents(const struct bench *bench, FILE *out)
{
    struct bench_table table = {bench, 0, 0};
    fputs("<nav><a href=\"#code\">the code</a> <a href=\"#sources\">the sources</a>", out);
    if (bench->nlimits)
        fprintf(out, " <a href=\"#few\">%d descriptors</a>", BENCH_NOFILE);
    while (bench_next_table(&table)) {
        fprintf(out, " <a href=\"#t%zu\">", table.from);
        put_title(&bench->results[table.from].cell, out);
        fputs("</a>", out);
    }
    fputs("</nav>\n", out);
}

int bench_write_html(const struct bench *bench, FILE *out)
{
    struct bench_table table = {bench, 0, 0};
    put_head(bench, out);
    put_legend(out);
    put_contents(bench, out);
    while (bench_next_table(&table))
        put_table(&table, out);
    put_limits(bench, out);
    put_sources(out);
    fputs("<h2 id=\"code\">Side by side</h2>\n<div class=\"sides\">\n", out);
    put_code(bench->opt.left, out);
    put_code(bench->opt.right, out);
    fputs("</div>\n</body>\n</html>\n", out);
    return ferror(out) ? COS_EIO : 0;
}
