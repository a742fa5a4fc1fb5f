/* dill_fd.t.c - fdin, fdout, fdclean: readiness, errors, and descriptors that
 * are closed, reused or duplicated behind the runtime's back. */
#include <libdill.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dill_util.h"
#include "tap.h"

struct outcome {
    int rc, err;
};

static coroutine void wait_in(int fd, int64_t deadline, struct outcome *o)
{
    o->rc = fdin(fd, deadline);
    o->err = o->rc < 0 ? errno : 0;
}

static coroutine void wait_out(int fd, int64_t deadline, struct outcome *o)
{
    o->rc = fdout(fd, deadline);
    o->err = o->rc < 0 ? errno : 0;
}

static void pair(int s[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) != 0)
        BAIL_OUT("no socketpair");
}

static void close2(const int s[2])
{
    fdclean(s[0]);
    fdclean(s[1]);
    close(s[0]);
    close(s[1]);
}

static void fill(int fd)
{
    static const char junk[4096];
    while (write(fd, junk, sizeof junk) > 0)
        continue;
}

static void drain(int fd)
{
    char junk[4096];
    while (read(fd, junk, sizeof junk) > 0)
        continue;
}

static void test_ready(void)
{
    int s[2];
    struct outcome o = {9, 9};
    pair(s);
    ok(fdout(s[0], -1) == 0, "a fresh socket can be written");
    int64_t start = now();
    ok(fails(fdin(s[0], start + 20), ETIMEDOUT) && now() >= start + 20, "nothing to read: timeout");
    ok(fails(fdin(s[0], 0), ETIMEDOUT), "0 does not wait");
    ok(fails(fdin(s[0], 1), ETIMEDOUT), "nor does the past");
    ok(fdout(s[0], 0) == 0, "what is ready is ready with 0 too");
    int h = go(wait_in(s[0], -1, &o));
    ok(write(s[1], "abc", 3) == 3 && bundle_wait(h, now() + 5000) == 0 && o.rc == 0,
       "a write wakes the reader");
    hclose(h);
    ok(fdin(s[0], now() + 5000) == 0, "with bytes unread, the second wait is over at once");
    char c;
    ok(read(s[0], &c, 1) == 1 && fdin(s[0], now() + 5000) == 0, "also after reading a part");
    drain(s[0]);
    ok(fails(fdin(s[0], now() + 10), ETIMEDOUT), "and waits again when all is read");
    ok(write(s[1], "x", 1) == 1 && fdin(s[0], INT64_MAX) == 0,
       "the last moment of all is a deadline");
    close2(s);
}

static void test_both(void)
{
    int s[2];
    struct outcome in = {9, 9}, out = {9, 9}, third = {9, 9};
    pair(s);
    fill(s[0]);
    int a = go(wait_in(s[0], -1, &in)), b = go(wait_out(s[0], -1, &out));
    ok(in.rc == 9 && out.rc == 9, "in and out at once");
    int c = go(wait_in(s[0], -1, &third));
    ok(third.rc == -1 && third.err == EBUSY, "a second reader is EBUSY");
    hclose(c);
    c = go(wait_out(s[0], -1, &third));
    ok(third.rc == -1 && third.err == EBUSY, "a second writer too");
    hclose(c);
    ok(fails(fdin(s[0], 0), EBUSY), "even without waiting");
    ok(fails(fdclean(s[0]), EBUSY), "fdclean on it is EBUSY");
    ok(write(s[1], "x", 1) == 1 && bundle_wait(a, now() + 5000) == 0 && in.rc == 0,
       "the reader wakes");
    ok(out.rc == 9, "the writer does not");
    drain(s[1]);
    ok(bundle_wait(b, now() + 5000) == 0 && out.rc == 0, "until there is room");
    hclose(a);
    hclose(b);
    close2(s);
}

static void test_hangup(void)
{
    int s[2], p[2];
    struct outcome in = {9, 9}, out = {9, 9};
    pair(s);
    fill(s[0]);
    int a = go(wait_in(s[0], -1, &in)), b = go(wait_out(s[0], -1, &out));
    close(s[1]);
    ok(bundle_wait(a, now() + 5000) == 0 && bundle_wait(b, now() + 5000) == 0 && in.rc == 0 &&
           out.rc == 0,
       "a hang-up wakes both directions");
    hclose(a);
    hclose(b);
    fdclean(s[0]);
    close(s[0]);
    if (pipe(p) != 0)
        BAIL_OUT("no pipe");
    fcntl(p[1], F_SETFL, O_NONBLOCK);
    fill(p[1]);
    in.rc = 9;
    a = go(wait_out(p[1], -1, &in));
    close(p[0]);
    ok(bundle_wait(a, now() + 5000) == 0 && in.rc == 0, "so does an error");
    hclose(a);
    fdclean(p[1]);
    close(p[1]);
}

