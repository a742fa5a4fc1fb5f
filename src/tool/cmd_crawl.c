/* cmd_crawl.c - `coscrawl [OPTION]… URL…`: options to a crawl, its events to
 * messages and data, its result to the summary and the exit code. */
#include "tool/config_file.h"
#include "tool/descriptors.h"
#include "tool/options.h"
#include "tool/output.h"
#include "tool/seeds.h"
#include "tool/signals.h"
#include "tool/text.h"
#include "tool/tool.h"
#include "tool/ui.h"
#include "tool/version.h"
#include "tool/watch.h"

#include "coscrawl.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char WHO[] = "coscrawl";

struct run {
    struct tool_options options;
    struct tool_ui ui;
    struct tool_output output;
    struct tool_watch *watch;
    int draining; /* already said */
};

static void on_page(void *arg, const struct cos_crawl_page *p)
{
    struct run *run = arg;
    char size[TEXT_SHORT], time[TEXT_SHORT];
    output_page(&run->output, p);
    watch_page(run->watch, p);
    if (!p->page || (run->ui.loud < TOOL_VERBOSE && !run->ui.log))
        return;
    ui_say(&run->ui, COS_SAY_DEBUG, "%d %s %s %s%s%s", p->page->status, p->url,
           text_bytes(size, (double)p->page->body_len),
           text_time(time, p->page->timing.total / 1000), p->page->location ? " to " : "",
           p->page->location ? p->page->location : "");
}

static void on_would(void *arg, const char *url, const char *referrer, int depth)
{
    struct run *run = arg;
    output_would(&run->output, url, referrer, depth);
}

static void on_skip(void *arg, const struct cos_crawl_skip *s)
{
    struct run *run = arg;
    output_skip(&run->output, s);
    if (run->ui.loud >= TOOL_DEBUG || run->ui.log)
        ui_say(&run->ui, COS_SAY_DEBUG, "%s %s: %s%s%s", s->queued ? "left" : "skipped", s->url,
               cos_skip_text(s->reason), s->detail ? ": " : "", s->detail ? s->detail : "");
}

/* "404 Not Found", "connection refused", "TLS handshake failed: wrong version". */
static void what_failed(char *out, size_t max, char name[TEXT_SHORT],
                        const struct cos_crawl_failure *f)
{
    const char *what = f->err == COS_EHTTP && f->status ? text_status(name, f->status)
                                                        : cos_strerror(f->err);
    snprintf(out, max, "%s%s%s", what, f->why ? ": " : "", f->why ? f->why : "");
}

