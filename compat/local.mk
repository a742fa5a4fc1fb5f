# compat/local.mk - the callback face.
include_HEADERS += compat/coscrawl-cps.h
coscpsincdir = $(pkgincludedir)
coscpsinc_HEADERS = compat/cps_site.h
libcos_la_SOURCES += \
	compat/cps.c compat/cps.h \
	compat/cps_leaf.c

# files, names, process pool
libcos_la_SOURCES += \
	compat/cps_file.c \
	compat/cps_names.c \
	compat/cps_pool.c \
	compat/cps_tidy.c

# control flow
coscpsinc_HEADERS += compat/cps_flow.h
libcos_la_SOURCES += \
	compat/cps_crew.c compat/cps_crew.h \
	compat/cps_flow.c compat/cps_flow.h \
	compat/cps_flow_tasks.c \
	compat/cps_queue.c \
	compat/cps_recipes.c

# reading pages, crawling
libcos_la_SOURCES += compat/cps_crawl.c compat/cps_read.c

# values that processes share
coscpsinc_HEADERS += compat/cps_shared.h
libcos_la_SOURCES += \
	compat/cps_shared.c
