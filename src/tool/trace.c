/* trace.c - trace events as JSON (trace.h), written when a page ends: all its
 * times are known then, and the viewers sort.
 *
 * A page is one slice ("X") in a lane of its host, from the beginning of its fetch
 * to its end, so that slices of a lane never overlap and arrows ("s", "f") have
 * something to hold on to. Its phases, those before the fetch too, are pairs ("b",
 * "e") nested in one for the page, under the page's id. The numbers are put together by
 * hand: printf would cost more than the rest of the trace.
 *
 * Bounded: hosts, lanes and remembered pages have ceilings, and so has the file.
 * A page is in it as a whole or not at all. */
#include "tool/trace.h"

#include "base/err.h"
#include "tool/phases.h"
#include "tool/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOSTS = 1024, LANES = 4096, PAGES_MAX = 1 << 20, NAME_MAX_BYTES = 200 };

struct host {
    char name[80];
    int nlanes, room;
    int64_t *busy_until; /* by lane */
};

/* Where an arrow starts: in the slice of the page that found the link. */
struct place {
    int64_t at;
    uint16_t host, lane;
};

struct tool_trace {
    struct tool_sink *sink;
    uint64_t max, left_out;
    int64_t zero; /* of the clock: the first microsecond of the trace */
    struct host *host[HOSTS];
    int nhosts;
    struct place *places; /* by page id */
    size_t room;
    int64_t last_bytes, last_tick;
    char *at; /* while a piece is written */
};

static int64_t clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- writing ----------------------------------------------------------------------- */

static void text(struct tool_trace *t, const char *s)
{
    size_t len = strlen(s);
    memcpy(t->at, s, len);
    t->at += len;
}

static void number(struct tool_trace *t, int64_t n)
{
    char digits[24], *d = digits + sizeof digits;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    do
        *--d = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0)
        *--d = '-';
    memcpy(t->at, d, (size_t)(digits + sizeof digits - d));
    t->at += digits + sizeof digits - d;
}

static void field(struct tool_trace *t, const char *name, int64_t n)
{
    text(t, name);
    number(t, n);
}

/* A URL is ASCII; anything else, and what JSON forbids, becomes "?". */
static void quoted(struct tool_trace *t, const char *s)
{
    *t->at++ = '"';
    for (int i = 0; i < NAME_MAX_BYTES && s[i]; i++)
        *t->at++ = s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' ? '?' : s[i];
    *t->at++ = '"';
}

/* {"ph":"b","ts":5,"pid":1,"tid":2 and the event is open. */
static void begin(struct tool_trace *t, const char *ph, int64_t ts, int pid, int tid)
{
    text(t, ",\n{\"ph\":\"");
    text(t, ph);
    field(t, "\",\"ts\":", ts > t->zero ? ts - t->zero : 0);
    field(t, ",\"pid\":", pid);
    field(t, ",\"tid\":", tid);
}

/* --- hosts and lanes --------------------------------------------------------------- */

/* Names the process. */
static void name_host(struct tool_trace *t, int pid, const char *name)
{
    char *room = sink_room(t->sink);
    if (!room)
        return;
    t->at = room;
    begin(t, "M", t->zero, pid, 0);
    text(t, ",\"name\":\"process_name\",\"args\":{\"name\":");
    quoted(t, name);
    text(t, "}}");
    sink_filled(t->sink, (size_t)(t->at - room));
}

/* Its number from 1 on; the last one is for all that are too many. */
static int host_of(struct tool_trace *t, const char *url)
{
    char name[sizeof t->host[0]->name];
    int i;
    phases_host_name(name, sizeof name, url);
    for (i = 0; i < t->nhosts; i++)
        if (!strcmp(t->host[i]->name, name))
            return i + 1;
    if (i == HOSTS)
        return HOSTS;
    t->host[i] = calloc(1, sizeof *t->host[i]);
    if (!t->host[i])
        return 0;
    snprintf(t->host[i]->name, sizeof name, "%s", i == HOSTS - 1 ? "other hosts" : name);
    t->nhosts++;
    name_host(t, i + 1, t->host[i]->name);
    return i + 1;
}

