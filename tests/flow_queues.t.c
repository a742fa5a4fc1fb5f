/* flow_queues.t - the task queue on both faces from one script: order, bounds,
 * events, control, life. A task ends when the script says so, and everything is
 * written into one log: +i it starts, -i it is done, !i it failed, S U L E the
 * events saturated, unsaturated, last out and empty. */
#include "tap.h"

#include "coscrawl-cps.h"

#include <libdill.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 16 };

static char trace[512];
static struct item {
    int id;
    int sync, err;
    int ch[2];    /* coroutine face */
    cps_cb *done; /* callback face */
    void *token;
    int runs;
    void (*inside)(void *queue); /* called when it runs */
} items[ITEMS];

static void write_down(const char *what, const struct item *item)
{
    size_t len = strlen(trace);
    if (item)
        snprintf(trace + len, sizeof trace - len, "%s%d ", what, item->id);
    else
        snprintf(trace + len, sizeof trace - len, "%s ", what);
}

static void on_done(void *item, int err, void *arg)
{
    (void)arg;
    write_down(err == COS_ECANCELED ? "x" : err ? "!" : "-", item);
}

static void on_event(enum cos_flow_event event, void *item, int err, void *arg)
{
    static const char *const names[] = {"E", "L", "S", "U"};
    (void)arg;
    (void)err;
    if (event != COS_FLOW_ERROR)
        write_down(names[event], event == COS_FLOW_LAST_OUT ? item : NULL);
}

/* --- the two faces ---------------------------------------------------------------------- */

struct opts {
    int concurrency, buffer, by_priority, quiet;
    size_t capacity, overflow, cargo;
};

static struct face {
    const char *name;
    void *(*make)(const struct opts *opts);
    int (*add)(void *queue, struct item *item, int priority);
    void (*push)(void *queue, struct item *item, int *said); /* may wait for room */
    void (*drain)(void *queue, int *said);
    void (*finish)(struct item *item);
    void (*settle)(void);
    void (*pause)(void *queue), (*kill)(void *queue), (*free)(void *queue);
    void (*resume)(void *queue);
    int (*concurrency)(void *queue, int n);
    size_t (*waiting)(void *queue), (*running)(void *queue);
} const *face;

static int co_work(struct cos_flow_queue *queue, void *arg_item, void *arg)
{
    struct item *item = arg_item;
    int rc = 0;
    (void)arg;
    item->runs = 1;
    write_down("+", item);
    if (item->inside)
        item->inside(queue);
    if (!item->sync) {
        chmake(item->ch);
        rc = chrecv(item->ch[0], NULL, 0, -1);
        hclose(item->ch[0]);
        hclose(item->ch[1]);
    }
    item->runs = 0;
    return rc < 0 ? COS_ECANCELED : item->err;
}

static int co_cargo(struct cos_flow_queue *queue, void **list, size_t count, void *arg)
{
    for (size_t i = 1; i < count; i++)
        write_down("&", list[i]);
    return co_work(queue, list[0], arg);
}

static void *co_make(const struct opts *o)
{
    struct cos_flow_queue_opts opts = {
        .concurrency = o->concurrency, .buffer = o->buffer, .by_priority = o->by_priority,
        .capacity = o->capacity, .overflow = o->overflow, .cargo = o->cargo,
        .work = o->cargo ? NULL : co_work, .run_cargo = o->cargo ? co_cargo : NULL,
        .done = o->quiet ? NULL : on_done, .event = o->quiet ? NULL : on_event};
    struct cos_flow_queue *queue = NULL;
    cos_flow_queue_new(&opts, &queue);
    return queue;
}

static int co_add(void *queue, struct item *item, int priority)
{
    return cos_flow_queue_add(queue, item, priority);
}

static coroutine void co_push_it(void *queue, struct item *item, int *said)
{
    *said = cos_flow_queue_push(queue, item, -1);
}

static int waiters = -1;
static void co_push(void *queue, struct item *item, int *said)
{
    bundle_go(waiters, co_push_it(queue, item, said));
}

static coroutine void co_drain_it(void *queue, int *said)
{
    *said = cos_flow_queue_drain(queue, -1);
}

static void co_drain(void *queue, int *said)
{
    bundle_go(waiters, co_drain_it(queue, said));
}

static void co_settle(void)
{
    for (int i = 0; i < 40; i++)
        yield();
}

