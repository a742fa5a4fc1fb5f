/* watch.t - --stats, --trace, --metrics and --loop-lag of the program: the
 * structure of a trace of a thousand pages, known delays found again in the
 * phase they belong to, and the culprit named for slow names, slow TLS and slow
 * servers. */
#define COS_SITES
#include "site.h"
#include "crawl_run.h"
#include "dnsstub.h"
#include "hold.h"

#include "coscrawl-cps.h"
#include "tool/lag.h"

#include <libdill.h>

#include <pthread.h>
#include <signal.h>

/* --- reading a trace: one event a line ------------------------------------------------- */

struct event {
    char ph, name[64];
    long long ts, dur, id, pid, tid, value;
};

static struct event *events;
static size_t nevents;

static long long number(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? atoll(at + strlen(key)) : -1;
}

static void read_event(const char *line, struct event *e)
{
    const char *name = strstr(line, "\"name\":\"");
    *e = (struct event){.ph = line[7]};
    e->ts = number(line, "\"ts\":");
    e->dur = number(line, "\"dur\":");
    e->id = number(line, "\"id\":");
    e->pid = number(line, "\"pid\":");
    e->tid = number(line, "\"tid\":");
    e->value = number(line, "\"value\":");
    if (name)
        snprintf(e->name, sizeof e->name, "%.*s", (int)strcspn(name + 8, "\""), name + 8);
}

/* 1 when the file is a list of events from end to end. */
static int read_trace(const char *file)
{
    static char line[8192];
    size_t room = 0;
    int whole = 0, good = 1, first = 1;
    FILE *f = fopen(file, "r");
    nevents = 0;
    if (!f)
        return 0;
    good &= fgets(line, sizeof line, f) && strstr(line, "\"traceEvents\":[") != NULL;
    while (fgets(line, sizeof line, f)) {
        size_t len = strcspn(line, "\n");
        line[len] = 0;
        if (!strcmp(line, "]}")) {
            whole = 1;
            continue;
        }
        /* A comma after each event but the last. */
        good &= !whole && line[0] == '{' && (line[len - 1] == ',' || line[len - 1] == '}');
        if (nevents == room) {
            room = room ? room * 2 : 4096;
            events = realloc(events, room * sizeof *events);
            if (!events)
                BAIL_OUT("out of memory");
        }
        read_event(line, &events[nevents++]);
        first = 0;
    }
    fclose(f);
    return good && whole && !first;
}

static char *in_top(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", top, name);
    return path;
}

/* --- structure ------------------------------------------------------------------------- */

enum { IDS = 4096, DEEP = 8 };

static struct {
    int depth, pages, flows_out, flows_in;
    const struct event *open[DEEP];
    const struct event *page;
} by_id[IDS];

static int nests(void)
{
    int bad = 0;
    memset(by_id, 0, sizeof by_id);
    for (size_t i = 0; i < nevents; i++) {
        const struct event *e = &events[i];
        if ((e->ph != 'b' && e->ph != 'e') || e->id < 1 || e->id >= IDS)
            continue;
        if (e->ph == 'b') {
            int depth = by_id[e->id].depth;
            const struct event *up = depth ? by_id[e->id].open[depth - 1] : NULL;
            bad += by_id[e->id].depth == DEEP - 1 || (up && up->ts > e->ts);
            by_id[e->id].pages += !up;
            by_id[e->id].open[by_id[e->id].depth++] = e;
        } else {
            const struct event *b = NULL;
            if (by_id[e->id].depth)
                b = by_id[e->id].open[--by_id[e->id].depth];
            bad += !b || strcmp(b->name, e->name) != 0 || b->ts > e->ts;
        }
    }
    for (int id = 0; id < IDS; id++)
        bad += by_id[id].depth != 0 || by_id[id].pages > 1;
    return !bad;
}

