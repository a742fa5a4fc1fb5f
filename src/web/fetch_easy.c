/* fetch_easy.c - pooled curl handles and the options of a request in them.
 *
 * A crawl sets the same thirty options for every page. So a handle remembers
 * what is set in it, and a request becomes a plan that is compared with that:
 * usually nothing but the URL differs. Rejected: curl_easy_reset and setting
 * everything anew (measured at a tenth of the whole request). */
#include "config.h"

#include "web/fetch_int.h"

#include "base/err.h"
#include "base/hash.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* RECEIVE: most pages come with one system call; with curl's 16 KB it took three. */
enum { POOL_MAX = 1024, RECEIVE = 32 * 1024 };
enum { DEFAULT_CONNECT_MS = 10000, DEFAULT_SPEED_S = 30 };

/* Names of the places in struct cos__plan and what curl calls them. */
#define STRINGS(X)                                                                                 \
    X(AGENT, CURLOPT_USERAGENT)                                                                    \
    X(REFERER, CURLOPT_REFERER)                                                                    \
    X(METHOD, CURLOPT_CUSTOMREQUEST)                                                               \
    X(RANGE, CURLOPT_RANGE)                                                                        \
    X(ENCODINGS, CURLOPT_ACCEPT_ENCODING)                                                          \
    X(USER, CURLOPT_USERNAME)                                                                      \
    X(PASSWORD, CURLOPT_PASSWORD)                                                                  \
    X(BEARER, CURLOPT_XOAUTH2_BEARER)                                                              \
    X(PROXY, CURLOPT_PROXY)                                                                        \
    X(NO_PROXY, CURLOPT_NOPROXY)                                                                   \
    X(PROXY_USER, CURLOPT_PROXYUSERPWD)                                                            \
    X(FROM, CURLOPT_INTERFACE)                                                                     \
    X(CA_FILE, CURLOPT_CAINFO)                                                                     \
    X(CA_PATH, CURLOPT_CAPATH)                                                                     \
    X(CERT, CURLOPT_SSLCERT)                                                                       \
    X(KEY, CURLOPT_SSLKEY)

#define NUMBERS(X)                                                                                 \
    X(NO_BODY, CURLOPT_NOBODY)                                                                     \
    X(AUTH, CURLOPT_HTTPAUTH)                                                                      \
    X(IP, CURLOPT_IPRESOLVE)                                                                       \
    X(HTTP, CURLOPT_HTTP_VERSION)                                                                  \
    X(VERIFY_PEER, CURLOPT_SSL_VERIFYPEER)                                                         \
    X(VERIFY_HOST, CURLOPT_SSL_VERIFYHOST)                                                         \
    X(CONNECT_MS, CURLOPT_CONNECTTIMEOUT_MS)                                                       \
    X(TOTAL_MS, CURLOPT_TIMEOUT_MS)                                                                \
    X(PIPEWAIT, CURLOPT_PIPEWAIT)                                                                  \
    X(SPEED, CURLOPT_LOW_SPEED_LIMIT)                                                              \
    X(SPEED_S, CURLOPT_LOW_SPEED_TIME)                                                             \
    X(VERBOSE, CURLOPT_VERBOSE)

enum {
#define X(name, option) S_##name,
    STRINGS(X)
#undef X
    S_COUNT
};
enum {
#define X(name, option) N_##name,
    NUMBERS(X)
#undef X
    N_COOKIES, /* not one option but two */
    N_MAX_SPEED, /* not a long */
    N_COUNT
};
_Static_assert((int)S_COUNT <= (int)COS__PLAN_STRINGS && (int)N_COUNT <= (int)COS__PLAN_NUMBERS,
               "the plan is too small");

static const CURLoption string_option[] = {
#define X(name, option) option,
    STRINGS(X)
#undef X
};
static const CURLoption number_option[] = {
#define X(name, option) option,
    NUMBERS(X)
#undef X
};

/* --- who asks -------------------------------------------------------------------- */

/* What may be sent to this URL, from the request or from its .netrc. */
struct secret {
    const char *user, *password;
    int trusted;                   /* the request's own headers of this kind, too */
    struct cos_buf found_user, found_password;
};

enum { SECRET_MAX = 4096 };

