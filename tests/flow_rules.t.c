/* flow_rules.t - rules of control flow that are more than one cell of the matrix,
 * on both faces: a static sequence, sources without end, graphs, races for the
 * first k, limits that are none, retries, deadlines between steps. */
#include "tap.h"

#include "base/loop.h"
#include "coscrawl-cps.h"
#include "flow/backoff.h"

#include <libdill.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct cps_rt *rt;
static char trace[512];
static int finals, final_err;
static size_t final_count;

static void reset(void)
{
    trace[0] = 0;
    finals = 0;
    final_err = 77;
}

static void final(int err, const struct cps_flow_result *result, void *arg)
{
    (void)arg;
    finals++;
    final_err = err;
    final_count = result->count;
}

/* --- C19: three tasks that wait 50, 10 and 20 ms ---------------------------------- */

static const int waits[] = {50, 10, 20};
static const char *const names[] = {"1", "2", "3"};

static int wait_task(void *result, void *arg)
{
    size_t i = (size_t)arg;
    (void)result;
    if (msleep(now() + waits[i]) < 0)
        return COS_ECANCELED;
    strcat(trace, names[i]);
    return 0;
}

struct answer {
    cps_cb *done;
    void *token;
    size_t index;
};

static void waited(int err, void *arg)
{
    struct answer a = *(struct answer *)arg;
    free(arg);
    strcat(trace, names[a.index]);
    if (a.done)
        a.done(err, a.token);
}

static void cps_wait_task(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    struct answer *a = malloc(sizeof *a);
    (void)result;
    *a = (struct answer){done, token, (size_t)arg};
    cps_sleep(r, now() + waits[a->index], waited, a);
}

static coroutine void naive(size_t i)
{
    wait_task(NULL, (void *)i);
}

static void static_sequence(void)
{
    struct cos_flow_task tasks[3];
    struct cps_flow_task cps_tasks[3];
    int b = bundle();
    for (size_t i = 0; i < 3; i++) {
        tasks[i] = (struct cos_flow_task){wait_task, (void *)i};
        cps_tasks[i] = (struct cps_flow_task){cps_wait_task, (void *)i};
    }
    reset();
    for (size_t i = 0; i < 3; i++)
        bundle_go(b, naive(i));
    bundle_wait(b, -1);
    hclose(b);
    is(trace, "231", "C19 co: started without waiting they end 2, 3, 1");
    reset();
    cos_flow_series(tasks, 3, NULL, 0, -1);
    is(trace, "123", "C19 co: as a sequence 1, 2, 3");
    reset();
    for (size_t i = 0; i < 3; i++)
        cps_wait_task(rt, NULL, (void *)i, NULL, NULL);
    cps_run(rt);
    is(trace, "231", "C19 cps: started without waiting they end 2, 3, 1");
    reset();
    cps_flow_series(rt, cps_tasks, 3, 0, -1, final, NULL);
    cps_run(rt);
    ok(!strcmp(trace, "123") && finals == 1, "C19 cps: as a sequence 1, 2, 3");
}

/* --- C21b: a source without end --------------------------------------------------- */

static long asked, used;
static int endless(void *item, void *arg)
{
    (void)arg;
    *(long *)item = asked++;
    return 1;
}

static int ends_once(void *item, void *arg)
{
    (void)arg;
    *(long *)item = asked++;
    return asked <= 3;
}

static int use(const void *item, size_t index, void *result, void *arg)
{
    (void)index, (void)result, (void)arg;
    used++;
    return *(const long *)item == 999999 ? COS_ESTOP : 0;
}

static void cps_use(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                    cps_cb *done, void *token)
{
    (void)r;
    done(use(item, index, result, arg), token);
}

static int use_slowly(const void *item, size_t index, void *result, void *arg)
{
    yield();
    return use(item, index, result, arg);
}

static void later(int err, void *arg)
{
    struct answer a = *(struct answer *)arg;
    free(arg);
    used++;
    a.done(err, a.token);
}

