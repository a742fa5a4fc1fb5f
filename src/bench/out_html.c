/* out_html.c - the results as one page that needs nothing but itself: plots as
 * SVG, tables, and two sources side by side. Colours follow the reader's light
 * or dark setting; plots are narrow, so that their text keeps its size on a
 * telephone, and flow beside each other on a desk. */
#include "bench/bench.h"

#include <string.h>

enum { WIDTH = 360, ROW = 22, LEFT = 104, RIGHT = 76, TOP = 22 };

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fcfcfa;--fg:#1d1f21;--soft:#63676c;--line:#d9dbd6;"
    "--co:#2166ac;--cps:#b35806;--bad:#9a9a9a;--box:#f3f3ef}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#16181a;--fg:#e4e4df;--soft:#a0a4a8;"
    "--line:#373a3d;--co:#6aaee8;--cps:#f0a04b;--bad:#777;--box:#1f2225}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:76rem;background:var(--bg);color:var(--fg);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2rem 0 .5rem;"
    "border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:0}\n"
    "p,li{max-width:46rem}.soft{color:var(--soft)}\n"
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
    "th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th{color:var(--soft);font-weight:600}\n"
    "th:nth-child(-n+2),td:nth-child(-n+2),.why{text-align:left}\n"
    ".why{white-space:normal;min-width:13rem}tr.bad td{color:var(--soft)}\n"
    ".sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));"
    "gap:1rem}\n"
    ".sides>div{min-width:0}pre{background:var(--box);border:1px solid var(--line);"
    "border-radius:4px;padding:.75rem;overflow-x:auto;font:12px/1.45 ui-monospace,monospace;"
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

/* --- plots ----------------------------------------------------------------------------- */

/* One value per cell: what it is, and its interval where there is one. */
struct value {
    double mid, low, high;
};
typedef struct value value_of(const struct bench_result *r);

static struct value ratio_value(const struct bench_result *r)
{
    return (struct value){r->ratio, r->ratio_low, r->ratio_high};
}

static struct value instructions_value(const struct bench_result *r)
{
    return (struct value){r->instructions_page, 0, 0};
}

static struct value pages_value(const struct bench_result *r)
{
    return (struct value){r->pages_s, 0, 0};
}

/* The cells of a table are [from, to). */
struct table {
    const struct bench *bench;
    size_t from, to;
};

static double largest(const struct table *t, value_of *of)
{
    double most = 0;
    for (size_t i = t->from; i < t->to; i++) {
        struct value v = of(&t->bench->results[i]);
        most = v.mid > most ? v.mid : most;
        most = v.high > most ? v.high : most;
    }
    return most;
}

/* Bars of some cells only would be read as a comparison. */
static int complete(const struct table *t, value_of *of)
{
    for (size_t i = t->from; i < t->to; i++)
        if (of(&t->bench->results[i]).mid <= 0)
            return 0;
    return 1;
}

static void put_number(double value, FILE *out)
{
    if (value >= 1e6)
        fprintf(out, "%.2f M", value / 1e6);
    else if (value >= 1e4)
        fprintf(out, "%.1f k", value / 1e3);
    else
        fprintf(out, value >= 100 ? "%.0f" : "%.2f", value);
}

static void put_bar(const struct bench_result *r, struct value v, double scale, int y, FILE *out)
{
    const char *face = r->cell.style->face;
    double x = LEFT + v.mid * scale;
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s %s", LEFT - 6, y + 12,
            r->cell.style->name, face);
    if (!strcmp(r->cell.style->name, "queue") && r->cell.concurrency != BENCH_JOBS)
        fprintf(out, " %d", r->cell.concurrency);
    fprintf(out, "</text>\n<rect class=\"bar-%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" "
                 "height=\"15\"/>\n",
            r->valid ? face : "bad", LEFT, y, v.mid * scale);
    if (v.high > v.low)
        fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", LEFT + v.low * scale,
                LEFT + v.high * scale, y + 7, y + 7);
    x = v.high > v.mid ? LEFT + v.high * scale : x;
    fprintf(out, "<text x=\"%.1f\" y=\"%d\">", x + 5, y + 12);
    put_number(v.mid, out);
    fprintf(out, "%s</text>\n", r->valid ? "" : " invalid");
}

static void put_plot(const struct table *t, value_of *of, const char *caption, FILE *out)
{
    double most = largest(t, of), scale = most > 0 ? (WIDTH - LEFT - RIGHT) / most : 0;
    int y = TOP - ROW + 4, height = (int)(t->to - t->from) * ROW + 8, ratios = of == ratio_value;
    if (most <= 0 || !complete(t, of))
        return;
    fprintf(out, "<figure><figcaption>%s</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" "
                 "aria-label=\"%s\">\n", caption, WIDTH, height, caption);
    if (ratios)
        fprintf(out, "<line class=\"one\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>\n",
                LEFT + scale, LEFT + scale, height);
    for (size_t i = t->from; i < t->to; i++, y += ROW)
        put_bar(&t->bench->results[i], of(&t->bench->results[i]), scale, y, out);
    fputs("</svg></figure>\n", out);
}

/* --- tables ------------------------------------------------------------------------------ */