/* The first lane that is free from then on. */
static int lane_of(struct host *host, int64_t from, int64_t until)
{
    int lane = 0;
    while (lane < host->nlanes && host->busy_until[lane] > from)
        lane++;
    if (lane == host->room) {
        int room = host->room ? host->room * 2 : 8;
        int64_t *more =
            room <= LANES ? realloc(host->busy_until, (size_t)room * sizeof *more) : NULL;
        if (!more)
            return 0;
        host->busy_until = more;
        host->room = room;
    }
    if (lane == host->nlanes)
        host->nlanes++;
    host->busy_until[lane] = until;
    return lane + 1;
}

static struct place *place_of(struct tool_trace *t, int64_t id)
{
    size_t more = t->room ? t->room : 1024;
    struct place *places;
    if (id <= 0 || id >= PAGES_MAX)
        return NULL;
    while (more <= (size_t)id)
        more *= 2;
    if (more > t->room) {
        places = realloc(t->places, more * sizeof *places);
        if (!places)
            return NULL;
        memset(places + t->room, 0, (more - t->room) * sizeof *places);
        t->places = places;
        t->room = more;
    }
    return &t->places[id];
}

/* --- a page ------------------------------------------------------------------------ */

struct span {
    const struct cos_page *page;
    int64_t begin, end; /* from its discovery on */
    int pid, lane;
};

static void edge(struct tool_trace *t, const struct span *s, const char *ph, const char *name,
                 int64_t at)
{
    begin(t, ph, at, s->pid, s->lane);
    field(t, ",\"cat\":\"page\",\"id\":", s->page->id);
    text(t, ",\"name\":\"");
    text(t, name);
    text(t, "\"}");
}

/* One after the other; what did not happen is left out. */
static void phases(struct tool_trace *t, const struct span *s)
{
    const struct cos_timing *timing = &s->page->timing;
    int64_t at = s->begin, until;
    for (int i = 0; i < PHASE_COUNT; i++) {
        int64_t us = phase_of(timing, i);
        /* Those of the thread are counted back from its end. */
        if (i == PHASE_SCAN)
            at = timing->digested - (timing->scan > 0 ? timing->scan : 0) -
                 (timing->store > 0 ? timing->store : 0);
        else if (i == PHASE_NAME)
            at = timing->began;
        if (at > s->end)
            at = s->end;
        if (us < 0)
            continue;
        /* The phases before the fetch are known to the millisecond only. */
        until = i < PHASE_NAME ? timing->began : s->end;
        if (at + us > until)
            us = until > at ? until - at : 0;
        edge(t, s, "b", phase_text(i), at);
        edge(t, s, "e", phase_text(i), at + us);
        at += us;
    }
}

static void slice(struct tool_trace *t, const struct span *s, int err)
{
    const struct cos_page *page = s->page;
    begin(t, "X", page->timing.began, s->pid, s->lane);
    field(t, ",\"dur\":", s->end - page->timing.began);
    text(t, ",\"cat\":\"page\",\"name\":");
    quoted(t, page->url);
    field(t, ",\"args\":{\"id\":", page->id);
    field(t, ",\"status\":", page->status);
    field(t, ",\"bytes\":", page->body_len);
    field(t, ",\"depth\":", page->depth);
    if (err) {
        text(t, ",\"error\":");
        quoted(t, cos_errname(err));
    }
    text(t, "}}");
}

static void arrow(struct tool_trace *t, const struct span *s, const struct place *from)
{
    for (int i = 0; i < 2; i++) {
        if (i)
            begin(t, "f", s->page->timing.began, s->pid, s->lane);
        else
            begin(t, "s", from->at, from->host, from->lane);
        field(t, ",\"cat\":\"link\",\"name\":\"link\",\"id\":", s->page->id);
        text(t, i ? ",\"bp\":\"e\"}" : "}");
    }
}

