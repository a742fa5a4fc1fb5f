# src/crawl/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/crawl/frontier.c src/crawl/frontier.h \
	src/crawl/hosts.c \
	src/crawl/options.h \
	src/crawl/politeness.c src/crawl/politeness.h \
	src/crawl/reason.c \
	src/crawl/scope.c src/crawl/scope.h src/crawl/scope_int.h \
	src/crawl/trap.c
