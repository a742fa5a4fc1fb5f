# tests/base.mk - the tests of this room.
check_PROGRAMS += tests/arena.t tests/buf.t tests/hash.t tests/json.t tests/log.t tests/ring.t tests/set.t
