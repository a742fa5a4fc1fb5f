# src/crawl/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/crawl/options.h \
	src/crawl/politeness.c src/crawl/politeness.h \
	src/crawl/reason.c
