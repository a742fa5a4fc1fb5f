/* http.c - see http.h. A thread per connection: the number of connections is
 * what the tests ask for, and blocking code is the easiest to trust. */
#include "config.h"

#include "http.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct http_inner {
    pthread_mutex_t lock;
    int64_t start;
    int in_flight;
    _Atomic int generation; /* of the pages: an old connection ends */
};

struct connection {
    struct http_server *server;
    int fd;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void nap(int ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

/* One request head into buf, NUL-terminated; 0 at the end of the connection. */
static int read_head(int fd, char *buf, size_t max)
{
    size_t n = 0;
    while (n + 1 < max) {
        ssize_t got = recv(fd, buf + n, 1, 0);
        if (got <= 0)
            return 0;
        buf[++n] = 0;
        if (n >= 4 && !memcmp(buf + n - 4, "\r\n\r\n", 4))
            return 1;
    }
    return 0;
}

static void parse(struct http_hit *hit, const char *head)
{
    const char *path;
    memset(hit, 0, sizeof *hit);
    sscanf(head, "%15s %511s", hit->method, hit->target);
    path = !strncmp(hit->target, "http://", 7) ? strchr(hit->target + 7, '/') : hit->target;
    snprintf(hit->path, sizeof hit->path, "%.511s", path ? path : "/");
    path = strstr(head, "\r\n");
    snprintf(hit->head, sizeof hit->head, "%s", path ? path : "");
    http_header(hit, "Host", hit->host, sizeof hit->host);
}

static int count(struct http_server *s, const char *path)
{
    int n = 0;
    for (size_t i = 0; i < s->nhits; i++)
        n += !strcmp(s->hits[i].path, path);
    return n;
}

static const struct http_page *find_page(const struct http_page *pages, const char *path)
{
    for (; pages && pages->path; pages++)
        if (!strcmp(pages->path, path) || !strcmp(pages->path, "*"))
            return pages;
    return NULL;
}

static void send_all(int fd, const char *data, size_t len, int drip_ms)
{
    while (len) {
        size_t piece = drip_ms && len > 1000 ? 1000 : len;
        ssize_t sent = send(fd, data, piece, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        data += sent;
        len -= (size_t)sent;
        if (drip_ms)
            nap(drip_ms);
    }
}

static void answer(int fd, const struct http_page *page, int status, int head_only)
{
    char head[4096];
    const char *body = page && page->body && status == (page->status ? page->status : 200)
                           ? page->body : status == 404 ? "<p>not here</p>" : "";
    size_t len = page && page->len && body == page->body ? page->len : strlen(body);
    const char *more = page && page->head ? page->head : "";
    const char *type = strcasestr(more, "Content-Type:") ? "" : "Content-Type: text/html\r\n";
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s%s%s\r\n", status, len, type, more,
                     status == 401 ? "WWW-Authenticate: Basic realm=\"x\"\r\n" : "");
    send_all(fd, head, (size_t)n, 0);
    if (!head_only)
        send_all(fd, body, len, page ? page->drip_ms : 0);
}

/* Logs the request and picks the status. */
static int judge(struct http_server *s, struct http_hit *hit, const struct http_page **page)
{
    char given[256];
    int status, before;
    pthread_mutex_lock(&s->inner->lock);
    before = count(s, hit->path);
    hit->ms = now_ms() - s->inner->start;
    hit->in_flight = ++s->inner->in_flight;
    if (hit->in_flight > s->peak)
        s->peak = hit->in_flight;
    if (s->nhits < HTTP_HITS)
        s->hits[s->nhits++] = *hit;
    *page = find_page(s->pages, hit->path);
    pthread_mutex_unlock(&s->inner->lock);
    if (!*page)
        return 404;
    status = (*page)->status ? (*page)->status : 200;
    if (before < (*page)->fail_first)
        status = 503;
    http_header(hit, "Authorization", given, sizeof given);
    if ((*page)->auth && strcmp(given, (*page)->auth))
        status = 401;
    return status;
}

static void *serve(void *arg)
{
    struct connection c = *(struct connection *)arg;
    static _Thread_local char head[16384];
    int generation;
    free(arg);
    generation = c.server->inner->generation;
    while (generation == c.server->inner->generation && read_head(c.fd, head, sizeof head)) {
        struct http_hit hit;
        const struct http_page *page;
        int status;
        parse(&hit, head);
        status = judge(c.server, &hit, &page);
        if (page && page->delay_ms)
            nap(page->delay_ms);
        while (page && page->hang && generation == c.server->inner->generation)
            nap(10);
        answer(c.fd, page, status, !strcmp(hit.method, "HEAD"));
        pthread_mutex_lock(&c.server->inner->lock);
        c.server->inner->in_flight -= generation == c.server->inner->generation;
        pthread_mutex_unlock(&c.server->inner->lock);
    }
    close(c.fd);
    return NULL;
}

static void *accept_all(void *arg)
{
    struct http_server *s = arg;
    for (;;) {
        struct connection *c = malloc(sizeof *c);
        pthread_t thread;
        int one = 1;
        if (!c)
            return NULL;
        *c = (struct connection){s, accept(s->fd, NULL, NULL)};
        /* Head and body go in two pieces: the second must not wait for an ack. */
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (c->fd < 0 || pthread_create(&thread, NULL, serve, c)) {
            free(c);
            return NULL;
        }
        pthread_detach(thread);
    }
}

static int listen_on(int family, int *port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr *addr = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t len = family == AF_INET ? sizeof v4 : sizeof v6;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    v4.sin_port = v6.sin6_port = htons((uint16_t)*port);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, addr, len) || listen(fd, 512) || getsockname(fd, addr, &len))
        return -1;
    *port = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
    return fd;
}

