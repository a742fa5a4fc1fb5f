# src/crawl/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/crawl/options.h \
	src/crawl/reason.c
