/* fault.t - every fault of the synthetic site, on the wire: what arrives, how
 * the connection ends, and that the server is as good as new afterwards. */
#include "site.h"

#include <zlib.h>

enum { END_CLOSED, END_RESET, END_SILENT };

static struct site site;

/* Reads for at most ms: what came (free), and how it ended. */
static char *fetch(const char *method, const char *path, const char *headers, int ms, int *end,
                   size_t *len)
{
    char request[1024];
    size_t room = 8 << 20, have = 0;
    char *text = malloc(room + 1);
    int fd = site_connect(&site);
    int64_t until = site_now_ms() + ms;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n = -1;
    int size = snprintf(request, sizeof request,
                        "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%sConnection: close\r\n\r\n", method,
                        path, headers ? headers : "");
    if (!text || fd < 0 || send(fd, request, (size_t)size, MSG_NOSIGNAL) != size)
        BAIL_OUT("cannot ask for %s", path);
    *end = END_SILENT;
    while (have < room &&
           poll(&p, 1, (int)(until - site_now_ms() > 0 ? until - site_now_ms() : 0)) > 0) {
        n = recv(fd, text + have, room - have, 0);
        if (n <= 0) {
            *end = n == 0 ? END_CLOSED : END_RESET;
            break;
        }
        have += (size_t)n;
    }
    close(fd);
    text[have] = 0;
    *len = have;
    return text;
}

static void expect(const char *path, const char *headers, int want_end, const char *want)
{
    static const char *const ends[] = {"closed", "reset", "silent"};
    int end;
    size_t len;
    char *text = fetch("GET", path, headers, want_end == END_SILENT ? 300 : 8000, &end, &len);
    is(ends[end], ends[want_end], "%s: the connection is %s", path, ends[want_end]);
    if (want)
        like(text, want, "%s%s%.20s", path, headers ? " with " : "", headers ? headers : "");
    else
        cmp_ok(len, "==", 0, "%s: no byte came", path);
    free(text);
}

#define OK "^HTTP/1.1 200 OK\r\n"

static void statuses(void)
{
    expect("/fault/ok.html", NULL, END_CLOSED, OK ".*<a href=\"/fault/ok.html\">");
    expect("/fault/404", NULL, END_CLOSED, "^HTTP/1.1 404 ");
    expect("/fault/410.html", NULL, END_CLOSED, "^HTTP/1.1 410 ");
    expect("/fault/500", NULL, END_CLOSED, "^HTTP/1.1 500 ");
    expect("/fault/status?code=418", NULL, END_CLOSED, "^HTTP/1.1 418 ");
    expect("/fault/nosuch", NULL, END_CLOSED, "^HTTP/1.1 404 ");
    expect("/fault/flaky", NULL, END_CLOSED, "^HTTP/1.1 500 ");
    expect("/fault/flaky", NULL, END_CLOSED, "^HTTP/1.1 500 ");
    expect("/fault/flaky?other", NULL, END_CLOSED, "^HTTP/1.1 500 ");
    expect("/fault/flaky", NULL, END_CLOSED, OK);
    site_reset(&site);
    expect("/fault/flaky", NULL, END_CLOSED, "^HTTP/1.1 500 ");
    expect("/fault/429?after=7", NULL, END_CLOSED, "^HTTP/1.1 429 .*\r\nRetry-After: 7\r\n");
    expect("/fault/429?after=7", NULL, END_CLOSED, OK);
    expect("/fault/429?date=1&times=2", NULL, END_CLOSED,
           "Retry-After: [MTWFS][a-z][a-z], [0-9 ]{2} .* GMT\r\n");
    expect("/fault/429?date=1&times=2", NULL, END_CLOSED, "^HTTP/1.1 429 ");
    expect("/fault/503", NULL, END_CLOSED, "^HTTP/1.1 503 .*\r\nRetry-After: 1\r\n");
}

