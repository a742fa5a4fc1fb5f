/* ui.t - what a person sees: status lines on a pseudo-terminal of several
 * widths, messages above them, plain lines elsewhere, the closing summary, the
 * log file. A small terminal in the test plays the screen back. */
#include "config.h"

#include "tap.h"

#include "tool/text.h"
#include "tool/ui.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

enum { ROWS = 40, COLS = 220, RAW = 1 << 16 };

static int master, slave, saved_stderr;
static char raw[RAW];

/* The screen, one byte per character (UTF-8 continuation bytes are dropped). */
static struct {
    char cell[ROWS][COLS + 1];
    int row, col, width, wrapped, sequences;
} screen;

static void clear_to_end(int from)
{
    memset(screen.cell[screen.row] + from, ' ', (size_t)(COLS - from));
}

static const char *escape(const char *s)
{
    int n = 0;
    for (s += 2; *s >= '0' && *s <= '9'; s++)
        n = n * 10 + *s - '0';
    if (*s == 'A')
        screen.row -= n ? n : 1;
    if (*s == 'K' || *s == 'J')
        clear_to_end(screen.col);
    if (*s == 'J')
        for (int r = screen.row + 1; r < ROWS; r++)
            memset(screen.cell[r], ' ', COLS);
    screen.sequences++;
    return s;
}

static void play(const char *s, int width)
{
    memset(&screen, 0, sizeof screen);
    for (int r = 0; r < ROWS; r++)
        memset(screen.cell[r], ' ', COLS);
    screen.width = width;
    for (; *s; s++) {
        if (*s == '\r')
            screen.col = 0;
        else if (*s == '\n')
            screen.row++;
        else if (*s == '\033' && s[1] == '[')
            s = escape(s);
        else if (((unsigned char)*s & 0xc0) != 0x80) {
            screen.wrapped += screen.col >= width;
            screen.cell[screen.row][screen.col++] = (unsigned char)*s < 0x80 ? *s : '*';
        }
        if (screen.row < 0 || screen.row >= ROWS || screen.col >= COLS)
            break;
    }
    for (int r = 0; r < ROWS; r++) {
        int end = COLS;
        while (end && screen.cell[r][end - 1] == ' ')
            end--;
        screen.cell[r][end] = 0;
    }
}

static void open_terminal(int width)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)width};
    master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master))
        BAIL_OUT("no pseudo-terminal");
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    ioctl(slave, TIOCSWINSZ, &size);
    fcntl(master, F_SETFL, O_NONBLOCK);
    fflush(stderr);
    saved_stderr = dup(2);
    dup2(slave, 2);
}

static void close_terminal(int width)
{
    size_t n = 0;
    ssize_t got;
    fflush(stderr);
    while ((got = read(master, raw + n, RAW - 1 - n)) > 0)
        n += (size_t)got;
    raw[n] = 0;
    dup2(saved_stderr, 2);
    close(saved_stderr);
    close(slave);
    close(master);
    play(raw, width);
}

static const struct cos_crawl_stats busy = {
    .elapsed_ms = 65000, .done = 12345, .queued = 6789, .failed = 12, .skipped = 345,
    .in_flight = 64, .known = 20000, .bytes = 300 << 20, .requests = 13000, .retries = 5,
    .nslow = 2,
    .slow = {{"slow.example.org", 1234, 5000, 321, 1}, {"www.example.org", 456, 0, 0, 6}},
};

static struct tool_options options;
static struct tool_ui ui;

static void start(void)
{
    if (ui_init(&ui, &options))
        BAIL_OUT("ui_init failed");
}

static int on_screen(const char *text)
{
    for (int r = 0; r < ROWS; r++)
        if (strstr(screen.cell[r], text))
            return 1;
    diag("not on the screen: %s", text);
    return 0;
}

static void draw_at(int width)
{
    open_terminal(width);
    start();
    ui_progress(&ui, &busy);
    ui_progress(&ui, &busy);
    close_terminal(width);
    ui.lines = 0;
    ui_release(&ui);
}

static void check_widths(void)
{
    static const int widths[] = {20, 40, 60, 80, 100, 132, 200};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        draw_at(widths[i]);
        ok(!screen.wrapped && screen.row <= 1, "%d columns: nothing wraps", widths[i]);
        ok(on_screen("12,345 done"), "%d columns: done is there", widths[i]);
    }
    draw_at(132);
    ok(on_screen("6,789 queued") && on_screen("12 failed") && on_screen("64 in flight") &&
       on_screen("345 skipped") && on_screen("1:05") && on_screen("pages/s") && on_screen("B/s"),
       "a wide terminal shows it all");
    ok(on_screen("slowest: slow.example.org 1.2 s +5.0 s wait (321 queued), www.example.org 456 ms"),
       "the slowest hosts are named, slowest first");
    ok(!screen.cell[2][0], "two lines, no more");
}