static int secret_find(struct secret *secret, const char *url, const struct cos_request *req)
{
    struct cos__host host;
    int err;
    *secret = (struct secret){.trusted = !req->origin || cos__host_trusts(req->origin, url)};
    if (secret->trusted) {
        secret->user = req->user;
        secret->password = req->password;
    }
    if (!req->netrc || req->user || cos__host_of(url, &host))
        return 0;
    cos_buf_init(&secret->found_user, SECRET_MAX);
    cos_buf_init(&secret->found_password, SECRET_MAX);
    err = cos__netrc_find(req->netrc, &host, &secret->found_user, &secret->found_password);
    secret->user = secret->found_user.data;
    secret->password = secret->found_password.data;
    return err == COS_ENOENT ? 0 : err;
}

static void secret_release(struct secret *secret)
{
    cos_buf_release(&secret->found_user);
    cos_buf_release(&secret->found_password);
}

/* --- from a request to a plan -------------------------------------------------- */

static long ms_or(int64_t ms, long fallback)
{
    return ms < 0 ? 0 : ms == 0 ? fallback : ms > INT32_MAX ? INT32_MAX : (long)ms;
}

static void plan_strings(const struct cos__engine *engine, const struct cos_request *req,
                         const struct secret *secret, const char **s)
{
    int bearer = req->auth == COS_AUTH_BEARER;
    s[S_AGENT] = !req->agent ? PACKAGE "/" VERSION : *req->agent ? req->agent : NULL;
    s[S_REFERER] = req->referer;
    s[S_RANGE] = req->range;
    s[S_ENCODINGS] = !req->encodings ? "" : *req->encodings ? req->encodings : NULL;
    s[S_USER] = bearer ? NULL : secret->user;
    s[S_PASSWORD] = bearer ? NULL : secret->password;
    s[S_BEARER] = bearer ? secret->password : NULL;
    /* Without one in the environment curl need not look there each time. */
    s[S_PROXY] = req->proxy || engine->env_proxy ? req->proxy : "";
    s[S_NO_PROXY] = req->no_proxy;
    s[S_PROXY_USER] = req->proxy_user;
    s[S_FROM] = req->from;
    s[S_CA_FILE] = req->ca_file ? req->ca_file : engine->ca_file;
    s[S_CA_PATH] = req->ca_file ? NULL : engine->ca_path;
    s[S_CERT] = req->cert;
    s[S_KEY] = req->key;
}

static void plan_numbers(const struct cos_request *req, long *n)
{
    static const long auth[] = {[COS_AUTH_BASIC] = (long)CURLAUTH_BASIC,
                                [COS_AUTH_ANY] = (long)CURLAUTH_ANY,
                                [COS_AUTH_DIGEST] = (long)CURLAUTH_DIGEST,
                                [COS_AUTH_BEARER] = (long)CURLAUTH_BEARER};
    n[N_AUTH] = auth[req->auth];
    n[N_IP] = req->ip == 4 ? CURL_IPRESOLVE_V4 : req->ip == 6 ? CURL_IPRESOLVE_V6
                                                              : CURL_IPRESOLVE_WHATEVER;
    n[N_HTTP] = req->http == 1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS;
    n[N_VERIFY_PEER] = !req->insecure;
    n[N_VERIFY_HOST] = req->insecure ? 0 : 2;
    n[N_CONNECT_MS] = ms_or(req->connect_ms, DEFAULT_CONNECT_MS);
    n[N_TOTAL_MS] = ms_or(req->total_ms, 0);
    n[N_SPEED] = req->min_speed > 0 ? (long)req->min_speed : 0;
    n[N_SPEED_S] = req->min_speed > 0 ? ms_or(req->min_speed_s, DEFAULT_SPEED_S) : 0;
    n[N_VERBOSE] = req->keep_wire;
    n[N_COOKIES] = !req->no_cookies;
    n[N_MAX_SPEED] = req->max_speed > 0 ? (long)req->max_speed : 0;
}

static int check(const struct cos_request *req)
{
    if ((unsigned)req->auth > COS_AUTH_BEARER || (req->ip && req->ip != 4 && req->ip != 6) ||
        (req->body_len && !req->body))
        return COS_EINVAL;
    return 0;
}

static void plan_method(const struct cos_request *req, struct cos__plan *plan)
{
    const char *method = req->method;
    plan->number[N_NO_BODY] = method && !strcmp(method, "HEAD");
    /* What curl does by itself is left to it: a custom word would survive. */
    if (method && (!strcmp(method, "HEAD") || (!strcmp(method, "GET") && !req->body)))
        method = NULL;
    plan->string[S_METHOD] = method;
}

/* --- from a plan to curl --------------------------------------------------------- */

