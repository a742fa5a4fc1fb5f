/* bench_fetch_bare.c - the yardstick: a callback loop on curl_multi_socket_action
 * and epoll as one writes it by hand, handles pooled, head and body kept in
 * memory. */
#include "bench/bench_fetch.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

struct bare {
    CURLM *multi;
    int epfd, left, running;
    long timeout_ms;
    const char *url;
    uint64_t bytes;
};

struct part {
    char *data;
    size_t len, cap;
};

struct body {
    CURL *easy;
    struct part head, body;
    char *type;
};

static size_t keep(char *data, size_t size, size_t n, void *arg)
{
    struct part *part = arg;
    size_t len = size * n;
    if (part->len + len > part->cap) {
        size_t cap = part->cap ? part->cap * 2 : 1024;
        while (cap < part->len + len)
            cap *= 2;
        part->data = realloc(part->data, cap);
        part->cap = cap;
    }
    memcpy(part->data + part->len, data, len);
    part->len += len;
    return len;
}

static void empty(struct part *part)
{
    free(part->data);
    *part = (struct part){NULL, 0, 0};
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct bare *bare = arg;
    struct epoll_event ev = {.data.fd = fd};
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(bare->epfd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    ev.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    epoll_ctl(bare->epfd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &ev);
    if (!known)
        curl_multi_assign(bare->multi, fd, bare);
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *arg)
{
    (void)multi;
    ((struct bare *)arg)->timeout_ms = ms;
    return 0;
}

static void begin(struct bare *bare, struct body *body)
{
    if (bare->left-- <= 0)
        return;
    empty(&body->head);
    empty(&body->body);
    curl_easy_setopt(body->easy, CURLOPT_URL, bare->url);
    curl_multi_add_handle(bare->multi, body->easy);
    bare->running++;
}

static void ended(struct bare *bare, CURL *easy, CURLcode code)
{
    struct body *body = NULL;
    long status = 0;
    char *type = NULL;
    if (code)
        bench_die("bare", curl_easy_strerror(code));
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&body);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    free(body->type);
    body->type = type ? strdup(type) : NULL;
    bare->bytes += body->body.len;
    bare->running--;
    curl_multi_remove_handle(bare->multi, easy);
    begin(bare, body);
}

static void act(struct bare *bare, curl_socket_t fd, int what)
{
    CURLMsg *msg;
    int running, left;
    curl_multi_socket_action(bare->multi, fd, what, &running);
    while ((msg = curl_multi_info_read(bare->multi, &left)))
        if (msg->msg == CURLMSG_DONE)
            ended(bare, msg->easy_handle, msg->data.result);
}

static void loop(struct bare *bare)
{
    struct epoll_event ev[128];
    while (bare->running) {
        int n;
        while (bare->timeout_ms == 0) {
            bare->timeout_ms = -1;
            act(bare, CURL_SOCKET_TIMEOUT, 0);
        }
        if (!bare->running)
            break;
        n = epoll_wait(bare->epfd, ev, 128, (int)bare->timeout_ms);
        if (n == 0)
            act(bare, CURL_SOCKET_TIMEOUT, 0);
        for (int i = 0; i < n; i++)
            act(bare, ev[i].data.fd,
                (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0) |
                    (ev[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0));
    }
}

static CURL *handle(void)
{
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, keep);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "coscrawl-bench");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
    return easy;
}

/* Lives on between runs, as the engine does: connections stay warm. */
static struct bare bare;
static struct body *bodies;
static int nbodies;

static void set_up(int width)
{
    if (!bare.multi) {
        bare.epfd = epoll_create1(EPOLL_CLOEXEC);
        bare.multi = curl_multi_init();
        curl_multi_setopt(bare.multi, CURLMOPT_SOCKETFUNCTION, on_socket);
        curl_multi_setopt(bare.multi, CURLMOPT_SOCKETDATA, &bare);
        curl_multi_setopt(bare.multi, CURLMOPT_TIMERFUNCTION, on_timer);
        curl_multi_setopt(bare.multi, CURLMOPT_TIMERDATA, &bare);
        curl_multi_setopt(bare.multi, CURLMOPT_MAXCONNECTS, 256L);
    }
    if (width > nbodies) {
        struct body *old = bodies;
        bodies = calloc((size_t)width, sizeof *bodies);
        for (int i = 0; i < width; i++) {
            bodies[i].easy = i < nbodies ? old[i].easy : handle();
            curl_easy_setopt(bodies[i].easy, CURLOPT_PRIVATE, &bodies[i]);
            curl_easy_setopt(bodies[i].easy, CURLOPT_WRITEDATA, &bodies[i].body);
            curl_easy_setopt(bodies[i].easy, CURLOPT_HEADERDATA, &bodies[i].head);
        }
        nbodies = width;
    }
}

uint64_t bench_fetch_bare(const char *url, int n, int width)
{
    set_up(width);
    bare.url = url;
    bare.left = n;
    bare.bytes = 0;
    for (int i = 0; i < width; i++)
        begin(&bare, &bodies[i]);
    loop(&bare);
    return bare.bytes;
}