static void redirects(void)
{
    expect("/fault/redirect?n=3&code=308", NULL, END_CLOSED,
           "^HTTP/1.1 308 .*\r\nLocation: /fault/redirect\\?n=2&code=308\r\n");
    expect("/fault/redirect?n=1", NULL, END_CLOSED, "^HTTP/1.1 302 .*\r\nLocation: ok.html\r\n");
    expect("/fault/redirect-loop", NULL, END_CLOSED, "\r\nLocation: /fault/redirect-loop\r\n");
    expect("/fault/redirect-loop?n=3&at=2", NULL, END_CLOSED,
           "\r\nLocation: /fault/redirect-loop\\?n=3&at=0\r\n");
    expect("/fault/redirect-endless?at=41", NULL, END_CLOSED,
           "Location: /fault/redirect-endless\\?at=42\r\n");
    expect("/fault/redirect-bad", NULL, END_CLOSED, "Location: http://\\[broken\r\n");
    expect("/fault/redirect-none", NULL, END_CLOSED, "^HTTP/1.1 302 ([^L]|L[^o])*$");
    expect("/fault/cookie", NULL, END_CLOSED,
           "^HTTP/1.1 302 .*Set-Cookie: visit=1; .*Location: /fault/cookie/check");
    expect("/fault/cookie/check", NULL, END_CLOSED, "^HTTP/1.1 403 ");
    expect("/fault/cookie/check", "Cookie: a=b; visit=1\r\n", END_CLOSED, OK);
    expect("/fault/auth", NULL, END_CLOSED, "^HTTP/1.1 401 .*WWW-Authenticate: Basic realm=");
    expect("/fault/auth", "Authorization: Basic dXNlcjp3cm9uZwo=\r\n", END_CLOSED,
           "^HTTP/1.1 401 ");
    expect("/fault/auth", "Authorization: Basic dXNlcjpzZWNyZXQ=\r\n", END_CLOSED, OK);
    expect("/fault/etag", NULL, END_CLOSED, OK ".*ETag: \"v1\"\r\n");
    expect("/fault/etag", "If-None-Match: \"v1\"\r\n", END_CLOSED, "^HTTP/1.1 304 ");
    expect("/fault/modified", NULL, END_CLOSED, "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n");
    expect("/fault/modified", "If-Modified-Since: Fri, 02 Jan 2026 00:00:00 GMT\r\n", END_CLOSED,
           "^HTTP/1.1 304 ");
    expect("/fault/calendar", NULL, END_CLOSED,
           "/fault/calendar/2025/12.html.*/fault/calendar/2026/2.html");
    expect("/fault/calendar/2030/12.html", NULL, END_CLOSED, "/2030/11.html.*/2031/1.html");
    expect("/fault/calendar/2030/13.html", NULL, END_CLOSED, "^HTTP/1.1 404 ");
}

static void cut_off(const char *path)
{
    int end;
    size_t len;
    char *text = fetch("GET", path, NULL, 5000, &end, &len);
    ok(strstr(text, "<!DOCTYPE html>") && !strstr(text, "</html>"), "%s has no end", path);
    free(text);
}

static void wire(void)
{
    expect("/fault/hang", NULL, END_SILENT, NULL);
    expect("/fault/hang?ms=100", NULL, END_RESET, NULL);
    expect("/fault/hang-body", NULL, END_SILENT,
           OK ".*Content-Length: [0-9]+\r\n\r\n<!DOCTYPE html>");
    expect("/fault/drip?ms=20", NULL, END_SILENT, OK ".*\r\n\r\n1\r\n<\r\n1\r\n!\r\n");
    expect("/fault/drip-head?ms=2", NULL, END_CLOSED, OK "Content-Length: 0\r\n\r\n$");
    expect("/fault/truncated", NULL, END_CLOSED, OK ".*<title>");
    cut_off("/fault/truncated");
    cut_off("/fault/truncated?times=1");
    expect("/fault/truncated?times=1", NULL, END_CLOSED, "</html>\n$");
    expect("/fault/truncated-chunked", NULL, END_CLOSED, "chunked\r\n\r\n.*</html>\n\r\n$");
    expect("/fault/reset", NULL, END_RESET, NULL);
    expect("/fault/reset-body", NULL, END_RESET, OK ".*<!DOCTYPE html>");
    expect("/fault/close", NULL, END_CLOSED, NULL);
    expect("/fault/length-long", NULL, END_CLOSED, "</html>\n$");
    expect("/fault/length-short", NULL, END_CLOSED, "</html>\n$");
    expect("/fault/length-twice", NULL, END_CLOSED,
           "Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello$");
    expect("/fault/length-bad", NULL, END_CLOSED, "Content-Length: five\r\n");
    expect("/fault/bad-chunk", NULL, END_CLOSED, "\r\n\r\n5\r\nhello\r\nxyz\r\n");
    expect("/fault/chunk-huge", NULL, END_CLOSED, "\r\nffffffffffffffffff\r\n");
    expect("/fault/chunked", NULL, END_CLOSED, "\r\n\r\n7\r\n<!DOCTY\r\n7\r\n.*\r\n0\r\n\r\n$");
    expect("/fault/no-length", NULL, END_CLOSED,
           "^HTTP/1.0 200 OK\r\nContent-Type: [^\r]*\r\n\r\n<!DOC");
    expect("/fault/no-head", NULL, END_CLOSED, "^<!DOCTYPE html>");
    expect("/fault/bad-status", NULL, END_CLOSED, "^HTTP/1.1 OK 200\r\n");
    expect("/fault/bad-header", NULL, END_CLOSED, "\r\nContent-Type text/html\r\n: empty\r\n");
    expect("/fault/interim", NULL, END_CLOSED, "^HTTP/1.1 103 .*HTTP/1.1 200 OK\r\n");
}

