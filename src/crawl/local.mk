# src/crawl/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/crawl/after.c \
	src/crawl/archive.c \
	src/crawl/arrive.c \
	src/crawl/convert.c \
	src/crawl/cookies.c \
	src/crawl/crawl.c src/crawl/crawl_int.h \
	src/crawl/dispatch.c \
	src/crawl/next.c \
	src/crawl/stop.c \
	src/crawl/dedup.c \
	src/crawl/digest.c \
	src/crawl/found.c \
	src/crawl/frontier.c src/crawl/frontier.h \
	src/crawl/hosts.c \
	src/crawl/limits.c \
	src/crawl/login.c \
	src/crawl/markup.c \
	src/crawl/options.h \
	src/crawl/options_copy.c src/crawl/options_copy.h \
	src/crawl/phases.c \
	src/crawl/place.c src/crawl/place.h \
	src/crawl/politeness.c src/crawl/politeness.h \
	src/crawl/probe.c \
	src/crawl/reason.c \
	src/crawl/redirect.c \
	src/crawl/replay.c \
	src/crawl/report.c \
	src/crawl/resume.c \
	src/crawl/retry.c \
	src/crawl/revalidate.c \
	src/crawl/kept.c \
	src/crawl/ways.c \
	src/crawl/robots.c \
	src/crawl/scope.c src/crawl/scope.h src/crawl/scope_int.h \
	src/crawl/settings.c \
	src/crawl/settle.c \
	src/crawl/sitemaps.c \
	src/crawl/trap.c