static void check_messages(void)
{
    open_terminal(100);
    start();
    ui_progress(&ui, &busy);
    ui_say(&ui, COS_SAY_WARN, "first %s", "a\033[2Jb\rc");
    ui_progress(&ui, &busy);
    ui_say(&ui, COS_SAY_WARN, "second");
    ui_progress(&ui, &busy);
    close_terminal(100);
    ok(strstr(screen.cell[0], "first a\\x1b[2Jb") && strstr(screen.cell[1], "second"),
       "messages stay above the status, in order, and cannot steer the terminal");
    ok(strstr(screen.cell[2], "12,345 done") && strstr(screen.cell[3], "slowest") &&
       !screen.cell[4][0], "the status is below them, once");
    ui.lines = 0;
    ui_release(&ui);

    open_terminal(100);
    start();
    ui_progress(&ui, &busy);
    ui_say(&ui, COS_SAY_WARN, "kept");
    ui_release(&ui);
    close_terminal(100);
    ok(strstr(screen.cell[0], "kept") && !screen.cell[1][0] && !screen.cell[2][0],
       "at the end the status is gone and the messages are not");
}

static void check_colors(void)
{
    draw_at(100);
    ok(strstr(raw, "\033[31m"), "failures are red on a terminal");
    setenv("NO_COLOR", "1", 1);
    draw_at(100);
    ok(!strstr(raw, "\033[31m") && !strstr(raw, "\033[0m"), "NO_COLOR: no colours");
    options.color = TOOL_COLOR_ALWAYS;
    draw_at(100);
    ok(strstr(raw, "\033[31m"), "--color=always wins over NO_COLOR");
    options.color = TOOL_COLOR_AUTO;
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    draw_at(100);
    ok(!screen.sequences && !*raw, "TERM=dumb: neither status nor colours");
    setenv("TERM", "xterm", 1);
    options.loud = TOOL_QUIET;
    draw_at(100);
    ok(!*raw, "-q: no status");
    options.loud = TOOL_NORMAL;
    options.progress = TOOL_PROGRESS_NONE;
    draw_at(100);
    ok(!*raw, "--no-progress: no status");
    options.progress = TOOL_PROGRESS_AUTO;
}

/* stderr into a file instead of a terminal. */
static char *into_file(void (*run)(void))
{
    FILE *f = tmpfile();
    size_t n;
    fflush(stderr);
    saved_stderr = dup(2);
    dup2(fileno(f), 2);
    run();
    fflush(stderr);
    dup2(saved_stderr, 2);
    close(saved_stderr);
    rewind(f);
    n = fread(raw, 1, RAW - 1, f);
    raw[n] = 0;
    fclose(f);
    return raw;
}

static void ten_seconds(void)
{
    struct cos_crawl_stats st = busy;
    start();
    for (st.elapsed_ms = 0; st.elapsed_ms < 10000; st.elapsed_ms += 100) {
        st.done += 5;
        ui_progress(&ui, &st);
    }
    ui_release(&ui);
}

static int lines_in(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += *s == '\n';
    return n;
}

static void check_plain(void)
{
    is(into_file(ten_seconds), "", "without a terminal and -v nothing is said");
    options.loud = TOOL_VERBOSE;
    into_file(ten_seconds);
    cmp_ok(lines_in(raw), "==", 3, "with -v a line every three seconds");
    ok(strstr(raw, "50.0 pages/s") && !strchr(raw, '\033') && !strchr(raw, '\r'),
       "it is plain and the rate is right");
    options.loud = TOOL_NORMAL;
}

static struct cos_crawl_result result;

static void sum_up(void)
{
    start();
    ui_summary(&ui, &options, &result);
    ui_release(&ui);
}

static void fill_result(void)
{
    result = (struct cos_crawl_result){.stop = COS_STOP_FINISHED, .exit_code = 8, .resumable = 1};
    result.stats = busy;
    result.stats.queued = result.stats.in_flight = 0;
    result.stats.skipped_by[COS_SKIP_LEVEL] = 210;
    result.stats.skipped_by[COS_SKIP_ROBOTS] = 17;
    result.stats.skipped_by[COS_SKIP_SCOPE] = 118;
    result.nerrors = 2;
    result.errors[0] = (struct cos_crawl_error){"404", 9, "http://x/lost.html"};
    result.errors[1] = (struct cos_crawl_error){"connection refused", 2, "http://y/\033[2J"};
}