static int lanes_do_not_overlap(void)
{
    int bad = 0;
    for (size_t i = 0; i < nevents; i++)
        for (size_t k = i + 1; events[i].ph == 'X' && k < nevents && k < i + 2000; k++)
            bad += events[k].ph == 'X' && events[k].pid == events[i].pid &&
                   events[k].tid == events[i].tid && events[k].ts < events[i].ts + events[i].dur &&
                   events[i].ts < events[k].ts + events[k].dur;
    return !bad;
}

static int ids_known(void)
{
    int bad = 0;
    for (size_t i = 0; i < nevents; i++)
        if (events[i].ph == 'X' && events[i].id > 0 && events[i].id < IDS)
            by_id[events[i].id].page = &events[i];
    for (size_t i = 0; i < nevents; i++) {
        const struct event *e = &events[i];
        if (!strchr("besf", e->ph))
            continue;
        if (e->id < 1 || e->id >= IDS || !by_id[e->id].page) {
            bad++;
            continue;
        }
        by_id[e->id].flows_out += e->ph == 's';
        by_id[e->id].flows_in += e->ph == 'f';
    }
    for (int id = 0; id < IDS; id++)
        bad += by_id[id].flows_in != by_id[id].flows_out || by_id[id].flows_in > 1;
    return !bad;
}

static int count(char ph, const char *name)
{
    int n = 0;
    for (size_t i = 0; i < nevents; i++)
        n += events[i].ph == ph && (!name || !strcmp(events[i].name, name));
    return n;
}

static void test_structure(void)
{
    struct site site;
    char words[512];
    int pages = getenv("TEST_TIER") && !strcmp(getenv("TEST_TIER"), "full") ? 3000 : 1000;
    char option[32];
    snprintf(option, sizeof option, "--pages=%d", pages);
    site_start(&site, option, NULL);
    snprintf(words, sizeof words, "--list -l inf -q --trace %s/t.json %s", top, site.url);
    cmp_ok(run(small, words), "==", 0, "a crawl of %d pages with --trace", pages);
    site_stop(&site);
    ok(read_trace(in_top("t.json")), "the trace is whole");
    cmp_ok(count('X', NULL), ">=", pages, "with every page");
    ok(nests(), "every b has its e, and they nest");
    ok(lanes_do_not_overlap(), "the pages of a lane do not overlap");
    ok(ids_known(), "every id is a page's, every arrow has two ends");
    cmp_ok(count('s', NULL), ">=", pages - 1, "an arrow from the page that found it to each page");
    ok(count('C', "in flight") && count('C', "queued") && count('C', "bytes per s") &&
       count('C', "loop lag us"), "counters");
    cmp_ok(count('M', "process_name"), "==", 2, "a name for the host and for the crawl");
}

/* --- known delays ------------------------------------------------------------------------ */

/* Microseconds of the longest phase of that name. */
static long long longest(const char *name)
{
    long long most = -1;
    memset(by_id, 0, sizeof by_id);
    for (size_t i = 0; i < nevents; i++) {
        struct event *e = &events[i];
        if (strcmp(e->name, name) != 0 || e->id < 1 || e->id >= IDS)
            continue;
        if (e->ph == 'b')
            by_id[e->id].page = e;
        else if (e->ph == 'e' && by_id[e->id].page && e->ts - by_id[e->id].page->ts > most)
            most = e->ts - by_id[e->id].page->ts;
    }
    return most;
}

static int close_to(const char *phase, long long ms)
{
    long long us = longest(phase);
    return us >= ms * 800 && us <= ms * 1200;
}

static void within(const char *phase, long long ms)
{
    ok(close_to(phase, ms), "%s: %.1f ms, the server took %lld", phase,
       (double)longest(phase) / 1000, ms);
}

