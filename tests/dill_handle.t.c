/* dill_handle.t.c - handles of one's own: hmake, hquery, hown, hclose; whose
 * thread they belong to. */
#include <libdillimpl.h>

#include <pthread.h>

#include "dill_util.h"
#include "tap.h"

static const int thing_type, other_type;

struct thing {
    struct hvfs vfs;
    int closed;
    int rc, err; /* of a blocking call in close */
};

static void *thing_query(struct hvfs *vfs, const void *type)
{
    if (type == &thing_type)
        return vfs;
    errno = ENOTSUP;
    return NULL;
}

static void thing_close(struct hvfs *vfs)
{
    struct thing *t = (struct thing *)vfs;
    t->closed++;
    t->rc = msleep(now() + 1000);
    t->err = errno;
}

static struct thing new_thing(void)
{
    return (struct thing){.vfs = {thing_query, thing_close}};
}

static void test_own_kind(void)
{
    struct thing t = new_thing();
    int h = hmake(&t.vfs);
    ok(h >= 0, "hmake");
    ok(hquery(h, &thing_type) == &t, "hquery finds the object");
    errno = 0;
    ok(hquery(h, &other_type) == NULL && errno == ENOTSUP, "of another type: ENOTSUP");
    errno = 0;
    ok(hquery(-1, &thing_type) == NULL && errno == EBADF, "of no handle: EBADF");
    int b = bundle();
    errno = 0;
    ok(hquery(b, &thing_type) == NULL && errno == ENOTSUP, "of a bundle: ENOTSUP");
    ok(fails(bundle_wait(h, -1), ENOTSUP), "the thing is no bundle");
    ok(fails(chsend(h, "x", 1, -1), ENOTSUP), "nor a channel");
    hclose(b);
    int64_t start = now();
    ok(hclose(h) == 0 && t.closed == 1, "hclose calls close once");
    ok(t.rc == -1 && t.err == ECANCELED && now() < start + 500, "where nothing may block");
    ok(msleep(now() + 1) == 0, "and afterwards it may again");
    ok(fails(hclose(h), EBADF) && t.closed == 1, "a closed handle is EBADF");
    ok(fails(hmake(NULL), EINVAL), "hmake(NULL)");
    struct hvfs half = {thing_query, NULL};
    ok(fails(hmake(&half), EINVAL), "hmake without close");
    half = (struct hvfs){NULL, thing_close};
    ok(fails(hmake(&half), EINVAL), "hmake without query");
}

static void test_own(void)
{
    struct thing t = new_thing();
    int h = hmake(&t.vfs);
    int g = hown(h);
    ok(g >= 0 && g != h, "hown gives a new number");
    ok(fails(hclose(h), EBADF), "and voids the old one");
    ok(hquery(g, &thing_type) == &t, "for the same object");
    ok(hclose(g) == 0 && t.closed == 1, "closed by the new number");
    ok(fails(hown(g), EBADF), "hown of no handle");
    ok(fails(hown(-1), EBADF), "hown(-1)");
    ok(fails(hclose(-1), EBADF), "hclose(-1)");
    ok(fails(hclose(1 << 30), EBADF), "hclose of a wild number");
    ok(fails(hclose((int)0x80000000U), EBADF), "of the smallest");
    ok(fails(hclose(0x7fffffff), EBADF), "of the largest");
}

struct nester {
    struct hvfs vfs;
    int inner;
    int rc;
};

static void nester_close(struct hvfs *vfs)
{
    struct nester *n = (struct nester *)vfs;
    n->rc = hclose(n->inner);
    if (!fails(yield(), ECANCELED))
        n->rc = -2;
}

static coroutine void until_cancelled(int *ended)
{
    msleep(-1);
    ++*ended;
}