static int set_string(struct cos__easy *easy, int at, const char *value)
{
    const char *old = easy->plan.string[at];
    char *copy = NULL;
    if (old == value || (old && value && !strcmp(old, value)))
        return 0;
    if (value && !(copy = strdup(value)))
        return COS_ENOMEM;
    if (curl_easy_setopt(easy->curl, string_option[at], value)) {
        free(copy);
        return COS_EINVAL;
    }
    free((char *)old);
    easy->plan.string[at] = copy;
    return 0;
}

static void set_cookies(struct cos__engine *engine, struct cos__easy *easy, long on)
{
    curl_easy_setopt(easy->curl, CURLOPT_SHARE, on ? engine->share : NULL);
    curl_easy_setopt(easy->curl, CURLOPT_COOKIEFILE, on ? "" : NULL);
}

static int set_plan(struct cos__engine *engine, struct cos__easy *easy,
                    const struct cos__plan *plan)
{
    int err;
    for (int i = 0; i < S_COUNT; i++)
        if ((err = set_string(easy, i, plan->string[i])) < 0)
            return err;
    for (int i = 0; i < N_COUNT; i++) {
        if (easy->plan.number[i] == plan->number[i])
            continue;
        if (i == N_COOKIES)
            set_cookies(engine, easy, plan->number[i]);
        else if (i == N_MAX_SPEED)
            curl_easy_setopt(easy->curl, CURLOPT_MAX_RECV_SPEED_LARGE,
                             (curl_off_t)plan->number[i]);
        else if (curl_easy_setopt(easy->curl, number_option[i], plan->number[i]))
            return COS_EINVAL;
        easy->plan.number[i] = plan->number[i];
    }
    return 0;
}

/* --- lists and bodies: not compared, rarely there ---------------------------------- */

static int list_add(void **list, const char *line)
{
    struct curl_slist *more = curl_slist_append(*list, line);
    if (!more)
        return COS_ENOMEM;
    *list = more;
    return 0;
}

static int list_addf(void **list, const char *name, const char *value)
{
    size_t n = strlen(name), m = strlen(value);
    char *line = malloc(n + m + 1);
    int err;
    if (!line)
        return COS_ENOMEM;
    memcpy(line, name, n);
    memcpy(line + n, value, m + 1);
    /* A line break in a value would smuggle in a header of its own. */
    err = strpbrk(line, "\r\n") ? COS_EINVAL : list_add(list, line);
    free(line);
    return err;
}

static int is_secret(const char *line)
{
    return !strncasecmp(line, "Authorization:", 14) || !strncasecmp(line, "Cookie:", 7);
}

static int set_headers(struct cos__easy *easy, const struct cos_request *req, int trusted)
{
    int err = 0;
    if (req->etag)
        err = list_addf(&easy->headers, "If-None-Match: ", req->etag);
    if (!err && req->modified)
        err = list_addf(&easy->headers, "If-Modified-Since: ", req->modified);
    if (!err && req->body)
        err = list_add(&easy->headers, "Expect:");
    for (size_t i = 0; !err && req->headers && req->headers[i]; i++)
        if (trusted || !is_secret(req->headers[i]))
            err = list_addf(&easy->headers, "", req->headers[i]);
    if (!err && easy->headers)
        curl_easy_setopt(easy->curl, CURLOPT_HTTPHEADER, easy->headers);
    return err;
}

/* --- the headers of nearly every request ------------------------------------------ */

/* What curl makes of an empty CURLOPT_ACCEPT_ENCODING. */
static void all_encodings(char *text, size_t size)
{
    int features = curl_version_info(CURLVERSION_NOW)->features;
    snprintf(text, size, "%s%s%s", features & CURL_VERSION_LIBZ ? "deflate, gzip" : "identity",
             features & CURL_VERSION_BROTLI ? ", br" : "", features & CURL_VERSION_ZSTD ? ", zstd" : "");
}

static int usual_new(struct cos__engine *engine, const char *agent, const char *encodings)
{
    struct cos__usual *usual = &engine->usual;
    char all[64];
    all_encodings(all, sizeof all);
    usual->agent = strdup(agent);
    usual->encodings = strdup(encodings);
    if (!usual->agent || !usual->encodings || list_addf(&usual->list, "User-Agent: ", agent) ||
        list_addf(&usual->list, "Accept-Encoding: ", *encodings ? encodings : all))
        cos__usual_release(usual);
    return usual->list != NULL;
}

void cos__usual_release(struct cos__usual *usual)
{
    curl_slist_free_all(usual->list);
    free(usual->agent);
    free(usual->encodings);
    *usual = (struct cos__usual){0};
}

/* curl writes an agent and the encodings out twice for each request, letter by
 * letter; a line of a list once. So those of the first request, which nearly all
 * share, are a list that the handles keep. */
