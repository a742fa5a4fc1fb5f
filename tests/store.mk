# tests/store.mk - the tests of this room.

# file names
check_PROGRAMS += tests/path.t
