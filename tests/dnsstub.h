/* dnsstub.h - a name server for tests: a thread on a private UDP port of the
 * loopback. What it answers depends on the first label of the name:
 *   a…       A 10.0.0.1 and AAAA 2001:db8::1, TTL 300
 *   four…    A only, the other empty     six…     AAAA only
 *   nx…      no such name, SOA says 7 s  empty…   neither A nor AAAA
 *   fail…    SERVFAIL                    refuse…  REFUSED
 *   slow…    as a…, after stub.slow_ms   mute…    no answer at all
 *   half…    A at once, AAAA never       alias…   CNAME to a.test, TTL 5
 *   many…    20 A, 1 AAAA                short…   as a…, TTL 0
 *   lo…      A 127.0.0.1 only            slow-lo… the same, slowly
 * stub_count(NAME) says how many questions came for it. */
#ifndef COS_TESTS_DNSSTUB_H
#define COS_TESTS_DNSSTUB_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STUB_LOG = 4096, STUB_LATE = 1024 };

struct stub_late {
    long at;
    struct sockaddr_in to;
    int len;
    unsigned char msg[512];
};

static struct {
    int fd, slow_ms;
    _Atomic int nothing; /* no name exists */
    char address[32]; /* "127.0.0.1:PORT" for dns_server */
    pthread_t thread;
    pthread_mutex_t lock;
    int stop, nlog, nlate;
    char log[STUB_LOG][64];
    struct stub_late late[STUB_LATE];
} stub = {.lock = PTHREAD_MUTEX_INITIALIZER, .slow_ms = 300};

static long stub_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static unsigned char *stub_16(unsigned char *p, unsigned v)
{
    *p++ = (unsigned char)(v >> 8);
    *p++ = (unsigned char)v;
    return p;
}

/* A record for the name at offset 12, or at a given one. */
static unsigned char *stub_rr(unsigned char *p, unsigned name, unsigned type, unsigned ttl,
                              const void *data, unsigned len)
{
    p = stub_16(p, 0xc000 | name);
    p = stub_16(p, type);
    p = stub_16(p, 1);
    p = stub_16(p, ttl >> 16);
    p = stub_16(p, ttl & 0xffff);
    p = stub_16(p, len);
    memcpy(p, data, len);
    return p + len;
}

static int stub_is(const char *name, const char *label)
{
    return !strncmp(name, label, strlen(label));
}

/* The answer to msg in place; -1 for none. */
static int stub_answer(unsigned char *msg, int len, const char *name, unsigned type)
{
    static const unsigned char soa[] = "\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\7";
    static const unsigned char target[] = "\1a\4test";
    unsigned char four[4] = {10, 0, 0, 1}, six[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};
    unsigned char *p = msg + len;
    unsigned rcode = 0, answers = 0, authority = 0, ttl = stub_is(name, "short") ? 0 : 300;
    unsigned owner = 12;
    int want4 = type == 1 && !stub_is(name, "six"), want6 = type == 28 && !stub_is(name, "four");
    if (stub_is(name, "mute") || (stub_is(name, "half") && type == 28))
        return -1;
    if ((stub_is(name, "lo") || stub_is(name, "slow-lo"))) {
        memcpy(four, "\177\0\0\1", 4);
        want6 = 0;
    }
    if (stub_is(name, "nx") || stub.nothing)
        rcode = 3;
    else if (stub_is(name, "fail"))
        rcode = 2;
    else if (stub_is(name, "refuse"))
        rcode = 5;
    if (rcode || stub_is(name, "empty"))
        want4 = want6 = 0;
    if (stub_is(name, "alias")) {
        owner = (unsigned)(p - msg) + 12;
        p = stub_rr(p, 12, 5, 5, target, sizeof target);
        answers++;
    }
    for (int i = 0; want4 && i < (stub_is(name, "many") ? 20 : 1); i++, answers++) {
        p = stub_rr(p, owner, 1, ttl, four, 4);
        four[3]++;
    }
    if (want6) {
        p = stub_rr(p, owner, 28, ttl, six, 16);
        answers++;
    }
    if (!answers && (!rcode || rcode == 3)) {
        p = stub_rr(p, 12, 6, 3600, soa, 22);
        authority++;
    }
    stub_16(msg + 2, 0x8180 | rcode);
    stub_16(msg + 6, answers);
    stub_16(msg + 8, authority);
    stub_16(msg + 10, 0);
    return (int)(p - msg);
}