static void co_finish(struct item *item)
{
    if (item->runs)
        chsend(item->ch[1], NULL, 0, -1);
    co_settle();
}

static void co_pause(void *queue)
{
    cos_flow_queue_pause(queue);
}

static void co_resume(void *queue)
{
    cos_flow_queue_resume(queue);
}

static void co_kill(void *queue)
{
    cos_flow_queue_kill(queue);
}

static void co_free(void *queue)
{
    cos_flow_queue_free(queue);
}

static int co_concurrency(void *queue, int n)
{
    return cos_flow_queue_concurrency(queue, n);
}

static size_t co_waiting(void *queue)
{
    return cos_flow_queue_waiting(queue);
}

static size_t co_running(void *queue)
{
    return cos_flow_queue_running(queue);
}

static struct cps_rt *rt;

static void cps_work(struct cps_flow_queue *queue, void *arg_item, void *arg, cps_cb *done,
                     void *token)
{
    struct item *item = arg_item;
    (void)arg;
    item->runs = 1;
    write_down("+", item);
    if (item->inside)
        item->inside(queue);
    item->done = done;
    item->token = token;
    if (item->sync) {
        item->runs = 0;
        done(item->err, token);
    }
}

static void cps_cargo(struct cps_flow_queue *queue, void **list, size_t count, void *arg,
                      cps_cb *done, void *token)
{
    for (size_t i = 1; i < count; i++)
        write_down("&", list[i]);
    cps_work(queue, list[0], arg, done, token);
}

static void *cps_make(const struct opts *o)
{
    struct cps_flow_queue_opts opts = {
        .concurrency = o->concurrency, .buffer = o->buffer, .by_priority = o->by_priority,
        .capacity = o->capacity, .overflow = o->overflow, .cargo = o->cargo,
        .work = o->cargo ? NULL : cps_work, .run_cargo = o->cargo ? cps_cargo : NULL,
        .done = o->quiet ? NULL : on_done, .event = o->quiet ? NULL : on_event};
    struct cps_flow_queue *queue = NULL;
    cps_flow_queue_new(rt, &opts, &queue);
    return queue;
}

static int cps_add(void *queue, struct item *item, int priority)
{
    return cps_flow_queue_add(queue, item, priority);
}

static void heard(int err, void *said)
{
    *(int *)said = err;
}

static void cps_push(void *queue, struct item *item, int *said)
{
    cps_flow_queue_push(queue, item, -1, heard, said);
}

static void cps_drain(void *queue, int *said)
{
    cps_flow_queue_drain(queue, -1, heard, said);
}

static void stop_waiting(int err, void *arg)
{
    (void)err;
    (void)arg;
    cps_stop(rt);
}

/* Pushes and drains that wait keep cps_run() at work; two looks at nothing are
 * enough for everything else. */
static void cps_settle(void)
{
    for (int i = 0; i < 3; i++) {
        cps_immediate(rt, stop_waiting, NULL);
        cps_run(rt);
    }
}

static void cps_finish(struct item *item)
{
    if (item->runs) {
        item->runs = 0;
        item->done(item->err, item->token);
    }
    cps_settle();
}

static void cps_pause(void *queue)
{
    cps_flow_queue_pause(queue);
}

static void cps_resume(void *queue)
{
    cps_flow_queue_resume(queue);
}

static void cps_kill(void *queue)
{
    cps_flow_queue_kill(queue);
}

static void cps_free(void *queue)
{
    cps_flow_queue_free(queue);
}

static int cps_concurrency(void *queue, int n)
{
    return cps_flow_queue_concurrency(queue, n);
}

static size_t cps_waiting(void *queue)
{
    return cps_flow_queue_waiting(queue);
}

static size_t cps_running(void *queue)
{
    return cps_flow_queue_running(queue);
}

#define FACE(f)                                                                                    \
    {                                                                                              \
        #f, f##_make, f##_add, f##_push, f##_drain, f##_finish, f##_settle, f##_pause, f##_kill,   \
            f##_free, f##_resume, f##_concurrency, f##_waiting, f##_running                        \
    }
static const struct face faces[] = {FACE(co), FACE(cps)};

/* --- the script ------------------------------------------------------------------------------ */

static void *begin(struct opts opts)
{
    trace[0] = 0;
    for (int i = 0; i < ITEMS; i++)
        items[i] = (struct item){.id = i};
    return face->make(&opts);
}