static void cps_use_slowly(struct cps_rt *r, const void *item, size_t index, void *result,
                           void *arg, cps_cb *done, void *token)
{
    struct answer *a = malloc(sizeof *a);
    (void)item, (void)index, (void)result, (void)arg;
    *a = (struct answer){done, token, 0};
    cps_immediate(r, later, a);
}

static void sources(void)
{
    struct cos_flow_list list = {.size = sizeof(long), .next = endless};
    for (int limit = 1; limit <= 4; limit += 3) {
        asked = used = 0;
        cmp_ok(cos_flow_each(&list, limit, use, NULL, -1), "==", 0, "C21b co: limit %d", limit);
        ok(used == 1000000 && asked == used, "C21b co: a million of no end, then a stop");
        asked = used = 0;
        reset();
        cps_flow_each(rt, &list, limit, cps_use, NULL, -1, final, NULL);
        cps_run(rt);
        ok(!final_err && used == 1000000 && asked == used, "C21b cps: limit %d, the same", limit);
    }
    list.next = ends_once;
    asked = used = 0;
    cos_flow_each(&list, 3, use_slowly, NULL, -1);
    ok(used == 3 && asked == 4, "C21b co: a source that has ended is not asked again");
    asked = used = 0;
    cps_flow_each(rt, &list, 3, cps_use_slowly, NULL, -1, final, NULL);
    cps_run(rt);
    ok(used == 3 && asked == 4, "C21b cps: a source that has ended is not asked again");
    list.size = COS_FLOW_ITEM_MAX + 1;
    cmp_ok(cos_flow_each(&list, 1, use, NULL, -1), "==", COS_ETOOBIG, "C21b co: an item too big");
    reset();
    cps_flow_each(rt, &list, 1, cps_use, NULL, -1, final, NULL);
    cps_run(rt);
    cmp_ok(final_err, "==", COS_ETOOBIG, "C21b cps: an item too big");
}

/* --- C22: graphs ------------------------------------------------------------------ */

static int note_name(void *result, void *arg)
{
    if (result)
        *(int *)result = *(char *)arg;
    strcat(trace, arg);
    return *(char *)arg == '!' ? COS_EIO : 0;
}

static void cps_note_name(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r;
    done(note_name(result, arg), token);
}

static char word_a[] = "a", word_b[] = "b", word_c[] = "c", word_d[] = "d", word_bad[] = "!";
static const char *const on_ab[] = {"a", "b", NULL}, *const on_c[] = {"c", NULL};
static const char *const on_d[] = {"d", NULL}, *const on_x[] = {"x", NULL};

static struct graph_case {
    const char *what;
    const char *names[4];
    const char *const *needs[4];
    char *says[4];
    int err;
    const char *order;
} const graphs[] = {
    {"each after what it needs", {"d", "c", "b", "a"}, {on_c, on_ab, NULL, NULL},
     {word_d, word_c, word_b, word_a}, 0, "bacd"},
    {"an error skips what needs it", {"d", "c", "b", "a"}, {on_c, on_ab, NULL, NULL},
     {word_d, word_c, word_bad, word_a}, COS_EIO, "!"},
    {"a circle runs nothing", {"d", "c", "b", "a"}, {on_c, on_ab, NULL, on_d},
     {word_d, word_c, word_b, word_a}, COS_EINVAL, ""},
    {"nor does an unknown name", {"d", "c", "b", "a"}, {on_c, on_ab, NULL, on_x},
     {word_d, word_c, word_b, word_a}, COS_EINVAL, ""},
    {"nor one that is there twice", {"d", "c", "b", "b"}, {NULL, NULL, NULL, NULL},
     {word_d, word_c, word_b, word_a}, COS_EINVAL, ""},
    {"nor a node without a name", {"d", "c", "b", NULL}, {on_c, NULL, NULL, NULL},
     {word_d, word_c, word_b, word_a}, COS_EINVAL, ""},
};

