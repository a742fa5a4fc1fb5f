# tests/dill.mk - the tests of this room.
if BUNDLED_DILL
check_PROGRAMS += tests/dill_cr.t tests/dill_chan.t tests/dill_choose.t tests/dill_handle.t \
	tests/dill_timer.t tests/dill_fd.t tests/dill_proc.t tests/dill_stack.t tests/dill_nested.t \
	tests/dill_cxx.t
endif
check_PROGRAMS += tests/dill_raw.t
tests_dill_cxx_t_SOURCES = tests/dill_cxx.t.cc
dist_check_SCRIPTS += tests/dill_alone.t
EXTRA_DIST += tests/dill_util.h tests/install-dill.sh
if BUNDLED_DILL
FULL_TESTS += tests/dill_build.t tests/dill_perf.t tests/dill_system.t
endif