static int span_of(struct tool_trace *t, const struct cos_page *page, struct span *s)
{
    const struct cos_timing *timing = &page->timing;
    *s = (struct span){.page = page, .begin = timing->began, .end = timing->digested};
    if (timing->queue > 0)
        s->begin -= timing->queue;
    if (timing->wait > 0)
        s->begin -= timing->wait;
    if (s->begin < t->zero)
        s->begin = t->zero;
    s->pid = host_of(t, page->url);
    s->lane = s->pid ? lane_of(t->host[s->pid - 1], timing->began, s->end) : 0;
    return s->lane;
}

void trace_page(struct tool_trace *t, const struct cos_page *page, int64_t referrer, int err)
{
    const struct place *from;
    struct place *place;
    struct span s;
    char *room;
    if (!page || !page->timing.began || page->id <= 0)
        return;
    if (sink_bytes(t->sink) >= t->max || !span_of(t, page, &s) || !(room = sink_room(t->sink))) {
        t->left_out++;
        return;
    }
    t->at = room;
    slice(t, &s, err);
    edge(t, &s, "b", "page", s.begin);
    phases(t, &s);
    edge(t, &s, "e", "page", s.end);
    from = referrer > 0 && (size_t)referrer < t->room ? &t->places[referrer] : NULL;
    if (from && from->lane)
        arrow(t, &s, from);
    sink_filled(t->sink, (size_t)(t->at - room));
    place = place_of(t, page->id);
    if (place)
        *place = (struct place){.at = s.end - 1, .host = (uint16_t)s.pid, .lane = (uint16_t)s.lane};
}

/* --- counters ---------------------------------------------------------------------- */

static void counter(struct tool_trace *t, int64_t now, const char *name, int64_t value)
{
    begin(t, "C", now, 0, 0);
    text(t, ",\"name\":\"");
    text(t, name);
    field(t, "\",\"args\":{\"value\":", value);
    text(t, "}}");
}

void trace_tick(struct tool_trace *t, const struct cos_crawl_stats *stats, int64_t lag_us)
{
    int64_t now = clock_us(), gap = now - t->last_tick;
    char *room = sink_bytes(t->sink) < t->max ? sink_room(t->sink) : NULL;
    if (!room)
        return;
    t->at = room;
    counter(t, now, "in flight", stats->in_flight);
    counter(t, now, "queued", stats->queued);
    counter(t, now, "bytes per s",
            gap > 0 ? (stats->wire_bytes - t->last_bytes) * 1000000 / gap : 0);
    counter(t, now, "loop lag us", lag_us);
    sink_filled(t->sink, (size_t)(t->at - room));
    t->last_bytes = stats->wire_bytes;
    t->last_tick = now;
}

/* --- life -------------------------------------------------------------------------- */

struct tool_trace *trace_open(const char *path, uint64_t max)
{
    static const char head[] = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                               "{\"ph\":\"M\",\"ts\":0,\"pid\":0,\"tid\":0,"
                               "\"name\":\"process_name\",\"args\":{\"name\":\"crawl\"}}";
    struct tool_trace *t = calloc(1, sizeof *t);
    char *room;
    if (!t)
        return NULL;
    t->sink = sink_open(path);
    if (!t->sink || !(room = sink_room(t->sink))) {
        free(t);
        return NULL;
    }
    memcpy(room, head, sizeof head - 1);
    sink_filled(t->sink, sizeof head - 1);
    t->max = max;
    t->zero = t->last_tick = clock_us();
    return t;
}

uint64_t trace_left_out(const struct tool_trace *t)
{
    return t->left_out;
}

int trace_close(struct tool_trace *t)
{
    static const char tail[] = "\n]}\n";
    char *room;
    int err;
    if (!t)
        return 0;
    room = sink_room(t->sink);
    /* The disk is behind, and now there is time to wait for it. */
    for (int i = 0; !room && i < 1000; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        room = sink_room(t->sink);
    }
    if (room) {
        memcpy(room, tail, sizeof tail - 1);
        sink_filled(t->sink, sizeof tail - 1);
    }
    err = sink_close(t->sink);
    for (int i = 0; i < t->nhosts; i++) {
        free(t->host[i]->busy_until);
        free(t->host[i]);
    }
    free(t->places);
    free(t);
    return err;
}
