# tests/local.mk - how a test is built and run. A test is tests/NAME.t: a C
# program from tests/NAME.t.c, or a script. Each room lists its own in
# tests/<room>.mk: quick ones in check_PROGRAMS or dist_check_SCRIPTS, long ones
# in FULL_TESTS. `make check TESTS=tests/url.t` runs one.
FULL_TESTS =
# tests/url.t is built from tests/url.t.c without a line of its own.
AM_DEFAULT_SOURCE_EXT = .t.c
if BUNDLED_TAP
check_LIBRARIES += tests/libtap.a
tests_libtap_a_SOURCES = tests/tap.c tests/tap.h
TAP_LIBS = tests/libtap.a
AM_CPPFLAGS += -I$(top_srcdir)/tests
else
TAP_LIBS = -ltap
endif
EXTRA_DIST += tests/tap.c tests/tap.h tests/tap.sh tests/SKIPS

include tests/foundation.mk
include tests/dill.mk
include tests/base.mk
include tests/flow.mk
include tests/web.mk
include tests/store.mk
include tests/crawl.mk
include tests/site.mk
include tests/compat.mk
include tests/tool.mk
include tests/bench.mk
include tests/examples.mk

TESTS = $(check_PROGRAMS) $(dist_check_SCRIPTS)
TEST_EXTENSIONS = .t
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
AM_T_LOG_DRIVER_FLAGS = --comments
# A test that runs make must not inherit the list of tests, or it runs itself.
AM_TESTS_ENVIRONMENT = srcdir='$(srcdir)'; builddir='$(builddir)'; COSCRAWL='$(abs_builddir)/coscrawl'; \
	CC='$(CC)'; export srcdir builddir COSCRAWL CC; unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL;
EXTRA_DIST += $(FULL_TESTS)

check-full: all $(check_PROGRAMS)
	TEST_TIER=full $(MAKE) $(AM_MAKEFLAGS) check TESTS="$(TESTS) $(FULL_TESTS)"
# The quick tests once more with a hook that checks the life of every operation
# (src/base/hook_check.h); without the tests that count instructions and allocations.
HOOK_TESTS = $(filter-out tests/flow_cost.t tests/flow_million.t tests/dill_%,$(TESTS))
check-hooks: all $(check_PROGRAMS)
	COS_HOOK_CHECK=1 $(MAKE) $(AM_MAKEFLAGS) check TESTS="$(HOOK_TESTS)"
.PHONY: check-full check-hooks