int http_start(struct http_server *server, int family)
{
    pthread_t thread;
    int port = server->port;
    *server = (struct http_server){.port = port};
    server->hits = calloc(HTTP_HITS, sizeof *server->hits);
    server->inner = calloc(1, sizeof *server->inner);
    if (!server->hits || !server->inner)
        return -1;
    pthread_mutex_init(&server->inner->lock, NULL);
    server->inner->start = now_ms();
    server->fd = listen_on(family, &server->port);
    return server->fd < 0 ? -1 : pthread_create(&thread, NULL, accept_all, server);
}

void http_serve(struct http_server *s, const struct http_page *pages)
{
    pthread_mutex_lock(&s->inner->lock);
    s->pages = pages;
    s->nhits = 0;
    s->peak = 0;
    s->inner->in_flight = 0;
    s->inner->generation++;
    s->inner->start = now_ms();
    pthread_mutex_unlock(&s->inner->lock);
}

void http_settle(struct http_server *s)
{
    pthread_mutex_lock(&s->inner->lock);
    pthread_mutex_unlock(&s->inner->lock);
}

int http_count(struct http_server *s, const char *path)
{
    int n;
    pthread_mutex_lock(&s->inner->lock);
    n = count(s, path);
    pthread_mutex_unlock(&s->inner->lock);
    return n;
}

int http_requests(struct http_server *s)
{
    int n;
    pthread_mutex_lock(&s->inner->lock);
    n = (int)s->nhits - count(s, "/robots.txt");
    pthread_mutex_unlock(&s->inner->lock);
    return n;
}

const struct http_hit *http_find(struct http_server *s, const char *path)
{
    for (size_t i = 0; i < s->nhits; i++)
        if (!strcmp(s->hits[i].path, path))
            return &s->hits[i];
    return NULL;
}

const char *http_header(const struct http_hit *hit, const char *name, char *out, size_t len)
{
    char want[64];
    const char *at = hit ? hit->head : "";
    out[0] = 0;
    snprintf(want, sizeof want, "\r\n%s:", name);
    at = strcasestr(at, want);
    if (at) {
        at += strlen(want);
        at += strspn(at, " ");
        snprintf(out, len, "%.*s", (int)strcspn(at, "\r"), at);
    }
    return out;
}
