# src/base/local.mk - what every other room stands on.
libcos_la_SOURCES += \
	src/base/buf.c src/base/buf.h \
	src/base/err.c src/base/err.h \
	src/base/page.c src/base/page.h
