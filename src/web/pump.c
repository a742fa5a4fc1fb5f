/* pump.c - one curl multi handle per thread, driven by the loop's descriptors
 * and timers. May call base and fetch.c's endings.
 *
 * curl's callbacks only record: which socket to watch and when to call again.
 * All work happens in curl_multi_socket_action, and after every call of it, the
 * timeout one too, the ended transfers are collected: a transfer may end inside
 * any of them, and one that is not collected would hang until the next event.
 *
 * A socket leaves the epoll set before it is closed, in curl's close callback:
 * the kernel may hand the same number out again at once. */
#include "web/fetch_int.h"

#include "base/err.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SWEEP_MS = 250, DEFAULT_CONNECTIONS = 256, DEFAULT_STREAMS = 100 };

static void collect(struct cos__engine *engine)
{
    CURLMsg *msg;
    int left;
    while ((msg = curl_multi_info_read(engine->multi, &left))) {
        struct cos__easy *easy = NULL;
        CURLcode code = msg->data.result;
        if (msg->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&easy);
        cos__fetch_ended(easy->fetch, (int)code);
    }
}

static void act(struct cos__engine *engine, curl_socket_t fd, int what)
{
    int running;
    curl_multi_socket_action(engine->multi, fd, what, &running);
    collect(engine);
}

static void sock_ready(struct cos__watch *watch, unsigned events)
{
    struct cos__sock *sock = (struct cos__sock *)watch;
    sock->active_at = cos__loop_now(sock->engine->loop);
    /* The server closed an idle connection: curl finds out when it wants it. */
    if (!sock->wanted) {
        cos__watch_set(sock->engine->loop, watch, 0);
        return;
    }
    act(sock->engine, watch->fd, (events & COS__IN ? CURL_CSELECT_IN : 0) |
                                     (events & COS__OUT ? CURL_CSELECT_OUT : 0));
}

static void timeout_task(struct cos__task *task)
{
    struct cos__engine *engine =
        (struct cos__engine *)((char *)task - offsetof(struct cos__engine, timeout));
    act(engine, CURL_SOCKET_TIMEOUT, 0);
}

static void timer_fired(struct cos__timer *timer)
{
    struct cos__engine *engine =
        (struct cos__engine *)((char *)timer - offsetof(struct cos__engine, timer));
    act(engine, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long ms, void *arg)
{
    struct cos__engine *engine = arg;
    (void)multi;
    if (ms == 0)
        cos__loop_defer(engine->loop, &engine->timeout);
    if (ms <= 0)
        cos__timer_unset(engine->loop, &engine->timer);
    else if (cos__timer_set(engine->loop, &engine->timer, cos__loop_now(engine->loop) + ms) < 0)
        return -1;
    return 0;
}

/* --- sockets -------------------------------------------------------------------- */

static struct cos__sock *sock_of(const struct cos__engine *engine, int fd)
{
    return fd >= 0 && (size_t)fd < engine->nsocks ? engine->socks[fd] : NULL;
}

static int sock_room(struct cos__engine *engine, int fd)
{
    struct cos__sock **more;
    size_t n = (size_t)fd + 64;
    if ((size_t)fd < engine->nsocks)
        return 0;
    more = realloc(engine->socks, n * sizeof(struct cos__sock *));
    if (!more)
        return -1;
    memset(more + engine->nsocks, 0, (n - engine->nsocks) * sizeof(struct cos__sock *));
    engine->socks = more;
    engine->nsocks = n;
    return 0;
}

static struct cos__sock *sock_new(struct cos__engine *engine, int fd)
{
    struct cos__sock *sock = sock_room(engine, fd) ? NULL : calloc(1, sizeof *sock);
    if (!sock)
        return NULL;
    sock->watch = (struct cos__watch){.fd = fd, .ready = sock_ready};
    sock->engine = engine;
    engine->socks[fd] = sock;
    return sock;
}

static void sock_drop(struct cos__engine *engine, int fd)
{
    struct cos__sock *sock = sock_of(engine, fd);
    if (!sock)
        return;
    cos__watch_set(engine->loop, &sock->watch, 0);
    engine->socks[fd] = NULL;
    free(sock);
}

int cos__engine_close(void *engine, int fd)
{
    sock_drop(engine, fd);
    return close(fd);
}

/* A socket that was never connected curl closes without a word: what is still
 * known under its number is not this one. */
void cos__engine_opened(struct cos__engine *engine, int fd)
{
    sock_drop(engine, fd);
    engine->stats.sockets++;
}

/* Always 0: anything else makes curl end every transfer there is. One that is
 * not watched for want of memory ends by its own time limits. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *unused)
{
    struct cos__engine *engine = arg;
    struct cos__sock *sock = sock_of(engine, fd);
    (void)unused;
    if (COS__HOOKS_ON() && what == CURL_POLL_IN)
        cos__fetch_phase_reads(easy);
    if (what == CURL_POLL_REMOVE) {
        if (!sock)
            return 0;
        sock->wanted = 0;
        /* An idle connection stays in the set, waiting for input: most are used
         * again at once, and two system calls a request are saved. */
        if (sock->watch.events != COS__IN)
            sock_drop(engine, fd);
        return 0;
    }
    if (!sock && !(sock = sock_new(engine, fd)))
        return 0;
    sock->wanted = (what & CURL_POLL_IN ? COS__IN : 0u) | (what & CURL_POLL_OUT ? COS__OUT : 0u);
    cos__watch_set(engine->loop, &sock->watch, sock->wanted);
    return 0;
}

