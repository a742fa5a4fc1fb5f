# tests/flow.mk - the tests of this room.
check_PROGRAMS += tests/flow_queue.t tests/flow_queues.t
check_PROGRAMS += tests/flow.t tests/flow_recipes.t tests/flow_rules.t
check_PROGRAMS += tests/cps_flow.t tests/flow_cost.t

# the conformance matrix: function × case on both faces
check_PROGRAMS += tests/flow_matrix.t
tests_flow_matrix_t_SOURCES = tests/flow_matrix.t.c tests/flow_matrix.h tests/flow_cells.c \
	tests/flow_cells.h tests/flow_rows_list.c tests/flow_rows_other.c tests/flow_rows_tasks.c

# counts the allocations of the library
check_PROGRAMS += tests/flow_million.t
tests_flow_million_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
