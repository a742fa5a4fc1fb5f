# tests/base.mk - the tests of this room.
check_PROGRAMS += tests/arena.t tests/buf.t tests/err.t tests/hash.t tests/hook.t tests/json.t \
	tests/log.t tests/page.t tests/ring.t tests/set.t

# offload threads, files, process pool
check_PROGRAMS += tests/file.t tests/offload.t
# operations and the loop
check_PROGRAMS += tests/loop.t tests/op.t
# tap.t is about our own TAP producer.
if BUNDLED_TAP
check_PROGRAMS += tests/tap.t
else
EXTRA_DIST += tests/tap.t.c
endif
check_PROGRAMS += tests/pool.t
