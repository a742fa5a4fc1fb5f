/* pollset.c - waiting for descriptors, with epoll.
 *
 * A registration is one-shot: it fires once and is then silent until the next
 * wait arms it again, one epoll_ctl a wait. Level-triggered registrations that
 * stay would save that call, but nothing tells us that a descriptor was closed
 * and its number reused, and the wait would never end; the call that arms does
 * (ENOENT). Edge-triggered ones would miss bytes that are still unread.
 *
 * Each event carries the generation of its registration: a file that lives on
 * in a duplicate goes on reporting under the old number, for another file. */
#include "hot.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_FDS = 64 };

static const uint32_t wanted[2] = {EPOLLIN, EPOLLOUT};

static uint32_t mask_of(const struct dill_fd *f)
{
    return (f->waiter[0] ? wanted[0] : 0) | (f->waiter[1] ? wanted[1] : 0);
}

static int control(struct dill_poller *p, int op, int fd, uint32_t mask)
{
    struct epoll_event ev = {.events = mask | EPOLLONESHOT};
    ev.data.u64 = (uint64_t)p->fds[fd].gen << 32 | (uint32_t)fd;
    return epoll_ctl(p->epfd_plus1 - 1, op, fd, &ev) < 0 ? errno : 0;
}

static int add(struct dill_poller *p, int fd, uint32_t mask)
{
    struct dill_fd *f = &p->fds[fd];
    f->gen++;
    int err = control(p, EPOLL_CTL_ADD, fd, mask);
    if (err == EEXIST)
        err = control(p, EPOLL_CTL_MOD, fd, mask);
    f->added = !err;
    return err == EPERM ? ENOTSUP : err;
}

/* The descriptor these two waited for is no more. */
static void expel(struct dill_ctx *c, int fd, int err)
{
    for (int out = 0; out < 2; out++)
        if (c->poller.fds[fd].waiter[out])
            dill__wake(c, c->poller.fds[fd].waiter[out], err);
}

static int open_epoll(struct dill_poller *p)
{
    if (!p->events)
        p->events = malloc(DILL_EVENTS * sizeof *p->events);
    if (!p->events)
        return ENOMEM;
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return errno;
    p->epfd_plus1 = fd + 1;
    return 0;
}

/* A new epoll after a fork, or after somebody closed ours: register all that
 * is waited for once more. */
static int renew(struct dill_ctx *c)
{
    struct dill_poller *p = &c->poller;
    int err = open_epoll(p);
    if (err)
        return err;
    p->lost = false;
    for (int fd = 0; fd < p->nfds; fd++) {
        uint32_t mask = mask_of(&p->fds[fd]);
        p->fds[fd].added = false;
        if (mask && (err = add(p, fd, mask)) != 0)
            expel(c, fd, err);
    }
    return 0;
}

static int grow(struct dill_poller *p, int fd)
{
    if (fcntl(fd, F_GETFD) < 0)
        return errno;
    int n = p->nfds ? p->nfds : FIRST_FDS;
    while (n <= fd)
        n = n > INT_MAX / 2 ? INT_MAX : n * 2;
    struct dill_fd *t = realloc(p->fds, (size_t)n * sizeof *t);
    if (!t)
        return ENOMEM;
    memset(t + p->nfds, 0, (size_t)(n - p->nfds) * sizeof *t);
    p->fds = t;
    p->nfds = n;
    return 0;
}

/* Arm for those who wait and for "more". When the kernel no longer knows the
 * registration the old waiters wait for a file that was closed. */
static int arm(struct dill_ctx *c, int fd, uint32_t more)
{
    struct dill_poller *p = &c->poller;
    struct dill_fd *f = &p->fds[fd];
    if (f->added) {
        int err = control(p, EPOLL_CTL_MOD, fd, mask_of(f) | more);
        if (err != ENOENT && err != EBADF)
            return err;
        f->added = false;
        expel(c, fd, EBADF);
    }
    return more ? add(p, fd, more) : ENOENT;
}

/* Does anyone wait for one of these directions (1 in, 2 out), for a file that is
 * still there? Who waits for one that is not is told so. */
static bool busy(struct dill_ctx *c, int fd, unsigned dirs)
{
    struct dill_fd *f = fd < c->poller.nfds ? &c->poller.fds[fd] : NULL;
    if (!f || !((f->waiter[0] && dirs & 1) || (f->waiter[1] && dirs & 2)))
        return false;
    arm(c, fd, 0);
    return mask_of(f) != 0;
}

static int prepare(struct dill_ctx *c, int fd, int out)
{
    struct dill_poller *p = &c->poller;
    int err = 0;
    if (fd < 0)
        return EBADF;
    if (fd >= p->nfds)
        err = grow(p, fd);
    if (!err && (p->lost || !p->epfd_plus1))
        err = renew(c);
    if (err)
        return err;
    return busy(c, fd, 1U << out) ? EBUSY : arm(c, fd, wanted[out]);
}