/* The length a head announces, and that of the body behind it. */
static void lengths(const char *path, long more)
{
    int end;
    size_t len;
    char *text = fetch("GET", path, NULL, 5000, &end, &len), *at, *body;
    at = strstr(text, "Content-Length: ");
    body = strstr(text, "\r\n\r\n");
    cmp_ok(at && body ? strtol(at + 16, NULL, 10) - (long)strlen(body + 4) : -1, "==", more,
           "%s: Content-Length is off by %ld", path, more);
    free(text);
}

static void sizes(void)
{
    int end;
    size_t len;
    char *text;
    lengths("/fault/length-long", 1000);
    lengths("/fault/length-short", -20);
    text = fetch("GET", "/fault/huge?mb=5", NULL, 8000, &end, &len);
    cmp_ok(len - (size_t)(strstr(text, "\r\n\r\n") + 4 - text), "==", 5 << 20, "huge?mb=5 is 5 MB");
    ok(strstr(text, "ok.html?last\">last link</a></p>\n"), "with a link at its very end");
    free(text);
    text = fetch("GET", "/fault/header-flood?kb=300", NULL, 8000, &end, &len);
    ok(len > 300 * 1024 && strstr(text, "\r\nX-Flood-299: "), "header-flood: 300 KB of headers");
    free(text);
    text = fetch("GET", "/fault/header-long?kb=300", NULL, 8000, &end, &len);
    ok(len > 300 * 1024 && len < 301 * 1024, "header-long: one header of 300 KB");
    free(text);
    text = fetch("GET", "/fault/deep?n=1000", NULL, 8000, &end, &len);
    cmp_ok(len, ">", 5000, "deep: 1000 elements");
    free(text);
    text = fetch("HEAD", "/fault/huge", NULL, 8000, &end, &len);
    like(text, "Content-Length: 209715200\r\n\r\n$", "HEAD of huge has no body");
    free(text);
}

/* Joins the chunks in place; the number of bytes. */
static size_t unchunk(char *body)
{
    char *to = body, *at = body;
    size_t n;
    while ((n = strtoul(at, &at, 16)) > 0) {
        memmove(to, at + 2, n);
        to += n;
        at += 2 + n + 2;
    }
    return (size_t)(to - body);
}