static void stub_send_late(void)
{
    for (int i = 0; i < stub.nlate; i++)
        if (stub.late[i].at <= stub_now()) {
            struct stub_late *l = &stub.late[i];
            sendto(stub.fd, l->msg, (size_t)l->len, 0, (void *)&l->to, sizeof l->to);
            stub.late[i--] = stub.late[--stub.nlate];
        }
}

static void stub_one(unsigned char *msg, int len, struct sockaddr_in *from)
{
    char name[64] = "";
    unsigned type;
    int at = 12, n = 0;
    while (at < len && msg[at] && n + msg[at] + 1 < (int)sizeof name) {
        memcpy(name + n, msg + at + 1, msg[at]);
        n += msg[at];
        name[n++] = '.';
        at += msg[at] + 1;
    }
    name[n ? n - 1 : 0] = 0;
    if (at + 5 > len)
        return;
    type = (unsigned)(msg[at + 1] << 8 | msg[at + 2]);
    pthread_mutex_lock(&stub.lock);
    memcpy(stub.log[stub.nlog++ % STUB_LOG], name, sizeof name);
    pthread_mutex_unlock(&stub.lock);
    n = stub_answer(msg, at + 5, name, type);
    if (n < 0)
        return;
    if (stub_is(name, "slow") && stub.nlate < STUB_LATE) {
        struct stub_late *l = &stub.late[stub.nlate++];
        *l = (struct stub_late){.at = stub_now() + stub.slow_ms, .to = *from, .len = n};
        memcpy(l->msg, msg, (size_t)n);
        return;
    }
    sendto(stub.fd, msg, (size_t)n, 0, (void *)from, sizeof *from);
}

static void *stub_main(void *arg)
{
    (void)arg;
    for (;;) {
        unsigned char msg[2048];
        struct sockaddr_in from;
        socklen_t fromlen = sizeof from;
        ssize_t n = recvfrom(stub.fd, msg, 512, 0, (void *)&from, &fromlen);
        int stop;
        if (n > 12)
            stub_one(msg, (int)n, &from);
        stub_send_late();
        pthread_mutex_lock(&stub.lock);
        stop = stub.stop;
        pthread_mutex_unlock(&stub.lock);
        if (stop)
            return NULL;
    }
}

static inline void stub_start(void)
{
    struct sockaddr_in sin = {.sin_family = AF_INET};
    socklen_t len = sizeof sin;
    struct timeval tick = {0, 10000};
    int room = 1 << 20;
    sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    stub.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    setsockopt(stub.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(stub.fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof tick);
    if (bind(stub.fd, (void *)&sin, len) || getsockname(stub.fd, (void *)&sin, &len) ||
        pthread_create(&stub.thread, NULL, stub_main, NULL)) {
        perror("dnsstub");
        exit(99);
    }
    snprintf(stub.address, sizeof stub.address, "127.0.0.1:%d", ntohs(sin.sin_port));
}

static inline void stub_stop(void)
{
    pthread_mutex_lock(&stub.lock);
    stub.stop = 1;
    pthread_mutex_unlock(&stub.lock);
    pthread_join(stub.thread, NULL);
    close(stub.fd);
}

static inline int stub_count(const char *name)
{
    int n = 0;
    pthread_mutex_lock(&stub.lock);
    for (int i = 0; i < stub.nlog && i < STUB_LOG; i++)
        n += !strcmp(stub.log[i], name);
    pthread_mutex_unlock(&stub.lock);
    return n;
}

#endif
