/* site.h - a synthetic site for a test: `coscrawl site` as a child process on a
 * port of its own. All functions are static: include it and go.
 *     struct site site;
 *     site_start(&site, "--shape=cross", "--pages=50", NULL);   bails out on failure
 *     … site.url is "http://127.0.0.1:PORT/" …
 *     cmp_ok(site_number(&site, "peak"), "<=", 4, …);
 *     cmp_ok(site_requests(&site, "/p1.html"), "==", 1, …);
 *     site_stop(&site);
 * The child ends with the test, however the test ends. */
#ifndef COS_TESTS_SITE_H
#define COS_TESTS_SITE_H

#include "tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct site {
    pid_t pid;
    int port;
    char url[64];
};

#define site__unused __attribute__((unused))
enum { SITE_ARGS = 32, SITE_START_MS = 20000 };

static site__unused const char *site_program(void)
{
    const char *program = getenv("COSCRAWL");
    return program && *program ? program : "./coscrawl";
}

static site__unused int64_t site_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static site__unused void site_read_url(struct site *site, int fd)
{
    int64_t end = site_now_ms() + SITE_START_MS;
    size_t len = 0;
    while (len < sizeof site->url - 1) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int left = (int)(end - site_now_ms());
        if (left <= 0 || poll(&p, 1, left) <= 0)
            break;
        if (read(fd, site->url + len, 1) != 1 || site->url[len] == '\n')
            break;
        len++;
    }
    site->url[len] = 0;
    if (sscanf(site->url, "http://127.0.0.1:%d/", &site->port) != 1)
        BAIL_OUT("%s site did not start: '%s'", site_program(), site->url);
}

/* Options as strings, then NULL. */
static site__unused void site_start(struct site *site, ...)
{
    const char *args[SITE_ARGS + 4] = {site_program(), "site", "--die-with-parent"};
    int n = 3, out[2];
    va_list ap;
    va_start(ap, site);
    while (n < SITE_ARGS && (args[n] = va_arg(ap, const char *)) != NULL)
        n++;
    va_end(ap);
    args[n] = NULL;
    *site = (struct site){0};
    fflush(NULL);
    if (pipe(out) || (site->pid = fork()) < 0)
        BAIL_OUT("cannot start a site: %s", strerror(errno));
    if (site->pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execv(args[0], (char **)(uintptr_t)args);
        _exit(127);
    }
    close(out[1]);
    site_read_url(site, out[0]);
    close(out[0]);
}

static site__unused int site_connect(const struct site *site)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons((uint16_t)site->port)};
    struct timeval limit = {.tv_sec = 10};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&addr, sizeof addr)) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/* Sends bytes and reads until the server closes, errs or 10 s are over: what
 * came, NUL-terminated (free), at most 64 MB; NULL without a connection. errno
 * is 0 after an orderly end, else that of the read. */
static site__unused char *site_talk(const struct site *site, const char *bytes, size_t *len)
{
    size_t room = 65536, have = 0;
    char *text = malloc(room);
    int fd = site_connect(site), failed = 0;
    ssize_t n;
    *len = 0;
    if (fd < 0 || !text) {
        free(text);
        return NULL;
    }
    if (send(fd, bytes, strlen(bytes), MSG_NOSIGNAL) < 0)
        failed = errno;
    while ((n = recv(fd, text + have, room - have - 1, 0)) > 0) {
        have += (size_t)n;
        if (room - have < 65536 && room < (64 << 20)) {
            char *more = realloc(text, room *= 2);
            if (!more)
                BAIL_OUT("out of memory");
            text = more;
        }
    }
    if (n < 0)
        failed = errno;
    close(fd);
    text[have] = 0;
    *len = have;
    errno = failed;
    return text;
}

/* The whole answer, head and body, of one request on its own connection. */
static site__unused char *site_ask(const struct site *site, const char *method, const char *path,
                                   const char *headers, size_t *len)
{
    static char request[8192];
    size_t ignored;
    snprintf(request, sizeof request,
             "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%sConnection: close\r\n\r\n", method, path,
             site->port, headers ? headers : "");
    return site_talk(site, request, len ? len : &ignored);
}

/* The answer to /.stats (free). */
static site__unused char *site_stats(const struct site *site)
{
    char *answer = site_ask(site, "GET", "/.stats", NULL, NULL);
    char *body = answer ? strstr(answer, "\r\n\r\n") : NULL;
    if (!body)
        BAIL_OUT("the site does not answer");
    memmove(answer, body + 4, strlen(body + 4) + 1);
    return answer;
}

/* A number of /.stats: "requests", "in_flight", "peak", "connections" … */
static site__unused long site_number(const struct site *site, const char *key)
{
    char *stats = site_stats(site), name[64], *at;
    long n = -1;
    snprintf(name, sizeof name, "\"%s\":", key);
    at = strstr(stats, name);
    if (at)
        n = strtol(at + strlen(name), NULL, 10);
    free(stats);
    return n;
}

/* How often this URL (path and query) was asked for. */
static site__unused long site_requests(const struct site *site, const char *path)
{
    char *stats = site_stats(site), name[1024], *at;
    long n = 0;
    snprintf(name, sizeof name, "\"%s\":{\"requests\":", path);
    at = strstr(stats, name);
    if (at)
        n = strtol(at + strlen(name), NULL, 10);
    free(stats);
    return n;
}

/* Different URLs asked for. */
static site__unused long site_urls(const struct site *site)
{
    char *stats = site_stats(site);
    long n = 0;
    for (char *at = stats; (at = strstr(at, "\":{\"requests\":")) != NULL; at++)
        n++;
    free(stats);
    return n;
}

static site__unused void site_reset(const struct site *site)
{
    free(site_ask(site, "POST", "/.stats/reset", "Content-Length: 0\r\n", NULL));
}

/* Ends it; 1 when it ended well. */
static site__unused int site_stop(struct site *site)
{
    int status = -1;
    if (site->pid <= 0)
        return 0;
    kill(site->pid, SIGTERM);
    waitpid(site->pid, &status, 0);
    site->pid = 0;
    return status == 0;
}

#endif
