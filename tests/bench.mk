# tests/bench.mk - the tests of this room.
dist_check_SCRIPTS += tests/bench.t tests/bench_page.t tests/hook_cost.t
FULL_TESTS += tests/bench_rank.t
