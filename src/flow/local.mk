# src/flow/local.mk - control flow over any job.
libcos_la_SOURCES += \
	src/flow/auto.c \
	src/flow/backlog.c src/flow/backlog.h \
	src/flow/backoff.h \
	src/flow/cache.c src/flow/cache.h \
	src/flow/crew.c src/flow/crew.h \
	src/flow/flow.h src/flow/flow_int.h \
	src/flow/future.c src/flow/future.h src/flow/future_int.h \
	src/flow/gate.c src/flow/gate.h \
	src/flow/graph.c src/flow/graph.h \
	src/flow/iterate.c src/flow/list.h \
	src/flow/loops.c \
	src/flow/once.c src/flow/once.h \
	src/flow/queue.c src/flow/queue.h \
	src/flow/retry.c \
	src/flow/tasks.c \
	src/flow/waits.h
cosflowincdir = $(pkgincludedir)/flow
cosflowinc_HEADERS = src/flow/cache.h src/flow/flow.h src/flow/future.h src/flow/gate.h \
	src/flow/once.h src/flow/queue.h