/* The referrer without what it shares with the URL: "/a.html" on one host. */
static const char *short_referrer(const char *url, const char *referrer)
{
    const char *host = strstr(url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
    size_t len = path ? (size_t)(path - url) : 0;
    return len && !strncmp(url, referrer, len) && referrer[len] == '/' ? referrer + len : referrer;
}

/* Failures are news, but a thousand of them are noise: the summary counts them
 * and the database has them all. */
static void on_failure(void *arg, const struct cos_crawl_failure *f)
{
    struct run *run = arg;
    struct tool_ui *ui = &run->ui;
    char text[512], name[TEXT_SHORT], when[TEXT_SHORT];
    output_failure(&run->output, f);
    watch_failure(run->watch, f);
    what_failed(text, sizeof text, name, f);
    if (!f->final) {
        ui_say(ui, COS_SAY_DEBUG, "%s: %s; again in %s", f->url, text, text_time(when, f->in_ms));
        return;
    }
    if (ui->failures == UI_FAILURES && ui->loud < TOOL_VERBOSE)
        ui_say(ui, COS_SAY_WARN, "more failures; -v shows all, the summary counts them");
    ui_say(ui, ui->failures++ < UI_FAILURES ? COS_SAY_WARN : COS_SAY_DEBUG, "%s: %s%s%s", f->url,
           text, f->referrer ? ", linked from " : "",
           f->referrer ? short_referrer(f->url, f->referrer) : "");
}

static void on_say(void *arg, int level, const char *text)
{
    struct run *run = arg;
    ui_say(&run->ui, level, "%s", text);
}

static int on_tick(void *arg, const struct cos_crawl_stats *stats)
{
    struct run *run = arg;
    if (signals_statistics())
        ui_statistics(&run->ui, stats);
    ui_progress(&run->ui, stats);
    ui_flush(&run->ui);
    watch_tick(run->watch, stats);
    if (signals_stop() && !run->draining) {
        run->draining = 1;
        ui_say(&run->ui, COS_SAY_WARN,
               "interrupted: nothing new is started, %lld in flight may end within 10 seconds; "
               "interrupt again to leave at once",
               (long long)stats->in_flight);
    }
    return signals_stop() || output_tick(&run->output) ? COS_CRAWL_DRAIN : COS_CRAWL_GO;
}

/* The list could not be written: that, and no signal, is what ended the crawl. A
 * reader that went away (head) is no exception: the crawl is not complete. */
static void blame_output(struct run *run, struct cos_crawl_result *result)
{
    const char *name = run->options.output && strcmp(run->options.output, "-")
                           ? run->options.output
                           : "standard output";
    int err = output_end(&run->output);
    if (!err)
        return;
    result->stop = COS_STOP_ERROR;
    result->err = err;
    result->exit_code = TOOL_FILE;
    snprintf(result->message, sizeof result->message, "cannot write the list to %.200s: %s", name,
             err == COS_ECLOSED ? "its reader went away" : cos_strerror(err));
}

static int crawl(struct run *run)
{
    const struct cos_crawl_events events = {
        .arg = run,
        .page = on_page,
        .would = on_would,
        .skip = on_skip,
        .failure = on_failure,
        .say = on_say,
        .tick = on_tick,
    };
    struct cos_crawl_result result = {0};
    struct cos_hook_wait self;
    int code = watch_open(&run->watch, &run->options, &run->ui);
    if (code)
        return code;
    signals_install();
    cos_co_begin(&self);
    cos_crawl(&run->options.crawl, &events, &result);
    cos_co_end(&self);
    blame_output(run, &result);
    ui_summary(&run->ui, &run->options, &result);
    code = watch_close(run->watch, &result.stats);
    cos_shutdown();
    if (code)
        return code;
    return result.exit_code;
}

/* What only together makes no sense. */
static int check(const struct tool_options *o)
{
    if (o->crawl.random_wait && !o->crawl.wait)
        return tool_usage(WHO, "--random-wait needs -w, the time it varies");
    if (o->crawl.mode != COS_MODE_SAVE && o->crawl.fresh)
        return tool_usage(WHO, "--fresh goes with a crawl that is kept, not with %s",
                          o->crawl.mode == COS_MODE_LIST ? "--list" : "--dry-run");
    if (o->crawl.timestamping && o->crawl.fresh)
        return tool_usage(WHO, "-N goes on with an earlier crawl, --fresh forgets it");
    if (o->crawl.backup_converted && !o->crawl.convert_links)
        return tool_usage(WHO, "-K keeps what --convert-links changes, and needs that");
    if (!o->crawl.warc_file && (o->crawl.warc_max_size || o->crawl.warc_cdx))
        return tool_usage(WHO, "%s needs --warc-file, the archive it is about",
                          o->crawl.warc_cdx ? "--warc-cdx" : "--warc-max-size");
    if (o->crawl.warc_file && o->crawl.from_warc.n)
        return tool_usage(WHO, "--warc-file and --from-warc exclude each other");
    return 0;
}

/* A file that is only needed later is better missed now. */
static int readable(const char *path)
{
    if (!path || !access(path, R_OK))
        return 0;
    return tool_fail(TOOL_FILE, WHO, "%s: %s", path, strerror(errno));
}

static int prepare(struct run *run)
{
    struct tool_options *o = &run->options;
    int err = check(o);
    if (!err)
        err = readable(o->crawl.cacert);
    if (!err)
        err = readable(o->crawl.load_cookies);
    for (size_t i = 0; i < o->crawl.from_warc.n && !err; i++)
        err = readable(o->crawl.from_warc.v[i]);
    if (err)
        return err;
    err = ui_init(&run->ui, o);
    if (err)
        return tool_fail(TOOL_FILE, WHO, "%s: %s", o->log_file, cos_strerror(err));
    err = tool_seeds(o, &run->ui);
    if (!err)
        err = tool_descriptors(o, &run->ui);
    if (err)
        return err;
    err = output_init(&run->output, o);
    if (err)
        return tool_fail(TOOL_FILE, WHO, "%s: %s", o->output, cos_strerror(err));
    return 0;
}

int cmd_crawl(int argc, char **argv)
{
    struct run run = {0};
    int code = tool_config(&run.options, argc, argv);
    if (!code)
        code = tool_options_add(&run.options, argc, argv);
    if (!code && run.options.help) {
        tool_help();
    } else if (!code && run.options.version) {
        tool_version();
    } else if (!code) {
        code = prepare(&run);
        if (!code)
            code = crawl(&run);
    }
    output_release(&run.output);
    ui_release(&run.ui);
    tool_seeds_release(&run.options);
    tool_options_release(&run.options);
    return code;
}