static void test_bad(void)
{
    int s[2];
    pair(s);
    ok(fails(fdin(-1, -1), EBADF) && fails(fdout(-1, 0), EBADF), "fd -1 is EBADF");
    ok(fails(fdin(50000000, -1), EBADF), "a huge one too");
    ok(fails(fdin(50000000, 0), EBADF), "also without waiting");
    int reg = open("/proc/self/exe", O_RDONLY);
    ok(fails(fdin(reg, -1), ENOTSUP) && fails(fdout(reg, -1), ENOTSUP), "a regular file: ENOTSUP");
    ok(fails(fdin(reg, 0), ENOTSUP), "also without waiting");
    close(reg);
    ok(fails(fdin(reg, -1), EBADF), "a closed one: EBADF");
    ok(fdclean(50000000) == 0, "fdclean of a huge number is 0");
    ok(fdclean(-1) == 0 && fdclean(s[0]) == 0, "of an unknown one too");
    ok(fdin(s[0], now() + 1) == -1 && fdclean(s[0]) == 0 && fdclean(s[0]) == 0, "of a known one");
    ok(fails(fdin(s[0], now() + 1), ETIMEDOUT), "after which it can be waited for again");
    close2(s);
}

static void test_nested_epoll(void)
{
    int s[2], ep = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN}, got;
    pair(s);
    epoll_ctl(ep, EPOLL_CTL_ADD, s[0], &ev);
    ok(fails(fdin(ep, now() + 10), ETIMEDOUT), "an epoll descriptor with nothing in it waits");
    struct outcome o = {9, 9};
    int h = go(wait_in(ep, -1, &o));
    ok(write(s[1], "x", 1) == 1 && bundle_wait(h, now() + 5000) == 0 && o.rc == 0,
       "a nested epoll descriptor works");
    ok(epoll_wait(ep, &got, 1, 0) == 1, "and has its event");
    ok(fdin(ep, now() + 5000) == 0, "and is still ready");
    hclose(h);
    fdclean(ep);
    close(ep);
    close2(s);
}

static void test_cancel(void)
{
    int s[2];
    struct outcome o = {9, 9};
    pair(s);
    int h = go(wait_in(s[0], -1, &o));
    hclose(h);
    ok(o.rc == -1 && o.err == ECANCELED, "a cancelled wait is ECANCELED");
    o.rc = 9;
    h = go(wait_in(s[0], -1, &o));
    ok(o.rc == 9, "and the descriptor is free for the next");
    ok(write(s[1], "x", 1) == 1 && bundle_wait(h, now() + 5000) == 0 && o.rc == 0, "which works");
    hclose(h);
    close2(s);
}

/* Close fd and make the same number name something else. */
static void replace_fd(int fd, int with)
{
    close(fd);
    if (fcntl(with, F_DUPFD, fd) != fd)
        BAIL_OUT("the number was not free");
}

static void test_reuse(void)
{
    int s[2], t[2];
    pair(s);
    pair(t);
    ok(fails(fdin(s[0], now() + 1), ETIMEDOUT), "the runtime knows a descriptor");
    replace_fd(s[0], t[0]);
    ok(write(t[1], "x", 1) == 1, "its number gets another file, without fdclean");
    ok(fdin(s[0], now() + 5000) == 0, "waiting works all the same");
    drain(s[0]);
    struct outcome o = {9, 9};
    int h = go(wait_in(s[0], -1, &o));
    ok(o.rc == 9 && write(t[1], "y", 1) == 1 && bundle_wait(h, now() + 5000) == 0 && o.rc == 0,
       "again and again");
    hclose(h);
    close2(s);
    close2(t);
}

