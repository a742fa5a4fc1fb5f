/* flow_queue.t - the task queue of the coroutine face: order, bounds, events. */
#include "tap.h"

#include "base/err.h"
#include "flow/flow.h"
#include "flow/queue.h"

#include <libdill.h>
#include <stdint.h>
#include <string.h>

static int order[64], ended, events[8], errors_done;
static size_t peak, in_flight;

static void reset(void)
{
    memset(events, 0, sizeof events);
    ended = errors_done = 0;
    peak = in_flight = 0;
}

static void on_event(enum cos_flow_event event, void *item, int err, void *arg)
{
    (void)item;
    (void)err;
    (void)arg;
    events[event]++;
}

static void on_done(void *item, int err, void *arg)
{
    (void)arg;
    if (ended < 64)
        order[ended] = (int)(intptr_t)item;
    ended++;
    errors_done += err != 0;
}

static int quick(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue;
    (void)item;
    (void)arg;
    return 0;
}

static int slow(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue;
    (void)item;
    (void)arg;
    if (++in_flight > peak)
        peak = in_flight;
    msleep(now() + 2);
    in_flight--;
    return 0;
}

static int odd_fails(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)queue;
    (void)arg;
    return (intptr_t)item % 2 ? COS_EIO : 0;
}

static struct cos_flow_queue *make(struct cos_flow_queue_opts opts)
{
    struct cos_flow_queue *queue = NULL;
    opts.done = on_done;
    opts.event = on_event;
    reset();
    if (cos_flow_queue_new(&opts, &queue))
        BAIL_OUT("no queue");
    return queue;
}

static void push_n(struct cos_flow_queue *queue, int n)
{
    for (intptr_t i = 0; i < n; i++)
        if (cos_flow_queue_push(queue, (void *)i, -1))
            diag("push %d failed", (int)i);
}

static void fifo_and_empty(void)
{
    struct cos_flow_queue *queue =
        make((struct cos_flow_queue_opts){.concurrency = 1, .work = quick});
    int sorted = 1;
    push_n(queue, 10);
    cmp_ok(ended, "==", 0, "C27 push never runs a task inside the call");
    cmp_ok(cos_flow_queue_drain(queue, -1), "==", 0, "drain");
    for (int i = 0; i < 10; i++)
        sorted &= order[i] == i;
    ok(sorted && ended == 10, "C27 first in, first out");
    cmp_ok(events[COS_FLOW_EMPTY], "==", 1, "C29 ten synchronous tasks, one empty");
    push_n(queue, 3);
    cos_flow_queue_drain(queue, -1);
    cmp_ok(events[COS_FLOW_EMPTY], "==", 2, "C29 a second busy period, a second empty");
    cos_flow_queue_free(queue);
    queue = make((struct cos_flow_queue_opts){.concurrency = 3, .work = quick});
    push_n(queue, 10);
    cos_flow_queue_drain(queue, -1);
    cmp_ok(events[COS_FLOW_EMPTY], "==", 1, "C29 also with three workers");
    cos_flow_queue_free(queue);
}

static void limits(void)
{
    struct cos_flow_queue *queue =
        make((struct cos_flow_queue_opts){.concurrency = 4, .work = slow});
    push_n(queue, 40);
    cos_flow_queue_drain(queue, -1);
    cmp_ok(peak, "==", 4, "C25 never more than the limit, and all of it used");
    cmp_ok(events[COS_FLOW_SATURATED], ">=", 1, "C29 saturated was told");
    cmp_ok(events[COS_FLOW_UNSATURATED], ">=", 1, "C29 unsaturated was told");
    cmp_ok(cos_flow_queue_concurrency(queue, 8), "==", 0, "C27 more workers");
    peak = 0;
    push_n(queue, 40);
    cos_flow_queue_drain(queue, -1);
    cmp_ok(peak, "==", 8, "C27 they work");
    cmp_ok(cos_flow_queue_concurrency(queue, 2), "==", 0, "C27 fewer workers");
    peak = 0;
    push_n(queue, 20);
    cos_flow_queue_drain(queue, -1);
    cmp_ok(peak, "==", 2, "C27 the surplus is gone");
    cmp_ok(cos_flow_queue_concurrency(queue, 0), "==", COS_EINVAL, "C25 no workers is an error");
    cos_flow_queue_free(queue);
}

static void failing(void)
{
    struct cos_flow_queue *queue =
        make((struct cos_flow_queue_opts){.concurrency = 2, .work = odd_fails});
    push_n(queue, 20);
    cos_flow_queue_drain(queue, -1);
    cmp_ok(ended, "==", 20, "C28 errors do not stop the queue");
    cmp_ok(errors_done, "==", 10, "C28 each error is reported with its item");
    cmp_ok(events[COS_FLOW_ERROR], "==", 10, "C28 and as an event");
    cmp_ok(cos_flow_queue_running(queue), "==", 0, "C28 every slot was released");
    cos_flow_queue_free(queue);
}

