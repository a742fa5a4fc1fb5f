# src/web/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/web/sitemap.c src/web/sitemap.h \
	src/web/xml.c src/web/xml.h
