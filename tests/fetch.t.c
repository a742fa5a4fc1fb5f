/* fetch.t - fetches on both faces against the synthetic site: the same table,
 * the same outcome; what a request can ask for; ceilings; many at once. */
#include "config.h"

#include "tap.h"

#include "base/loop.h"
#include "base/op.h"
#include "coscrawl-cps.h"
#include "fetch_rows.h"
#include "site.h"
#include "web/fetch.h"

#include <dirent.h>
#include <libdill.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct site site;
static struct cps_rt *rt;

static const struct row {
    const char *fault, *query;
    int err, status;
    long len;
} rows[] = {
#define X(fault, query, err, status, len) {fault, query, err, status, len},
    FETCH_ROWS(X)
#undef X
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* --- one fetch, either way ------------------------------------------------------ */

static void keep_page(int err, struct cos_page *page, void *arg)
{
    (void)err;
    *(struct cos_page **)arg = page ? cos_page_take(page) : NULL;
}

static struct cos_page *get_co(const struct cos_request *req)
{
    struct cos_page *page;
    cos_fetch(req, &page, now() + 8000);
    return page;
}

static struct cos_page *get_cps(const struct cos_request *req)
{
    struct cos_page *page = NULL;
    cps_fetch(rt, req, now() + 8000, keep_page, &page);
    cps_run(rt);
    return page;
}

static const struct {
    const char *name;
    struct cos_page *(*get)(const struct cos_request *req);
} faces[] = {{"co", get_co}, {"cps", get_cps}};

static char *url_of(const char *path)
{
    static char url[8][512];
    static int at;
    at = (at + 1) % 8;
    snprintf(url[at], sizeof url[at], "%s%s", site.url, path);
    return url[at];
}

/* --- every fault, both faces, all at once ------------------------------------------- */

static struct cos_page *seen[2][ROWS];

static struct cos_request row_request(int i, int face, char url[512])
{
    snprintf(url, 512, "%sfault/%s?%s%sface=%s", site.url, rows[i].fault, rows[i].query,
             *rows[i].query ? "&" : "", faces[face].name);
    return (struct cos_request){.url = url, .idle_ms = 400, .total_ms = 1500, .max_body = 1 << 20,
                                .max_inflated = 1 << 20};
}

static coroutine void row_co(int i)
{
    char url[512];
    struct cos_request req = row_request(i, 0, url);
    cos_fetch(&req, &seen[0][i], now() + 20000);
}

static void row_cps(int i)
{
    char url[512];
    struct cos_request req = row_request(i, 1, url);
    cps_fetch(rt, &req, now() + 20000, keep_page, &seen[1][i]);
}

static void check_row(int i, int face)
{
    const struct row *row = &rows[i];
    struct cos_page *page = seen[face][i];
    int good = page && page->err == row->err && page->status == row->status &&
               (row->len < 0 || page->body.len == (size_t)row->len);
    ok(good, "%s %s: %s, status %d", faces[face].name, row->fault, cos_errname(row->err),
       row->status);
    if (!good && page)
        diag("got %s, status %d, %zu bytes, %s", cos_errname(page->err), page->status,
             page->body.len, page->why ? page->why : "");
    if (row->err)
        ok(page && page->why && *page->why, "%s %s: says why in words", faces[face].name,
           row->fault);
}

static const char *text(const char *s)
{
    return s ? s : "(none)";
}

static void check_same(int i)
{
    struct cos_page *a = seen[0][i], *b = seen[1][i];
    if (!a || !b) {
        fail("both faces give a page for %s", rows[i].fault);
        return;
    }
    ok(a->err == b->err && a->status == b->status &&
           (rows[i].len < 0 || a->body.len == b->body.len) &&
           !strcmp(text(a->mime), text(b->mime)) && !strcmp(text(a->charset), text(b->charset)) &&
           !a->location == !b->location && !strcmp(text(a->etag), text(b->etag)),
       "%s: the same on both faces", rows[i].fault);
}

static void test_faults(void)
{
    int rows_bundle = bundle();
    for (int i = 0; i < ROWS - 1; i++)
        bundle_go(rows_bundle, row_co(i));
    bundle_wait(rows_bundle, -1);
    hclose(rows_bundle);
    for (int i = 0; i < ROWS - 1; i++)
        row_cps(i);
    is(cos_errname(cps_run(rt)), "OK", "cps_run ends when all faults have been played");
    /* The last row closes the door for a moment: on its own. */
    row_co(ROWS - 1);
    msleep(now() + 100);
    row_cps(ROWS - 1);
    cps_run(rt);
    for (int i = 0; i < ROWS; i++) {
        check_row(i, 0);
        check_row(i, 1);
        check_same(i);
        cos_page_free(seen[0][i]);
        cos_page_free(seen[1][i]);
    }
    msleep(now() + 100);
}

/* The names in --help's list of faults. */
static void test_rows_complete(void)
{
    char command[512], line[256], name[64];
    int in_list = 0, missing = 0;
    FILE *help;
    snprintf(command, sizeof command, "%s site --help", site_program());
    help = popen(command, "r");
    while (help && fgets(line, sizeof line, help)) {
        int have = 0;
        if (!strncmp(line, "Faults", 6))
            in_list = 1;
        if (!in_list || strncmp(line, "  ", 2) || line[2] == ' ' || sscanf(line, "%63s", name) != 1)
            continue;
        name[strcspn(name, "/")] = 0;
        for (int i = 0; i < ROWS; i++)
            have |= !strncmp(rows[i].fault, name, strlen(name)) &&
                    (!rows[i].fault[strlen(name)] || rows[i].fault[strlen(name)] == '/');
        if (!have) {
            diag("no row for /fault/%s", name);
            missing++;
        }
    }
    if (help)
        pclose(help);
    ok(in_list && !missing, "every fault of the site has a row");
}

/* --- what a page says ------------------------------------------------------------------ */

static void test_page(int f)
{
    const char *who = faces[f].name;
    struct cos_request req = {.url = url_of("fault/etag")};
    struct cos_page *page = faces[f].get(&req), *again;
    struct cos_buf value;
    cos_buf_init(&value, 1000);
    is(page->mime, "text/html", "%s mime", who);
    is(page->remote, "127.0.0.1", "%s remote address", who);
    is(page->protocol, "HTTP/1.1", "%s protocol", who);
    ok(page->etag && page->etag[0] == '"', "%s etag", who);
    cmp_ok((int)page->body_len, "==", (int)page->body.len, "%s body_len", who);
    cmp_ok((int)page->wire_len, ">", (int)page->body.len, "%s the head counts on the wire", who);
    ok(page->timing.total > 0 && page->timing.first_byte >= 0, "%s timings", who);
    cmp_ok(cos_page_header(page, "content-type", &value), "==", 0, "%s headers are kept", who);
    req.etag = page->etag;
    again = faces[f].get(&req);
    cmp_ok(again->status, "==", 304, "%s If-None-Match", who);
    cmp_ok((int)again->timing.connect, "==", -1, "%s no connect phase on a used connection", who);
    cos_page_free(again);
    cos_page_free(page);
    cos_buf_release(&value);
}

static void test_redirect(int f)
{
    const char *who = faces[f].name;
    struct cos_request req = {.url = url_of("fault/redirect?n=2"), .user = "me"}, next;
    struct cos_page *page = faces[f].get(&req), *last;
    cmp_ok(page->status, "==", 302, "%s redirects are handed back", who);
    like(page->location, "^http://127.0.0.1:[0-9]+/fault/", "%s location is resolved", who);
    cmp_ok(cos_request_follow(&next, &req, page), "==", 0, "%s follow", who);
    is(next.origin, page->url, "%s the origin is remembered", who);
    last = faces[f].get(&next);
    cmp_ok(last->status, "==", 302, "%s the next one in the chain", who);
    cos_page_free(last);
    cos_page_free(page);
    req = (struct cos_request){.url = url_of("fault/redirect-none")};
    page = faces[f].get(&req);
    cmp_ok(cos_request_follow(&next, &req, page), "==", COS_ENOENT, "%s no target", who);
    cos_page_free(page);
}

/* Status, method asked, whether there is a body: method of the next request. */
static void test_methods(void)
{
    static const struct {
        int status;
        const char *method;
        int body;
        const char *then;
        int then_body;
    } cases[] = {{301, "POST", 1, NULL, 0},  {302, NULL, 1, NULL, 0},   {303, "PUT", 1, NULL, 0},
                 {303, "HEAD", 0, "HEAD", 0}, {307, "POST", 1, "POST", 1}, {308, NULL, 1, NULL, 1},
                 {302, "PUT", 1, "PUT", 1}};
    struct cos_page *page = cos_page_new("http://a.test/");
    page->location = strdup("http://b.test/");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cos_request next, req = {.method = cases[i].method,
                                        .body = cases[i].body ? "x" : NULL,
                                        .body_len = (size_t)cases[i].body};
        page->status = cases[i].status;
        cos_request_follow(&next, &req, page);
        ok(!strcmp(text(next.method), text(cases[i].then)) && !!next.body == cases[i].then_body,
           "%d after %s: %s", cases[i].status, text(cases[i].method), text(cases[i].then));
    }
    cos_page_free(page);
}

