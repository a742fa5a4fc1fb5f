/* zygote.c - the process that forks workers (zygote.h), both ends of the talk
 * with it. The process itself allocates nothing and calls only what is safe
 * after a fork, so that it may also be started late, from a program with
 * threads; early is better, since it keeps the pages it saw then.
 * It leads a process group of its own: Ctrl-C is for the program, which wants
 * to finish the jobs that run. A child that must go gets SIGKILL: a stopped one
 * hears nothing else. */
#include "config.h"

#include "base/zygote.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHANNELS_MAX = 64, FIXED = 2 }; /* FIXED: the master socket and the signals */

struct child {
    pid_t pid;
    uint32_t id;
    int channel;     /* -1: nobody wants to hear of it */
    int is_program;  /* leads a process group */
    int64_t kill_at; /* 0: not doomed */
};

/* In the zygote process only. Static: no allocation there. */
static struct child children[COS__CHILDREN_MAX];
static int nchildren;
static struct pollfd polls[FIXED + CHANNELS_MAX];
static int npolls;

/* --- packets with a descriptor --- */

union control {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

static ssize_t send_packet(int sock, const void *data, size_t len, int fd)
{
    struct iovec iov = {(void *)(uintptr_t)data, len};
    union control control;
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;
    if (fd >= 0) {
        struct cmsghdr *c;
        memset(&control, 0, sizeof control);
        msg.msg_control = &control;
        msg.msg_controllen = sizeof control.room;
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    do
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t recv_packet(int sock, void *data, size_t len, int *fd)
{
    struct iovec iov = {data, len};
    union control control;
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
                         .msg_controllen = sizeof control.room};
    struct cmsghdr *c;
    ssize_t n;
    *fd = -1;
    do
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return n;
}

/* --- in the zygote: children --- */

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

static void close_from(unsigned first)
{
    if (!syscall(SYS_close_range, first, ~0U, 0))
        return;
    for (unsigned fd = first; fd < 65536; fd++)
        close((int)fd);
}

static void default_signals(void)
{
    struct sigaction sa = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &sa, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The worker's socket becomes descriptor 3 and the only one beside 0, 1, 2. */
static _Noreturn void become_worker(const struct cos__order *order, int fd)
{
    if (dup2(fd, 3) < 0)
        _exit(15);
    close_from(4);
    cos__worker_main(3, &order->setup);
}

static _Noreturn void become_program(struct cos__order *order, int fd, int report)
{
    static char *argv[COS__ARGS_MAX / 2];
    char *p = order->args;
    int err;
    for (int i = 0; i < order->argc; i++, p += strlen(p) + 1)
        argv[i] = p;
    if (dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(report, 3) < 0)
        _exit(15);
    close_from(4);
    fcntl(3, F_SETFD, FD_CLOEXEC);
    cos__worker_limits(&order->setup);
    execvp(argv[0], argv);
    err = errno;
    _exit(write(3, &err, sizeof err) == sizeof err ? 127 : 126);
}

/* Ends together with the zygote, whatever becomes of that. */
static void tie_to_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1)
        _exit(16);
}

/* A program leads a group of its own: what it started goes with it. */
static pid_t fork_child(struct cos__order *order, int fd, const int report[2])
{
    pid_t pid = fork();
    if (pid > 0 && order->argc)
        setpgid(pid, pid); /* here too: it may be killed before it gets there */
    if (pid)
        return pid;
    if (order->argc)
        setpgid(0, 0);
    tie_to_parent();
    default_signals();
    if (order->argc)
        become_program(order, fd, report[1]);
    become_worker(order, fd);
}

/* 0 and *pid, or an errno. A program that cannot be run is told here: the pipe
 * closes by itself when exec succeeds. */
static int spawn(struct cos__order *order, int fd, pid_t *pid)
{
    int report[2] = {-1, -1}, err = 0;
    if (nchildren == COS__CHILDREN_MAX)
        return EAGAIN;
    if (order->argc && pipe2(report, O_CLOEXEC))
        return errno;
    *pid = fork_child(order, fd, report);
    if (*pid < 0)
        err = errno;
    if (!order->argc)
        return err;
    close(report[1]);
    if (!err && read(report[0], &err, sizeof err) != sizeof err)
        err = 0;
    close(report[0]);
    return err;
}

static void on_spawn(int channel, struct cos__order *order, int fd)
{
    struct cos__news news = {.kind = COS__NEWS_SPAWNED, .id = order->id};
    news.error = fd < 0 ? EBADF : spawn(order, fd, &news.pid);
    /* One that failed to exec is a child too, but nobody's worker. */
    if (news.pid > 0)
        children[nchildren++] = (struct child){
            .pid = news.pid, .id = order->id, .channel = news.error ? -1 : channel,
            .is_program = order->argc > 0};
    send_packet(channel, &news, sizeof news, -1);
}

static void on_kill(int channel, const struct cos__order *order)
{
    for (int i = 0; i < nchildren; i++)
        if (children[i].channel == channel && children[i].id == order->id)
            children[i].kill_at = now_ms() + order->grace_ms;
}

static void kill_child(const struct child *child)
{
    kill(child->is_program ? -child->pid : child->pid, SIGKILL);
}

static void kill_due(void)
{
    for (int i = 0; i < nchildren; i++)
        if (children[i].kill_at && children[i].kill_at <= now_ms()) {
            kill_child(&children[i]);
            children[i].kill_at = 0;
        }
}

static int next_kill(void)
{
    int64_t at = INT64_MAX, left;
    for (int i = 0; i < nchildren; i++)
        if (children[i].kill_at && children[i].kill_at < at)
            at = children[i].kill_at;
    if (at == INT64_MAX)
        return -1;
    left = at - now_ms();
    return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

static void forget_child(pid_t pid, int status)
{
    for (int i = 0; i < nchildren; i++)
        if (children[i].pid == pid) {
            struct cos__news news = {.kind = COS__NEWS_EXITED, .id = children[i].id, .pid = pid,
                                     .status = status};
            if (children[i].is_program)
                kill(-pid, SIGKILL); /* what it left behind */
            if (children[i].channel >= 0)
                send_packet(children[i].channel, &news, sizeof news, -1);
            children[i] = children[--nchildren];
            return;
        }
}

static void reap(int signals)
{
    struct signalfd_siginfo info[8];
    pid_t pid;
    int status;
    if (read(signals, info, sizeof info) < 0)
        return;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        forget_child(pid, status);
}

/* --- in the zygote: channels --- */

static void drop_channel(int at)
{
    for (int i = 0; i < nchildren; i++)
        if (children[i].channel == polls[at].fd) {
            kill_child(&children[i]);
            children[i].channel = -1;
        }
    close(polls[at].fd);
    polls[at] = polls[--npolls];
}

/* 0 when the channel is gone. */
static int on_channel(int channel)
{
    static struct cos__order order;
    int fd;
    ssize_t n = recv_packet(channel, &order, sizeof order, &fd);
    if (n == (ssize_t)sizeof order && order.kind == COS__ORDER_SPAWN)
        on_spawn(channel, &order, fd);
    else if (n == (ssize_t)sizeof order)
        on_kill(channel, &order);
    if (fd >= 0)
        close(fd);
    return n > 0;
}

static _Noreturn void leave(void)
{
    for (int i = 0; i < nchildren; i++)
        kill_child(&children[i]);
    _exit(0);
}

static void on_master(int master)
{
    char byte = 0;
    int fd;
    if (recv_packet(master, &byte, 1, &fd) <= 0)
        leave();
    if (fd < 0)
        return;
    if (npolls == FIXED + CHANNELS_MAX)
        close(fd);
    else
        polls[npolls++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static int watch_children(void)
{
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    return signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* What a worker prints by mistake goes to stderr, not among the program's data,
 * and the program's stdout closes when the program ends. */
static void leave_terminal(void)
{
    int null = open("/dev/null", O_RDONLY);
    if (null >= 0)
        dup2(null, 0);
    dup2(2, 1);
}

static _Noreturn void zygote_main(int master)
{
    default_signals();
    leave_terminal();
    setpgid(0, 0);
    prctl(PR_SET_NAME, "cos-zygote");
    if (dup2(master, 3) < 0)
        _exit(15);
    close_from(4);
    polls[0] = (struct pollfd){.fd = 3, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = watch_children(), .events = POLLIN};
    npolls = FIXED;
    for (;;) {
        if (poll(polls, (nfds_t)npolls, next_kill()) < 0 && errno != EINTR)
            leave();
        /* Deaths first: a pool should know of them before it gives new orders. */
        if (polls[1].revents)
            reap(polls[1].fd);
        for (int i = npolls - 1; i >= FIXED; i--)
            if (polls[i].revents && !on_channel(polls[i].fd))
                drop_channel(i);
        if (polls[0].revents)
            on_master(3);
        kill_due();
    }
}

/* --- in the program --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int master = -1;
static pid_t zygote_pid, started_by;

static int start_locked(void)
{
    int pair[2];
    pid_t pid;
    /* A child of ours that was forked elsewhere must not share it. */
    if (master >= 0 && started_by == getpid())
        return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return cos_err_from_errno(errno);
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        zygote_main(pair[1]);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return COS_ENOMEM;
    }
    if (master >= 0)
        close(master);
    master = pair[0];
    zygote_pid = pid;
    started_by = getpid();
    return 0;
}

int cos__zygote_start(void)
{
    int err;
    pthread_mutex_lock(&lock);
    err = start_locked();
    pthread_mutex_unlock(&lock);
    return err;
}

pid_t cos__zygote_pid(void)
{
    return started_by == getpid() ? zygote_pid : 0;
}

/* One that died is buried, and another one started. */
static int hand_over(int fd)
{
    int err = start_locked();
    if (err)
        return err;
    if (send_packet(master, "c", 1, fd) == 1)
        return 0;
    waitpid(zygote_pid, NULL, WNOHANG);
    close(master);
    master = -1;
    err = start_locked();
    if (err)
        return err;
    return send_packet(master, "c", 1, fd) == 1 ? 0 : cos_err_from_errno(errno);
}

int cos__zygote_channel(void)
{
    int pair[2], err;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return cos_err_from_errno(errno);
    pthread_mutex_lock(&lock);
    err = hand_over(pair[1]);
    pthread_mutex_unlock(&lock);
    close(pair[1]);
    if (err || fcntl(pair[0], F_SETFL, O_NONBLOCK)) {
        close(pair[0]);
        return err ? err : cos_err_from_errno(errno);
    }
    return pair[0];
}

int cos__zygote_send(int channel, const struct cos__order *order, int fd)
{
    if (send_packet(channel, order, sizeof *order, fd) == (ssize_t)sizeof *order)
        return 0;
    return errno == EAGAIN ? COS_EBUSY : errno == EPIPE ? COS_ECLOSED : cos_err_from_errno(errno);
}

int cos__zygote_recv(int channel, struct cos__news *out)
{
    int fd;
    ssize_t n = recv_packet(channel, out, sizeof *out, &fd);
    if (fd >= 0)
        close(fd);
    if (n == (ssize_t)sizeof *out)
        return 1;
    return n < 0 && errno == EAGAIN ? 0 : COS_ECLOSED;
}
