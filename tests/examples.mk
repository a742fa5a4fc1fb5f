# tests/examples.mk - the tests of this room.
check_PROGRAMS += tests/spider.t tests/spider_rules.t
tests_spider_t_LDADD = $(TAP_LIBS) libspider.la libcos.la
tests_spider_rules_t_LDADD = $(TAP_LIBS) libspider.la libcos.la
dist_check_SCRIPTS += tests/examples.t tests/recipes.t
EXTRA_DIST += tests/spider_run.h