/* --- who asks ---------------------------------------------------------------------------- */

static int status_of(int f, const struct cos_request *req)
{
    struct cos_page *page = faces[f].get(req);
    int status = page->status;
    cos_page_free(page);
    return status;
}

static void test_auth(int f)
{
    const char *who = faces[f].name;
    const char *own[] = {"Authorization: Basic dXNlcjpzZWNyZXQ=", NULL};
    struct cos_request req = {.url = url_of("fault/auth"), .user = "user", .password = "secret"};
    cmp_ok(status_of(f, &req), "==", 200, "%s user and password", who);
    req.origin = "http://example.org/";
    cmp_ok(status_of(f, &req), "==", 401, "%s credentials of another host are not sent", who);
    req.origin = url_of("");
    cmp_ok(status_of(f, &req), "==", 200, "%s to their own host they are", who);
    req = (struct cos_request){.url = url_of("fault/auth"), .headers = own};
    cmp_ok(status_of(f, &req), "==", 200, "%s Authorization header", who);
    req.origin = "http://127.0.0.1:1/";
    cmp_ok(status_of(f, &req), "==", 401, "%s nor is the header, to another port", who);
    req = (struct cos_request){.url = url_of("fault/auth")};
    cmp_ok(status_of(f, &req), "==", 401, "%s nothing is left in the pooled handle", who);
    req.netrc = "machine a login b password c\nmachine 127.0.0.1 login user password \"secret\"\n";
    cmp_ok(status_of(f, &req), "==", 200, "%s netrc", who);
    req.netrc = "machine example.org login user password secret";
    cmp_ok(status_of(f, &req), "==", 401, "%s netrc of another machine", who);
    req.netrc = "default login user password secret";
    cmp_ok(status_of(f, &req), "==", 200, "%s netrc default", who);
    req = (struct cos_request){.url = url_of("fault/auth"), .user = "user", .password = "secret",
                               .auth = COS_AUTH_ANY};
    cmp_ok(status_of(f, &req), "==", 200, "%s any way the server offers", who);
}