static void run_graph(const struct graph_case *g)
{
    struct cos_flow_node nodes[4];
    struct cps_flow_node cps_nodes[4];
    int results[4] = {0};
    for (int i = 0; i < 4; i++) {
        nodes[i] = (struct cos_flow_node){g->names[i], g->needs[i], {note_name, g->says[i]}};
        cps_nodes[i] =
            (struct cps_flow_node){g->names[i], g->needs[i], {cps_note_name, g->says[i]}};
    }
    reset();
    cmp_ok(cos_flow_auto(nodes, 4, 2, results, sizeof results[0], -1), "==", g->err, "C22 co: %s",
           g->what);
    is(trace, g->order, "C22 co: %s", g->what);
    if (!g->err)
        ok(results[0] == 'd' && results[3] == 'a', "C22 co: each result in its node's slot");
    reset();
    cps_flow_auto(rt, cps_nodes, 4, 2, sizeof(int), -1, final, NULL);
    cps_run(rt);
    ok(final_err == g->err && finals == 1, "C22 cps: %s", g->what);
    is(trace, g->order, "C22 cps: %s", g->what);
}

static void too_many_nodes(void)
{
    struct cos_flow_node *nodes = calloc(1025, sizeof *nodes);
    struct cps_flow_node *cps_nodes = calloc(1025, sizeof *cps_nodes);
    cmp_ok(cos_flow_auto(nodes, 1025, 1, NULL, 0, -1), "==", COS_EINVAL, "C22 co: 1,025 nodes");
    cps_flow_auto(rt, cps_nodes, 1025, 1, 0, -1, final, NULL);
    cps_run(rt);
    cmp_ok(final_err, "==", COS_EINVAL, "C22 cps: 1,025 nodes");
    free(nodes);
    free(cps_nodes);
}

/* --- C24: the first k ------------------------------------------------------------- */

static size_t seen_winners[3];
static void race_final(int err, const struct cps_flow_result *result, void *arg)
{
    final(err, result, arg);
    for (size_t i = 0; i < 3; i++)
        seen_winners[i] = result->winners && i < result->count ? result->winners[i] : 99;
}

static void races(void)
{
    struct cos_flow_task tasks[3];
    struct cps_flow_task cps_tasks[3];
    size_t winners[4] = {9, 9, 9, 9};
    for (size_t i = 0; i < 3; i++) {
        tasks[i] = (struct cos_flow_task){wait_task, (void *)i};
        cps_tasks[i] = (struct cps_flow_task){cps_wait_task, (void *)i};
    }
    reset();
    cmp_ok(cos_flow_race(tasks, 3, 2, winners, NULL, 0, -1), "==", 0, "C24 co: the first two");
    ok(winners[0] == 1 && winners[1] == 2 && winners[2] == 9, "C24 co: in the order they came in");
    is(trace, "23", "C24 co: the third was cancelled");
    reset();
    cps_flow_race(rt, cps_tasks, 3, 2, 0, -1, race_final, NULL);
    cps_run(rt);
    ok(!final_err && final_count == 2 && seen_winners[0] == 1 && seen_winners[1] == 2,
       "C24 cps: the first two");
    is(trace, "231", "C24 cps: the third ended unheard");
    cmp_ok(cos_flow_race(tasks, 3, 4, winners, NULL, 0, -1), "==", COS_EINVAL, "C24 co: k > n");
    reset();
    cps_flow_race(rt, cps_tasks, 3, 4, 0, -1, race_final, NULL);
    cps_run(rt);
    cmp_ok(final_err, "==", COS_EINVAL, "C24 cps: k > n");
    reset();
    cmp_ok(cos_flow_race(tasks, 3, 0, NULL, NULL, 0, -1), "==", 0, "C24 co: k = 0");
    cps_flow_race(rt, cps_tasks, 3, 0, 0, -1, race_final, NULL);
    cps_run(rt);
    ok(!final_err && !final_count && !trace[0], "C24 both: k = 0 starts nothing");
}

