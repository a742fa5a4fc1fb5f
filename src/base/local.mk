# src/base/local.mk - what every other room stands on.
libcos_la_SOURCES += \
	src/base/arena.c src/base/arena.h \
	src/base/buf.c src/base/buf.h \
	src/base/die.c src/base/die.h \
	src/base/err.c src/base/err.h \
	src/base/hash.c src/base/hash.h src/base/hash_int.h \
	src/base/hash_wide.c \
	src/base/emit.c src/base/emit.h \
	src/base/hook.c src/base/hook.h src/base/hook_int.h \
	src/base/hook_check.c src/base/hook_check.h src/base/site.h \
	src/base/local.c \
	src/base/json.c src/base/json.h \
	src/base/log.c src/base/log.h \
	src/base/loop.c src/base/loop.h src/base/loop_int.h \
	src/base/op.c src/base/op.h \
	src/base/page.c src/base/page.h \
	src/base/ring.c src/base/ring.h \
	src/base/run.c \
	src/base/set.c src/base/set.h \
	src/base/sleep.c src/base/sleep.h \
	src/base/timer.c \
	src/base/utf8.c src/base/utf8.h \
	src/base/wait.c \
	src/base/wire.c src/base/wire.h

# offload threads and what runs on them
libcos_la_SOURCES += \
	src/base/file.c src/base/file.h src/base/file_op.h \
	src/base/file_sync.c src/base/file_sync.h \
	src/base/offload.c src/base/offload.h

# worker processes
libcos_la_SOURCES += \
	src/base/frame.c src/base/frame.h \
	src/base/pool.c src/base/pool.h src/base/pool_int.h \
	src/base/pool_io.c \
	src/base/pool_op.c src/base/pool_op.h \
	src/base/pool_open.c \
	src/base/worker.c src/base/worker.h \
	src/base/zygote.c src/base/zygote.h
