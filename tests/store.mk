# tests/store.mk - the tests of this room.
check_PROGRAMS += tests/db.t tests/save.t tests/warc.t

# file names
check_PROGRAMS += tests/path.t

# archives, read by another program
FULL_TESTS += tests/warcio.t
dist_check_SCRIPTS += tests/warc_net.t
EXTRA_DIST += tests/warcio.mjs

# archives, and their fuzzer
check_PROGRAMS += tests/fuzz_warc.t
tests_fuzz_warc_t_SOURCES = tests/fuzz/fuzz_warc.c tests/fuzz/replay.c tests/fuzz/fuzz.h
EXTRA_DIST += tests/fuzz/corpus/warc tests/fuzz/regress/warc
if FUZZING
noinst_PROGRAMS += tests/fuzz/fuzz_warc
tests_fuzz_fuzz_warc_SOURCES = tests/fuzz/fuzz_warc.c
tests_fuzz_fuzz_warc_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_warc_LDADD = libcos.la
endif

# values that processes share
check_PROGRAMS += tests/shared.t