static void test_delays(void)
{
    static char body[2500];
    const struct http_page pages[] = {
        {.path = "/", .body = A("/slow.html") A("/drip.html")},
        {.path = "/slow.html", .delay_ms = 400, .body = "x"},
        {.path = "/drip.html", .body = body, .len = sizeof body, .drip_ms = 200},
        {0},
    };
    char words[512];
    int code = -1, whole = 0;
    memset(body, 'x', sizeof body);
    stub.slow_ms = 500;
    snprintf(words, sizeof words,
             "--no-robots --no-adaptive -w 0.3 --trace %s/t.json --stats --dns-server=%s "
             "http://slow-lo.test:$PORT/", top, stub.address);
    /* A busy machine adds to every delay: the best of three. */
    for (int i = 0; i < 3; i++) {
        code = run(pages, words);
        whole = read_trace(in_top("t.json"));
        if (close_to("name lookup", 500) && close_to("first byte", 400) &&
            close_to("transfer", 400))
            break;
    }
    cmp_ok(code, "==", 0, "a crawl with known delays");
    ok(whole, "its trace");
    within("name lookup", 500);
    within("first byte", 400);
    within("transfer", 400); /* two pauses: the third comes after the last piece */
    /* The pause is from start to start, and one request at a time: the second page
     * waits from the discovery on, the third while the second is under way. */
    ok(longest("politeness") >= 200000 && longest("politeness") <= 600000,
       "politeness: %.0f ms of -w 0.3", (double)longest("politeness") / 1000);
    like(err, "name lookup +1 ", "--stats has the lookup");
}

/* --- culprits ------------------------------------------------------------------------------ */

static void test_slow_names(void)
{
    char words[512];
    stub.slow_ms = 400;
    snprintf(words, sizeof words, "-l 0 --no-robots --stats --trace %s/t.json --dns-server=%s "
             "http://slow-lo.test:$PORT/", top, stub.address);
    cmp_ok(run(small, words), "==", 0, "slow names");
    like(err, "of the time after the queue is name lookup", "--stats names the lookup");
    read_trace(in_top("t.json"));
    ok(longest("name lookup") > 300000 && longest("first byte") < 200000, "so does the trace");
}

static void test_slow_first_byte(void)
{
    const struct http_page pages[] = {{.path = "/", .delay_ms = 400, .body = "x"}, {0}};
    char words[512];
    snprintf(words, sizeof words, "-l 0 --no-robots --stats --trace %s/t.json $U/", top);
    cmp_ok(run(pages, words), "==", 0, "a slow server");
    like(err, "of the time after the queue is first byte", "--stats names the first byte");
    read_trace(in_top("t.json"));
    ok(longest("first byte") > 300000, "so does the trace");
    ok(shell("sqlite3 .coscrawl/crawl.db \"select host from host_times where phase = 'first_byte' "
             "and p50_ms > 300 and p99_ms > 300\" | grep -q 127.0.0.1") == 0,
       "and the database");
}

static void test_slow_tls(void)
{
    char words[512];
    int fd, to;
    skip(system("command -v openssl >/dev/null 2>&1") != 0, 3, "no openssl here")
    fd = hold_listening(&to);
    close(fd);
    hold_start(to, 400);
    if (shell("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout "
              "../key.pem -out ../cert.pem 2>/dev/null && echo x >index.html && "
              "{ timeout 20 openssl s_server -accept %d -key ../key.pem -cert ../cert.pem -WWW "
              ">/dev/null 2>&1 & echo $! >../pid; sleep 0.5; }", to))
        BAIL_OUT("no TLS server");
    snprintf(words, sizeof words, "-P p -l 0 -t 1 --no-robots --insecure --stats --trace %s/t.json "
             "https://127.0.0.1:%d/index.html", top, hold.port);
    for (int i = 0; i < 3; i++) {
        shell("rm -rf p");
        again(words);
        if (read_trace(in_top("t.json")) && close_to("TLS", 400))
            break;
    }
    like(err, "of the time after the queue is TLS", "slow TLS: --stats names it");
    ok(read_trace(in_top("t.json")), "with a trace");
    within("TLS", 400);
    shell("kill $(cat ../pid) 2>/dev/null");
    endskip;
}

