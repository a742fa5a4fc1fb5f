/* progress.c - the status lines on a terminal, and the plain line elsewhere.
 *
 * The first status line is made of pieces with a rank; when the terminal is too
 * narrow the piece of the highest rank goes first, so that done, queued and
 * failed are always there. The second line names the slowest hosts. A line is
 * never as wide as the terminal: one that wraps cannot be taken back. */
#include "tool/text.h"
#include "tool/ui.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 16, PIECES = 10 };

struct piece {
    char text[96];
    const char *color; /* code or NULL */
    int rank;          /* 0: not there */
};

static size_t screen_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int n = columns ? atoi(columns) : 0;
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 0)
        n = size.ws_col;
    return n > 10 ? (size_t)n : 80;
}

static void sample(struct tool_ui *ui, const struct cos_crawl_stats *stats)
{
    ui->samples[ui->nsamples++ % UI_SAMPLES] =
        (struct ui_sample){stats->elapsed_ms, stats->done, stats->bytes};
}

void ui_rates(const struct tool_ui *ui, double *pages, double *bytes)
{
    const struct ui_sample *now, *then;
    double s;
    *pages = *bytes = 0;
    if (ui->nsamples < 2)
        return;
    now = &ui->samples[(ui->nsamples - 1) % UI_SAMPLES];
    then = &ui->samples[ui->nsamples > UI_SAMPLES ? ui->nsamples % UI_SAMPLES : 0];
    s = (double)(now->ms - then->ms) / 1000;
    if (s <= 0)
        return;
    *pages = (double)(now->done - then->done) / s;
    *bytes = (double)(now->bytes - then->bytes) / s;
}

/* How much of what is known is over. It can shrink when links are found. */
static void draw_bar(char out[96], const struct tool_ui *ui, const struct cos_crawl_stats *st)
{
    int64_t over = st->done + st->failed, all = over + st->queued + st->in_flight;
    int full = all > 0 ? (int)((double)over * BAR / (double)all) : 0;
    size_t n = 0;
    for (int i = 0; i < BAR; i++) {
        const char *mark = ui->utf8 ? (i < full ? "━" : "╌") : (i < full ? "#" : ".");
        n += (size_t)snprintf(out + n, 96 - n, "%s", mark);
    }
    snprintf(out + n, 96 - n, " %3d%%", all > 0 ? (int)((double)over * 100 / (double)all) : 0);
}

static size_t make_pieces(const struct tool_ui *ui, const struct cos_crawl_stats *st,
                          struct piece p[PIECES])
{
    char a[TEXT_SHORT];
    double pages, bytes;
    size_t n = 0;
    ui_rates(ui, &pages, &bytes);
    p[n] = (struct piece){.rank = 6, .color = "36"};
    draw_bar(p[n++].text, ui, st);
#define PIECE(RANK, COLOR, ...)                                                                    \
    do {                                                                                           \
        p[n] = (struct piece){.rank = RANK, .color = COLOR};                                       \
        snprintf(p[n++].text, sizeof p[0].text, __VA_ARGS__);                                      \
    } while (0)
    PIECE(1, "32", "%s done", text_count(a, st->done));
    PIECE(1, NULL, "%s queued", text_count(a, st->queued));
    PIECE(1, st->failed ? "31" : NULL, "%s failed", text_count(a, st->failed));
    PIECE(3, NULL, "%s", text_rate(a, pages));
    PIECE(4, NULL, "%s/s", text_bytes(a, bytes));
    PIECE(8, NULL, "%lld in flight", (long long)st->in_flight);
    if (st->skipped)
        PIECE(9, NULL, "%s skipped", text_count(a, st->skipped));
    PIECE(5, NULL, "%s", text_time(a, st->elapsed_ms));
#undef PIECE
    return n;
}

/* Removes pieces until the rest fits into width with two blanks between. */
static void fit(struct piece *p, size_t n, size_t width)
{
    for (;;) {
        size_t total = 0, worst = n;
        for (size_t i = 0; i < n; i++) {
            if (!p[i].rank)
                continue;
            total += text_width(p[i].text) + (total ? 2 : 0);
            if (p[i].rank > 1 && (worst == n || p[i].rank > p[worst].rank))
                worst = i;
        }
        if (total <= width || worst == n)
            return;
        p[worst].rank = 0;
    }
}

static void first_line(struct tool_ui *ui, const struct cos_crawl_stats *st, size_t width)
{
    struct piece p[PIECES];
    size_t n = make_pieces(ui, st, p), used = 0;
    fit(p, n, width);
    for (size_t i = 0; i < n; i++) {
        size_t w = text_width(p[i].text);
        if (!p[i].rank || used + w + (used ? 2 : 0) > width)
            continue;
        cos_buf_addf(&ui->status, "%s%s%s%s", used ? "  " : "",
                     p[i].color ? ui_color(ui, p[i].color) : "", p[i].text,
                     p[i].color ? ui_color(ui, "0") : "");
        used += w + (used ? 2 : 0);
    }
}

