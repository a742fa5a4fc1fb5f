/* auto.c - a graph of jobs: a node starts once everything it needs is done.
 * May call crew, base.
 *
 * The graph is checked before anything runs (names, doubles, circles), so a bad
 * graph has no side effects. A node gets a coroutine when it becomes ready. The
 * crew of crew.h does not fit: its workers end when the source is dry, and here
 * a dry source may fill again as soon as a running node finishes. A chain of
 * nodes that never suspend holds a coroutine per node: there are 1,024 at most. */
#define DILL_DISABLE_RAW_NAMES
#include "flow/flow.h"

#include "base/emit.h"
#include "base/err.h"
#include "base/loop.h"
#include "flow/graph.h"

#include <errno.h>
#include <libdill.h>

struct work {
    struct cos__graph graph;
    const struct cos_flow_node *nodes;
    char *results;
    size_t result_size;
    int limit;
    int bundle;
    int done[2];
    int running;
    int over;
    int err;
    int waiting;
};

static void end_work(struct work *work, int err)
{
    if (!work->over) {
        work->over = 1;
        work->err = err == COS_ESTOP ? 0 : err;
    }
    if (work->waiting) {
        work->waiting = 0;
        dill_chdone(work->done[1]);
    }
}

static int start_ready(struct work *work);

static dill_coroutine void run_node(struct work *work, size_t index)
{
    const struct cos_flow_task *task = &work->nodes[index].task;
    void *result = work->results ? work->results + index * work->result_size : NULL;
    struct cos_hook_wait self;
    int err;
    COS_HOOK(co_begin, &self);
    err = task->run(result, task->arg);
    work->running--;
    if (err >= 0 && !work->over) {
        cos__graph_finish(&work->graph, index);
        err = start_ready(work);
    }
    if (err < 0 || !work->running)
        end_work(work, err < 0 ? err : 0);
    COS_HOOK(co_end, &self);
}

static int start_ready(struct work *work)
{
    struct cos_hook_wait wait;
    size_t index;
    int rc;
    while (!work->over && work->running < work->limit && cos__graph_next(&work->graph, &index)) {
        work->running++;
        COS_HOOK(pause, &wait);
        rc = dill_bundle_go(work->bundle, run_node(work, index));
        COS_HOOK(resume, &wait);
        if (rc < 0) {
            work->running--;
            return cos_err_from_errno(errno);
        }
    }
    return 0;
}

static int run_graph(struct work *work, int64_t deadline)
{
    int err = start_ready(work);
    if (!err && !work->over && work->running) {
        work->waiting = 1;
        if (COS_WAIT(dill_chrecv(work->done[0], NULL, 0, deadline)) < 0 && errno != EPIPE)
            err = cos_err_from_errno(errno);
        work->waiting = 0;
    }
    work->over = 1;
    (void)COS_WAIT(dill_hclose(work->bundle));
    return err ? err : work->err;
}

int cos_flow_auto(const struct cos_flow_node *nodes, size_t count, int limit, void *results,
                  size_t result_size, int64_t deadline)
{
    struct work work = {.nodes = nodes, .results = results, .result_size = result_size,
                        .limit = limit};
    int err;
    if (limit <= 0)
        return COS_EINVAL;
    if (cos__in_callback())
        return COS_ECONTEXT;
    err = cos__graph_init(&work.graph, nodes, count);
    if (err)
        return err;
    if (dill_chmake(work.done) < 0) {
        err = cos_err_from_errno(errno);
        goto out;
    }
    work.bundle = dill_bundle();
    err = work.bundle < 0 ? cos_err_from_errno(errno) : run_graph(&work, deadline);
    dill_hclose(work.done[0]);
    dill_hclose(work.done[1]);
out:
    cos__graph_release(&work.graph);
    return err;
}