static int cookie_round(int f, int no_cookies)
{
    struct cos_request req = {.url = url_of("fault/cookie"), .no_cookies = no_cookies};
    struct cos_page *page = faces[f].get(&req);
    struct cos_request next;
    int status = -1;
    if (!cos_request_follow(&next, &req, page))
        status = status_of(f, &next);
    cos_page_free(page);
    return status;
}

static void test_cookies(int f)
{
    const char *who = faces[f].name;
    char file[] = "/tmp/cos-jar-XXXXXX";
    int fd = mkstemp(file);
    struct cos_request check = {.url = url_of("fault/cookie/check")};
    close(fd);
    cmp_ok(cookie_round(f, 1), "==", 403, "%s no cookies", who);
    cmp_ok(cookie_round(f, 0), "==", 200, "%s cookies are kept and sent", who);
    cmp_ok(cos_cookies_save(file, -1), "==", 0, "%s jar saved", who);
    cos_shutdown();
    cmp_ok(status_of(f, &check), "==", 403, "%s a new engine has an empty jar", who);
    cmp_ok(cos_cookies_load(file, -1), "==", 0, "%s jar loaded", who);
    cmp_ok(status_of(f, &check), "==", 200, "%s and its cookies are sent", who);
    cmp_ok(cos_cookies_load("/nonexistent/jar", -1), "==", COS_ENOENT, "%s no such jar", who);
    cos_shutdown();
    unlink(file);
}

