# tests/flow.mk - the tests of this room.
check_PROGRAMS += tests/flow_queue.t tests/flow_queues.t
check_PROGRAMS += tests/flow.t tests/flow_gate.t tests/flow_recipes.t tests/flow_rules.t
check_PROGRAMS += tests/cps_flow.t tests/flow_cost.t

# the conformance matrix: function × case on both faces
check_PROGRAMS += tests/flow_matrix.t
tests_flow_matrix_t_SOURCES = tests/flow_matrix.t.c tests/flow_matrix.h tests/flow_cells.c \
	tests/flow_cells.h tests/flow_rows_list.c tests/flow_rows_other.c tests/flow_rows_tasks.c

# counts the allocations of the library
check_PROGRAMS += tests/flow_million.t
tests_flow_million_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

# The listings of coscrawl-flow(7), compiled as they stand there: their
# parameters are part of what they show, used or not.
check_PROGRAMS += tests/flow_man.t
tests_flow_man_t_SOURCES = tests/flow_man.t.c
nodist_tests_flow_man_t_SOURCES = tests/flow_man_co.c tests/flow_man_cps.c
tests_flow_man_t_CFLAGS = $(AM_CFLAGS) -Wno-unused-parameter -Wno-write-strings
tests/flow_man_co.c: man/coscrawl-flow.7 tests/flow_man.awk
	$(AM_V_GEN)$(MKDIR_P) tests && $(AWK) -v face=co -f $(srcdir)/tests/flow_man.awk $(srcdir)/man/coscrawl-flow.7 >$@
tests/flow_man_cps.c: man/coscrawl-flow.7 tests/flow_man.awk
	$(AM_V_GEN)$(MKDIR_P) tests && $(AWK) -v face=cps -f $(srcdir)/tests/flow_man.awk $(srcdir)/man/coscrawl-flow.7 >$@
CLEANFILES += tests/flow_man_co.c tests/flow_man_cps.c
EXTRA_DIST += tests/flow_man.awk