/* --- metrics and the loop -------------------------------------------------------------------- */

static void test_metrics(void)
{
    static char text[1 << 16];
    char words[256];
    const struct http_page pages[] = {
        {.path = "/", .body = A("/b.html")},
        {.path = "/b.html", .delay_ms = 1500, .body = "x"},
        {0},
    };
    snprintf(words, sizeof words, "-q --no-robots --metrics=%s/m.prom $U/", top);
    cmp_ok(run(small, words), "==", 0, "--metrics=FILE");
    slurp("m.prom", text, sizeof text);
    like(text, "# TYPE coscrawl_pages_done_total counter\ncoscrawl_pages_done_total 10\n",
         "has a type and a value");
    like(text, "coscrawl_phase_seconds\\{phase=\"first byte\",quantile=\"0.95\"\\} [0-9.]+\n",
         "and the phases with their quantiles");
    like(text, "coscrawl_host_phase_seconds_count\\{phase=\"scan\",host=\"127.0.0.1:[0-9]+\"\\} ",
         "by host, too");
    shell("true");
    http_serve(&web, pages);
    if (shell("rm -rf * .coscrawl; { \"$COSCRAWL\" --no-robots --metrics=:0 $U/ 2>../err & }; "
              "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; "
              "at=$(sed -n 's/.*metrics at //p' ../err); [ -z \"$at\" ] || break; done; "
              "sleep 0.4; curl -s -m 5 \"$at\" >../m2; echo \"$at\" >../at; wait"))
        diag("no server");
    slurp("m2", text, sizeof text);
    like(text, "coscrawl_in_flight 1\n", "--metrics=:PORT answers while the crawl runs");
    slurp("at", text, sizeof text);
    like(text, "^http://127\\.0\\.0\\.1:", "on the loopback");
    cmp_ok(run(small, "-q --metrics=/nowhere/at/all $U/"), "==", 3,
           "a file that cannot be: exit 3");
    cmp_ok(run(small, "-q --trace=/nowhere/at/all $U/"), "==", 3, "so for a trace");
}

static char lag_what[256], lag_stack[1024];

static void note_lag(void *arg, const char *what, const char *stack)
{
    (void)arg;
    snprintf(lag_what, sizeof lag_what, "%s", what);
    snprintf(lag_stack, sizeof lag_stack, "%s", stack);
}

static void spin(int e, void *arg)
{
    int64_t end = now_ms() + 40;
    (void)e, (void)arg;
    while (now_ms() < end)
        ;
}

static void start_spin(int e, void *rt)
{
    (void)e;
    cps_sleep(rt, dill_now() + 1, spin, NULL);
}

static void test_lag(void)
{
    struct tool_lag *lag = lag_open(20, note_lag, NULL);
    struct cps_rt *rt;
    if (cps_open(&rt))
        BAIL_OUT("cps_open");
    cps_defer(rt, start_spin, rt);
    cps_run(rt);
    like(lag_what, "^timer held the loop for [3-9][0-9] ms$", "the loop was held, and by whom");
    like(lag_stack, "^timer at .*watch\\.t\\.c:[0-9]+\ndefer at .*watch\\.t\\.c:[0-9]+\n$",
         "with its async stack: what was created where");
    cmp_ok(lag_count(lag), "==", 1, "once, and for no one else");
    lag_close(lag);
    cps_close(rt);
    cos_shutdown();
    cmp_ok(run(small, "--loop-lag=10s $U/"), "==", 0, "--loop-lag=10s");
    unlike(err, "held the loop for", "is not reached");
    like(err, "held longer than 10000 ms 0 times, at most", "and says so");
}

int main(void)
{
    plan(NO_PLAN);
    signal(SIGPIPE, SIG_IGN);
    prepare();
    stub_start();
    test_structure();
    test_delays();
    test_slow_names();
    test_slow_first_byte();
    test_slow_tls();
    test_metrics();
    test_lag();
    stub_stop();
    free(events);
    done_testing();
}