static int64_t last_active(const struct cos__engine *engine, const struct cos__fetch *fetch)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    struct cos__sock *sock;
    curl_easy_getinfo(fetch->easy->curl, CURLINFO_ACTIVESOCKET, &fd);
    sock = sock_of(engine, fd);
    return sock && sock->active_at > fetch->active_at ? sock->active_at : fetch->active_at;
}

/* Twice in a row, with a poll in between: a process that was stopped or had no
 * processor finds its bytes waiting, and that is no stall. */
static int is_stalled(const struct cos__engine *engine, struct cos__fetch *fetch, int64_t now)
{
    int64_t active;
    if (fetch->idle_ms <= 0 || now - fetch->active_at < fetch->idle_ms)
        return 0;
    active = last_active(engine, fetch);
    if (now - active < fetch->idle_ms)
        return 0;
    if (fetch->suspect_at == active)
        return 1;
    fetch->suspect_at = active;
    return 0;
}

/* Looks for transfers in which nothing moves. One timer for all: a timer per
 * transfer would be moved at every packet. */
static void sweep(struct cos__timer *timer)
{
    struct cos__engine *engine =
        (struct cos__engine *)((char *)timer - offsetof(struct cos__engine, sweep));
    int64_t now = cos__loop_now(engine->loop);
    struct cos__fetch *next;
    for (struct cos__fetch *fetch = engine->flying; fetch; fetch = next) {
        next = fetch->next;
        if (is_stalled(engine, fetch, now))
            cos__fetch_stalled(fetch);
    }
    if (engine->flying)
        cos__timer_set(engine->loop, &engine->sweep, now + SWEEP_MS);
}

/* --- in and out --------------------------------------------------------------- */

int cos__engine_add(struct cos__engine *engine, struct cos__fetch *fetch)
{
    CURLMcode code = curl_multi_add_handle(engine->multi, fetch->easy->curl);
    if (code)
        return code == CURLM_OUT_OF_MEMORY ? COS_ENOMEM : COS_ESTATE;
    fetch->added = 1;
    fetch->active_at = cos__loop_now(engine->loop);
    fetch->prev = NULL;
    fetch->next = engine->flying;
    if (fetch->next)
        fetch->next->prev = fetch;
    engine->flying = fetch;
    engine->stats.started++;
    engine->stats.in_flight++;
    if (!engine->sweep.slot)
        cos__timer_set(engine->loop, &engine->sweep, cos__loop_now(engine->loop) + SWEEP_MS);
    return 0;
}

