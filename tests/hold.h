/* hold.h - a proxy of the wire, in a thread: what the client says first on each
 * connection is held back for a while, so that a TLS handshake takes longer and
 * nothing else does. All functions are static. */
#ifndef COS_TESTS_HOLD_H
#define COS_TESTS_HOLD_H

#include "tap.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    int fd, port, to, ms;
} hold;

static void hold_carry(int from, int to)
{
    char buf[16384];
    ssize_t n = read(from, buf, sizeof buf);
    if (n <= 0) {
        shutdown(to, SHUT_WR);
        return;
    }
    for (ssize_t at = 0, k; at < n && (k = write(to, buf + at, (size_t)(n - at))) > 0; at += k)
        ;
}

static void *hold_back(void *arg)
{
    int a = (int)(intptr_t)arg, held = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)hold.to),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int b = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct pollfd p[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
    if (!connect(b, (struct sockaddr *)&at, sizeof at))
        while (poll(p, 2, 5000) > 0 && !((p[0].revents | p[1].revents) & POLLERR)) {
            if (p[0].revents && !held++)
                usleep((useconds_t)hold.ms * 1000);
            if (p[0].revents)
                hold_carry(a, b);
            if (p[1].revents)
                hold_carry(b, a);
            if (p[0].revents & POLLHUP || p[1].revents & POLLHUP)
                break;
        }
    close(a);
    close(b);
    return NULL;
}

static void *hold_main(void *arg)
{
    int fd;
    pthread_t t;
    (void)arg;
    while ((fd = accept(hold.fd, NULL, NULL)) >= 0)
        if (!pthread_create(&t, NULL, hold_back, (void *)(intptr_t)fd))
            pthread_detach(t);
    return NULL;
}

static int hold_listening(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 16) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        BAIL_OUT("no port");
    *port = ntohs(at.sin_port);
    return fd;
}

/* hold.port stands for port to, and holds back for ms. Until the test ends. */
static void hold_start(int to, int ms)
{
    pthread_t t;
    hold.fd = hold_listening(&hold.port);
    hold.to = to;
    hold.ms = ms;
    if (pthread_create(&t, NULL, hold_main, NULL))
        BAIL_OUT("no thread");
    pthread_detach(t);
}

#endif
