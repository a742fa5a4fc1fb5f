# tests/web.mk - the tests of this room.

# url, robots
check_PROGRAMS += tests/url.t tests/url_conformance.t tests/robots.t tests/robots_conformance.t
EXTRA_DIST += tests/jsonread.h

# Fuzzers of url, path and robots; fuzz_NAME.t replays what they keep.
check_PROGRAMS += tests/fuzz_url.t tests/fuzz_path.t tests/fuzz_robots.t
tests_fuzz_url_t_SOURCES = tests/fuzz/fuzz_url.c tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_path_t_SOURCES = tests/fuzz/fuzz_path.c tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_fuzz_robots_t_SOURCES = tests/fuzz/fuzz_robots.c tests/fuzz/replay.c tests/fuzz/fuzz.h
EXTRA_DIST += tests/fuzz/corpus/url tests/fuzz/corpus/path tests/fuzz/corpus/robots
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
check_PROGRAMS += tests/links.t
# sitemap, tidy, names
check_PROGRAMS += tests/sitemap.t
check_PROGRAMS += tests/scan.t tests/css.t tests/links.t
EXTRA_DIST += tests/scan_show.h
check_PROGRAMS += tests/names.t tests/sitemap.t
# fetch
check_PROGRAMS += tests/fetch.t tests/tls.t
EXTRA_DIST += tests/fetch_rows.h
EXTRA_DIST += tests/dnsstub.h
# What may block is wrapped: the test sees which thread calls it.
check_PROGRAMS += tests/noblock.t
tests_noblock_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=open,--wrap=openat,--wrap=write,--wrap=fsync \
	-Wl,--wrap=fdatasync,--wrap=rename,--wrap=renameat,--wrap=mkostemp,--wrap=mkstemp,--wrap=linkat \
	-Wl,--wrap=getaddrinfo,--wrap=cos_links_extract