void cos__engine_remove(struct cos__engine *engine, struct cos__fetch *fetch)
{
    if (!fetch->added)
        return;
    fetch->added = 0;
    curl_multi_remove_handle(engine->multi, fetch->easy->curl);
    if (fetch->prev)
        fetch->prev->next = fetch->next;
    else
        engine->flying = fetch->next;
    if (fetch->next)
        fetch->next->prev = fetch->prev;
    engine->stats.in_flight--;
    /* An idle sweep would only keep the driver waking up. */
    if (!engine->flying)
        cos__timer_unset(engine->loop, &engine->sweep);
}

/* --- life ----------------------------------------------------------------------- */

static void release(void *data)
{
    struct cos__engine *engine = data;
    while (engine->pool) {
        struct cos__easy *easy = engine->pool;
        engine->pool = easy->next;
        cos__easy_free(easy);
    }
    if (engine->multi)
        curl_multi_cleanup(engine->multi);
    if (engine->share)
        curl_share_cleanup(engine->share);
    cos__timer_unset(engine->loop, &engine->timer);
    cos__timer_unset(engine->loop, &engine->sweep);
    cos__usual_release(&engine->usual);
    free(engine->given);
    for (size_t i = 0; i < engine->nsocks; i++)
        free(engine->socks[i]);
    free(engine->socks);
    free(engine);
}

static void limit(struct cos__engine *engine)
{
    const struct cos_fetch_setup *setup = &engine->setup;
    long total = setup->connections ? setup->connections : DEFAULT_CONNECTIONS;
    long host = setup->host_connections;
    total = total < 0 ? 0 : total;
    curl_multi_setopt(engine->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, total);
    curl_multi_setopt(engine->multi, CURLMOPT_MAXCONNECTS, total ? total : 1024L);
    curl_multi_setopt(engine->multi, CURLMOPT_MAX_HOST_CONNECTIONS, host < 0 ? 0L : host);
    curl_multi_setopt(engine->multi, CURLMOPT_MAX_CONCURRENT_STREAMS,
                      (long)(setup->streams ? setup->streams : DEFAULT_STREAMS));
}

static struct cos__engine *create(struct cos__loop *loop)
{
    struct cos__engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return NULL;
    engine->loop = loop;
    engine->timer.fire = timer_fired;
    engine->sweep.fire = sweep;
    engine->timeout.run = timeout_task;
    engine->multi = curl_multi_init();
    engine->share = curl_share_init();
    if (!engine->multi || !engine->share) {
        release(engine);
        return NULL;
    }
    /* Asked once: it formats a screen of text each time. */
    engine->ca_file = curl_version_info(CURLVERSION_NOW)->cainfo;
    engine->ca_path = curl_version_info(CURLVERSION_NOW)->capath;
    engine->env_proxy = getenv("http_proxy") || getenv("https_proxy") || getenv("HTTPS_PROXY") ||
                        getenv("all_proxy") || getenv("ALL_PROXY");
    curl_share_setopt(engine->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    curl_multi_setopt(engine->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(engine->multi, CURLMOPT_SOCKETDATA, engine);
    curl_multi_setopt(engine->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(engine->multi, CURLMOPT_TIMERDATA, engine);
    curl_multi_setopt(engine->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    limit(engine);
    return engine;
}

static void global_init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

struct cos__engine *cos__engine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct cos__loop *loop = cos__loop();
    struct cos__engine *engine = loop ? cos__loop_part(loop, COS__PART_FETCH) : NULL;
    if (engine || !loop)
        return engine;
    pthread_once(&once, global_init);
    engine = create(loop);
    if (engine)
        cos__loop_set_part(loop, COS__PART_FETCH, engine, release);
    return engine;
}

int cos_fetch_setup(const struct cos_fetch_setup *setup)
{
    struct cos__engine *engine = cos__engine();
    if (!engine)
        return COS_ENOMEM;
    engine->setup = *setup;
    limit(engine);
    return 0;
}

struct cos__fetch_stats cos__fetch_stats(void)
{
    struct cos__engine *engine = cos__engine();
    struct cos__fetch_stats stats = {0};
    if (engine) {
        stats = engine->stats;
        stats.idle_handles = engine->npool;
    }
    return stats;
}
