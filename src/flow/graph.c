/* graph.c - dependency counting (graph.h). Names are compared by strcmp over at
 * most NODES_MAX nodes: a hash would cost more than it saves at that size. */
#include "flow/graph.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1024 };

static int find(const struct cos_flow_node *nodes, size_t count, const char *name, size_t *at)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(nodes[i].name, name)) {
            *at = i;
            return 1;
        }
    return 0;
}

static int check_names(const struct cos__graph *graph)
{
    size_t at;
    for (size_t i = 0; i < graph->count; i++)
        if (!graph->nodes[i].name || find(graph->nodes, i, graph->nodes[i].name, &at))
            return COS_EINVAL;
    return 0;
}

static int count_needs(struct cos__graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const char *const *need = graph->nodes[i].needs;
        size_t at;
        for (; need && *need; need++, graph->open[i]++)
            if (!find(graph->nodes, graph->count, *need, &at))
                return COS_EINVAL;
        if (!graph->open[i])
            graph->ready[graph->tail++] = i;
    }
    return 0;
}

int cos__graph_next(struct cos__graph *graph, size_t *index)
{
    if (graph->head == graph->tail)
        return 0;
    *index = graph->ready[graph->head++];
    return 1;
}

void cos__graph_finish(struct cos__graph *graph, size_t index)
{
    for (size_t i = 0; i < graph->count; i++) {
        const char *const *need = graph->nodes[i].needs;
        for (; need && *need; need++)
            if (!strcmp(*need, graph->nodes[index].name) && --graph->open[i] == 0)
                graph->ready[graph->tail++] = i;
    }
}

/* A dry run: in a graph without circles every node becomes ready. */
static int has_circle(struct cos__graph *graph)
{
    size_t index, seen = 0;
    while (cos__graph_next(graph, &index)) {
        seen++;
        cos__graph_finish(graph, index);
    }
    return seen < graph->count;
}

int cos__graph_init(struct cos__graph *graph, const struct cos_flow_node *nodes, size_t count)
{
    int err;
    *graph = (struct cos__graph){.nodes = nodes, .count = count};
    if (count > NODES_MAX)
        return COS_EINVAL;
    graph->open = calloc(count + 1, sizeof *graph->open);
    graph->ready = calloc(count + 1, sizeof *graph->ready);
    err = graph->open && graph->ready ? check_names(graph) : COS_ENOMEM;
    if (!err)
        err = count_needs(graph);
    if (!err && has_circle(graph))
        err = COS_EINVAL;
    if (err) {
        cos__graph_release(graph);
        return err;
    }
    memset(graph->open, 0, count * sizeof *graph->open);
    graph->head = graph->tail = 0;
    return count_needs(graph);
}

void cos__graph_release(struct cos__graph *graph)
{
    free(graph->open);
    free(graph->ready);
    graph->open = graph->ready = NULL;
}
