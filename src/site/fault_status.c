/* fault_status.c - faults that keep to HTTP: statuses, redirects, delays,
 * cookies, authentication, validators. May call base and dill. */
#include "site/faults.h"

#include "base/err.h"

#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const time_t MADE = 1767225600; /* 2026-01-01 */

static int run_ok(struct cos__fault *f)
{
    return cos__fault_reply(f, 200, NULL);
}

static int run_404(struct cos__fault *f)
{
    return cos__fault_reply(f, 404, NULL);
}

static int run_410(struct cos__fault *f)
{
    return cos__fault_reply(f, 410, NULL);
}

static int run_500(struct cos__fault *f)
{
    return cos__fault_reply(f, 500, NULL);
}

static int run_status(struct cos__fault *f)
{
    return cos__fault_reply(f, (int)cos_http_number(f->req, "code", 418, 200, 599), NULL);
}

static int run_flaky(struct cos__fault *f)
{
    int64_t wanted = cos_http_number(f->req, "times", 2, 0, 1000);
    return cos__fault_reply(f, cos__fault_times(f) <= wanted ? 500 : 200, NULL);
}

static int busy(struct cos__fault *f, int status)
{
    char line[64], date[32];
    int64_t times = cos_http_number(f->req, "times", 1, 0, 1000000);
    int64_t after = cos_http_number(f->req, "after", 1, 0, 86400);
    if (cos__fault_times(f) > times)
        return cos__fault_reply(f, 200, NULL);
    if (cos_http_number(f->req, "date", 0, 0, 1)) {
        cos_http_date(date, time(NULL) + after);
        snprintf(line, sizeof line, "Retry-After: %s\r\n", date);
    } else {
        snprintf(line, sizeof line, "Retry-After: %lld\r\n", (long long)after);
    }
    return cos__fault_reply(f, status, line);
}

static int run_429(struct cos__fault *f)
{
    return busy(f, 429);
}

static int run_503(struct cos__fault *f)
{
    return busy(f, 503);
}

static int run_delay(struct cos__fault *f)
{
    int err = cos_http_sleep(cos_http_number(f->req, "ms", 100, 0, 600000));
    return err ? err : cos__fault_reply(f, 200, NULL);
}

static int code_of(struct cos__fault *f)
{
    return (int)cos_http_number(f->req, "code", 302, 300, 399);
}

static int redirect(struct cos__fault *f, const char *to)
{
    char line[256];
    snprintf(line, sizeof line, "Location: %s\r\n", to);
    return cos__fault_reply(f, code_of(f), line);
}

static int run_redirect(struct cos__fault *f)
{
    int64_t n = cos_http_number(f->req, "n", 1, 1, 1000000);
    char to[64] = "ok.html";
    if (n > 1)
        snprintf(to, sizeof to, "/fault/redirect?n=%lld&code=%d", (long long)n - 1, code_of(f));
    return redirect(f, to);
}

static int run_loop(struct cos__fault *f)
{
    int64_t n = cos_http_number(f->req, "n", 1, 1, 1000),
            at = cos_http_number(f->req, "at", 0, 0, n);
    char to[96] = "/fault/redirect-loop";
    if (n > 1)
        snprintf(to, sizeof to, "/fault/redirect-loop?n=%lld&at=%lld", (long long)n,
                 (long long)((at + 1) % n));
    return redirect(f, to);
}

static int run_endless(struct cos__fault *f)
{
    int64_t at = cos_http_number(f->req, "at", 0, 0, INT64_MAX - 1);
    char to[64];
    snprintf(to, sizeof to, "/fault/redirect-endless?at=%lld", (long long)at + 1);
    return redirect(f, to);
}

static int run_redirect_bad(struct cos__fault *f)
{
    return redirect(f, "http://[broken");
}

static int run_redirect_none(struct cos__fault *f)
{
    return cos__fault_reply(f, 302, NULL);
}

static int run_refused(struct cos__fault *f)
{
    char to[64];
    snprintf(to, sizeof to, "http://127.0.0.1:%d/", f->site->closed_port);
    return redirect(f, to);
}

static int run_refuse(struct cos__fault *f)
{
    int64_t ms = cos_http_number(f->req, "ms", 1000, 0, 60000);
    int err = cos__fault_reply(f, 200, NULL);
    cos_http_refuse(&f->site->server, ms);
    return err;
}

/* A value of "name=" in a Cookie header. */
static int has_cookie(const struct cos_http_req *req, const char *pair)
{
    size_t len, n = strlen(pair);
    const char *value = cos_http_header(req, "Cookie", &len);
    for (; value && len >= n; value++, len--)
        if (!memcmp(value, pair, n))
            return 1;
    return 0;
}