static void add(void *queue, int from, int to)
{
    for (int i = from; i <= to; i++)
        face->add(queue, &items[i], 0);
    face->settle();
}

static void finish(int from, int to)
{
    for (int i = from; i <= to; i++)
        face->finish(&items[i]);
}

static void expect(const char *log, const char *what)
{
    size_t len = strlen(trace);
    if (len)
        trace[len - 1] = 0;
    is(trace, log, "%s, %s", what, face->name);
    trace[0] = 0;
}

static void events(void)
{
    void *queue = begin((struct opts){.concurrency = 1});
    for (int i = 0; i < 10; i++) {
        items[i].sync = 1;
        face->add(queue, &items[i], 0);
    }
    expect("", "C27 pushing runs nothing");
    face->settle();
    expect("S +0 -0 U S +1 -1 U S +2 -2 U S +3 -3 U S +4 -4 U S +5 -5 U S +6 -6 U S +7 -7 U S +8 "
           "-8 U L9 S +9 -9 U E",
           "C29 ten synchronous tasks, one empty, the last out told");
    add(queue, 0, 0);
    expect("L0 S +0 -0 U E", "C29 one more empty per busy period");
    face->free(queue);

    queue = begin((struct opts){.concurrency = 4});
    add(queue, 0, 5);
    expect("+0 +1 +2 S +3", "C29 saturated when every worker is busy");
    finish(0, 2);
    expect("-0 U S +4 -1 U L5 S +5 -2 U",
           "C29 unsaturated once a quarter of them is not");
    finish(3, 5);
    expect("-3 -4 -5 E", "C29 empty when nothing waits and nothing runs");
    face->free(queue);

    queue = begin((struct opts){.concurrency = 4, .buffer = 2});
    add(queue, 0, 3);
    trace[0] = 0;
    finish(0, 3);
    expect("-0 -1 U -2 -3 E", "C29 unsaturated at running <= concurrency - buffer");
    face->free(queue);

    queue = begin((struct opts){.concurrency = 4, .buffer = -1});
    add(queue, 0, 3);
    trace[0] = 0;
    finish(0, 3);
    expect("-0 U -1 -2 -3 E", "C29 without a buffer at the first that ends");
    face->free(queue);
}

static void control(void)
{
    void *queue = begin((struct opts){.concurrency = 2});
    int said = 77;
    add(queue, 0, 2);
    face->pause(queue);
    finish(0, 1);
    expect("+0 S +1 -0 U -1", "C27 paused: what runs goes on, nothing starts");
    cmp_ok(face->waiting(queue), "==", 1, "C27 and the rest waits, %s", face->name);
    face->resume(queue);
    face->settle();
    expect("L2 +2", "C27 resumed");
    finish(2, 2);
    trace[0] = 0;
    cmp_ok(face->concurrency(queue, 3), "==", 0, "C27 a higher limit, %s", face->name);
    add(queue, 0, 3);
    expect("+0 +1 S +2", "C27 holds at once");
    face->concurrency(queue, 1);
    face->concurrency(queue, 2);
    finish(0, 1);
    expect("-0 -1 U L3 S +3", "C27 a lower one when tasks end");
    cmp_ok(face->concurrency(queue, 0), "==", COS_EINVAL, "C25 0 is none, %s", face->name);
    add(queue, 4, 5);
    face->drain(queue, &said);
    face->kill(queue);
    expect("x4 x5", "C27 kill drops what waits and tells whose it was");
    cmp_ok(face->add(queue, &items[6], 0), "==", COS_ECLOSED, "C27 and takes no more, %s",
           face->name);
    finish(2, 3);
    expect("-2 U -3", "C27 what ran ends well, and there is no empty after a kill");
    cmp_ok(said, "==", 0, "C27 who drained is told, %s", face->name);
    face->free(queue);
}

static void order(void)
{
    void *queue = begin((struct opts){.concurrency = 1, .by_priority = 1});
    face->pause(queue);
    face->add(queue, &items[0], 5);
    face->add(queue, &items[1], -3);
    face->add(queue, &items[2], 5);
    face->add(queue, &items[3], 0);
    face->resume(queue);
    face->settle();
    finish(1, 1);
    finish(3, 3);
    finish(0, 0);
    finish(2, 2);
    expect("S +1 -1 U S +3 -3 U S +0 -0 U L2 S +2 -2 U E",
           "C27 by priority, equal ones in their order");
    face->free(queue);
    queue = begin((struct opts){.concurrency = 2, .cargo = 3});
    face->pause(queue);
    add(queue, 0, 6);
    face->resume(queue);
    face->settle();
    expect("&1 &2 +0 S &4 &5 +3", "C29b cargoes of three, two of them are the limit");
    items[0].err = COS_EIO;
    finish(0, 0);
    expect("!0 !1 !2 U L6 S +6", "C29b one answer for all of a cargo");
    finish(3, 6);
    trace[0] = 0;
    face->free(queue);
}