/* --- C26: a limit per page is no global limit ------------------------------------- */

enum { TREE_DEPTH = 5, TREE_LIMIT = 2, TREE_NODES = (1 << (TREE_DEPTH + 1)) - 1 };
static int live, peak, visited;

static void enter_page(void)
{
    visited++;
    if (++live > peak)
        peak = live;
}

/* A page is loaded, then both of its links are followed, two at a time. */
static int visit(const void *item, size_t index, void *result, void *arg)
{
    int depth = *(const int *)item, next[2] = {depth - 1, depth - 1};
    struct cos_flow_list links = COS_FLOW_ARRAY(next);
    (void)index, (void)result, (void)arg;
    enter_page();
    msleep(now() + 1);
    live--;
    return depth ? cos_flow_each(&links, TREE_LIMIT, visit, NULL, -1) : 0;
}

struct page {
    int depth;
    cps_cb *done;
    void *token;
};

static void cps_visit(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                      cps_cb *done, void *token);

static void links_done(int err, const struct cps_flow_result *result, void *arg)
{
    struct page page = *(struct page *)arg;
    (void)result;
    free(arg);
    page.done(err, page.token);
}

static void page_loaded(int err, void *arg)
{
    struct page *page = arg;
    int next[2] = {page->depth - 1, page->depth - 1};
    struct cos_flow_list links = COS_FLOW_ARRAY(next);
    live--;
    if (!page->depth)
        links.count = 0;
    (void)err;
    cps_flow_each(rt, &links, TREE_LIMIT, cps_visit, NULL, -1, links_done, page);
}

static void cps_visit(struct cps_rt *r, const void *item, size_t index, void *result, void *arg,
                      cps_cb *done, void *token)
{
    struct page *page = malloc(sizeof *page);
    (void)index, (void)result, (void)arg;
    *page = (struct page){*(const int *)item, done, token};
    enter_page();
    cps_sleep(r, now() + 1, page_loaded, page);
}

static int visit_queued(struct cos_flow_queue *queue, void *item, void *arg)
{
    intptr_t depth = (intptr_t)item;
    (void)arg;
    enter_page();
    msleep(now() + 1);
    live--;
    for (int i = 0; depth && i < 2; i++)
        cos_flow_queue_push(queue, (void *)(depth - 1), -1);
    return 0;
}

struct queued {
    struct cps_flow_queue *queue;
    intptr_t depth;
    cps_cb *done;
    void *token;
};

static void queued_loaded(int err, void *arg)
{
    struct queued q = *(struct queued *)arg;
    free(arg);
    live--;
    for (int i = 0; q.depth && i < 2; i++)
        cps_flow_queue_add(q.queue, (void *)(q.depth - 1), 0);
    q.done(err, q.token);
}

static void cps_visit_queued(struct cps_flow_queue *queue, void *item, void *arg, cps_cb *done,
                             void *token)
{
    struct queued *q = malloc(sizeof *q);
    (void)arg;
    *q = (struct queued){queue, (intptr_t)item, done, token};
    enter_page();
    cps_sleep(rt, now() + 1, queued_loaded, q);
}