static int is_usual(struct cos__engine *engine, const struct cos_request *req,
                    const struct cos__plan *plan)
{
    const char *agent = plan->string[S_AGENT], *encodings = plan->string[S_ENCODINGS];
    struct cos__usual *usual = &engine->usual;
    if (!agent || !encodings || req->headers || req->etag || req->modified || req->body)
        return 0;
    if (!usual->list)
        return usual_new(engine, agent, encodings);
    return !strcmp(usual->agent, agent) && !strcmp(usual->encodings, encodings);
}

static void set_usual(struct cos__engine *engine, struct cos__easy *easy,
                      const struct cos_request *req, struct cos__plan *plan)
{
    int usual = is_usual(engine, req, plan);
    if (usual)
        plan->string[S_AGENT] = NULL;
    if (usual == easy->usual)
        return;
    curl_easy_setopt(easy->curl, CURLOPT_HTTPHEADER, usual ? engine->usual.list : NULL);
    easy->usual = (uint8_t)usual;
}

/* --- names ------------------------------------------------------------------------ */

enum { RENEW_MS = 5 * 60 * 1000, CACHE_S = 3600 };

static int known(struct cos__engine *engine, const char *entry, size_t host_len)
{
    const uint64_t *key = cos_hash_process_key();
    uint64_t host = cos_hash_keyed(key, entry, host_len);
    uint64_t addrs = cos_hash_keyed(key, entry + host_len, strlen(entry + host_len));
    int64_t now = cos__loop_now(engine->loop);
    struct cos__given *given;
    if (!engine->given && !(engine->given = calloc(COS__GIVEN, sizeof *given)))
        return 0;
    given = &engine->given[host % COS__GIVEN];
    if (given->key == host && given->addrs == addrs && now - given->at < RENEW_MS)
        return 1;
    *given = (struct cos__given){.key = host, .addrs = addrs, .at = now};
    return 0;
}

int cos__easy_give(struct cos__engine *engine, struct cos__easy *easy, const char *host,
                   size_t len, int port, const char *addrs)
{
    char entry[1280];
    /* '+': the entry ages like any other; without it, it would stay for ever. */
    int n = snprintf(entry, sizeof entry, "+%.*s:%d:%s", (int)len, host, port, addrs);
    if (n < 0 || n >= (int)sizeof entry)
        return COS_EINVAL;
    if (known(engine, entry, len + 1))
        return 0;
    if (list_add(&easy->resolve, entry))
        return COS_ENOMEM;
    curl_easy_setopt(easy->curl, CURLOPT_RESOLVE, easy->resolve);
    return 0;
}

static int set_body(struct cos__easy *easy, const struct cos_request *req)
{
    if (!req->body)
        return 0;
    curl_easy_setopt(easy->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)req->body_len);
    easy->posted = 1;
    return curl_easy_setopt(easy->curl, CURLOPT_COPYPOSTFIELDS, req->body) ? COS_ENOMEM : 0;
}

/* Given in parts as well as in one piece, curl neither parses it again nor puts
 * it together anew, which costs more than our whole share of a request. The one
 * piece is still needed: curl asks again for it after a 401. */
static int set_url(struct cos__easy *easy, const char *url)
{
    CURLUcode code = curl_url_set(easy->url, CURLUPART_URL, url, CURLU_PATH_AS_IS);
    if (code)
        return code == CURLUE_OUT_OF_MEMORY ? COS_ENOMEM : COS_EURL;
    if (curl_easy_setopt(easy->curl, CURLOPT_URL, url))
        return COS_ENOMEM;
    if (easy->has_url)
        return 0;
    easy->has_url = 1;
    return curl_easy_setopt(easy->curl, CURLOPT_CURLU, easy->url) ? COS_ENOMEM : 0;
}

static int apply(struct cos__engine *engine, struct cos__easy *easy, const char *url,
                 const struct cos_request *req, const struct secret *secret)
{
    struct cos__plan plan = {0};
    int err;
    plan_strings(engine, req, secret, plan.string);
    plan_numbers(req, plan.number);
    plan_method(req, &plan);
    /* Over TLS it pays to wait whether one connection can serve all. */
    plan.number[N_PIPEWAIT] = (url[4] | 0x20) == 's';
    set_usual(engine, easy, req, &plan);
    if (!(err = set_plan(engine, easy, &plan)) &&
        !(err = set_headers(easy, req, secret->trusted)) && !(err = set_body(easy, req)))
        err = set_url(easy, url);
    return err;
}

