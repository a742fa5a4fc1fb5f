# tests/bench.mk - the tests of this room.
dist_check_SCRIPTS += tests/bench.t
