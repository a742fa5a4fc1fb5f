/* watch.c - the crawl's events to histograms, trace, metrics and the monitor of
 * the loop (watch.h), and the table of times in the closing words. */
#include "tool/watch.h"

#include "tool/lag.h"
#include "tool/metrics.h"
#include "tool/phases.h"
#include "tool/text.h"
#include "tool/tool.h"
#include "tool/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TABLE_HOSTS = 5, TICK_MS = 100 };
#define TRACE_MAX ((uint64_t)512 << 20)

static const char WHO[] = "coscrawl";

struct tool_watch {
    struct tool_ui *ui;
    const struct tool_options *options;
    struct phases phases;
    struct tool_trace *trace;
    struct tool_metrics *metrics;
    struct tool_lag *lag;
    int64_t last_tick, lag_us;
};

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- the times --------------------------------------------------------------------- */

static void say_row(struct tool_ui *ui, const char *name, const struct histogram *h, uint64_t all)
{
    char p[3][TEXT_SHORT], sum[TEXT_SHORT], n[TEXT_SHORT], line[256];
    static const double shares[] = {0.5, 0.95, 0.99};
    for (int i = 0; i < 3; i++) {
        int64_t us = histogram_at(h, shares[i]);
        snprintf(p[i], sizeof p[i], us < 10000 ? "%.1f ms" : "%.0f ms", (double)us / 1000);
    }
    snprintf(line, sizeof line, "  %-13s %9s %9s %9s %9s %9s %4.0f%%", name,
             text_count(n, (int64_t)h->n), p[0], p[1], p[2],
             text_time(sum, (int64_t)h->sum_us / 1000),
             all ? 100.0 * (double)h->sum_us / (double)all : 0.0);
    ui_line(ui, COS_SAY_WARN, line);
}

static void say_head(struct tool_ui *ui, const char *title)
{
    char line[256];
    snprintf(line, sizeof line, "%-15s %9s %9s %9s %9s %9s %5s", title, "pages", "p50", "p95",
             "p99", "sum", "share");
    ui_line(ui, COS_SAY_WARN, line);
}

static int by_time(const void *a, const void *b)
{
    const struct phase_host *const *x = a, *const *y = b;
    return (*x)->sum_us < (*y)->sum_us ? 1 : (*x)->sum_us > (*y)->sum_us ? -1 : 0;
}

/* alone: the table above it is its own. */
static void say_host(struct tool_ui *ui, const struct phase_host *host, int alone)
{
    uint64_t worst = 0, all = 0;
    char title[160];
    int at = PHASE_FIRST_BYTE;
    /* The queue is the crawl's own length, not the host's fault. */
    for (int i = PHASE_QUEUE + 1; i < PHASE_COUNT; i++) {
        uint64_t sum = host->of[i] ? host->of[i]->sum_us : 0;
        all += sum;
        if (sum > worst) {
            worst = sum;
            at = i;
        }
    }
    snprintf(title, sizeof title, "%s: %.0f%% of the time after the queue is %s", host->name,
             all ? 100.0 * (double)worst / (double)all : 0.0, phase_text(at));
    ui_line(ui, COS_SAY_WARN, title);
    if (alone)
        return;
    for (int i = 0; i < PHASE_COUNT; i++)
        if (host->of[i] && host->of[i]->n)
            say_row(ui, phase_text(i), host->of[i], host->sum_us);
}

/* Over all pages, then the hosts that took most of the time. */
static void say_times(struct tool_watch *w)
{
    struct phases *p = &w->phases;
    uint64_t all = 0;
    for (int i = 0; i < PHASE_COUNT; i++)
        all += p->of[i].sum_us;
    if (!p->nhosts)
        return;
    say_head(w->ui, "time by phase");
    for (int i = 0; i < PHASE_COUNT; i++)
        if (p->of[i].n)
            say_row(w->ui, phase_text(i), &p->of[i], all);
    qsort(p->host, (size_t)p->nhosts, sizeof p->host[0], by_time);
    for (int i = 0; i < p->nhosts && i < TABLE_HOSTS; i++)
        say_host(w->ui, p->host[i], p->nhosts == 1);
}

/* --- opening ----------------------------------------------------------------------- */

