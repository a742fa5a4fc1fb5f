# src/site/local.mk - the synthetic site and its small HTTP server.
libcos_la_SOURCES += \
	src/site/assets.c \
	src/site/fault_body.c src/site/fault_status.c src/site/fault_wire.c \
	src/site/faults.c src/site/faults.h \
	src/site/graph.c \
	src/site/http.c src/site/http.h \
	src/site/listen.c \
	src/site/pages.c \
	src/site/reply.c \
	src/site/robots.c \
	src/site/site.c src/site/site.h \
	src/site/sitemap.c \
	src/site/stats.c