static int run_cookie(struct cos__fault *f)
{
    if (f->rest_len > 1)
        return cos__fault_reply(f, has_cookie(f->req, "visit=1") ? 200 : 403, NULL);
    return cos__fault_reply(f, 302,
                            "Set-Cookie: visit=1; Path=/; HttpOnly\r\n"
                            "Set-Cookie: other=2; Path=/elsewhere\r\n"
                            "Set-Cookie: gone=3; Max-Age=0\r\nLocation: /fault/cookie/check\r\n");
}

/* user and secret, in Base64. */
static int run_auth(struct cos__fault *f)
{
    static const char want[] = "dXNlcjpzZWNyZXQ=";
    size_t len;
    const char *value = cos_http_header(f->req, "Authorization", &len);
    if (value && len == 6 + sizeof want - 1 && !strncasecmp(value, "Basic ", 6) &&
        !memcmp(value + 6, want, sizeof want - 1))
        return cos__fault_reply(f, 200, NULL);
    return cos__fault_reply(f, 401, "WWW-Authenticate: Basic realm=\"fault\"\r\n");
}

static int validated(struct cos__fault *f, const char *etag, time_t modified)
{
    struct cos_http_reply reply = {.etag = etag, .modified = modified, .ranges = 1};
    int err = cos__fault_page(f, "Validated", &f->conn->page);
    reply.body = f->conn->page.data;
    reply.len = f->conn->page.len;
    return err ? err : cos_http_reply(f->conn, f->req, &reply);
}

static int run_etag(struct cos__fault *f)
{
    return validated(f, "\"v1\"", 0);
}

static int run_modified(struct cos__fault *f)
{
    return validated(f, NULL, MADE);
}

/* The trap of every crawler: each page leads to two new ones. */
static int run_calendar(struct cos__fault *f)
{
    struct cos_buf *out = &f->conn->page;
    long year = 2026, month = 1;
    int err;
    if (f->rest_len > 1) {
        char *end;
        year = strtol(f->rest + 1, &end, 10);
        month = *end == '/' ? strtol(end + 1, NULL, 10) : 0;
        if (year < 1 || year > 999999 || month < 1 || month > 12)
            return COS_ENOENT;
    }
    err = cos_buf_addf(out, "<!DOCTYPE html>\n<title>Calendar %ld-%02ld</title>\n<p>"
                            "<a href=\"/fault/calendar/%ld/%ld.html\">earlier</a>\n"
                            "<a href=\"/fault/calendar/%ld/%ld.html\">later</a></p>\n",
                       year, month, month > 1 ? year : year - 1, month > 1 ? month - 1 : 12,
                       month < 12 ? year : year + 1, month < 12 ? month + 1 : 1);
    if (err)
        return err;
    return cos_http_reply(f->conn, f->req,
                          &(struct cos_http_reply){.body = out->data, .len = out->len});
}

const struct cos__fault_row cos__faults_status[] = {
    {"ok", "200, nothing wrong", "ok.html", run_ok},
    {"404", "not found", NULL, run_404},
    {"410", "gone", NULL, run_410},
    {"500", "500 every time", NULL, run_500},
    {"503", "503 with Retry-After once, then 200 (times, after, date)", NULL, run_503},
    {"status", "any status (code=418)", NULL, run_status},
    {"flaky", "500 twice, then 200 (times=2), counted per URL", NULL, run_flaky},
    {"429", "429 with Retry-After: 1 once, then 200 (times, after, date=1)", NULL, run_429},
    {"delay", "answers after ms=100", "delay?ms=100", run_delay},
    {"redirect", "a chain of n=1 redirects (code=302) to ok.html", "redirect?n=5", run_redirect},
    {"redirect-loop", "redirects to itself, or around a circle of n", NULL, run_loop},
    {"redirect-endless", "each redirect leads to a new URL", NULL, run_endless},
    {"redirect-bad", "Location is no URL", NULL, run_redirect_bad},
    {"redirect-none", "302 without Location", NULL, run_redirect_none},
    {"refused", "redirects to a port where connections are refused", NULL, run_refused},
    {"refuse", "refuses all new connections for ms=1000 after this answer", NULL, run_refuse},
    {"cookie", "sets cookies, redirects to cookie/check: 200 with the cookie, else 403", NULL,
     run_cookie},
    {"auth", "401 unless user:secret comes by Basic", NULL, run_auth},
    {"etag", "304 when If-None-Match matches", NULL, run_etag},
    {"modified", "304 when If-Modified-Since is not earlier", NULL, run_modified},
    {"calendar", "two new pages behind every page, without end", "calendar/2026/1.html",
     run_calendar},
    {NULL, NULL, NULL, NULL},
};