static void trees(void)
{
    int root = TREE_DEPTH;
    struct cos_flow_list top = {.items = &root, .count = 1, .size = sizeof root};
    struct cos_flow_queue_opts opts = {.concurrency = TREE_LIMIT, .work = visit_queued};
    struct cps_flow_queue_opts cps_opts = {.concurrency = TREE_LIMIT, .work = cps_visit_queued};
    struct cos_flow_queue *queue = NULL;
    struct cps_flow_queue *cps_queue = NULL;
    visited = peak = 0;
    cos_flow_each(&top, TREE_LIMIT, visit, NULL, -1);
    ok(visited == TREE_NODES && peak > TREE_LIMIT, "C26 co: limit 2 per page, %d at once", peak);
    visited = peak = 0;
    cps_flow_each(rt, &top, TREE_LIMIT, cps_visit, NULL, -1, final, NULL);
    cps_run(rt);
    ok(visited == TREE_NODES && peak > TREE_LIMIT, "C26 cps: limit 2 per page, %d at once", peak);
    visited = peak = 0;
    cos_flow_queue_new(&opts, &queue);
    cos_flow_queue_push(queue, (void *)(intptr_t)TREE_DEPTH, -1);
    cos_flow_queue_drain(queue, -1);
    cos_flow_queue_free(queue);
    ok(visited == TREE_NODES && peak == TREE_LIMIT, "C26 co: one queue keeps to it");
    visited = peak = 0;
    cps_flow_queue_new(rt, &cps_opts, &cps_queue);
    cps_flow_queue_add(cps_queue, (void *)(intptr_t)TREE_DEPTH, 0);
    cps_run(rt);
    cps_flow_queue_free(cps_queue);
    ok(visited == TREE_NODES && peak == TREE_LIMIT, "C26 cps: one queue keeps to it");
}

/* --- C29b: retry, timeout --------------------------------------------------------- */

static int tries, filtered, succeed_at;
static int64_t began[8];

static int fails_first(void *result, void *arg)
{
    (void)result, (void)arg;
    if (tries < 8)
        began[tries] = now();
    return ++tries == succeed_at ? 0 : tries == 3 ? COS_EPROTO : COS_EIO;
}

static void cps_fails_first(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r;
    done(fails_first(result, arg), token);
}

static int not_proto(int err, void *arg)
{
    (void)arg;
    filtered++;
    return err != COS_EPROTO;
}

/* Runs it on the face that the turn of the loop stands for. */
static int retry_on(int cps, const struct cos_flow_retry *how, int64_t deadline)
{
    struct cos_flow_task task = {fails_first, NULL};
    struct cps_flow_task cps_task = {cps_fails_first, NULL};
    tries = filtered = 0;
    if (!cps)
        return cos_flow_retry(how, &task, NULL, deadline);
    reset();
    cps_flow_retry(rt, how, &cps_task, 0, deadline, final, NULL);
    cps_run(rt);
    return final_err;
}

static void retries(void)
{
    for (int cps = 0; cps < 2; cps++) {
        const char *face = cps ? "cps" : "co";
        succeed_at = 4;
        cmp_ok(retry_on(cps, NULL, -1), "==", 0, "C29b %s: five tries unless told", face);
        cmp_ok(tries, "==", 4, "C29b %s: until one succeeds", face);
        cmp_ok(retry_on(cps, &(struct cos_flow_retry){.again = not_proto}, -1), "==", COS_EPROTO,
               "C29b %s: the filter ends it", face);
        ok(tries == 3 && filtered == 3, "C29b %s: asked once per failure", face);
        succeed_at = 99;
        cmp_ok(retry_on(cps, &(struct cos_flow_retry){.tries = 4, .wait = 5, .factor = 3}, -1),
               "==", COS_EIO, "C29b %s: the last error when all failed", face);
        ok(began[1] - began[0] >= 5 && began[2] - began[1] >= 15 && began[3] - began[2] >= 45,
           "C29b %s: each wait is longer by the factor", face);
        cmp_ok(retry_on(cps, &(struct cos_flow_retry){.wait = 10000}, now() + 20), "==",
               COS_ETIMEDOUT, "C29b %s: the deadline ends a wait", face);
        ok(tries == 1 && now() - began[0] < 5000, "C29b %s: and nobody sleeps on", face);
        cmp_ok(retry_on(cps, &(struct cos_flow_retry){.tries = -1}, -1), "==", COS_EINVAL,
               "C29b %s: fewer than no tries", face);
    }
}

