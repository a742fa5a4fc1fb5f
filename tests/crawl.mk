# tests/crawl.mk - the tests of this room.
check_PROGRAMS += tests/crawl.t tests/frontier.t tests/politeness.t tests/scope.t
EXTRA_DIST += tests/crawl.h