static size_t unpacked(const char *path, size_t *wire_len)
{
    static Bytef plain[65536];
    z_stream z = {0};
    int end, state = Z_OK;
    char *text = fetch("GET", path, NULL, 8000, &end, wire_len),
         *body = strstr(text, "\r\n\r\n") + 4;
    z.next_in = (Bytef *)body;
    z.avail_in = (uInt)unchunk(body);
    inflateInit2(&z, 15 + 16);
    while (state == Z_OK) {
        z.next_out = plain;
        z.avail_out = sizeof plain;
        state = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    free(text);
    return state == Z_STREAM_END ? z.total_out : 0;
}

static void bodies(void)
{
    size_t wire_len;
    cmp_ok(unpacked("/fault/gzip", &wire_len), ">", 100, "gzip unpacks");
    cmp_ok(unpacked("/fault/gzip-bomb?mb=20", &wire_len), ">", 20 << 20,
           "gzip-bomb: 20 MB come out");
    cmp_ok(wire_len, "<", 40000, "of less than 40 KB");
    expect("/fault/gzip-broken", NULL, END_CLOSED, "Content-Encoding: gzip\r\n.*<!DOCTYPE html>");
    expect("/fault/encoding-unknown", NULL, END_CLOSED, "Content-Encoding: x-fancy\r\n");
    expect("/fault/no-type", NULL, END_CLOSED, OK "Date: [^\r]*\r\nServer: [^\r]*\r\nConnection: ");
    expect("/fault/wrong-type", NULL, END_CLOSED, "Content-Type: image/png\r\n.*<!DOCTYPE html>");
    expect("/fault/binary", NULL, END_CLOSED, "Content-Length: 16384\r\n");
    expect("/fault/empty", NULL, END_CLOSED, OK ".*Content-Length: 0\r\n\r\n$");
    expect("/fault/charset/shift_jis", NULL, END_CLOSED,
           "charset=shift_jis\r\n.*<title>\x95\\\\\x8e\xa6 ");
    expect("/fault/charset/koi8-r?by=1", NULL, END_CLOSED,
           "Content-Type: text/html\r\n.*<meta charset=\"koi8-r\"><title>\xd0\xd2\xc9\xd7\xc5\xd4");
    expect("/fault/charset/utf-8?by=2", NULL, END_CLOSED, "\r\n\r\n\xef\xbb\xbf<!DOCTYPE");
    expect("/fault/charset/iso-8859-1?by=4", NULL, END_CLOSED, "charset=utf-8\r\n.*Gr\xfc\xdf" "e");
    expect("/fault/charset/klingon", NULL, END_CLOSED, "^HTTP/1.1 404 ");
    expect("/fault/charsets", NULL, END_CLOSED, "/fault/charset/euc-kr\\?by=4");
    expect("/fault/robots/agents", NULL, END_CLOSED, "User-agent: coscrawl\n");
    expect("/fault/robots/huge", NULL, END_CLOSED, "Content-Length: 6[0-9]{5}\r\n");
    expect("/fault/robots/hang", NULL, END_SILENT, NULL);
}

static void delays(void)
{
    int64_t start = site_now_ms();
    expect("/fault/delay?ms=200", NULL, END_CLOSED, OK);
    ok(site_now_ms() - start >= 198 && site_now_ms() - start < 1500, "delay?ms=200 takes 200 ms");
}

static void refusals(void)
{
    struct site closed = {0};
    int end, fd, refused = 0;
    size_t len;
    char *text = fetch("GET", "/fault/refused", NULL, 5000, &end, &len), *at;
    at = strstr(text, "Location: http://127.0.0.1:");
    closed.port = at ? atoi(at + 27) : 0;
    free(text);
    fd = site_connect(&closed);
    ok(closed.port && fd < 0 && errno == ECONNREFUSED, "refused leads to a port that refuses");
    text = fetch("GET", "/fault/refuse?ms=400", NULL, 5000, &end, &len);
    like(text, OK, "refuse answers first");
    free(text);
    usleep(100000);
    fd = site_connect(&site);
    refused = fd < 0 && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    ok(refused, "then connections are refused");
    usleep(500000);
    fd = site_connect(&site);
    ok(fd >= 0, "and accepted again later");
    close(fd);
}

static void every_one(void)
{
    int end, links = 0, alive = 0;
    size_t len;
    char *index = fetch("GET", "/fault/", NULL, 5000, &end, &len), *at = index, path[256];
    while ((at = strstr(at, "<a href=\"")) != NULL) {
        at += 9;
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "\""), at);
        links++;
        if (!strcmp(path, "/fault/refuse"))
            continue;
        free(fetch("HEAD", path, NULL, 30, &end, &len));
        free(fetch("GET", path, NULL, 30, &end, &len));
    }
    free(index);
    cmp_ok(links, ">", 70, "the index links to every fault");
    for (int i = 0; i < 250 && !alive; i++) {
        alive = site_number(&site, "in_flight") == 0;
        usleep(20000);
    }
    ok(alive, "after all of them, left in the middle, nothing is in flight");
}

int main(void)
{
    plan(NO_PLAN);
    site_start(&site, "--shape=chain", "--pages=3", NULL);
    statuses();
    redirects();
    wire();
    sizes();
    bodies();
    delays();
    refusals();
    every_one();
    ok(site_stop(&site), "the server ends well");
    done_testing();
}