static void put_cell(double value, FILE *out)
{
    fputs("<td>", out);
    if (value > 0)
        put_number(value, out);
    else
        fputs("–", out);
    fputs("</td>", out);
}

static void put_row(const struct bench_result *r, FILE *out)
{
    fprintf(out, "<tr%s><td>%s</td><td class=\"%s\">%s</td>", r->valid ? "" : " class=\"bad\"",
            r->cell.style->name, r->cell.style->face, r->cell.style->face);
    if (r->rank)
        fprintf(out, "<td>%d</td>", r->rank);
    else
        fputs("<td>–</td>", out);
    put_cell(r->pages_s, out);
    put_cell(r->cpu_ns_page, out);
    put_cell(r->instructions_step, out);
    put_cell(r->allocations_page, out);
    fprintf(out, "<td>%lld</td><td>%lld</td><td>%lld</td>", (long long)r->median.requests,
            (long long)r->median.duplicates, (long long)r->median.lost);
    if (r->ratio > 0)
        fprintf(out, "<td>%.2f [%.2f, %.2f]</td><td class=\"why\">", r->ratio, r->ratio_low, r->ratio_high);
    else
        fputs("<td>–</td><td class=\"why\">", out);
    put_escaped(r->reason, strlen(r->reason), out);
    fputs("</td></tr>\n", out);
}

static void put_table(const struct table *t, FILE *out)
{
    const struct bench_cell *cell = &t->bench->results[t->from].cell;
    int real = cell->leaves == BENCH_REAL;
    char latency[16];
    bench_latency_name(cell->latency, latency);
    fprintf(out, "<h2>%s leaves, %s%s%s%s</h2>\n<div class=\"plots\">\n",
            bench_leaves_name(cell->leaves),
            cell->shape == BENCH_ONE ? "a single page" : bench_shape_name(cell->shape),
            real ? ", latency " : "", real ? latency : "",
            real && cell->latency != BENCH_TAIL ? " ms" : "");
    put_plot(t, ratio_value,
             real ? "time a page, as a ratio to the baseline (less is better)"
                  : "processor time a page, as a ratio to the baseline (less is better)", out);
    put_plot(t, instructions_value, "instructions a page (less is better)", out);
    if (real)
        put_plot(t, pages_value, "pages a second (more is better)", out);
    fputs("</div>\n<div class=\"scroll\"><table>\n<tr><th>style</th><th>face</th><th>rank</th>"
          "<th>pages/s</th><th>cpu ns/page</th><th>instr/step</th><th>alloc/page</th>"
          "<th>requests</th><th>duplicates</th><th>lost</th><th>ratio [95 %]</th><th></th></tr>\n",
          out);
    for (size_t i = t->from; i < t->to; i++)
        put_row(&t->bench->results[i], out);
    fputs("</table></div>\n", out);
}

static void put_sources(FILE *out)
{
    fputs("<h2>The sources</h2>\n<div class=\"scroll\"><table>\n<tr><th>style</th><th>face</th>"
          "<th>lines</th><th>tokens</th><th>functions</th><th>nesting</th><th>complexity</th>"
          "<th>looks at errors</th></tr>\n", out);
    for (const struct bench_source *s = bench_sources; s->file; s++) {
        struct bench_metrics m;
        bench_measure_source(s->text, &m);
        fprintf(out, "<tr><td>%s</td><td class=\"%s\">%s</td><td>%d</td><td>%d</td><td>%d</td>"
                     "<td>%d</td><td>%d</td><td>%d</td></tr>\n", s->style, s->face, s->face,
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
    fprintf(out, "<p>%zu cells in %.0f s%s. <b class=\"co\">co</b> is the coroutine face, "
                 "<b class=\"cps\">cps</b> the callback face. The baseline is queue co, for single "
                 "pages discipline co; lines on bars are 95&nbsp;%% intervals of the median ratio. "
                 "A grey bar is a cell that got other pages than it should.</p>\n",
            bench->count, bench->seconds,
            bench->interrupted || bench->out_of_time ? ", not complete" : "");
    if (f->measured)
        fprintf(out, "<p class=\"soft\">Fairness: with real leaves a page costs %.0f instructions "
                     "on the coroutine face and %.0f on the callback face (%+.1f&nbsp;%%; aimed "
                     "at: within 3).</p>\n", f->co, f->cps, (f->cps / f->co - 1) * 100);
    else
        fputs("<p class=\"soft\">Fairness of the real leaves was not measured.</p>\n", out);
}

int bench_write_html(const struct bench *bench, FILE *out)
{
    struct table table = {bench, 0, 0};
    put_head(bench, out);
    while (table.from < bench->count) {
        while (table.to < bench->count
               && bench_same_table(&bench->results[table.to].cell,
                                   &bench->results[table.from].cell))
            table.to++;
        put_table(&table, out);
        table.from = table.to;
    }
    put_sources(out);
    fputs("<h2>Side by side</h2>\n<div class=\"sides\">\n", out);
    put_code(bench->opt.left, out);
    put_code(bench->opt.right, out);
    fputs("</div>\n</body>\n</html>\n", out);
    return ferror(out) ? COS_EIO : 0;
}
