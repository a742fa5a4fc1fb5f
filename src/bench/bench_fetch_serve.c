/* bench_fetch_serve.c - the server of bench_fetch: one page, keep-alive, epoll,
 * as little work as possible, so that the clients are what is measured. A path
 * "/N/…" is answered N milliseconds later: under callgrind a client is so slow
 * that answers would else be there before it looks, sometimes, and the counts
 * would depend on how often. */
#include "config.h"

#include "bench/bench_fetch.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BODY = 4096, FDS = 4096, WAITING = 8192 };

static char answer[BODY + 512];
static size_t answer_len;
static unsigned char matched[FDS]; /* how much of the blank line was seen */

_Noreturn void bench_die(const char *who, const char *why)
{
    fprintf(stderr, "bench_fetch: %s: %s\n", who, why ? why : "failed");
    exit(1);
}

double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fill_answer(void)
{
    int n = snprintf(answer, 512,
                     "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
                     "Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n"
                     "Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT\r\nETag: \"b\"\r\n"
                     "Cache-Control: max-age=60\r\nVary: Accept-Encoding\r\n\r\n", BODY);
    memset(answer + n, 'x', BODY);
    answer_len = (size_t)n + BODY;
}

static int listen_here(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 1024) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        bench_die("serve", "cannot listen");
    *port = ntohs(at.sin_port);
    return fd;
}

/* Answers to come, in the order of their times: all have the same delay. */
static struct {
    int fd;
    double due;
} waiting[WAITING];
static unsigned first, last;

static void answer_now(int fd)
{
    if (send(fd, answer, answer_len, MSG_NOSIGNAL) < 0)
        return;
}

static void answer_due(void)
{
    double at = first == last ? 0 : bench_seconds();
    while (first != last && waiting[first % WAITING].due <= at)
        answer_now(waiting[first++ % WAITING].fd);
}

static int until_due(void)
{
    if (first == last)
        return -1;
    double left = (waiting[first % WAITING].due - bench_seconds()) * 1000;
    return left <= 0 ? 0 : (int)left + 1;
}

static void answer_all(int fd, const char *data, ssize_t n)
{
    static const char blank[] = "\r\n\r\n";
    int delay = n > 5 ? atoi(data + 5) : 0; /* "GET /N/" */
    for (ssize_t i = 0; i < n; i++) {
        matched[fd] = data[i] == blank[matched[fd]] ? (unsigned char)(matched[fd] + 1)
                                                    : data[i] == '\r';
        if (matched[fd] != 4)
            continue;
        matched[fd] = 0;
        if (!delay || last - first >= WAITING)
            answer_now(fd);
        else {
            waiting[last % WAITING].fd = fd;
            waiting[last++ % WAITING].due = bench_seconds() + delay / 1000.0;
        }
    }
}

static void serve_one(int epfd, int fd)
{
    char data[16384];
    ssize_t n = read(fd, data, sizeof data - 1);
    if (n > 0)
        data[n] = 0;
    if (n <= 0) {
        epoll_ctl(epfd, EPOLL_CTL_DEL, fd, NULL);
        close(fd);
        return;
    }
    answer_all(fd, data, n);
}

static void take_in(int epfd, int listener)
{
    struct epoll_event ev = {.events = EPOLLIN};
    int one = 1;
    while ((ev.data.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (ev.data.fd >= FDS) {
            close(ev.data.fd);
            continue;
        }
        matched[ev.data.fd] = 0;
        setsockopt(ev.data.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        epoll_ctl(epfd, EPOLL_CTL_ADD, ev.data.fd, &ev);
    }
}

int bench_fetch_serve(void)
{
    int port, listener = listen_here(&port), epfd = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = listener}, got[256];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    fill_answer();
    epoll_ctl(epfd, EPOLL_CTL_ADD, listener, &ev);
    printf("http://127.0.0.1:%d/\n", port);
    fflush(stdout);
    for (;;) {
        int n = epoll_wait(epfd, got, 256, until_due());
        answer_due();
        for (int i = 0; i < n; i++)
            if (got[i].data.fd == listener)
                take_in(epfd, listener);
            else
                serve_one(epfd, got[i].data.fd);
    }
}

void bench_fetch_spawn(const char *self, char *url, size_t size)
{
    int out[2];
    FILE *in;
    if (pipe(out))
        bench_die("serve", "no pipe");
    if (fork() == 0) {
        dup2(out[1], 1);
        close(out[0]);
        execl(self, "bench_fetch", "--serve", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    in = fdopen(out[0], "r");
    if (!in || !fgets(url, (int)size, in))
        bench_die("serve", "did not start");
    url[strcspn(url, "\n")] = 0;
    fclose(in);
}
