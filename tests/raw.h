/* raw.h - a server that answers with bytes, not with HTTP: for tests of what is
 * no HTTP, or none that anybody should send. One thread; connections are served
 * one after the other. Static: include it and go. */
#ifndef COS_TESTS_RAW_H
#define COS_TESTS_RAW_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct raw_answer {
    const char *head;     /* sent before the bytes, once; NULL: none */
    const char *bytes;    /* to everything that comes; NULL: none */
    size_t len;           /* 0: strlen(bytes) */
    long times;           /* bytes are sent so often; 0: once */
    int at_once;          /* without waiting for a request */
    int reset;            /* instead of a proper end */
    const char *robots;   /* for /robots.txt instead of a 404, or "" for the answer above */
};

struct raw_server {
    int fd, port;
    volatile long connections;
    const struct raw_answer *answer;
    pthread_t thread;
};

static inline void raw__send(int fd, const char *bytes, size_t len, long times)
{
    for (long i = 0; i < times; i++)
        for (size_t sent = 0; sent < len;) {
            ssize_t n = send(fd, bytes + sent, len - sent, MSG_NOSIGNAL);
            if (n <= 0)
                return;
            sent += (size_t)n;
        }
}

static inline void raw__serve(struct raw_server *s, int fd)
{
    static const char none[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
                               "Connection: close\r\n\r\n";
    const struct raw_answer *a = s->answer;
    const char *robots = a->robots ? a->robots : none;
    char request[8192];
    ssize_t n = a->at_once ? 0 : recv(fd, request, sizeof request, 0);
    int is_robots = *robots && n > 16 && !memcmp(request, "GET /robots.txt ", 16);
    if (is_robots)
        raw__send(fd, robots, strlen(robots), 1);
    else if (a->head)
        raw__send(fd, a->head, strlen(a->head), 1);
    if (a->bytes && !is_robots)
        raw__send(fd, a->bytes, a->len ? a->len : strlen(a->bytes), a->times ? a->times : 1);
    if (a->reset) {
        struct linger hard = {.l_onoff = 1};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }
    close(fd);
}

static inline void *raw__loop(void *arg)
{
    struct raw_server *s = arg;
    int fd;
    while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
        s->connections++;
        raw__serve(s, fd);
    }
    return NULL;
}

/* 0, or -1. The answer may be changed between crawls. */
static inline int raw_start(struct raw_server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    memset(s, 0, sizeof *s);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&at, len) || listen(s->fd, 64) ||
        getsockname(s->fd, (struct sockaddr *)&at, &len))
        return -1;
    s->port = ntohs(at.sin_port);
    return pthread_create(&s->thread, NULL, raw__loop, s) ? -1 : 0;
}

static inline void raw_stop(struct raw_server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

#endif
