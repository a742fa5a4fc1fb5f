/* flow_cells.h - running a cell (flow_cells.c). */
#ifndef FLOW_CELLS_H
#define FLOW_CELLS_H

struct cell;
struct cps_rt;

void cell_free(struct cell *cell);
void cell_run_co(struct cell *cell);
/* How often the final callback ran before the starting call had returned. */
int cell_run_cps(struct cell *cell, struct cps_rt *rt);

#endif
