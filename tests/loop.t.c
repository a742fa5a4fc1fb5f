/* loop.t - turns, timers, tasks, posts, descriptors, and the two drivers. */
#include "tap.h"

#include "base/buf.h"
#include "base/loop.h"
#include "base/sleep.h"
#include "coscrawl-cps.h"

#include <libdill.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cos__loop *loop;
static struct cos_buf said;

static void say(const char *what)
{
    cos_buf_addf(&said, "%s ", what);
}

static const char *heard(void)
{
    static char text[1000];
    snprintf(text, sizeof text, "%s", said.data ? said.data : "");
    cos_buf_clear(&said);
    return text;
}

/* --- tasks ---------------------------------------------------------------------- */

struct named {
    struct cos__task task;
    const char *name;
    struct named *then;
    void (*how)(struct cos__loop *loop, struct cos__task *task);
};

static void run_named(struct cos__task *task)
{
    struct named *named = (struct named *)task;
    say(named->name);
    if (named->then)
        named->how(loop, &named->then->task);
}

static void test_tasks(void)
{
    struct named c = {{.run = run_named}, "c", NULL, NULL};
    struct named b = {{.run = run_named}, "b", NULL, NULL};
    struct named a = {{.run = run_named}, "a", &c, cos__loop_defer};
    struct named y = {{.run = run_named}, "y", NULL, NULL};
    struct named x = {{.run = run_named}, "x", &y, cos__loop_immediate};
    cos__loop_defer(loop, &a.task);
    cos__loop_defer(loop, &b.task);
    cos__loop_defer(loop, &a.task);
    cos__loop_immediate(loop, &x.task);
    cos__loop_turn(loop, 0);
    is(heard(), "a b c x ", "deferred in order and to the end, then immediates, each once");
    cos__loop_turn(loop, 0);
    is(heard(), "y ", "an immediate added by an immediate waits for the next poll");
}

/* --- timers ---------------------------------------------------------------------- */

struct alarm {
    struct cos__timer timer;
    char name[8];
};

static void ring(struct cos__timer *timer)
{
    say(((struct alarm *)timer)->name);
}

static void test_timers(void)
{
    struct alarm a[4] = {0};
    int64_t base = dill_now();
    for (int i = 0; i < 4; i++) {
        snprintf(a[i].name, sizeof a[i].name, "%d", i);
        a[i].timer.fire = ring;
        cos__timer_set(loop, &a[i].timer, base + 40 - 10 * i);
    }
    cos__timer_unset(loop, &a[2].timer);
    cos__timer_unset(loop, &a[2].timer);
    cos__timer_set(loop, &a[3].timer, base + 60);
    while (dill_now() < base + 61)
        cos__loop_turn(loop, base + 62);
    is(heard(), "1 0 3 ", "in the order of their times; one moved, one taken out");
}

static int fired_in_order = 1;
static int64_t last_at;

static void in_order(struct cos__timer *timer)
{
    if (timer->at < last_at)
        fired_in_order = 0;
    last_at = timer->at;
}

static void test_heap(void)
{
    enum { N = 5000 };
    struct cos__timer *t = calloc(N, sizeof *t);
    int64_t base = dill_now();
    unsigned seed = 7;
    for (int i = 0; i < N; i++) {
        t[i].fire = in_order;
        cos__timer_set(loop, &t[i], base - 1000 + rand_r(&seed) % 1000);
    }
    for (int i = 0; i < N; i += 3)
        cos__timer_unset(loop, &t[i]);
    for (int i = 1; i < N; i += 3)
        cos__timer_set(loop, &t[i], base - 1000 + rand_r(&seed) % 1000);
    cos__loop_turn(loop, 0);
    ok(fired_in_order && last_at, "5,000 timers, set, moved and unset, fire in order");
    free(t);
}

/* --- descriptors ---------------------------------------------------------------------- */

struct pipe_watch {
    struct cos__watch watch;
    struct pipe_watch *other;
    const char *name;
};

