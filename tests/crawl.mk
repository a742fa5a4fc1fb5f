# tests/crawl.mk - the tests of this room.
check_PROGRAMS += tests/convert.t tests/crawl.t tests/frontier.t tests/memory.t tests/polite.t tests/politeness.t tests/resume.t tests/rules.t tests/scope.t tests/trouble.t tests/world.t
EXTRA_DIST += tests/browser.h tests/crawl.h tests/mirror.h
check_PROGRAMS += tests/crawl.t tests/frontier.t tests/memory.t tests/polite.t tests/politeness.t tests/replay.t tests/resume.t tests/rules.t tests/scope.t tests/trouble.t tests/world.t
EXTRA_DIST += tests/crawl.h
