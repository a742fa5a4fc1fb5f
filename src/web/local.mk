# src/web/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/web/fetch.c src/web/fetch.h src/web/fetch_int.h src/web/request.h \
	src/web/fetch_body.c \
	src/web/fetch_easy.c \
	src/web/fetch_end.c \
	src/web/pump.c
libcos_la_SOURCES += \
	src/web/url.c src/web/url.h src/web/url_int.h \
	src/web/url_canon.c \
	src/web/url_host.c \
	src/web/url_idn.c \
	src/web/url_ip.c \
	src/web/url_query.c \
	src/web/url_text.c

# sitemap, tidy, names
libcos_la_SOURCES += \
	src/web/sitemap.c src/web/sitemap.h \
	src/web/xml.c src/web/xml.h
