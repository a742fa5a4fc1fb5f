/* ui.c - messages. Each goes to stderr if it is loud enough, above the status
 * lines, and to the log file with the time. Text from outside is escaped here,
 * once, for both. */
#include "config.h"

#include "tool/ui.h"

#include "base/log.h"
#include "tool/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int set_and_not_empty(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static int is_screen(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb");
}

static int decide_progress(const struct tool_options *o)
{
    if (o->progress != TOOL_PROGRESS_AUTO)
        return o->progress;
    if (o->loud < TOOL_NORMAL)
        return TOOL_PROGRESS_NONE;
    if (is_screen())
        return TOOL_PROGRESS_BAR;
    return o->loud >= TOOL_VERBOSE ? TOOL_PROGRESS_PLAIN : TOOL_PROGRESS_NONE;
}

static int decide_color(const struct tool_options *o)
{
    if (o->color != TOOL_COLOR_AUTO)
        return o->color == TOOL_COLOR_ALWAYS;
    return is_screen() && !set_and_not_empty("NO_COLOR");
}

static int decide_utf8(void)
{
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return 0;
}

/* Lines that other rooms log come the same way as ours. */
static void from_log(void *arg, const char *line, size_t len)
{
    char text[COS_LOG_LINE_MAX + 8];
    while (len && line[len - 1] == '\n')
        len--;
    if (len >= sizeof text)
        len = sizeof text - 1;
    memcpy(text, line, len);
    text[len] = 0;
    ui_line(arg, COS_SAY_ERROR, text);
}

int ui_init(struct tool_ui *ui, const struct tool_options *options)
{
    *ui = (struct tool_ui){.loud = options->loud};
    pthread_mutex_init(&ui->lock, NULL);
    cos_buf_init(&ui->status, UI_STATUS_MAX);
    ui->progress = decide_progress(options);
    ui->color = decide_color(options);
    ui->utf8 = decide_utf8();
    if (options->log_file) {
        ui->log = sink_stream(options->log_file, 1);
        if (!ui->log)
            return cos_err_from_errno(errno);
    }
    cos_log_level(options->loud >= TOOL_DEBUG     ? COS_LOG_ALL
                  : options->loud == TOOL_VERBOSE ? COS_LOG_VERBOSE
                  : options->loud < TOOL_NORMAL   ? COS_LOG_QUIET
                                                  : COS_LOG_NORMAL);
    cos_log_sink(from_log, ui);
    return 0;
}

void ui_release(struct tool_ui *ui)
{
    cos_log_sink(NULL, NULL);
    ui_erase(ui);
    if (ui->log)
        fclose(ui->log);
    ui->log = NULL;
    cos_buf_release(&ui->status);
}

const char *ui_color(const struct tool_ui *ui, const char *code)
{
    static char out[4][16];
    static unsigned turn;
    if (!ui->color)
        return "";
    turn = (turn + 1) % 4;
    snprintf(out[turn], sizeof out[turn], "\033[%sm", code);
    return out[turn];
}

/* Colours are for the terminal only. */
static void write_log(FILE *log, const char *text)
{
    char when[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    if (localtime_r(&now, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S ", &tm);
    fputs(when, log);
    for (const char *at = text; *at; at++) {
        if (*at == '\033')
            at += strcspn(at, "m");
        else
            fputc(*at, log);
        if (!*at)
            break;
    }
    fputc('\n', log);
}

static int is_shown(const struct tool_ui *ui, int level)
{
    static const int needed[] = {
        [COS_SAY_DEBUG] = TOOL_VERBOSE,
        [COS_SAY_INFO] = TOOL_NORMAL,
        [COS_SAY_WARN] = TOOL_TERSE,
        [COS_SAY_ERROR] = TOOL_QUIET,
    };
    return ui->loud >= needed[level];
}

/* Above the status lines, which come back below it. */
static void show(struct tool_ui *ui, const char *text)
{
    int lines = ui->lines;
    ui__erase(ui);
    fprintf(stderr, "%s\n", text);
    if (lines) {
        fputs(ui->status.data, stderr);
        ui->lines = lines;
    }
}

void ui_line(struct tool_ui *ui, int level, const char *text)
{
    pthread_mutex_lock(&ui->lock);
    if (ui->log)
        write_log(ui->log, text);
    if (is_shown(ui, level))
        show(ui, text);
    pthread_mutex_unlock(&ui->lock);
}

void ui_flush(struct tool_ui *ui)
{
    pthread_mutex_lock(&ui->lock);
    if (ui->log)
        fflush(ui->log);
    pthread_mutex_unlock(&ui->lock);
}

void ui_erase(struct tool_ui *ui)
{
    pthread_mutex_lock(&ui->lock);
    ui__erase(ui);
    pthread_mutex_unlock(&ui->lock);
}

void ui_say(struct tool_ui *ui, int level, const char *fmt, ...)
{
    char raw[COS_LOG_LINE_MAX];
    struct cos_buf line;
    va_list ap;
    const char *color = level >= COS_SAY_ERROR ? "31" : level == COS_SAY_WARN ? "33" : "0";
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    cos_buf_init(&line, sizeof raw * 8);
    cos_buf_addf(&line, "%scoscrawl:%s ", ui_color(ui, color), ui_color(ui, "0"));
    cos_log_escape(&line, raw, strlen(raw));
    if (line.data)
        ui_line(ui, level, line.data);
    cos_buf_release(&line);
}