static void say_lag(void *arg, const char *what, const char *stack)
{
    struct tool_watch *w = arg;
    ui_say(w->ui, COS_SAY_WARN, "%s", what);
    for (const char *at = stack; *at;) {
        size_t len = strcspn(at, "\n");
        ui_say(w->ui, COS_SAY_WARN, "  %s %.*s", at == stack ? "in" : "by", (int)len, at);
        at += len + (at[len] == '\n');
    }
}

static int open_all(struct tool_watch *w, const struct tool_options *o)
{
    struct cos_buf why;
    int code = 0;
    if (o->trace && !(w->trace = trace_open(o->trace, TRACE_MAX)))
        return tool_fail(TOOL_FILE, WHO, "%s: %s", o->trace, strerror(errno));
    cos_buf_init(&why, 1024);
    if (o->metrics && !(w->metrics = metrics_open(o->metrics, &w->phases, &why)))
        code = tool_fail(TOOL_FILE, WHO, "%s", why.data ? why.data : o->metrics);
    cos_buf_release(&why);
    if (!code && o->loop_lag && !(w->lag = lag_open(o->loop_lag, say_lag, w)))
        code = tool_fail(1, WHO, "out of memory");
    if (!code && w->metrics && metrics_address(w->metrics))
        ui_say(w->ui, COS_SAY_WARN, "metrics at http://%s/metrics", metrics_address(w->metrics));
    return code;
}

int watch_open(struct tool_watch **out, struct tool_options *o, struct tool_ui *ui)
{
    struct tool_watch *w;
    int code;
    *out = NULL;
    if (!o->stats && !o->trace && !o->metrics && !o->loop_lag)
        return 0;
    w = calloc(1, sizeof *w);
    if (!w)
        return tool_fail(1, WHO, "out of memory");
    w->ui = ui;
    w->options = o;
    w->last_tick = clock_us();
    o->crawl.phases = 1;
    code = open_all(w, o);
    if (code)
        watch_close(w, NULL);
    else
        *out = w;
    return code;
}

/* --- events ------------------------------------------------------------------------ */

void watch_page(struct tool_watch *w, const struct cos_crawl_page *page)
{
    if (!w || !page->page || !page->page->timing.began)
        return;
    phases_add(&w->phases, page->url, &page->page->timing);
    if (w->trace)
        trace_page(w->trace, page->page, page->referrer_id, 0);
}

void watch_failure(struct tool_watch *w, const struct cos_crawl_failure *f)
{
    if (!w || !f->final || !f->page || !f->page->timing.began)
        return;
    phases_add(&w->phases, f->url, &f->page->timing);
    if (w->trace)
        trace_page(w->trace, f->page, 0, f->err);
}

void watch_tick(struct tool_watch *w, const struct cos_crawl_stats *stats)
{
    int64_t now = clock_us(), late;
    if (!w)
        return;
    late = now - w->last_tick - (int64_t)TICK_MS * 1000;
    w->lag_us = late > 0 ? late : 0;
    w->last_tick = now;
    if (w->trace)
        trace_tick(w->trace, stats, w->lag_us);
    if (w->metrics)
        metrics_tick(w->metrics, stats, w->lag_us);
}

static int end_trace(struct tool_watch *w)
{
    uint64_t lost = w->trace ? trace_left_out(w->trace) : 0;
    int err = trace_close(w->trace);
    if (lost)
        ui_say(w->ui, COS_SAY_WARN, "the trace has no room for %llu more pages",
               (unsigned long long)lost);
    return err ? tool_fail(TOOL_FILE, WHO, "%s: %s", w->options->trace, strerror(err)) : 0;
}

int watch_close(struct tool_watch *w, const struct cos_crawl_stats *stats)
{
    int code, err;
    if (!w)
        return 0;
    if (w->options->stats && stats)
        say_times(w);
    if (w->lag && stats) {
        char t[TEXT_SHORT];
        ui_say(w->ui, COS_SAY_WARN, "the loop was held longer than %lld ms %llu times, at most %s",
               (long long)w->options->loop_lag, (unsigned long long)lag_count(w->lag),
               text_time(t, lag_longest(w->lag) / 1000));
    }
    lag_close(w->lag);
    code = end_trace(w);
    err = metrics_close(w->metrics, stats);
    if (err)
        code = tool_fail(TOOL_FILE, WHO, "%s: %s", w->options->metrics, cos_strerror(err));
    phases_release(&w->phases);
    free(w);
    return code;
}
