/* dill_choose.t.c - choose: order, results, errors, deadlines, many clauses. */
#include <libdillimpl.h>

#include "dill_util.h"
#include "tap.h"

static coroutine void send_val(int ch, int val, int *err)
{
    *err = chsend(ch, &val, sizeof val, -1) == 0 ? 0 : errno;
}

static coroutine void recv_val(int ch, int *val, int *err)
{
    *err = chrecv(ch, val, sizeof *val, -1) == 0 ? 0 : errno;
}

static void close2(const int ch[2])
{
    hclose(ch[0]);
    hclose(ch[1]);
}

static void test_ready(void)
{
    int a[2], b[2], va = 0, vb = 0, e1 = -1, e2 = -1;
    chmake(a);
    chmake(b);
    struct chclause cl[] = {{CHRECV, a[1], &va, sizeof va}, {CHRECV, b[1], &vb, sizeof vb}};
    int h = go(send_val(b[0], 5, &e1));
    errno = 99;
    ok(choose(cl, 2, -1) == 1 && errno == 0 && vb == 5, "the ready clause, errno 0");
    hclose(h);
    h = go(send_val(b[0], 6, &e1));
    int g = go(send_val(a[0], 7, &e2));
    ok(choose(cl, 2, -1) == 0 && va == 7, "the first in array order when both are ready");
    ok(choose(cl, 2, 0) == 1 && vb == 6, "then the other, without waiting");
    ok(choose(cl, 2, 0) == -1 && errno == ETIMEDOUT, "then none: ETIMEDOUT");
    hclose(h);
    hclose(g);
    int out = 11, got = 0;
    struct chclause both[] = {{CHRECV, a[1], &va, sizeof va}, {CHSEND, b[0], &out, sizeof out}};
    h = go(recv_val(b[1], &got, &e1));
    ok(choose(both, 2, -1) == 1 && errno == 0, "a send clause");
    yield();
    ok(got == 11 && e1 == 0, "delivers");
    hclose(h);
    close2(a);
    close2(b);
}

static coroutine void chooser(struct chclause *cl, int n, int64_t deadline, int *rc, int *err)
{
    *rc = choose(cl, n, deadline);
    *err = errno;
}

static void test_blocked(void)
{
    int a[2], b[2], va = 0, vb = 3, rc = -9, err = -9, v = 0;
    chmake(a);
    chmake(b);
    struct chclause cl[] = {{CHRECV, a[1], &va, sizeof va}, {CHSEND, b[0], &vb, sizeof vb}};
    int h = go(chooser(cl, 2, -1, &rc, &err));
    ok(rc == -9, "choose waits");
    ok(chrecv(b[1], &v, sizeof v, 0) == 0 && v == 3, "its send clause can be received from");
    yield();
    ok(rc == 1 && err == 0, "and it returns that index");
    v = 4;
    ok(fails(chsend(a[0], &v, sizeof v, 0), ETIMEDOUT), "its other clause is gone");
    hclose(h);
    rc = -9;
    h = go(chooser(cl, 2, now() + 20, &rc, &err));
    ok(chsend(a[0], &v, sizeof v, -1) == 0, "send to a chooser with a deadline");
    bundle_wait(h, -1);
    ok(rc == 0 && err == 0 && va == 4, "it got the message");
    hclose(h);
    h = go(chooser(cl, 2, now() + 10, &rc, &err));
    bundle_wait(h, -1);
    ok(rc == -1 && err == ETIMEDOUT, "the deadline ends it");
    hclose(h);
    h = go(chooser(cl, 2, -1, &rc, &err));
    hclose(h);
    ok(rc == -1 && err == ECANCELED, "cancelling ends it");
    struct chclause twice[] = {{CHRECV, a[1], &va, sizeof va}, {CHRECV, a[1], &vb, sizeof vb}};
    h = go(chooser(twice, 2, -1, &rc, &err));
    v = 8;
    ok(chsend(a[0], &v, sizeof v, 0) == 0, "the same channel in two clauses");
    yield();
    ok(rc == 0 && va == 8, "the first one counts");
    ok(fails(chsend(a[0], &v, sizeof v, 0), ETIMEDOUT), "and both are gone");
    hclose(h);
    struct chclause self[] = {{CHRECV, a[1], &va, sizeof va}, {CHSEND, a[0], &vb, sizeof vb}};
    ok(choose(self, 2, now() + 10) == -1 && errno == ETIMEDOUT, "no meeting with oneself");
    close2(a);
    close2(b);
}

