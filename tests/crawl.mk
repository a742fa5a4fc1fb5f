# tests/crawl.mk - the tests of this room.
check_PROGRAMS += tests/frontier.t tests/politeness.t tests/scope.t
