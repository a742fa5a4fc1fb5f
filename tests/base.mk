# tests/base.mk - the tests of this room.
check_PROGRAMS += tests/buf.t

# offload threads, files, process pool
check_PROGRAMS += tests/file.t tests/offload.t
