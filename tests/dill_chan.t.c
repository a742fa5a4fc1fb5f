/* dill_chan.t.c - channels: rendezvous, lengths, chdone, closing, deadlines. */
#include <libdill.h>

#include "dill_util.h"
#include "tap.h"

struct outcome {
    int rc, err, val;
};

static coroutine void send_one(int ch, int val, struct outcome *o)
{
    o->err = 0;
    o->rc = chsend(ch, &val, sizeof val, -1);
    o->err = o->rc < 0 ? errno : 0;
}

static coroutine void recv_one(int ch, struct outcome *o)
{
    o->rc = chrecv(ch, &o->val, sizeof o->val, -1);
    o->err = o->rc < 0 ? errno : 0;
}

static coroutine void send_range(int ch, int from, int to)
{
    for (int i = from; i < to; i++)
        chsend(ch, &i, sizeof i, -1);
}

static void test_rendezvous(void)
{
    int ch[2], v = 0;
    struct outcome o = {9, 9, 9};
    ok(chmake(ch) == 0, "chmake");
    int h = go(send_one(ch[0], 42, &o));
    ok(o.rc == 9, "send waits for a receiver: nothing is buffered");
    ok(chrecv(ch[1], &v, sizeof v, -1) == 0 && v == 42, "receive from a waiting sender");
    yield();
    ok(o.rc == 0, "the sender went on");
    hclose(h);
    h = go(recv_one(ch[1], &o));
    v = 7;
    ok(chsend(ch[0], &v, sizeof v, -1) == 0, "send to a waiting receiver");
    yield();
    ok(o.rc == 0 && o.val == 7, "it got the value");
    hclose(h);
    h = go(recv_one(ch[0], &o));
    v = 8;
    ok(chsend(ch[1], &v, sizeof v, -1) == 0, "the other direction too");
    yield();
    ok(o.val == 8, "channels are bidirectional");
    hclose(h);
    int h1 = go(send_one(ch[0], 1, &o)), h2 = go(recv_one(ch[0], &o));
    v = 2;
    ok(chsend(ch[1], &v, sizeof v, 0) == 0, "the directions do not mix (send)");
    ok(chrecv(ch[1], &v, sizeof v, 0) == 0 && v == 1, "the directions do not mix (receive)");
    hclose(h1);
    hclose(h2);
    hclose(ch[0]);
    hclose(ch[1]);
}

static void test_order(void)
{
    int ch[2], v, bad = 0;
    chmake(ch);
    int h = go(send_range(ch[0], 0, 1000));
    for (int i = 0; i < 1000; i++)
        bad += chrecv(ch[1], &v, sizeof v, -1) != 0 || v != i;
    cmp_ok(bad, "==", 0, "a thousand messages in order");
    hclose(h);
    int b = bundle();
    struct outcome o[3];
    for (int i = 0; i < 3; i++)
        bundle_go(b, send_one(ch[0], i, &o[i]));
    int got[3];
    for (int i = 0; i < 3; i++)
        chrecv(ch[1], &got[i], sizeof got[i], -1);
    ok(got[0] == 0 && got[1] == 1 && got[2] == 2, "senders are served in turn");
    bundle_wait(b, -1);
    for (int i = 0; i < 3; i++)
        bundle_go(b, recv_one(ch[1], &o[i]));
    for (int i = 10; i < 13; i++)
        chsend(ch[0], &i, sizeof i, -1);
    bundle_wait(b, -1);
    ok(o[0].val == 10 && o[1].val == 11 && o[2].val == 12, "receivers too");
    hclose(b);
    hclose(ch[0]);
    hclose(ch[1]);
}

static coroutine void send_bytes(int ch, const void *p, size_t n, int64_t deadline,
                                 struct outcome *o)
{
    o->rc = chsend(ch, p, n, deadline);
    o->err = o->rc < 0 ? errno : 0;
}

static void test_lengths(void)
{
    int ch[2];
    struct outcome o;
    char big[5000], got[5000];
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)(i * 7);
    chmake(ch);
    static const size_t sizes[] = {1, 3, 4, 7, 8, 9, 16, 100, 5000};
    bool all = true;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(got, 0, sizeof got);
        int h = go(send_bytes(ch[0], big, sizes[i], -1, &o));
        all = all && chrecv(ch[1], got, sizes[i], -1) == 0 && memcmp(got, big, sizes[i]) == 0;
        all = all && (sizes[i] == sizeof big || got[sizes[i]] == 0);
        hclose(h);
    }
    ok(all, "messages of any length");
    int h = go(send_bytes(ch[0], NULL, 0, -1, &o));
    ok(chrecv(ch[1], NULL, 0, -1) == 0, "a message of no bytes");
    hclose(h);
    h = go(send_bytes(ch[0], big, 8, -1, &o));
    memset(got, 'x', 16);
    ok(fails(chrecv(ch[1], got, 4, -1), EMSGSIZE), "a length mismatch is EMSGSIZE here");
    yield();
    ok(o.rc == -1 && o.err == EMSGSIZE, "and there");
    ok(got[0] == 'x', "and nothing is copied");
    hclose(h);
    struct outcome r = {0, 0, 0};
    h = go(recv_one(ch[1], &r));
    ok(fails(chsend(ch[0], big, 8, -1), EMSGSIZE), "the same for a sender that comes second");
    yield();
    ok(r.rc == -1 && r.err == EMSGSIZE, "both sides learn it");
    hclose(h);
    hclose(ch[0]);
    hclose(ch[1]);
}