static void test_closed_while_waited_on(void)
{
    int s[2], t[2];
    struct outcome o = {9, 9};
    pair(s);
    pair(t);
    int h = go(wait_in(s[0], now() + 30, &o));
    close(s[0]);
    ok(bundle_wait(h, now() + 5000) == 0 && o.rc == -1 && o.err == ETIMEDOUT,
       "a waited-on descriptor is closed: the deadline still ends the wait");
    hclose(h);
    close(s[1]);
    pair(s);
    o = (struct outcome){9, 9};
    h = go(wait_in(s[0], -1, &o));
    close(s[0]);
    ok(fails(fdin(s[0], now() + 1000), EBADF), "touching the number is EBADF");
    yield();
    ok(o.rc == -1 && o.err == EBADF, "and wakes the old waiter with EBADF");
    hclose(h);
    close(s[1]);
    pair(s);
    o = (struct outcome){9, 9};
    h = go(wait_in(s[0], -1, &o));
    replace_fd(s[0], t[0]);
    ok(fails(fdin(s[0], now() + 10), ETIMEDOUT), "the number is another file: wait for that one");
    ok(o.rc == -1 && o.err == EBADF, "the waiter of the old one gets EBADF");
    hclose(h);
    o = (struct outcome){9, 9};
    h = go(wait_in(s[0], -1, &o));
    close(s[0]);
    ok(fdclean(s[0]) == 0, "fdclean of a closed number is fine");
    yield();
    ok(o.rc == -1 && o.err == EBADF, "and tells its waiter");
    hclose(h);
    close(s[1]);
    close2(t);
}

static void test_duplicate(void)
{
    int s[2], t[2];
    struct outcome o = {9, 9};
    pair(s);
    pair(t);
    ok(fails(fdin(s[0], now() + 1), ETIMEDOUT), "wait once");
    int dup_of = dup(s[0]); /* the old file lives on under another number */
    replace_fd(s[0], t[0]);
    int h = go(wait_in(s[0], now() + 50, &o));
    ok(write(s[1], "x", 1) == 1, "the old file gets a byte");
    bundle_wait(h, -1);
    ok(o.rc == -1 && o.err == ETIMEDOUT, "which does not wake the waiter of the new one");
    hclose(h);
    close(dup_of);
    close2(s);
    close2(t);
}

static void test_own_epoll_closed(void)
{
    int s[2];
    struct outcome o = {9, 9};
    pair(s);
    int h = go(wait_in(s[0], -1, &o));
    for (int fd = 3; fd < 256; fd++)
        if (fd != s[0] && fd != s[1] && fcntl(fd, F_GETFD) >= 0)
            close(fd);
    ok(fails(bundle_wait(h, now() + 30), ETIMEDOUT), "somebody closes the poller's descriptor");
    ok(write(s[1], "x", 1) == 1 && bundle_wait(h, now() + 5000) == 0 && o.rc == 0,
       "it is renewed and the wait goes on");
    hclose(h);
    close2(s);
}

static void test_no_descriptors(void)
{
    struct rlimit was, few;
    struct outcome o = {9, 9};
    int s[2];
    pair(s);
    getrlimit(RLIMIT_NOFILE, &was);
    few = was;
    few.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &few);
    o.rc = fdin(s[0], now() + 2000);
    o.err = errno;
    setrlimit(RLIMIT_NOFILE, &was);
    close2(s);
    ok(o.rc == -1 && o.err == EMFILE, "no descriptor left for the poller: EMFILE, no crash");
}

static coroutine void echo(int fd, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t v;
        if (fdin(fd, -1) != 0 || read(fd, &v, sizeof v) != (ssize_t)sizeof v)
            return;
    }
}

static void test_many(void)
{
    enum { N = 200, ROUNDS = 20 };
    int fd[N], b = bundle();
    for (int i = 0; i < N; i++) {
        fd[i] = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
        bundle_go(b, echo(fd[i], ROUNDS));
    }
    uint64_t one = 1;
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < N; i++)
            if (write(fd[i], &one, sizeof one) != (ssize_t)sizeof one)
                BAIL_OUT("eventfd");
        msleep(now() + 1);
    }
    ok(bundle_wait(b, now() + 10000) == 0, "hundreds of descriptors, more than a batch of events");
    hclose(b);
    for (int i = 0; i < N; i++) {
        fdclean(fd[i]);
        close(fd[i]);
    }
}

int main(void)
{
    plan(NO_PLAN);
    test_no_descriptors(); /* first: the poller must not be there yet */
    test_ready();
    test_both();
    test_hangup();
    test_bad();
    test_nested_epoll();
    test_cancel();
    test_reuse();
    test_closed_while_waited_on();
    test_duplicate();
    test_many();
    test_own_epoll_closed(); /* last: it closes all there is */
    done_testing();
}
