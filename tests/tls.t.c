/* tls.t - TLS and HTTP/2 against a real nginx on loopback: multiplexing, content
 * encodings, and a distinct error for each way a certificate can be wrong. The
 * certificates are made here, with openssl. */
#include "config.h"

#include "tap.h"

#include "coscrawl-cps.h"
#include "hold.h"
#include "phase_log.h"
#include "web/fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libdill.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum server { GOOD, EXPIRED, WRONG_NAME, UNKNOWN_CA, PLAIN, SERVERS };

static char dir[] = "/tmp/cos-tls-XXXXXX", ca[64];
static int port[SERVERS];
static pid_t nginx;
static struct cps_rt *rt;

/* --- the server ----------------------------------------------------------------- */

static int free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        BAIL_OUT("no port: %s", strerror(errno));
    close(fd);
    return ntohs(at.sin_port);
}

static void put(const char *name, const void *data, size_t len)
{
    char path[128];
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    if (!f || fwrite(data, 1, len, f) != len || fclose(f))
        BAIL_OUT("cannot write %s", path);
}

/* Two authorities, four certificates; a short script is the clearest way. */
static void make_certificates(void)
{
    static const char script[] =
        "set -e\n"
        "key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'\n"
        "for ca in ca other; do\n"
        "  openssl req -x509 $key -keyout $ca.key -out $ca.pem -subj /CN=$ca -days 2\n"
        "done\n"
        "mkdir issued; : > index.txt; echo 01 > serial\n"
        "cat > ca.cnf <<E\n"
        "[ca]\ndefault_ca=d\n[d]\ndir=.\ndatabase=index.txt\nserial=serial\nnew_certs_dir=issued\n"
        "default_md=sha256\npolicy=p\ncopy_extensions=copy\nunique_subject=no\n"
        "[p]\ncommonName=supplied\n"
        "E\n"
        "issue() { # NAME CA HOST FROM TO\n"
        "  openssl req $key -keyout $1.key -out $1.csr -subj /CN=$3 \\\n"
        "    -addext subjectAltName=DNS:$3,DNS:*.$3\n"
        "  openssl ca -config ca.cnf -batch -notext -cert $2.pem -keyfile $2.key -in $1.csr \\\n"
        "    -out $1.pem -startdate $4 -enddate $5\n"
        "}\n"
        "issue good ca site.test 20200101000000Z 20490101000000Z\n"
        "issue expired ca site.test 20200101000000Z 20200201000000Z\n"
        "issue wrong ca elsewhere.test 20200101000000Z 20490101000000Z\n"
        "issue unknown other site.test 20200101000000Z 20490101000000Z\n";
    char command[256];
    put("make.sh", script, sizeof script - 1);
    snprintf(command, sizeof command, "cd %s && sh make.sh > log 2>&1 || { cat log >&2; false; }",
             dir);
    if (system(command))
        BAIL_OUT("openssl failed");
    snprintf(ca, sizeof ca, "%s/ca.pem", dir);
}

static void write_config(void)
{
    static const char *const names[] = {"good", "expired", "wrong", "unknown"};
    static char text[16384];
    int n = snprintf(text, sizeof text,
                     "daemon off; master_process off; pid %s/pid; error_log %s/error.log;\n"
                     "events { worker_connections 512; }\n"
                     "http { access_log off; default_type text/plain; root %s;\n"
                     "client_body_temp_path %s/b; proxy_temp_path %s/p; fastcgi_temp_path %s/f;\n"
                     "uwsgi_temp_path %s/u; scgi_temp_path %s/s;\n"
                     "gzip on; gzip_min_length 100; gzip_types text/plain;\n",
                     dir, dir, dir, dir, dir, dir, dir, dir);
    for (int i = 0; i < SERVERS; i++) {
        int tls = i != PLAIN;
        n += snprintf(text + n, sizeof text - (size_t)n, "server { listen 127.0.0.1:%d%s;\n",
                      port[i], tls ? " ssl http2" : "");
        if (tls)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "ssl_certificate %s/%s.pem; ssl_certificate_key %s/%s.key;\n", dir,
                          names[i], dir, names[i]);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "location = /br { add_header Content-Encoding br; }\n"
                      "location = /zstd { add_header Content-Encoding zstd; } }\n");
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "}\n");
    put("nginx.conf", text, (size_t)n);
}

static int is_up(int at)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)at),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int up = connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
    close(fd);
    return up;
}