static void test_nested(void)
{
    struct thing t = new_thing();
    struct nester n = {.vfs = {thing_query, nester_close}, .inner = hmake(&t.vfs)};
    ok(hclose(hmake(&n.vfs)) == 0 && n.rc == 0 && t.closed == 1, "close may close others");
    int ended = 0;
    n.inner = go(until_cancelled(&ended));
    ok(hclose(hmake(&n.vfs)) == 0 && n.rc == 0 && ended == 1, "bundles too");
}

static void test_many(void)
{
    enum { N = 5000 };
    static struct thing t[N];
    static int h[N];
    bool fine = true;
    for (int i = 0; i < N; i++) {
        t[i] = new_thing();
        h[i] = hmake(&t[i].vfs);
        fine = fine && h[i] >= 0;
    }
    for (int i = 0; i < N; i++)
        fine = fine && hquery(h[i], &thing_type) == &t[i];
    ok(fine, "thousands of handles, each its own object");
    for (int i = 0; i < N; i += 2)
        fine = fine && hclose(h[i]) == 0;
    for (int i = 0; i < N; i++)
        fine = fine && (i % 2 ? hquery(h[i], &thing_type) == &t[i] : !hquery(h[i], &thing_type));
    ok(fine, "closing some leaves the others");
    for (int i = 1; i < N; i += 2)
        hclose(h[i]);
}

struct foreign {
    int bundle, channel, own;
    bool refused, worked;
};

static coroutine void add_one(int *n)
{
    yield();
    ++*n;
}

static void *in_another_thread(void *arg)
{
    struct foreign *f = arg;
    int ch[2], n = 0;
    char x = 0;
    f->refused = fails(bundle_wait(f->bundle, -1), EBADF) && fails(hclose(f->channel), EBADF);
    int b = bundle(); /* now the same index exists here */
    chmake(ch);
    f->refused = f->refused && fails(bundle_wait(f->bundle, 0), EBADF) &&
                 fails(chsend(f->channel, &x, 1, 0), EBADF) && fails(hclose(f->bundle), EBADF);
    for (int i = 0; i < 100; i++)
        bundle_go(b, add_one(&n));
    f->worked = bundle_wait(b, -1) == 0 && n == 100;
    f->own = b;
    hclose(ch[0]);
    hclose(ch[1]);
    hclose(b);
    go(until_cancelled(&n)); /* left behind: the thread's end takes it away */
    return NULL;
}

static void test_threads(void)
{
    pthread_t th[4];
    struct foreign f[4];
    int ch[2], b = bundle();
    chmake(ch);
    for (int i = 0; i < 4; i++) {
        f[i] = (struct foreign){.bundle = b, .channel = ch[0]};
        pthread_create(&th[i], NULL, in_another_thread, &f[i]);
    }
    bool refused = true, worked = true, own_refused = true;
    for (int i = 0; i < 4; i++) {
        pthread_join(th[i], NULL);
        refused = refused && f[i].refused;
        worked = worked && f[i].worked;
        own_refused = own_refused && fails(hclose(f[i].own), EBADF);
    }
    ok(refused, "another thread's handles are EBADF");
    ok(worked, "each thread has a runtime of its own");
    ok(own_refused, "and theirs are EBADF here");
    ok(hclose(ch[0]) == 0 && hclose(ch[1]) == 0 && hclose(b) == 0, "ours are untouched");
}

static coroutine void exits_thread(void)
{
    pthread_exit(NULL);
}

static void *leaves_inside(void *arg)
{
    int h = go(exits_thread());
    (void)h;
    return arg;
}

static void test_exit_inside(void)
{
    pthread_t th;
    ok(pthread_create(&th, NULL, leaves_inside, NULL) == 0 && pthread_join(th, NULL) == 0,
       "a thread may end inside a coroutine");
}

int main(void)
{
    plan(NO_PLAN);
    test_threads(); /* first: the same few numbers are then in use everywhere */
    test_own_kind();
    test_own();
    test_nested();
    test_many();
    if (!checked_run()) /* it leaks its stacks, and checkers cannot follow */
        test_exit_inside();
    done_testing();
}