static void backoff(void)
{
    struct cos_flow_retry how = {.wait = 100, .factor = 2, .wait_max = 1000, .jitter = 0.5};
    int inside = 1, differ = 0;
    for (int i = 0; i < 200; i++) {
        int64_t first = cos__retry_wait(&how, 1), later_on = cos__retry_wait(&how, 30);
        inside &= first > 49 && first <= 100 && later_on > 499 && later_on <= 1000;
        differ |= first != cos__retry_wait(&how, 1);
    }
    ok(inside && differ, "C29b jitter takes up to its part off a wait, the ceiling holds");
    how = cos__retry_defaults(&(struct cos_flow_retry){.wait = INT64_MAX, .wait_max = INT64_MAX});
    cmp_ok(cos__retry_wait(&how, 1000000), ">", 0, "C29b endless waits stay in range");
}

/* --- deadlines between steps, and what is refused in a callback ------------------- */

static int spin(void *arg)
{
    (void)arg;
    used++;
    return 0;
}

static void cps_spin(struct cps_rt *r, void *result, void *arg, cps_cb *done, void *token)
{
    (void)r, (void)result;
    done(spin(arg), token);
}

static void deadlines(void)
{
    struct cps_flow_task body = {cps_spin, NULL};
    used = 0;
    cmp_ok(cos_flow_forever(spin, NULL, now() + 5), "==", COS_ETIMEDOUT,
           "C21 co: a deadline ends a loop that never suspends");
    reset();
    cps_flow_forever(rt, &body, now() + 5, final, NULL);
    cps_run(rt);
    cmp_ok(final_err, "==", COS_ETIMEDOUT, "C21 cps: a deadline ends a loop that never waits");
    cmp_ok(cos_flow_timeout(&(struct cos_flow_task){note_name, word_a}, INT64_MAX, NULL, -1), "==",
           0, "C29b co: a timeout beyond the end of time is none");
}

static int refused;
static void in_callback(int err, void *arg)
{
    struct cos_flow_list list = {.count = 1};
    struct cos_flow_task task = {note_name, word_a};
    struct cos_flow_queue_opts opts = {.concurrency = 1, .work = visit_queued};
    struct cos_flow_queue *queue;
    struct cos_flow_gate *gate = cos_flow_gate_new(0);
    struct cos_flow_once *once = cos_flow_once_new(0);
    int outcome;
    (void)err, (void)arg;
    refused += cos_flow_each(&list, 1, use, NULL, -1) == COS_ECONTEXT;
    refused += cos_flow_retry(NULL, &task, NULL, -1) == COS_ECONTEXT;
    refused += cos_flow_reflect(&task, &outcome, NULL, -1) == COS_ECONTEXT;
    refused += cos_flow_ensure_async(&task, NULL, -1) == COS_ECONTEXT;
    refused += cos_flow_auto(NULL, 0, 1, NULL, 0, -1) == COS_ECONTEXT;
    refused += cos_flow_queue_new(&opts, &queue) == COS_ECONTEXT;
    refused += cos_flow_gate_init(gate, &task, -1) == COS_ECONTEXT;
    refused += cos_flow_once_run(once, "k", &task, NULL, -1) == COS_ECONTEXT;
    refused += cos_future_from(&task, NULL) == NULL;
    cos_flow_gate_free(gate);
    cos_flow_once_free(once);
}

int main(void)
{
    plan(NO_PLAN);
    if (cps_open(&rt))
        BAIL_OUT("no runtime");
    static_sequence();
    sources();
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++)
        run_graph(&graphs[i]);
    too_many_nodes();
    races();
    trees();
    retries();
    backoff();
    deadlines();
    reset();
    cps_defer(rt, in_callback, NULL);
    cps_run(rt);
    ok(refused == 9 && !trace[0], "what may suspend is refused inside a callback (%d)", refused);
    cmp_ok(cps_close(rt), "==", 0, "nothing is left pending");
    cmp_ok(cos_shutdown(), "==", 0, "no operation is left");
    done_testing();
}
