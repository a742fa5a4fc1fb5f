# src/local.mk - the public header and the installed library.
include_HEADERS += src/coscrawl.h
lib_LTLIBRARIES += libcoscrawl.la
libcoscrawl_la_SOURCES =
libcoscrawl_la_LIBADD = libcos.la
libcoscrawl_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,--version-script=$(srcdir)/src/libcoscrawl.map
libcoscrawl_la_DEPENDENCIES = libcos.la src/libcoscrawl.map
EXTRA_DIST += src/libcoscrawl.map
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = coscrawl.pc

# <coscrawl.h> includes its parts as "base/…"; the .pc file names the directory.
cosbaseincdir = $(pkgincludedir)/base
cosbaseinc_HEADERS = src/base/err.h src/base/buf.h src/base/page.h src/base/file.h src/base/pool.h
coscrawlincdir = $(pkgincludedir)/crawl
coscrawlinc_HEADERS = src/crawl/options.h
coswebincdir = $(pkgincludedir)/web
coswebinc_HEADERS = src/web/request.h src/web/names.h src/web/tidied.h