static void pipe_ready(struct cos__watch *watch, unsigned events)
{
    struct pipe_watch *self = (struct pipe_watch *)watch;
    char byte;
    say(events & COS__IN ? self->name : "?");
    if (read(watch->fd, &byte, 1) < 0)
        say("unreadable");
    if (self->other)
        cos__watch_set(loop, &self->other->watch, 0);
}

static void test_watches(void)
{
    int p[2], q[2];
    struct pipe_watch a = {.watch.ready = pipe_ready, .name = "one"};
    struct pipe_watch b = {.watch.ready = pipe_ready, .name = "one"};
    if (pipe(p) || pipe(q))
        BAIL_OUT("no pipes");
    a.watch.fd = p[0];
    b.watch.fd = q[0];
    a.other = &b;
    b.other = &a;
    cos__watch_set(loop, &a.watch, COS__IN);
    cos__watch_set(loop, &b.watch, COS__IN);
    if (write(p[1], "x", 1) != 1 || write(q[1], "x", 1) != 1)
        BAIL_OUT("no write");
    cos__loop_turn(loop, -1);
    is(heard(), "one ", "a watch taken out by another one of the same batch is not called");
    cos__watch_set(loop, &a.watch, 0);
    cos__watch_set(loop, &b.watch, 0);
    a.watch = (struct cos__watch){.fd = 12345, .ready = pipe_ready};
    cmp_ok(cos__watch_set(loop, &a.watch, COS__IN), "<", 0, "no such descriptor");
    close(p[0]), close(p[1]), close(q[0]), close(q[1]);
}

/* --- posts ---------------------------------------------------------------------------- */

enum { POSTERS = 4, POSTS = 20000 };
struct post {
    struct cos__task task;
    int from, number;
};
static struct post posts[POSTERS][POSTS];
static int next_of[POSTERS], out_of_order, arrived;

static void posted(struct cos__task *task)
{
    struct post *post = (struct post *)task;
    if (post->number != next_of[post->from]++)
        out_of_order = 1;
    arrived++;
}

static void *poster(void *arg)
{
    int from = (int)(intptr_t)arg;
    for (int i = 0; i < POSTS; i++) {
        posts[from][i] = (struct post){{.run = posted}, from, i};
        cos__loop_post(loop, &posts[from][i].task);
    }
    return NULL;
}

static void test_posts(void)
{
    pthread_t t[POSTERS];
    for (int i = 0; i < POSTERS; i++)
        pthread_create(&t[i], NULL, poster, (void *)(intptr_t)i);
    while (arrived < POSTERS * POSTS)
        cos__loop_turn(loop, dill_now() + 5000);
    for (int i = 0; i < POSTERS; i++)
        pthread_join(t[i], NULL);
    ok(!out_of_order, "%d posts of %d threads, each thread's in order", arrived, POSTERS);
}

/* --- drivers ---------------------------------------------------------------------------- */

static int finished;

static coroutine void sleeper(int64_t deadline)
{
    struct cos_op *op = cos__sleep_op(deadline);
    finished += cos__op_await(op, -1) == 0;
    cos__op_free(op);
}

static void done_cb(int err, void *arg)
{
    *(int *)arg += err == 0;
}

/* Coroutines wait for the pump, cps_run takes over, the pump goes on. */
static void test_both(void)
{
    struct cps_rt *rt;
    int called = 0, crowd = bundle();
    cps_open(&rt);
    for (int i = 1; i <= 6; i++)
        bundle_go(crowd, sleeper(now() + 10 * i));
    cps_sleep(rt, now() + 5, done_cb, &called);
    cps_sleep(rt, now() + 35, done_cb, &called);
    cmp_ok(cps_run(rt), "==", 0, "cps_run drives");
    cmp_ok(called, "==", 2, "its callbacks ran");
    cmp_ok(finished, ">=", 3, "and the coroutines' operations completed meanwhile");
    bundle_wait(crowd, now() + 2000);
    cmp_ok(finished, "==", 6, "the pump drives again afterwards");
    hclose(crowd);
    cps_close(rt);
}

static struct cps_rt *shared;
static int run_result;

static coroutine void runner(void)
{
    run_result = cps_run(shared);
}

