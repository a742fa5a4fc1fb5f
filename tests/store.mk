# tests/store.mk - the tests of this room.
check_PROGRAMS += tests/db.t tests/save.t tests/warc.t

# file names
check_PROGRAMS += tests/path.t

# values that processes share
check_PROGRAMS += tests/shared.t