/* What the site echoes is little; a server that shows the request is needed. */
static char echoed[65536];

static coroutine void echo_once(int listener)
{
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    size_t len = 0;
    int fd;
    fdin(listener, -1);
    fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    while (fd >= 0 && len < sizeof echoed - 1 && fdin(fd, now() + 300) == 0) {
        ssize_t n = read(fd, echoed + len, sizeof echoed - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
        echoed[len] = 0;
        if (strstr(echoed, "\r\n\r\n"))
            break;
    }
    if (write(fd, answer, sizeof answer - 1) < 0)
        diag("echo: %s", strerror(errno));
    fdclean(fd);
    close(fd);
    fdclean(listener);
}

static const char *request_text(const struct cos_request *plain)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    struct cos_request req = *plain;
    struct cos_page *page;
    char url[64];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), server;
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 8) ||
        getsockname(listener, (struct sockaddr *)&at, &len))
        BAIL_OUT("no port");
    snprintf(url, sizeof url, "http://127.0.0.1:%d/x", ntohs(at.sin_port));
    if (!req.url)
        req.url = url;
    if (req.proxy)
        req.proxy = url;
    echoed[0] = 0;
    server = go(echo_once(listener));
    cos_fetch(&req, &page, now() + 3000);
    cos_page_free(page);
    hclose(server);
    close(listener);
    return echoed;
}

static void test_request(void)
{
    const char *headers[] = {"X-One: 1", "Accept:", NULL};
    const char *split[] = {"X: a\r\nY: b", NULL};
    struct cos_request req = {.method = "PROPFIND", .agent = "me/1", .referer = "http://r/",
                              .range = "5-9", .headers = headers, .encodings = "",
                              .modified = "Thu, 01 Jan 1970 00:00:00 GMT"};
    struct cos_page *page;
    const char *sent = request_text(&req);
    like(sent, "^PROPFIND /x HTTP/1.1\r\n", "method");
    like(sent, "\r\nUser-Agent: me/1\r\n", "user agent");
    like(sent, "\r\nReferer: http://r/\r\n", "referer");
    like(sent, "\r\nRange: bytes=5-9\r\n", "range");
    like(sent, "\r\nX-One: 1\r\n", "own header");
    like(sent, "\r\nIf-Modified-Since: Thu, 01", "If-Modified-Since");
    unlike(sent, "\r\nAccept:", "a header taken away");
    unlike(sent, "Accept-Encoding", "no encodings");
    sent = request_text(&(struct cos_request){0});
    like(sent, "^GET /x HTTP/1.1\r\n", "the next request has none of it");
    like(sent, "User-Agent: coscrawl/", "default agent");
    like(sent, "Accept-Encoding: .*gzip.*br.*zstd", "all encodings by default");
    unlike(sent, "Range|Referer|X-One|If-Mod", "nor the headers");
    sent = request_text(&(struct cos_request){.method = "HEAD"});
    like(sent, "^HEAD ", "HEAD");
    sent = request_text(&(struct cos_request){.body = "a=b", .body_len = 3});
    like(sent, "^POST .*\r\nContent-Length: 3\r\n", "a body makes it POST");
    sent = request_text(&(struct cos_request){0});
    like(sent, "^GET ", "and GET again afterwards");
    sent = request_text(&(struct cos_request){.url = "http://never.invalid/p", .proxy = "x"});
    like(sent, "^GET http://never.invalid/p HTTP/1.1", "proxy: asked for the whole URL");
    req = (struct cos_request){.url = url_of("fault/ok"), .headers = split};
    cmp_ok(cos_fetch(&req, &page, -1), "==", COS_EINVAL, "a line break in a header is refused");
    cos_page_free(page);
}