static void failures(void)
{
    void *queue = begin((struct opts){.concurrency = 2, .quiet = 1});
    int said = 77;
    for (int i = 0; i < 8; i++)
        items[i] = (struct item){.id = i, .sync = i % 2, .err = COS_EIO};
    add(queue, 0, 7);
    face->drain(queue, &said);
    for (int i = 0; i < 8; i++)
        finish(i, i);
    expect("+0 +1 +2 +3 +4 +5 +6 +7", "C28 errors nobody listens to stop nothing");
    ok(said == 0 && face->running(queue) == 0, "C28 every slot was released, %s", face->name);
    face->free(queue);
}

static int inside_said[4];
static void *inside_queue;
static void push_inside(void *queue)
{
    inside_queue = queue;
    for (int i = 0; i < 4; i++)
        inside_said[i] = face->add(queue, &items[4 + i], 0);
}

static void bounds(void)
{
    int said[6] = {77, 77, 77, 77, 77, 77}, in = 0;
    void *queue = begin((struct opts){.concurrency = 1, .capacity = 2, .overflow = 3});
    add(queue, 0, 0);
    for (int i = 0; i < 5; i++)
        face->push(queue, &items[1 + i], &said[i]);
    face->settle();
    for (int i = 0; i < 5; i++)
        in += said[i] == 0;
    cmp_ok(in, "==", 2, "C27b a full queue lets producers wait, %s", face->name);
    cmp_ok(face->waiting(queue), "==", 5, "C27b all of them count as waiting, %s", face->name);
    finish(0, 1);
    ok(said[3] == 0 && said[4] == 77, "C27b each task that leaves lets one in, %s", face->name);
    face->kill(queue);
    face->settle();
    cmp_ok(said[4], "==", COS_ECLOSED, "C27b a kill sends the last one away, %s", face->name);
    finish(2, 2);
    face->free(queue);

    queue = begin((struct opts){.concurrency = 1, .capacity = 1, .overflow = 2});
    items[0].inside = push_inside;
    add(queue, 0, 0);
    ok(!inside_said[0] && !inside_said[1] && !inside_said[2],
       "C27b from inside the overflow takes what has no room, %s", face->name);
    cmp_ok(inside_said[3], "==", COS_EFULL, "C27b up to its own ceiling, %s", face->name);
    finish(0, 0);
    /* Task 4 runs, 5 and 6 wait: one above the capacity. From the outside this
     * would wait; what task 0 was given is the inside for whoever holds it. */
    said[0] = 77;
    face->push(inside_queue, &items[7], &said[0]);
    face->settle();
    cmp_ok(said[0], "==", 0, "C27b a task's own coroutines push from inside, too, %s",
           face->name);
    finish(4, 7);
    expect("L0 S +0 -0 U S +4 -4 U S +5 -5 U S +6 -6 U L7 S +7 -7 U E",
           "C27b and there is no deadlock");
    face->free(queue);
}

static void life(void)
{
    int drain = 77, push = 77;
    void *queue = begin((struct opts){.concurrency = 1, .capacity = 1});
    add(queue, 0, 1);
    face->push(queue, &items[2], &push);
    face->drain(queue, &drain);
    face->settle();
    trace[0] = 0;
    face->free(queue);
    finish(0, 0);
    face->settle();
    cmp_ok(push, "==", COS_ECLOSED, "C27b freed: who waited for room is told, %s", face->name);
    cmp_ok(drain, "==", COS_ECLOSED, "C29 freed: who drained is told, %s", face->name);
    ok(strstr(trace, "x1"), "C27 freed: what waited is reported, %s", face->name);
}

int main(void)
{
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    waiters = bundle();
    for (face = faces; face < faces + 2; face++) {
        events();
        control();
        order();
        failures();
        bounds();
        life();
    }
    hclose(waiters);
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
