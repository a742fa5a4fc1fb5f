# src/base/local.mk - what every other room stands on.
libcos_la_SOURCES += \
	src/base/buf.c src/base/buf.h \
	src/base/die.c src/base/die.h \
	src/base/err.c src/base/err.h \
	src/base/loop.c src/base/loop.h src/base/loop_int.h \
	src/base/op.c src/base/op.h \
	src/base/page.c src/base/page.h \
	src/base/timer.c