static void test_names(int f)
{
    char entry[64], url[128];
    const char *resolve[] = {"other.test:80:10.9.9.9", entry, NULL};
    struct cos_request req = {.url = url, .resolve = resolve};
    snprintf(entry, sizeof entry, "made-up.test:%d:127.0.0.1", site.port);
    snprintf(url, sizeof url, "http://made-up.test:%d/fault/ok", site.port);
    cmp_ok(status_of(f, &req), "==", 200, "%s a name override", faces[f].name);
    snprintf(entry, sizeof entry, "*:*:127.0.0.1");
    snprintf(url, sizeof url, "http://any.test:%d/fault/ok", site.port);
    cmp_ok(status_of(f, &req), "==", 200, "%s any host, any port", faces[f].name);
    snprintf(url, sizeof url, "http://localhost:%d/fault/ok", site.port);
    req = (struct cos_request){.url = url, .ip = 4};
    cmp_ok(status_of(f, &req), "==", 200, "%s localhost", faces[f].name);
    snprintf(url, sizeof url, "http://LocalHost:%d/fault/ok", site.port);
    cmp_ok(status_of(f, &req), "==", 200, "%s upper case", faces[f].name);
}

static void test_refused(int f)
{
    static const struct {
        const char *url;
        int err;
    } bad[] = {{"ftp://example.org/", COS_ESCHEME}, {"file:///etc/passwd", COS_ESCHEME},
               {"", COS_ESCHEME},                   {NULL, COS_ESCHEME},
               {"http://", COS_EURL},               {"http://[::1/", COS_EURL},
               {"http://a:99999/", COS_EURL},       {"http://127.0.0.1:1/", COS_ECONNREFUSED},
               {"https://127.0.0.1:1/", COS_ECONNREFUSED}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cos_request req = {.url = bad[i].url};
        struct cos_page *page = faces[f].get(&req);
        is(page ? cos_errname(page->err) : "no page", cos_errname(bad[i].err), "%s %s",
           faces[f].name, bad[i].url ? bad[i].url : "NULL");
        cos_page_free(page);
    }
}

/* --- ceilings and files ---------------------------------------------------------------------- */

