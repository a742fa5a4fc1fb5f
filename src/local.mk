# src/local.mk - the public header and the installed library.
include_HEADERS += src/coscrawl.h
lib_LTLIBRARIES += libcoscrawl.la
libcoscrawl_la_SOURCES =
libcoscrawl_la_LIBADD = libcos.la
libcoscrawl_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,--version-script=libcoscrawl.map
libcoscrawl_la_DEPENDENCIES = libcos.la libcoscrawl.map
EXTRA_DIST += src/public.awk src/coscrawl/libdill.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = coscrawl.pc

# Parts of the public headers, by room; flow and store name theirs. Installed
# they are <coscrawl/ROOM/…>, and so src/public.awk makes them name each other.
cosbaseincdir = $(pkgincludedir)/base
cosbaseinc_HEADERS = src/base/err.h src/base/buf.h src/base/page.h src/base/file.h src/base/hook.h src/base/pool.h \
	src/base/site.h
coscrawlincdir = $(pkgincludedir)/crawl
coscrawlinc_HEADERS = src/crawl/options.h
coswebincdir = $(pkgincludedir)/web
coswebinc_HEADERS = src/web/request.h src/web/names.h src/web/tidied.h
public_headers = $(include_HEADERS) $(coscpsinc_HEADERS) $(cosbaseinc_HEADERS) $(coscrawlinc_HEADERS) \
	$(coswebinc_HEADERS) $(cosflowinc_HEADERS) $(cosstoreinc_HEADERS)

# The library shows what they declare, and the runtime when it is ours.
libcoscrawl.map: $(public_headers) src/public.awk Makefile
	$(AM_V_GEN)cd $(srcdir) && $(AWK) -v mode=map -v version=0.1 -f src/public.awk $(public_headers) \
		>$(abs_builddir)/$@.tmp && mv $(abs_builddir)/$@.tmp $(abs_builddir)/$@
CLEANFILES += libcoscrawl.map

install-data-hook: install-public-headers install-man3-functions
uninstall-hook: uninstall-public-dirs uninstall-man3-functions

install-public-headers:
	@for header in $(public_headers); do \
		case $$header in \
		*/coscrawl*.h) to=$(DESTDIR)$(includedir)/$${header##*/} ;; \
		compat/*) to=$(DESTDIR)$(pkgincludedir)/$${header##*/} ;; \
		*) to=$(DESTDIR)$(pkgincludedir)/$${header#src/} ;; \
		esac; \
		$(AWK) -v mode=header -f $(srcdir)/src/public.awk $(srcdir)/$$header >$$to.tmp && \
			chmod 644 $$to.tmp && mv $$to.tmp $$to || exit 1; \
	done

# Directories that only we make go when they are empty.
uninstall-public-dirs:
	@for dir in $(cosbaseincdir) $(coscrawlincdir) $(coswebincdir) $(cosflowincdir) $(cosstoreincdir) \
		$(pkgincludedir); do rmdir "$(DESTDIR)$$dir" 2>/dev/null || :; done
.PHONY: install-public-headers uninstall-public-dirs
