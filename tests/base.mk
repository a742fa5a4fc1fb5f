# tests/base.mk - the tests of this room.
check_PROGRAMS += tests/arena.t tests/buf.t tests/err.t tests/hash.t tests/hook.t tests/json.t \
	tests/log.t tests/page.t tests/ring.t tests/set.t tests/tap.t

# offload threads, files, process pool
check_PROGRAMS += tests/file.t tests/offload.t tests/pool.t