static void host_text(char out[160], const struct cos_crawl_host *host)
{
    char latency[TEXT_SHORT], delay[TEXT_SHORT], queued[TEXT_SHORT];
    int n = snprintf(out, 160, "%s %s", host->name, text_time(latency, host->latency_ms));
    if (host->delay_ms)
        n += snprintf(out + n, 160 - (size_t)n, " +%s wait", text_time(delay, host->delay_ms));
    if (host->queued)
        snprintf(out + n, 160 - (size_t)n, " (%s queued)", text_count(queued, host->queued));
}

/* "slowest: a.example 1.2 s (40 queued), b.example 0.8 s" as far as it fits. */
static size_t slow_hosts(struct cos_buf *out, const struct cos_crawl_stats *st, size_t width)
{
    size_t used = strlen("slowest:"), shown = 0;
    for (size_t i = 0; i < st->nslow && i < COS_SLOW_HOSTS; i++) {
        char text[160];
        host_text(text, &st->slow[i]);
        if (used + text_width(text) + 2 > width)
            break;
        cos_buf_addf(out, "%s %s", shown ? "," : "slowest:", text);
        used += text_width(text) + (shown ? 2 : 1);
        shown++;
    }
    return shown;
}

void ui__erase(struct tool_ui *ui)
{
    if (ui->lines == 2)
        fputs("\r\033[1A\033[J", stderr);
    else if (ui->lines == 1)
        fputs("\r\033[J", stderr);
    ui->lines = 0;
}

static void draw(struct tool_ui *ui, const struct cos_crawl_stats *st)
{
    size_t width = screen_width() - 1, before;
    const char *move = ui->lines == 2 ? "\r\033[1A" : ui->lines == 1 ? "\r" : "";
    cos_buf_clear(&ui->status);
    first_line(ui, st, width);
    before = ui->status.len;
    cos_buf_addf(&ui->status, "\033[K\n%s", ui_color(ui, "2"));
    if (slow_hosts(&ui->status, st, width)) {
        cos_buf_addf(&ui->status, "%s\033[K", ui_color(ui, "0"));
        ui->lines = 2;
    } else {
        ui->status.len = before;
        ui->status.data[before] = 0;
        /* Also takes a second line away that is no longer needed. */
        cos_buf_adds(&ui->status, "\033[J");
        ui->lines = 1;
    }
    fprintf(stderr, "%s%s", move, ui->status.data);
}

static void plain_line(struct tool_ui *ui, const struct cos_crawl_stats *st)
{
    char t[TEXT_SHORT], d[TEXT_SHORT], q[TEXT_SHORT], f[TEXT_SHORT], b[TEXT_SHORT];
    double pages, bytes;
    struct cos_buf line;
    cos_buf_init(&line, 1024);
    ui_rates(ui, &pages, &bytes);
    cos_buf_addf(&line,
                 "coscrawl: %s: %s done, %s queued, %s failed, %lld in flight, %.1f pages/s, %s/s",
                 text_time(t, st->elapsed_ms), text_count(d, st->done),
                 text_count(q, st->queued), text_count(f, st->failed), (long long)st->in_flight,
                 pages, text_bytes(b, bytes));
    if (st->nslow) {
        cos_buf_adds(&line, "; ");
        slow_hosts(&line, st, 200);
    }
    if (line.data)
        fprintf(stderr, "%s\n", line.data);
    cos_buf_release(&line);
}

void ui_progress(struct tool_ui *ui, const struct cos_crawl_stats *stats)
{
    sample(ui, stats);
    if (ui->progress == TOOL_PROGRESS_BAR) {
        pthread_mutex_lock(&ui->lock);
        draw(ui, stats);
        pthread_mutex_unlock(&ui->lock);
    } else if (ui->progress == TOOL_PROGRESS_PLAIN &&
               stats->elapsed_ms - ui->last_plain >= UI_PLAIN_MS) {
        ui->last_plain = stats->elapsed_ms;
        plain_line(ui, stats);
    }
}

void ui_statistics(struct tool_ui *ui, const struct cos_crawl_stats *st)
{
    char a[TEXT_SHORT], b[TEXT_SHORT], c[TEXT_SHORT];
    double pages, bytes;
    struct cos_buf line;
    ui_rates(ui, &pages, &bytes);
    ui_say(ui, COS_SAY_ERROR, "statistics after %s: %s done, %s queued, %lld in flight",
           text_time(a, st->elapsed_ms), text_count(b, st->done), text_count(c, st->queued),
           (long long)st->in_flight);
    ui_say(ui, COS_SAY_ERROR, "  %s failed, %s skipped, %s URLs known", text_count(a, st->failed),
           text_count(b, st->skipped), text_count(c, st->known));
    ui_say(ui, COS_SAY_ERROR, "  %s requests, %s retries, %.1f pages/s",
           text_count(a, st->requests), text_count(b, st->retries), pages);
    ui_say(ui, COS_SAY_ERROR, "  %s received, %s/s, %s of memory for the queue",
           text_bytes(a, (double)st->wire_bytes), text_bytes(b, bytes),
           text_bytes(c, (double)st->memory));
    cos_buf_init(&line, 1024);
    if (slow_hosts(&line, st, 500))
        ui_say(ui, COS_SAY_ERROR, "  %s", line.data);
    cos_buf_release(&line);
}