/* No waiting: ask about this one descriptor. */
static int probe(struct dill_ctx *c, int fd, int out)
{
    struct pollfd pfd = {.fd = fd, .events = out ? POLLOUT : POLLIN};
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return EBADF;
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return ENOTSUP;
    if (busy(c, fd, 1U << out))
        return EBUSY;
    int n = poll(&pfd, 1, 0);
    if (n < 0)
        return errno == EINTR ? ETIMEDOUT : errno;
    return n ? 0 : ETIMEDOUT;
}

static int fd_wait(int fd, int out, int64_t deadline)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_cr *self = c->running;
    if (dill_slow(self->stop))
        return dill__fail(ECANCELED);
    bool past = dill__past(c, deadline);
    int err = past ? probe(c, fd, out) : prepare(c, fd, out);
    if (!past && !err) {
        c->poller.fds[fd].waiter[out] = self;
        c->poller.nwaiting++;
        self->fd = fd;
        self->out = (uint8_t)out;
        err = dill__wait(c, DILL_WAIT_FD, deadline);
    }
    return err ? dill__fail(err) : 0;
}

int dill_fdin(int fd, int64_t deadline)
{
    return fd_wait(fd, 0, deadline);
}

int dill_fdout(int fd, int64_t deadline)
{
    return fd_wait(fd, 1, deadline);
}

void dill__fd_forget(struct dill_ctx *c, struct dill_cr *cr)
{
    c->poller.fds[cr->fd].waiter[cr->out] = NULL;
    c->poller.nwaiting--;
}

int dill_fdclean(int fd)
{
    struct dill_ctx *c = dill__ctx();
    struct dill_poller *p = &c->poller;
    if (fd < 0 || fd >= p->nfds)
        return 0;
    struct dill_fd *f = &p->fds[fd];
    if (p->lost && renew(c) != 0)
        return 0;
    if (busy(c, fd, 3))
        return dill__fail(EBUSY);
    if (f->added)
        epoll_ctl(p->epfd_plus1 - 1, EPOLL_CTL_DEL, fd, NULL);
    f->added = false;
    f->gen++;
    return 0;
}

static void deliver(struct dill_ctx *c, const struct epoll_event *ev)
{
    struct dill_poller *p = &c->poller;
    int fd = (int)(uint32_t)ev->data.u64;
    struct dill_fd *f = &p->fds[fd];
    if (f->gen != (uint32_t)(ev->data.u64 >> 32))
        return;
    for (int out = 0; out < 2; out++)
        if (f->waiter[out] && ev->events & (wanted[out] | EPOLLHUP | EPOLLERR))
            dill__wake(c, f->waiter[out], 0);
    /* The shot silenced the other direction too. */
    int err = mask_of(f) ? arm(c, fd, 0) : 0;
    if (err)
        expel(c, fd, err);
}

static void sleep_until(int64_t until)
{
    if (until < 0) {
        poll(NULL, 0, -1);
        return;
    }
    struct timespec ts = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static int timeout_for(const struct dill_ctx *c, int64_t until)
{
    if (until <= 0)
        return until < 0 ? -1 : 0;
    if (until - c->now >= INT_MAX)
        return INT_MAX;
    int64_t us = until * 1000 - c->looked;
    return us < 0 ? 0 : (int)((us + 999) / 1000);
}

/* Collect events, waiting until "until" at most: 0 not at all, negative for
 * ever. A signal ends the wait early and harms nobody. */
void dill__poll(struct dill_ctx *c, int64_t until)
{
    struct dill_poller *p = &c->poller;
    int err = p->lost ? renew(c) : 0;
    if (err) {
        /* No descriptor to be had: let those who wait learn it. */
        for (int fd = 0; fd < p->nfds; fd++)
            expel(c, fd, err);
        return;
    }
    if (!p->nwaiting) {
        if (until)
            sleep_until(until);
        return;
    }
    int n = epoll_wait(p->epfd_plus1 - 1, p->events, DILL_EVENTS, timeout_for(c, until));
    for (int i = 0; i < n; i++)
        deliver(c, &p->events[i]);
    if (n < 0 && errno != EINTR)
        p->lost = true;
}

void dill__poller_forked(struct dill_ctx *c)
{
    if (!c->poller.epfd_plus1)
        return;
    close(c->poller.epfd_plus1 - 1);
    c->poller.epfd_plus1 = 0;
    c->poller.lost = true;
}

void dill__poller_release(struct dill_ctx *c)
{
    if (c->poller.epfd_plus1)
        close(c->poller.epfd_plus1 - 1);
    free(c->poller.events);
    free(c->poller.fds);
    c->poller = (struct dill_poller){.fds = NULL};
}