static int pushed_inside, inside_err;
static int breeder(struct cos_flow_queue *queue, void *item, void *arg)
{
    (void)arg;
    if ((intptr_t)item != 0)
        return 0;
    for (intptr_t i = 1; i <= 20; i++) {
        int err = cos_flow_queue_push(queue, (void *)i, -1);
        if (err)
            inside_err = err;
        else
            pushed_inside++;
    }
    return 0;
}

static coroutine void producer(struct cos_flow_queue *queue, int n, int *sent)
{
    for (intptr_t i = 0; i < n; i++)
        if (cos_flow_queue_push(queue, (void *)i, -1) == 0)
            ++*sent;
}

static void bounded(void)
{
    struct cos_flow_queue *queue = make(
        (struct cos_flow_queue_opts){.concurrency = 1, .capacity = 4, .overflow = 8, .work = slow});
    int sent = 0, h = go(producer(queue, 30, &sent));
    cmp_ok(cos_flow_queue_waiting(queue), "<=", 5, "C27b a producer parks when the queue is full");
    cmp_ok(sent, "<", 30, "C27b it has not sent everything yet");
    bundle_wait(h, -1);
    cos_flow_queue_drain(queue, -1);
    cmp_ok(ended, "==", 30, "C27b all of it arrives");
    push_n(queue, 5);
    cmp_ok(cos_flow_queue_push(queue, NULL, now() + 1), "==", COS_ETIMEDOUT,
           "C27b a full queue times the producer out and keeps nothing of it");
    hclose(h);
    cos_flow_queue_free(queue);
    cmp_ok(errors_done, ">=", 1, "C27 free reports what still waited");

    queue = make((struct cos_flow_queue_opts){.concurrency = 1, .capacity = 4, .overflow = 8,
                                              .work = breeder});
    cos_flow_queue_push(queue, NULL, -1);
    cmp_ok(cos_flow_queue_drain(queue, now() + 1000), "==", 0,
           "C27b pushing from inside a task never deadlocks");
    cmp_ok(pushed_inside, "==", 12, "C27b the overflow takes up to its ceiling");
    cmp_ok(inside_err, "==", COS_EFULL, "C27b and beyond it says so");
    cos_flow_queue_free(queue);
}

static void control(void)
{
    struct cos_flow_queue *queue =
        make((struct cos_flow_queue_opts){.concurrency = 1, .by_priority = 1, .work = quick});
    cos_flow_queue_pause(queue);
    for (intptr_t i = 0; i < 5; i++)
        cos_flow_queue_push_priority(queue, (void *)i, (int)(5 - i), -1);
    msleep(now() + 2);
    cmp_ok(ended, "==", 0, "C27 a paused queue hands nothing out");
    cos_flow_queue_resume(queue);
    cos_flow_queue_drain(queue, -1);
    ok(order[0] == 4 && order[4] == 0, "C27 lowest priority number first");
    cos_flow_queue_free(queue);

    queue = make((struct cos_flow_queue_opts){.concurrency = 1, .work = slow});
    push_n(queue, 5);
    yield();
    cos_flow_queue_kill(queue);
    cmp_ok(errors_done, "==", 4, "C27 kill reports the waiting items as cancelled");
    cmp_ok(cos_flow_queue_push(queue, NULL, -1), "==", COS_ECLOSED, "C27 and takes no more");
    cmp_ok(cos_flow_queue_drain(queue, now() + 1000), "==", 0, "C27 the running one ends well");
    cos_flow_queue_free(queue);
}

static size_t batches, biggest;
static int load(struct cos_flow_queue *queue, void **items, size_t count, void *arg)
{
    (void)queue;
    (void)items;
    (void)arg;
    batches++;
    if (count > biggest)
        biggest = count;
    return 0;
}

static void cargo(void)
{
    struct cos_flow_queue *queue =
        make((struct cos_flow_queue_opts){.concurrency = 1, .cargo = 4, .run_cargo = load});
    push_n(queue, 11);
    cos_flow_queue_drain(queue, -1);
    cmp_ok(biggest, "==", 4, "C29b cargo hands out up to its size");
    cmp_ok(batches, "<=", 4, "C29b in few batches");
    cmp_ok(ended, "==", 11, "C29b every item is reported");
    cos_flow_queue_free(queue);
}

int main(void)
{
    struct cos_flow_queue *queue;
    plan(NO_PLAN);
    fifo_and_empty();
    limits();
    failing();
    bounded();
    control();
    cargo();
    cmp_ok(cos_flow_queue_new(&(struct cos_flow_queue_opts){.work = quick}, &queue), "==",
           COS_EINVAL, "C25 concurrency 0 is an error");
    done_testing();
}