static void check_summary(void)
{
    fill_result();
    options.crawl.dir = "mirror";
    into_file(sum_up);
    ok(strstr(raw, "finished after 1:05: 12,345 pages, 300 MiB"), "what was fetched");
    ok(strstr(raw, "210 beyond -l 5; use -l inf"), "what the level left out, and the remedy");
    ok(strstr(raw, "118 outside --scope=host") && strstr(raw, "17 disallowed by robots.txt"),
       "the other reasons");
    ok(strstr(raw, "210 beyond") < strstr(raw, "118 outside") &&
       strstr(raw, "118 outside") < strstr(raw, "17 disallowed"), "the most frequent first");
    ok(strstr(raw, "9 with 404 Not Found, such as http://x/lost.html") &&
       strstr(raw, "1 for other reasons"), "the failures, none forgotten");
    ok(!strchr(raw, '\033') && strstr(raw, "http://y/\\x1b[2J"), "hostile URLs are shown, not sent");
    ok(strstr(raw, "mirror/.coscrawl/crawl.db") && strstr(raw, "coscrawl why mirror URL"),
       "where it is and how to ask");
    ok(!strstr(raw, "go on"), "a finished crawl does not go on");

    result.stats.queued = 1;
    result.stats.skipped_by[COS_SKIP_GONE] = 1;
    into_file(sum_up);
    ok(strstr(raw, "ended, not finished, after") && strstr(raw, "1 URL is waiting") &&
       strstr(raw, "1 left for another run: the host does not answer any more"),
       "a crawl whose host went away does not call itself finished");
    result.stop = COS_STOP_ALREADY;
    into_file(sum_up);
    ok(strstr(raw, "nothing to do: this crawl is finished, with 12,345 pages\n") &&
       !strstr(raw, " after "), "nothing to do: no time, no rate");
    result.stats.skipped_by[COS_SKIP_GONE] = 0;
    options.crawl.fresh = 1;
    result.stop = COS_STOP_INTERRUPTED;
    into_file(sum_up);
    ok(strstr(raw, "the same command without --fresh goes on from here"),
       "--fresh must not be said again to go on");
    options.crawl.fresh = 0;
    result.stats.queued = 55;
    result.stats.resumed = 345;
    options.crawl.level = 2;
    into_file(sum_up);
    ok(strstr(raw, "interrupted, state saved") && strstr(raw, "12,000 pages and 345 from before"),
       "an interrupted crawl says so, and what came from before");
    ok(strstr(raw, "55 URLs are waiting; the same command goes on"), "and how to go on");
    ok(strstr(raw, "beyond -l 2;"), "the level is the one that was asked for");
    options.crawl.level = 0;

    options.loud = TOOL_TERSE;
    into_file(sum_up);
    cmp_ok(lines_in(raw), "==", 1, "-nv: one closing line");
    options.loud = TOOL_QUIET;
    is(into_file(sum_up), "", "-q: none");
    result = (struct cos_crawl_result){.stop = COS_STOP_ERROR, .err = COS_ELOCKED, .exit_code = 3};
    snprintf(result.message, sizeof result.message, "mirror: in use by process 12");
    is(into_file(sum_up), "coscrawl: mirror: in use by process 12\n", "an error: one line, even with -q");
    options.loud = TOOL_NORMAL;
    options.crawl.dir = NULL;
}

static void check_log(void)
{
    char path[] = "/tmp/ui-log-XXXXXX", line[256] = "";
    int fd = mkstemp(path);
    FILE *f;
    options.log_file = path;
    options.loud = TOOL_QUIET;
    options.color = TOOL_COLOR_ALWAYS;
    open_terminal(80);
    start();
    ui_say(&ui, COS_SAY_DEBUG, "to the log only");
    ui_release(&ui);
    close_terminal(80);
    f = fopen(path, "r");
    ok(f && fgets(line, sizeof line, f), "the log file has a line");
    like(line, "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} coscrawl: to the log only\n$",
         "with the time, without colours, even with -q");
    is(raw, "", "and -q keeps it from the terminal");
    if (f)
        fclose(f);
    close(fd);
    unlink(path);
    options = (struct tool_options){0};
}

static void check_text(void)
{
    char out[TEXT_SHORT];
    is(text_count(out, 0), "0", "0");
    is(text_count(out, 999), "999", "999");
    is(text_count(out, 1000), "1,000", "1,000");
    is(text_count(out, -1234567), "-1,234,567", "-1,234,567");
    is(text_count(out, INT64_MAX), "9,223,372,036,854,775,807", "the largest number");
    is(text_bytes(out, 1023), "1023 B", "1023 B");
    is(text_bytes(out, 1024), "1.0 KiB", "1.0 KiB");
    is(text_bytes(out, 1024 * 1024 - 1), "1.0 MiB", "just below a MiB");
    is(text_bytes(out, 150e6), "143 MiB", "143 MiB");
    is(text_time(out, 999), "999 ms", "999 ms");
    is(text_time(out, 59999), "59.9 s", "59.9 s");
    is(text_time(out, 3723000), "1:02:03", "1:02:03");
    is(text_rate(out, 1), "1.0 pages/s", "a rate");
    is(text_rate(out, 1860.4), "1860 pages/s", "a high one");
    is(text_status(out, 404), "404 Not Found", "a status with its name");
    is(text_status(out, 299), "299", "a status without one");
    cmp_ok(text_distance("levle", "level"), "==", 1, "swapped letters are one slip");
    cmp_ok(text_distance("", "abc"), "==", 3, "from nothing");
}

int main(void)
{
    plan(NO_PLAN);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
    unsetenv("COLUMNS");
    check_text();
    check_widths();
    check_messages();
    check_colors();
    check_plain();
    check_summary();
    check_log();
    done_testing();
}
