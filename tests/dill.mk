# tests/dill.mk - the tests of this room.
check_PROGRAMS += tests/dill_nested.t