static coroutine void starter(int *called)
{
    cps_sleep(shared, now() + 1, done_cb, called);
    cps_defer(shared, done_cb, called);
}

static void test_cancelled_run(void)
{
    int called = 0, h, crowd = bundle();
    cps_open(&shared);
    finished = 0;
    cps_sleep(shared, now() + 10000, done_cb, &called);
    h = go(runner());
    bundle_go(crowd, sleeper(now() + 20));
    bundle_go(crowd, starter(&called));
    msleep(now() + 15);
    cmp_ok(called, "==", 2, "work started by another coroutine reaches a cps_run that sleeps");
    cmp_ok(cps_run(shared), "==", COS_EBUSY, "one cps_run at a time");
    hclose(h);
    cmp_ok(run_result, "==", COS_ECANCELED, "cps_run in a closed coroutine");
    bundle_wait(crowd, now() + 2000);
    cmp_ok(finished, "==", 1, "other coroutines' operations go on without it");
    hclose(crowd);
    cmp_ok(cps_close(shared), "==", COS_EBUSY, "the runtime has something pending");
    cps_cancel(shared, (int64_t)1); /* no such ticket: harmless */
    cmp_ok((int)cps_pending(shared), "==", 1, "the sleeping one");
}

static void stop_it(int err, void *arg)
{
    (void)err;
    cps_stop(arg);
}

static void test_stop(void)
{
    cps_defer(shared, stop_it, shared);
    cmp_ok(cps_run(shared), "==", 0, "cps_stop ends cps_run");
    cmp_ok((int)cps_pending(shared), "==", 1, "with something left");
}

/* In the steady state the pump needs no kick: whom it wakes starts the next
 * operation before it sleeps again. */
static coroutine void repeat(int n)
{
    while (n--) {
        struct cos_op *op = cos__sleep_op(now());
        cos__op_await(op, -1);
        cos__op_free(op);
    }
}

static void test_kicks(void)
{
    struct cos__loop_stats before = cos__loop_stats(loop), after;
    int crowd = bundle();
    for (int i = 0; i < 10; i++)
        bundle_go(crowd, repeat(200));
    bundle_wait(crowd, -1);
    hclose(crowd);
    after = cos__loop_stats(loop);
    cmp_ok((int)(after.kicks - before.kicks), "<=", 20, "2,000 operations, %d kicks",
           (int)(after.kicks - before.kicks));
    cmp_ok((int)(after.pumps), "==", 1, "one pump for all");
}

/* A driver that never has to wait lets the others run. */
static int ticks;

static coroutine void ticker(void)
{
    while (msleep(now() + 1) == 0)
        ticks++;
}

struct spin {
    struct cps_rt *rt;
    int64_t until;
};

static void spin(int err, void *arg)
{
    struct spin *s = arg;
    (void)err;
    if (now() < s->until)
        cps_immediate(s->rt, spin, s);
}

static void test_fair(void)
{
    struct spin s = {.until = now() + 100};
    int h = go(ticker());
    cps_open(&s.rt);
    cps_immediate(s.rt, spin, &s);
    cps_run(s.rt);
    hclose(h);
    cps_close(s.rt);
    cmp_ok(ticks, ">=", 5, "coroutines run beside a chain of immediates: %d ticks", ticks);
}

static void *other_thread(void *arg)
{
    struct cos__loop *mine = cos__loop();
    *(int *)arg = mine && mine != loop && cos_sleep(now() + 1) == 0;
    cos_shutdown();
    return NULL;
}

static void test_threads(void)
{
    pthread_t t;
    int good = 0;
    pthread_create(&t, NULL, other_thread, &good);
    pthread_join(t, NULL);
    ok(good, "another thread has a loop of its own");
}

int main(void)
{
    plan(NO_PLAN);
    cos_buf_init(&said, 10000);
    loop = cos__loop();
    if (!loop)
        BAIL_OUT("no loop");
    test_tasks();
    test_timers();
    test_heap();
    test_watches();
    test_posts();
    test_both();
    test_kicks();
    test_cancelled_run();
    test_stop();
    test_fair();
    test_threads();
    cos_buf_release(&said);
    done_testing();
}
