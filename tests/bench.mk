# tests/bench.mk - the tests of this room.