static int files_in(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

static void test_spill(int f)
{
    const char *who = faces[f].name;
    char dir[] = "/tmp/cos-spill-XXXXXX";
    struct cos_request req = {.url = url_of("fault/huge?mb=8"), .spill_at = 100000};
    struct cos_page *page;
    struct stat st = {0};
    req.spill_dir = mkdtemp(dir);
    page = faces[f].get(&req);
    cmp_ok(page->err, "==", 0, "%s a large body", who);
    ok(page->spill && !page->body.len, "%s is in a file and not in memory", who);
    if (page->spill)
        stat(page->spill, &st);
    ok(st.st_size >= 8 << 20 && st.st_size == page->body_len, "%s all of it (%ld)", who,
       (long)st.st_size);
    cos_page_free(page);
    cmp_ok(files_in(dir), "==", 0, "%s the file goes with the page", who);
    req.max_body = 4 << 20;
    page = faces[f].get(&req);
    cmp_ok(page->err, "==", COS_ETOOBIG, "%s a ceiling for files, too", who);
    cos_page_free(page);
    req.max_body = 0;
    req.spill_dir = "/nonexistent";
    page = faces[f].get(&req);
    cmp_ok(page->err, "==", COS_ENOENT, "%s no directory to spill to", who);
    cos_page_free(page);
    for (int i = 0; i < 100 && files_in(dir); i++)
        msleep(now() + 10);
    cmp_ok(files_in(dir), "==", 0, "%s no file is left behind", who);
    rmdir(dir);
}

static void test_into(void)
{
    struct cos_page *page = cos_page_new(url_of("fault/404"));
    struct cos_request req = {0};
    page->depth = 7;
    cmp_ok(cos_fetch_into(page, &req, -1), "==", 0, "into a page of one's own");
    cmp_ok(page->status, "==", 404, "status");
    free(page->url);
    page->url = strdup(url_of("fault/empty"));
    cmp_ok(cos_fetch_into(page, &req, -1), "==", 0, "and again");
    ok(page->status == 200 && page->body.len == 0 && page->depth == 7,
       "nothing of the first answer is left, what the frontier set is");
    cos_page_free(page);
}

/* --- many at once -------------------------------------------------------------- */

static int open_fds(void)
{
    return files_in("/proc/self/fd");
}

static int told, told_canceled;

static void count_canceled(int err, struct cos_page *page, void *arg)
{
    (void)page;
    (void)arg;
    told++;
    told_canceled += err == COS_ECANCELED;
}

static coroutine void hang_co(void)
{
    struct cos_request req = {.url = url_of("fault/hang")};
    struct cos_page *page;
    int err = cos_fetch(&req, &page, -1);
    count_canceled(err, page, NULL);
    cos_page_free(page);
}

static void test_cancel(int many)
{
    struct cos_fetch_setup unlimited = {.connections = -1};
    struct cos_request req = {.url = url_of("fault/hang")};
    int64_t *tickets = calloc((size_t)many, sizeof *tickets);
    int before, crowd = bundle();
    cos_fetch_setup(&unlimited);
    msleep(now() + 50);
    before = open_fds();
    for (int i = 0; i < many; i++)
        bundle_go(crowd, hang_co());
    msleep(now() + 300);
    cmp_ok((int)cos__fetch_stats().in_flight, "==", many, "%d fetches in flight", many);
    hclose(crowd);
    cmp_ok(told_canceled, "==", many, "co: closed at once, all with COS_ECANCELED");
    cmp_ok((int)cos__fetch_stats().in_flight, "==", 0, "none is in flight");
    told = told_canceled = 0;
    for (int i = 0; i < many; i++)
        tickets[i] = cps_fetch(rt, &req, -1, count_canceled, NULL);
    for (int i = 0; i < many; i++)
        cps_cancel(rt, tickets[i]);
    cmp_ok(told, "==", 0, "cps: no callback inside cps_cancel");
    cps_run(rt);
    ok(told == many && told_canceled == many, "cps: %d callbacks, once each, COS_ECANCELED", told);
    cmp_ok(cps_cancel(rt, tickets[0]), "==", COS_ENOENT, "a ticket is good for one operation");
    cmp_ok((int)cos__op_count(), "==", 0, "no operation is left");
    msleep(now() + 50);
    cmp_ok(open_fds(), "<=", before, "no descriptor is left");
    free(tickets);
    memset(&unlimited, 0, sizeof unlimited);
    cos_fetch_setup(&unlimited);
}

static int many_ok, many_emfile, many_other;

static void count_kinds(int err, struct cos_page *page, void *arg)
{
    (void)page;
    (void)arg;
    many_ok += err == 0;
    many_emfile += err == COS_EMFILE;
    many_other += err && err != COS_EMFILE;
}

static void run_many(int n, int connections)
{
    struct cos_fetch_setup setup = {.connections = connections};
    struct cos_request req = {.url = url_of("fault/delay?ms=60")};
    many_ok = many_emfile = many_other = 0;
    cos_fetch_setup(&setup);
    for (int i = 0; i < n; i++)
        cps_fetch(rt, &req, -1, count_kinds, NULL);
    cps_run(rt);
}

static void test_descriptors(void)
{
    struct rlimit old, low;
    getrlimit(RLIMIT_NOFILE, &old);
    low = old;
    low.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &low);
    run_many(150, -1);
    ok(many_emfile > 0 && many_other == 0,
       "C17 without a limit descriptors run out: %d COS_EMFILE, %d other errors", many_emfile,
       many_other);
    run_many(150, 16);
    cmp_ok(many_ok, "==", 150, "C17 with 16 connections all complete");
    setrlimit(RLIMIT_NOFILE, &old);
}

static void test_limits(void)
{
    /* A fresh engine: idle connections of before would count for nothing. */
    cps_close(rt);
    cos_shutdown();
    cps_open(&rt);
    site_reset(&site);
    run_many(40, 4);
    cmp_ok((int)site_number(&site, "peak"), "<=", 4, "no more connections than allowed");
    cmp_ok(many_ok, "==", 40, "and all complete");
}