static void start_nginx(const char *program)
{
    char config[128];
    snprintf(config, sizeof config, "%s/nginx.conf", dir);
    fflush(NULL);
    nginx = fork();
    if (nginx == 0) {
        char log[128];
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        snprintf(log, sizeof log, "%s/nginx.log", dir);
        if (!freopen(log, "w", stderr))
            _exit(126);
        execl(program, "nginx", "-p", dir, "-c", config, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 500 && !is_up(port[PLAIN]); i++) {
        if (waitpid(nginx, NULL, WNOHANG) == nginx)
            BAIL_OUT("nginx ended, see %s/nginx.log", dir);
        usleep(10000);
    }
}

/* --- fetching ----------------------------------------------------------------------- */

static struct cos_request request(enum server server, const char *host, const char *path)
{
    static char url[8][256], entry[8][64];
    static const char *resolve[8][2];
    static int at;
    at = (at + 1) % 8;
    snprintf(url[at], sizeof url[at], "http%s://%s:%d%s", server == PLAIN ? "" : "s", host,
             port[server], path);
    snprintf(entry[at], sizeof entry[at], "*:*:127.0.0.1");
    resolve[at][0] = entry[at];
    return (struct cos_request){.url = url[at], .ca_file = ca, .resolve = resolve[at],
                                .connect_ms = 5000};
}

static void keep_page(int err, struct cos_page *page, void *arg)
{
    (void)err;
    *(struct cos_page **)arg = page ? cos_page_take(page) : NULL;
}

static struct cos_page *get(int cps, const struct cos_request *req)
{
    struct cos_page *page = NULL;
    if (cps) {
        cps_fetch(rt, req, now() + 10000, keep_page, &page);
        cps_run(rt);
    } else {
        cos_fetch(req, &page, now() + 10000);
    }
    return page;
}

static void test_certificates(int cps)
{
    static const struct {
        enum server server;
        const char *host;
        int err;
        const char *what;
    } cases[] = {
        {GOOD, "site.test", 0, "a good certificate"},
        {GOOD, "sub.site.test", 0, "a wildcard"},
        {GOOD, "other.test", COS_ECERTNAME, "a name it is not for"},
        {GOOD, "127.0.0.1", COS_ECERTNAME, "an address it is not for"},
        {WRONG_NAME, "site.test", COS_ECERTNAME, "another site's certificate"},
        {EXPIRED, "site.test", COS_ECERTEXPIRED, "an expired certificate"},
        {UNKNOWN_CA, "site.test", COS_ECERT, "an unknown authority"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cos_request req = request(cases[i].server, cases[i].host, "/page");
        struct cos_page *page = get(cps, &req);
        ok(page && page->err == cases[i].err, "%s %s: %s", cps ? "cps" : "co", cases[i].what,
           cos_errname(page ? page->err : COS_ENOMEM));
        if (page && page->err != cases[i].err)
            diag("%s", page->why ? page->why : "no reason");
        cos_page_free(page);
        req.insecure = 1;
        page = get(cps, &req);
        ok(page && page->err == 0, "%s %s, unchecked", cps ? "cps" : "co", cases[i].what);
        cos_page_free(page);
        req.insecure = 0;
        page = get(cps, &req);
        ok(page && page->err == cases[i].err, "%s %s: an unchecked connection is not used again",
           cps ? "cps" : "co", cases[i].what);
        cos_page_free(page);
    }
}

static void test_other_errors(int cps)
{
    struct cos_request req = request(GOOD, "site.test", "/page");
    struct cos_page *page;
    req.ca_file = "/nonexistent.pem";
    page = get(cps, &req);
    is(cos_errname(page->err), "ECERT", "a CA file that is not there");
    cos_page_free(page);
    req = request(GOOD, "site.test", "/page");
    req.ca_file = NULL;
    page = get(cps, &req);
    is(cos_errname(page->err), "ECERT", "the system's authorities do not know ours");
    cos_page_free(page);
    req = request(PLAIN, "site.test", "/page");
    {
        char url[128];
        snprintf(url, sizeof url, "https%s", req.url + 4);
        req.url = url;
        page = get(cps, &req);
        is(cos_errname(page->err), "ETLS", "no TLS at the other end");
        cos_page_free(page);
    }
}

static void test_encodings(int cps)
{
    static const struct {
        const char *path, *text;
    } cases[] = {{"/br", "hello"}, {"/zstd", "hello"}};
    struct cos_request req = request(GOOD, "site.test", "/long");
    struct cos_page *page = get(cps, &req);
    struct cos_buf value;
    cos_buf_init(&value, 100);
    ok(page->body.len == 20000 && page->wire_len < 5000 && !page->err, "gzip: %d bytes of %d",
       (int)page->wire_len, (int)page->body_len);
    cos_page_header(page, "Content-Encoding", &value);
    is(value.data, "gzip", "said in the head");
    cos_page_free(page);
    cos_buf_release(&value);
    for (size_t i = 0; i < 2; i++) {
        req = request(GOOD, "site.test", cases[i].path);
        page = get(cps, &req);
        is(page->body.data, cases[i].text, "%s", cases[i].path + 1);
        cos_page_free(page);
    }
}

/* --- HTTP/2 ------------------------------------------------------------------------------ */

static int h2, fine;

static void count(int err, struct cos_page *page, void *arg)
{
    (void)arg;
    fine += !err && page->status == 200;
    h2 += page && page->protocol && !strcmp(page->protocol, "h2");
}

static void test_multiplexing(void)
{
    enum { N = 60 };
    struct cos_request req = request(GOOD, "site.test", "/long");
    uint64_t before;
    cps_close(rt);
    cos_shutdown();
    cps_open(&rt);
    before = cos__fetch_stats().sockets;
    for (int i = 0; i < N; i++)
        cps_fetch(rt, &req, now() + 20000, count, NULL);
    cps_run(rt);
    cmp_ok(fine, "==", N, "%d requests at once over TLS", N);
    cmp_ok(h2, "==", N, "all of them HTTP/2");
    cmp_ok((int)(cos__fetch_stats().sockets - before), "==", 1, "on one connection");
}

static void test_protocol(int cps)
{
    struct cos_request req = request(GOOD, "site.test", "/page");
    struct cos_page *page = get(cps, &req);
    is(page->protocol, "h2", "HTTP/2 by default");
    cos_page_free(page);
    req.http = 1;
    page = get(cps, &req);
    is(page->protocol, "HTTP/1.1", "HTTP/1.1 when asked for");
    ok(cps ? page->timing.tls == -1 : page->timing.tls > 0,
       "the TLS phase is timed, and none on a connection used again");
    cos_page_free(page);
    req = request(PLAIN, "site.test", "/page");
    page = get(cps, &req);
    is(page->protocol, "HTTP/1.1", "no HTTP/2 without TLS");
    cmp_ok((int)page->timing.tls, "==", -1, "and no TLS phase");
    cos_page_free(page);
}

/* --- the hooks ------------------------------------------------------------------------ */

static void phases_once(int cps, const struct cos_request *req)
{
    phase_log_clear();
    cos_page_free(get(cps, req));
}

static void test_phases(int cps)
{
    const char *face = cps ? "cps" : "co";
    struct cos_request req = request(GOOD, "site.test", "/page");
    char url[64];
    snprintf(url, sizeof url, "https://site.test:%d/page", hold.port);
    req.url = url;
    req.http = 1;
    phase_log_begin();
    for (int i = 0; i < 3 && !phase_near(COS_HOOK_TLS, hold.ms); i++) {
        cps_close(rt);
        cos_shutdown(); /* no connection is left to use again */
        cps_open(&rt);
        phases_once(cps, &req);
    }
    is(phase_log.order, "fetch connect tls / first byte / transfer / / /",
       "C46 %s: connect, tls, first byte and transfer of a fetch", face);
    ok(!phase_log.bad, "C48 caused by the fetch");
    ok(phase_near(COS_HOOK_TLS, hold.ms), "%s: tls %d ms, the server took %d", face,
       (int)phase_log.ms[COS_HOOK_TLS], hold.ms);
    ok(phase_log.ms[COS_HOOK_CONNECT] < hold.ms / 2, "%s: connect took %d ms", face,
       (int)phase_log.ms[COS_HOOK_CONNECT]);
    phases_once(cps, &req);
    is(phase_log.order, "fetch first byte transfer / / /",
       "C46 %s: a connection used again has neither connect nor tls", face);
    req.http = 0;
    req.url = request(UNKNOWN_CA, "site.test", "/page").url;
    phases_once(cps, &req);
    is(phase_log.order, "fetch connect tls / / /", "C46 %s: a handshake that fails ends there", face);
    phase_log_end();
}

static const char *nginx_program(void)
{
    static const char *const places[] = {"/usr/sbin/nginx", "/usr/local/sbin/nginx",
                                         "/usr/bin/nginx", NULL};
    for (int i = 0; places[i]; i++)
        if (!access(places[i], X_OK))
            return places[i];
    return NULL;
}

int main(void)
{
    static char text[20000];
    char command[128];
    const char *program = nginx_program();
    if (!program)
        plan(SKIP_ALL, "no nginx");
    plan(NO_PLAN);
    if (!mkdtemp(dir))
        BAIL_OUT("no directory");
    for (int i = 0; i < SERVERS; i++)
        port[i] = free_port();
    make_certificates();
    memset(text, 'x', sizeof text);
    put("page", "page\n", 5);
    put("long", text, sizeof text);
    put("br", "\x0b\x02\x80hello\x03", 9);
    put("zstd", "\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello", 14);
    write_config();
    start_nginx(program);
    hold_start(port[GOOD], 300);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    for (int cps = 0; cps < 2; cps++) {
        test_certificates(cps);
        test_other_errors(cps);
        test_encodings(cps);
        test_protocol(cps);
    }
    for (int cps = 0; cps < 2; cps++)
        test_phases(cps);
    test_multiplexing();
    cps_close(rt);
    cmp_ok(cos_shutdown(), "==", 0, "nothing is left");
    kill(nginx, SIGTERM);
    waitpid(nginx, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (system(command))
        diag("cannot remove %s", dir);
    done_testing();
}
