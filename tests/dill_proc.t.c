/* dill_proc.t.c - the runtime beside processes, signals and threads: fork,
 * handlers that run while everything waits, one context per thread. */
#include <libdill.h>

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
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

static coroutine void relay(int fd, int n, int *seen)
{
    char c;
    for (int i = 0; i < n; i++)
        if (fdin(fd, now() + 5000) == 0 && read(fd, &c, 1) == 1)
            ++*seen;
}

static void pair(int s[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) != 0)
        BAIL_OUT("no socketpair");
}

static bool child_succeeded(pid_t pid)
{
    int status = -1;
    for (int64_t until = now() + 10000; now() < until; msleep(now() + 5))
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return false;
}

/* Both go on with the same coroutine waiting for the same descriptor: each
 * must see its own events, and what one unregisters must not bind the other. */
static int in_child(int h, const int s[2], struct outcome *o, const int other[2])
{
    int seen = 0;
    if (write(s[1], "x", 1) != 1 || bundle_wait(h, now() + 5000) != 0 || o->rc != 0)
        return 1;
    fdclean(s[0]);
    int g = go(relay(other[0], 3, &seen));
    for (int i = 0; i < 3; i++) {
        if (write(other[1], "y", 1) != 1)
            return 2;
        msleep(now() + 1);
    }
    return bundle_wait(g, now() + 5000) == 0 && seen == 3 ? 0 : 3;
}

static void test_fork(void)
{
    int s[2], other[2], parent[2], seen = 0;
    struct outcome o = {9, 9}, po = {9, 9};
    pair(s);
    pair(other);
    pair(parent);
    int h = go(wait_in(s[0], -1, &o));
    int p = go(wait_in(parent[0], -1, &po));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(in_child(h, s, &o, other));
    ok(child_succeeded(pid), "the child has a poller of its own, old waits and new ones work");
    ok(po.rc == 9, "the parent still waits");
    ok(write(parent[1], "x", 1) == 1 && bundle_wait(p, now() + 5000) == 0 && po.rc == 0,
       "and is not disturbed");
    char c;
    ok(bundle_wait(h, now() + 5000) == 0 && o.rc == 0 && read(s[0], &c, 1) == 1,
       "it sees the byte the child left");
    hclose(p);
    hclose(h);
    h = go(relay(other[0], 1, &seen));
    ok(write(other[1], "z", 1) == 1 && bundle_wait(h, now() + 5000) == 0 && seen == 1,
       "and goes on as before");
    hclose(h);
}

static coroutine void forks_inside(bool *fine)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int64_t deadline = now() + 20;
        _exit(msleep(deadline) == 0 && now() >= deadline ? 0 : 1);
    }
    *fine = child_succeeded(pid);
}

static void test_fork_inside(void)
{
    bool fine = false;
    int h = go(forks_inside(&fine));
    bundle_wait(h, -1);
    ok(fine, "fork inside a coroutine");
    hclose(h);
}

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
    (void)sig;
    signals = signals + 1;
}

static coroutine void sleep_long(int64_t deadline, struct outcome *o)
{
    o->rc = msleep(deadline);
    o->err = o->rc < 0 ? errno : 0;
}

static void test_signals(void)
{
    int s[2];
    struct sigaction sa = {.sa_handler = on_signal};
    struct outcome o = {9, 9}, z = {9, 9};
    pair(s);
    sigaction(SIGVTALRM, &sa, NULL);
    sigaction(SIGUSR1, &sa, NULL);
    int64_t start = now();
    int h = go(wait_in(s[0], start + 300, &o)), g = go(sleep_long(start + 150, &z));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 20; i++) {
            usleep(5000);
            kill(getppid(), SIGUSR1);
        }
        _exit(0);
    }
    int rc;
    do
        rc = bundle_wait(g, now() + 5000);
    while (rc != 0 && errno == EINTR);
    ok(rc == 0 && signals > 0, "handlers ran while everything waited (%d times)", (int)signals);
    ok(z.rc == 0 || z.err == EINTR, "a sleep may be interrupted, no more");
    ok(z.rc != 0 || now() >= start + 150, "and is not cut short");
    ok(write(s[1], "x", 1) == 1 && bundle_wait(h, now() + 5000) == 0 &&
           (o.rc == 0 || o.err == EINTR),
       "others are not harmed");
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    hclose(h);
    hclose(g);
}

/* Signals that come at any instruction, in the midst of switches too: the
 * frame goes onto whatever stack is current. */
static coroutine void spin(int64_t until)
{
    while (now() < until)
        yield();
}

static void test_signal_storm(void)
{
    struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    signals = 0;
    setitimer(ITIMER_VIRTUAL, &every, NULL);
    int b = bundle();
    int64_t until = now() + 100;
    for (int i = 0; i < 10; i++)
        bundle_go(b, spin(until));
    ok(bundle_wait(b, now() + 10000) == 0, "signals in the midst of switches");
    setitimer(ITIMER_VIRTUAL, &never, NULL);
    cmp_ok(signals, ">", 0, "there were some");
    hclose(b);
}

static coroutine void ping(int ch, int n)
{
    for (int i = 0; i < n; i++)
        chsend(ch, &i, sizeof i, -1);
}

static void *busy_thread(void *arg)
{
    int ch[2], s[2], v = 0, sum = 0;
    struct outcome o = {9, 9};
    pair(s);
    chmake(ch);
    int h = go(ping(ch[0], 1000)), g = go(wait_in(s[0], -1, &o));
    for (int i = 0; i < 1000; i++)
        sum += chrecv(ch[1], &v, sizeof v, now() + 5000) == 0 && v == i;
    msleep(now() + 5);
    bool fine = write(s[1], "x", 1) == 1 && bundle_wait(g, now() + 5000) == 0 && o.rc == 0;
    hclose(h);
    hclose(g);
    hclose(ch[0]);
    hclose(ch[1]);
    close(s[0]);
    close(s[1]);
    *(int *)arg = fine ? sum : -1;
    return NULL;
}

static void test_threads(void)
{
    enum { N = 8 };
    pthread_t th[N];
    int sums[N], good = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            pthread_create(&th[i], NULL, busy_thread, &sums[i]);
        for (int i = 0; i < N; i++) {
            pthread_join(th[i], NULL);
            good += sums[i] == 1000;
        }
    }
    cmp_ok(good, "==", 3 * N, "threads run their coroutines side by side");
}

int main(void)
{
    plan(NO_PLAN);
    /* After a fork with more than one thread, and coroutines count as threads,
     * TSan stops following who synchronises with whom. */
    if (!SANITIZED_THREADS) {
        test_fork();
        test_fork_inside();
    }
    test_signals();
    test_signal_storm();
    test_threads();
    done_testing();
}
