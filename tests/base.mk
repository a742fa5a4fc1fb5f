# tests/base.mk - the tests of this room.
check_PROGRAMS += tests/buf.t tests/offload.t