int cos__easy_apply(struct cos__engine *engine, struct cos__easy *easy, const char *url,
                    const struct cos_request *req)
{
    struct secret secret;
    int err = check(req);
    if (err)
        return err;
    err = secret_find(&secret, url, req);
    if (!err)
        err = apply(engine, easy, url, req, &secret);
    secret_release(&secret);
    return err;
}

int cos__easy_resume(struct cos__easy *easy)
{
    return (int)curl_easy_pause(easy->curl, CURLPAUSE_CONT);
}

/* --- handles ---------------------------------------------------------------------- */

static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct cos__easy *easy = arg;
    int fd = socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
    (void)purpose;
    if (fd < 0) {
        easy->socket_errno = errno;
        return CURL_SOCKET_BAD;
    }
    cos__engine_opened(cos__engine(), fd);
    if (easy->fetch)
        cos__fetch_phase(easy->fetch, COS__PHASE_CONNECT);
    return fd;
}

static int close_socket(void *arg, curl_socket_t fd)
{
    return cos__engine_close(arg, fd);
}

/* curl's way to show the bytes before it takes any coding off them. */
static int on_wire(CURL *curl, curl_infotype type, char *data, size_t len, void *arg)
{
    (void)curl;
    if (type == CURLINFO_HEADER_OUT)
        cos__fetch_on_wire(arg, COS__WIRE_SENT, data, len);
    else if (type == CURLINFO_HEADER_IN)
        cos__fetch_on_wire(arg, COS__WIRE_HEAD, data, len);
    else if (type == CURLINFO_DATA_IN)
        cos__fetch_on_wire(arg, COS__WIRE_BODY, data, len);
    return 0;
}

static void set_fixed(struct cos__engine *engine, struct cos__easy *easy)
{
    CURL *curl = easy->curl;
    curl_easy_setopt(curl, CURLOPT_PRIVATE, easy);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, easy->why);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)RECEIVE);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    /* Longer than a transfer may wait for a free connection. */
    curl_easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, (long)CACHE_S);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, cos__fetch_on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, easy);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, cos__fetch_on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, easy);
    curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, on_wire);
    curl_easy_setopt(curl, CURLOPT_DEBUGDATA, easy);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, easy);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, engine);
}

static struct cos__easy *easy_new(struct cos__engine *engine)
{
    struct cos__easy *easy = calloc(1, sizeof *easy);
    if (!easy)
        return NULL;
    easy->curl = curl_easy_init();
    easy->url = curl_url();
    if (!easy->curl || !easy->url) {
        cos__easy_free(easy);
        return NULL;
    }
    /* Not yet set is not the same as curl's default: no number below is -2. */
    for (int i = 0; i < N_COUNT; i++)
        easy->plan.number[i] = -2;
    set_fixed(engine, easy);
    engine->stats.handles++;
    return easy;
}

struct cos__easy *cos__easy_get(struct cos__engine *engine)
{
    struct cos__easy *easy = engine->pool;
    if (!easy)
        return easy_new(engine);
    engine->pool = easy->next;
    engine->npool--;
    return easy;
}

static void forget_lists(struct cos__easy *easy)
{
    if (easy->headers) {
        curl_easy_setopt(easy->curl, CURLOPT_HTTPHEADER, NULL);
        curl_slist_free_all(easy->headers);
        easy->headers = NULL;
    }
    if (easy->resolve) {
        curl_easy_setopt(easy->curl, CURLOPT_RESOLVE, NULL);
        curl_slist_free_all(easy->resolve);
        easy->resolve = NULL;
    }
    if (easy->posted) {
        curl_easy_setopt(easy->curl, CURLOPT_COPYPOSTFIELDS, NULL);
        curl_easy_setopt(easy->curl, CURLOPT_HTTPGET, 1L);
        easy->posted = 0;
        easy->plan.number[N_NO_BODY] = -2;
    }
}

void cos__easy_put(struct cos__engine *engine, struct cos__easy *easy)
{
    easy->fetch = NULL;
    easy->socket_errno = 0;
    easy->why[0] = 0;
    forget_lists(easy);
    if (engine->npool >= POOL_MAX) {
        cos__easy_free(easy);
        return;
    }
    easy->next = engine->pool;
    engine->pool = easy;
    engine->npool++;
}

void cos__easy_free(struct cos__easy *easy)
{
    curl_easy_cleanup(easy->curl);
    curl_url_cleanup(easy->url);
    curl_slist_free_all(easy->headers);
    curl_slist_free_all(easy->resolve);
    for (int i = 0; i < S_COUNT; i++)
        free((char *)easy->plan.string[i]);
    free(easy);
}