static void test_host_limit(void)
{
    struct cos_fetch_setup setup = {.host_connections = 2};
    struct cos_request req = {.url = url_of("fault/delay?ms=20")};
    cps_close(rt);
    cos_shutdown();
    cps_open(&rt);
    site_reset(&site);
    cos_fetch_setup(&setup);
    many_ok = 0;
    for (int i = 0; i < 12; i++)
        cps_fetch(rt, &req, -1, count_kinds, NULL);
    cps_run(rt);
    cmp_ok((int)site_number(&site, "peak"), "<=", 2, "no more connections to a host than allowed");
    cmp_ok(many_ok, "==", 12, "and all complete");
}

/* --- patience ---------------------------------------------------------------------- */

static coroutine void test_min_speed(void)
{
    struct cos_request req = {.url = url_of("fault/drip?ms=50&bytes=1000"), .min_speed = 1000,
                              .min_speed_s = 1};
    struct cos_page *page;
    int64_t begin = now();
    is(cos_errname(cos_fetch(&req, &page, -1)), "ESLOW", "slower than the least speed");
    cmp_ok((int)(now() - begin), "<", 4000, "noticed in time");
    cos_page_free(page);
}

/* A listener whose queue is full answers nobody: the handshake hangs. */
static coroutine void test_connect_timeout(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    struct cos_request req = {.connect_ms = 200};
    struct cos_page *page;
    char url[64];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), filler[4];
    int64_t begin;
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 0) ||
        getsockname(listener, (struct sockaddr *)&at, &len))
        BAIL_OUT("no port");
    for (int i = 0; i < 4; i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(filler[i], (struct sockaddr *)&at, sizeof at);
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(at.sin_port));
    req.url = url;
    begin = now();
    is(cos_errname(cos_fetch(&req, &page, -1)), "ETIMEDOUT", "not connected in time");
    cmp_ok((int)(now() - begin), "<", 3000, "noticed in time");
    cos_page_free(page);
    for (int i = 0; i < 4; i++)
        close(filler[i]);
    close(listener);
}

static void test_ipv6(void)
{
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t len = sizeof at;
    struct cos_request req = {.ip = 6};
    struct cos_page *page;
    char url[64];
    int listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), server;
    int have = listener >= 0 && !bind(listener, (struct sockaddr *)&at, sizeof at) &&
               !listen(listener, 8) && !getsockname(listener, (struct sockaddr *)&at, &len);
    snprintf(url, sizeof url, "http://[::1]:%d/x", have ? ntohs(at.sin6_port) : 1);
    req.url = url;
    server = have ? go(echo_once(listener)) : -1;
    cos_fetch(&req, &page, now() + 3000);
    ok(have ? page->err == 0 && !strcmp(page->remote, "::1") : page->err < 0, "IPv6: %s",
       have ? page->remote : cos_errname(page->err));
    cos_page_free(page);
    if (have)
        hclose(server);
    if (listener >= 0)
        close(listener);
}

static void test_no_coroutine(void)
{
    struct cos__loop_stats before = cos__loop_stats(cos__loop());
    run_many(50, 0);
    cmp_ok((int)(cos__loop_stats(cos__loop()).pumps - before.pumps), "==", 0,
           "no coroutine is created for operations of the callback face");
}

int main(void)
{
    struct rlimit files;
    int slow;
    plan(NO_PLAN);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 8192 ? files.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &files);
    site_start(&site, "--max-connections=4000", NULL);
    test_rows_complete();
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    /* What mostly waits, waits together. */
    slow = bundle();
    bundle_go(slow, test_min_speed());
    bundle_go(slow, test_connect_timeout());
    test_faults();
    bundle_wait(slow, -1);
    hclose(slow);
    test_no_coroutine();
    for (int f = 0; f < 2; f++) {
        test_page(f);
        test_redirect(f);
        test_auth(f);
        test_names(f);
        test_refused(f);
        test_spill(f);
    }
    test_methods();
    test_request();
    test_into();
    test_limits();
    test_host_limit();
    test_ipv6();
    test_descriptors();
    test_cancel(1000);
    cps_close(rt);
    cmp_ok(cos_shutdown(), "==", 0, "nothing is under way at the end");
    cps_open(&rt);
    test_cookies(0);
    cps_close(rt);
    cos_shutdown();
    site_stop(&site);
    done_testing();
}
