/* graph.h - which nodes of a dependency graph may run next. No coroutines here:
 * both faces use it. */
#ifndef COS_FLOW_GRAPH_H
#define COS_FLOW_GRAPH_H

#include "flow/flow.h"

struct cos__graph {
    const struct cos_flow_node *nodes;
    size_t count;
    size_t *open;   /* per node: needs not yet done */
    size_t *ready;  /* nodes that may run, in the order they became so */
    size_t head, tail;
};

/* 0, or COS_EINVAL for an unknown name, a double, a circle or too many nodes. */
int cos__graph_init(struct cos__graph *graph, const struct cos_flow_node *nodes, size_t count);
void cos__graph_release(struct cos__graph *graph);
/* 1 and the next ready node, or 0. */
int cos__graph_next(struct cos__graph *graph, size_t *index);
/* The node succeeded: those that waited only for it become ready. */
void cos__graph_finish(struct cos__graph *graph, size_t index);

#endif
