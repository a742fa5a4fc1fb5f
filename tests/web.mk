# tests/web.mk - the tests of this room.

# url, robots
check_PROGRAMS += tests/rewrite.t tests/url.t tests/url_conformance.t tests/robots.t tests/robots_conformance.t
EXTRA_DIST += tests/jsonread.h tests/valgrind.supp

# Fuzzers of url, path and robots; fuzz_NAME.t replays what they keep.
check_PROGRAMS += tests/fuzz_url.t tests/fuzz_path.t tests/fuzz_robots.t
tests_fuzz_url_t_SOURCES = tests/fuzz/fuzz_url.c tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_path_t_SOURCES = tests/fuzz/fuzz_path.c tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_robots_t_SOURCES = tests/fuzz/fuzz_robots.c tests/fuzz/replay.c tests/fuzz/fuzz.h
EXTRA_DIST += tests/fuzz/corpus/url tests/fuzz/corpus/path tests/fuzz/corpus/robots tests/fuzz/regress/url
if FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz_url tests/fuzz/fuzz_path tests/fuzz/fuzz_robots
tests_fuzz_fuzz_url_SOURCES = tests/fuzz/fuzz_url.c
tests_fuzz_fuzz_url_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_url_LDADD = libcos.la
tests_fuzz_fuzz_path_SOURCES = tests/fuzz/fuzz_path.c
tests_fuzz_fuzz_path_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_path_LDADD = libcos.la
tests_fuzz_fuzz_robots_SOURCES = tests/fuzz/fuzz_robots.c
tests_fuzz_fuzz_robots_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_robots_LDADD = libcos.la
endif

# scan, css, charset, links
check_PROGRAMS += tests/scan.t tests/css.t tests/charset.t tests/links.t tests/hostile.t
dist_check_SCRIPTS += tests/cmd_links.t tests/demo_links.t
EXTRA_DIST += tests/scan_show.h

# Their fuzzers.
check_PROGRAMS += tests/fuzz_scan.t tests/fuzz_css.t tests/fuzz_charset.t tests/fuzz_rewrite.t
tests_fuzz_scan_t_SOURCES = tests/fuzz/fuzz_scan.c tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_rewrite_t_SOURCES = tests/fuzz/fuzz_rewrite.c tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_css_t_SOURCES = tests/fuzz/fuzz_css.c tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_charset_t_SOURCES = tests/fuzz/fuzz_charset.c tests/fuzz/replay.c tests/fuzz/fuzz.h
EXTRA_DIST += tests/fuzz/corpus/scan tests/fuzz/corpus/css tests/fuzz/corpus/charset tests/fuzz/corpus/rewrite tests/fuzz/regress/rewrite tests/fuzz/regress/css
if FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz_scan tests/fuzz/fuzz_css tests/fuzz/fuzz_charset tests/fuzz/fuzz_rewrite
tests_fuzz_fuzz_rewrite_SOURCES = tests/fuzz/fuzz_rewrite.c
tests_fuzz_fuzz_rewrite_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_rewrite_LDADD = libcos.la
tests_fuzz_fuzz_scan_SOURCES = tests/fuzz/fuzz_scan.c
tests_fuzz_fuzz_scan_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_scan_LDADD = libcos.la
tests_fuzz_fuzz_css_SOURCES = tests/fuzz/fuzz_css.c
tests_fuzz_fuzz_css_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_css_LDADD = libcos.la
tests_fuzz_fuzz_charset_SOURCES = tests/fuzz/fuzz_charset.c
tests_fuzz_fuzz_charset_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_charset_LDADD = libcos.la
endif

# sitemap, tidy, names
check_PROGRAMS += tests/names.t tests/sitemap.t tests/tidy.t tests/fuzz_sitemap.t
tests_fuzz_sitemap_t_SOURCES = tests/fuzz/fuzz_sitemap.c tests/fuzz/replay.c tests/fuzz/fuzz.h
EXTRA_DIST += tests/dnsstub.h tests/fuzz/corpus/sitemap
if FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz_sitemap
tests_fuzz_fuzz_sitemap_SOURCES = tests/fuzz/fuzz_sitemap.c
tests_fuzz_fuzz_sitemap_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_sitemap_LDADD = libcos.la
endif
# fetch
check_PROGRAMS += tests/fetch.t tests/fetch_phases.t tests/tls.t
EXTRA_DIST += tests/fetch_rows.h tests/hold.h tests/phase_log.h
EXTRA_DIST += tests/dnsstub.h
# What may block is wrapped: the test sees which thread calls it.
check_PROGRAMS += tests/noblock.t
tests_noblock_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=open,--wrap=openat,--wrap=write,--wrap=pwrite,--wrap=pread,--wrap=fsync \
	-Wl,--wrap=fdatasync,--wrap=rename,--wrap=renameat,--wrap=mkostemp,--wrap=mkstemp,--wrap=linkat \
	-Wl,--wrap=getaddrinfo,--wrap=cos_links_extract