static void test_errors(void)
{
    int a[2], b[2], va = 0, rc = 0, err = 0, e1 = 0;
    long lv = 0;
    chmake(a);
    chmake(b);
    int bndl = bundle();
    struct chclause bad_handle[] = {{CHRECV, a[1], &va, sizeof va}, {CHRECV, -1, &va, sizeof va}};
    ok(choose(bad_handle, 2, -1) == 1 && errno == EBADF, "bad handle: its index, EBADF");
    struct chclause wrong[] = {{CHRECV, a[1], &va, sizeof va}, {CHRECV, bndl, &va, sizeof va}};
    ok(choose(wrong, 2, -1) == 1 && errno == ENOTSUP, "not a channel: its index, ENOTSUP");
    struct chclause bad_op[] = {{CHRECV, a[1], &va, sizeof va}, {77, a[1], &va, sizeof va}};
    ok(choose(bad_op, 2, -1) == 1 && errno == EINVAL, "bad op: its index, EINVAL");
    struct chclause no_mem[] = {{CHRECV, a[1], NULL, 4}};
    ok(choose(no_mem, 1, -1) == 0 && errno == EINVAL, "no buffer: its index, EINVAL");
    struct chclause size[] = {{CHRECV, b[1], &va, sizeof va}, {CHRECV, a[1], &lv, sizeof lv}};
    int h = go(send_val(a[0], 1, &e1));
    ok(choose(size, 2, -1) == 1 && errno == EMSGSIZE, "length mismatch: its index, EMSGSIZE");
    yield();
    ok(e1 == EMSGSIZE, "the sender gets it too");
    hclose(h);
    h = go(chooser(size, 2, -1, &rc, &err));
    chdone(a[0]);
    yield();
    ok(rc == 1 && err == EPIPE, "chdone while it waits: that index, EPIPE");
    hclose(h);
    ok(choose(size, 2, -1) == 1 && errno == EPIPE, "chdone before: the same");
    ok(choose(size, -1, -1) == -1 && errno == EINVAL, "a negative count is EINVAL");
    ok(choose(NULL, 2, -1) == -1 && errno == EINVAL, "no clauses but a count is EINVAL");
    int64_t start = now();
    ok(choose(NULL, 0, start + 20) == -1 && errno == ETIMEDOUT, "no clause at all waits");
    ok(now() >= start + 20, "until the deadline");
    hclose(bndl);
    close2(a);
    close2(b);
}

static int foreign_errno;

static void *foreign_query(struct hvfs *vfs, const void *type)
{
    (void)vfs, (void)type;
    errno = foreign_errno;
    return NULL;
}

static void foreign_close(struct hvfs *vfs)
{
    (void)vfs;
}

/* A handle of another kind whose query leaves any errno it likes. */
static void test_foreign(void)
{
    struct hvfs vfs = {foreign_query, foreign_close};
    int h = hmake(&vfs), v;
    struct chclause cl = {CHRECV, h, &v, sizeof v};
    foreign_errno = EAGAIN;
    ok(choose(&cl, 1, now() + 1000) == 0 && errno == EAGAIN, "a foreign errno is passed on");
    foreign_errno = 0;
    ok(choose(&cl, 1, now() + 1000) == 0 && errno == ENOTSUP, "and made up when there is none");
    foreign_errno = -1;
    ok(fails(chrecv(h, &v, sizeof v, now() + 1000), ENOTSUP), "also for chrecv");
    hclose(h);
}

static void test_many(void)
{
    enum { N = 100 };
    int ch[N][2], v[N], e = -1, last[2];
    struct chclause cl[N];
    for (int i = 0; i < N; i++) {
        chmake(ch[i]);
        cl[i] = (struct chclause){CHRECV, ch[i][1], &v[i], sizeof v[i]};
    }
    int rc = -9, err = -9;
    int h = go(chooser(cl, N, -1, &rc, &err));
    int g = go(send_val(ch[N - 1][0], 4321, &e));
    bundle_wait(h, -1);
    ok(rc == N - 1 && err == 0 && v[N - 1] == 4321, "a hundred clauses");
    hclose(h);
    hclose(g);
    h = go(chooser(cl, N, -1, &rc, &err));
    hclose(h);
    ok(rc == -1 && err == ECANCELED, "cancelled among a hundred");
    h = go(chooser(cl, N, -1, &rc, &err));
    memcpy(last, ch[50], sizeof last);
    close2(last);
    yield();
    ok(rc == 50 && err == EPIPE, "a channel closed under choose: its index, EPIPE");
    hclose(h);
    for (int i = 0; i < N; i++)
        if (i != 50)
            close2(ch[i]);
}

int main(void)
{
    plan(NO_PLAN);
    test_ready();
    test_blocked();
    test_errors();
    test_foreign();
    test_many();
    done_testing();
}