static void test_done(void)
{
    int ch[2], v = 1;
    struct outcome o = {9, 9, 9}, p = {9, 9, 9};
    chmake(ch);
    int h = go(recv_one(ch[1], &o)), g = go(recv_one(ch[1], &p));
    ok(chdone(ch[0]) == 0, "chdone");
    yield();
    ok(o.rc == -1 && o.err == EPIPE && p.err == EPIPE, "blocked receivers get EPIPE");
    hclose(h);
    hclose(g);
    ok(fails(chrecv(ch[1], &v, sizeof v, -1), EPIPE), "later receives too");
    ok(fails(chsend(ch[0], &v, sizeof v, -1), EPIPE), "and sends into the ended direction");
    ok(fails(chdone(ch[0]), EPIPE), "a second chdone is EPIPE");
    h = go(send_one(ch[1], 5, &o));
    ok(chrecv(ch[0], &v, sizeof v, -1) == 0 && v == 5, "the reverse direction stays open");
    hclose(h);
    h = go(send_one(ch[1], 5, &o));
    ok(chdone(ch[1]) == 0, "end the reverse direction with a sender in it");
    yield();
    ok(o.rc == -1 && o.err == EPIPE, "the blocked sender gets EPIPE");
    hclose(h);
    hclose(ch[0]);
    hclose(ch[1]);
}

static void test_close(void)
{
    int ch[2];
    struct outcome o = {9, 9, 9};
    chmake(ch);
    int h = go(recv_one(ch[1], &o));
    ok(hclose(ch[0]) == 0, "close one half");
    yield();
    ok(o.rc == 9, "the other half waits on");
    ok(hclose(ch[1]) == 0, "close the last half");
    yield();
    ok(o.rc == -1 && o.err == EPIPE, "whoever waits is woken with EPIPE");
    hclose(h);
    ok(fails(hclose(ch[0]), EBADF), "closed twice is EBADF");
    struct chstorage mem;
    ok(chmake_mem(&mem, ch) == 0, "chmake_mem");
    h = go(send_one(ch[0], 3, &o));
    int v = 0;
    ok(chrecv(ch[1], &v, sizeof v, -1) == 0 && v == 3, "works the same");
    hclose(h);
    hclose(ch[0]);
    hclose(ch[1]);
}

static void test_deadlines(void)
{
    int ch[2], v = 0;
    chmake(ch);
    int64_t start = now();
    ok(fails(chrecv(ch[0], &v, sizeof v, start + 20), ETIMEDOUT), "chrecv times out");
    ok(now() >= start + 20, "not too early");
    ok(now() < start + 1000, "nor much too late");
    ok(fails(chsend(ch[0], &v, sizeof v, now() + 10), ETIMEDOUT), "chsend times out");
    ok(fails(chsend(ch[0], &v, sizeof v, 0), ETIMEDOUT), "0 does not wait");
    ok(fails(chrecv(ch[0], &v, sizeof v, 1), ETIMEDOUT), "the past does not either");
    struct outcome o;
    int h = go(send_one(ch[0], 6, &o));
    ok(chrecv(ch[1], &v, sizeof v, 0) == 0 && v == 6, "with 0, what is ready is taken");
    hclose(h);
    long l = 77;
    h = go(send_bytes(ch[0], &l, sizeof l, now() + 1000, &o));
    l = 0;
    ok(chrecv(ch[1], &l, sizeof l, now() + 1000) == 0, "deadlines on both sides");
    yield();
    ok(o.rc == 0, "the sender is told");
    hclose(h);
    h = go(send_bytes(ch[0], &l, sizeof l, now() + 10, &o));
    msleep(now() + 30);
    ok(o.rc == -1 && o.err == ETIMEDOUT, "a sender whose deadline passed");
    ok(fails(chrecv(ch[1], &l, sizeof l, 0), ETIMEDOUT), "has left the queue");
    hclose(h);
    hclose(ch[0]);
    hclose(ch[1]);
}

static void test_bad(void)
{
    int ch[2], b = bundle(), v = 0;
    chmake(ch);
    ok(fails(chsend(-1, &v, sizeof v, -1), EBADF), "chsend on -1");
    ok(fails(chrecv(1 << 20, &v, sizeof v, -1), EBADF), "chrecv on no handle");
    ok(fails(chdone(-7), EBADF), "chdone on no handle");
    ok(fails(chsend(b, &v, sizeof v, -1), ENOTSUP), "chsend on a bundle");
    ok(fails(chrecv(b, &v, sizeof v, -1), ENOTSUP), "chrecv on a bundle");
    ok(fails(chdone(b), ENOTSUP), "chdone on a bundle");
    ok(fails(chsend(ch[0], NULL, 4, -1), EINVAL), "chsend of nothing with a length");
    ok(fails(chrecv(ch[0], NULL, 4, -1), EINVAL), "chrecv into nothing");
    ok(fails(chmake(NULL), EINVAL), "chmake(NULL)");
    ok(fails(chmake_mem(NULL, ch), EINVAL), "chmake_mem(NULL)");
    hclose(b);
    hclose(ch[0]);
    hclose(ch[1]);
}

static void test_cancel(void)
{
    int ch[2], v = 0;
    struct outcome o = {9, 9, 9}, p = {9, 9, 9};
    chmake(ch);
    int h = go(recv_one(ch[1], &o)), g = go(recv_one(ch[1], &p));
    hclose(h);
    ok(o.rc == -1 && o.err == ECANCELED, "a cancelled receiver gets ECANCELED");
    v = 4;
    ok(chsend(ch[0], &v, sizeof v, 0) == 0, "and is out of the queue");
    yield();
    ok(p.rc == 0 && p.val == 4, "the next in line gets the message");
    hclose(g);
    hclose(ch[0]);
    hclose(ch[1]);
}

int main(void)
{
    plan(NO_PLAN);
    test_rendezvous();
    test_order();
    test_lengths();
    test_done();
    test_close();
    test_deadlines();
    test_bad();
    test_cancel();
    done_testing();
}
