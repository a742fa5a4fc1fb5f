# src/flow/local.mk - control flow over any job.
libcos_la_SOURCES += \
	src/flow/auto.c \
	src/flow/backlog.c src/flow/backlog.h \
	src/flow/backoff.h \
	src/flow/crew.c src/flow/crew.h \
	src/flow/flow.h \
	src/flow/graph.c src/flow/graph.h \
	src/flow/iterate.c \
	src/flow/loops.c \
	src/flow/queue.c src/flow/queue.h \
	src/flow/retry.c \
	src/flow/tasks.c
cosflowincdir = $(pkgincludedir)/flow
cosflowinc_HEADERS = src/flow/flow.h src/flow/queue.h
