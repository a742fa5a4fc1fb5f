# tests/bench.mk - the tests of this room.
dist_check_SCRIPTS += tests/bench.t tests/page.t
FULL_TESTS += tests/rank.t
