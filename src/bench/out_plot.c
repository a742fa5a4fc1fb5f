/* out_plot.c - the plots of the page, as SVG: bars, one a cell, with the interval
 * where there is one. A plot is narrow, so that its text keeps its size on a
 * telephone; the page puts them beside each other on a desk. */
#include "bench/bench.h"

#include <string.h>

enum { WIDTH = 360, ROW = 22, LEFT = 104, RIGHT = 112, TOP = 22 };

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

static struct value memory_value(const struct bench_result *r)
{
    return (struct value){(double)r->median.memory, 0, 0};
}

static struct value pages_value(const struct bench_result *r)
{
    return (struct value){r->pages_s, 0, 0};
}

static double largest(const struct bench_table *t, value_of *of)
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
static int complete(const struct bench_table *t, value_of *of)
{
    for (size_t i = t->from; i < t->to; i++)
        if (of(&t->bench->results[i]).mid <= 0)
            return 0;
    return 1;
}

void bench_put_number(double value, FILE *out)
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
            bench_is_bad(r) ? "bad" : face, LEFT, y, v.mid * scale);
    if (v.high > v.low)
        fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", LEFT + v.low * scale,
                LEFT + v.high * scale, y + 7, y + 7);
    x = v.high > v.mid ? LEFT + v.high * scale : x;
    fprintf(out, "<text x=\"%.1f\" y=\"%d\">", x + 5, y + 12);
    bench_put_number(v.mid, out);
    fprintf(out, "%s</text>\n", bench_is_bad(r) ? ", invalid" : "");
}

static void put_plot(const struct bench_table *t, value_of *of, const char *caption, FILE *out)
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

void bench_put_plots(const struct bench_table *t, FILE *out)
{
    int real = t->bench->results[t->from].cell.leaves == BENCH_REAL;
    put_plot(t, ratio_value,
             real ? "time a page, as a ratio to the baseline (less is better)"
                  : "processor time a page, as a ratio to the baseline (less is better)", out);
    put_plot(t, instructions_value, "instructions a page (less is better)", out);
    if (real)
        put_plot(t, pages_value, "pages a second (more is better)", out);
    put_plot(t, memory_value, "memory for each step in flight, bytes (less is better)", out);
}
