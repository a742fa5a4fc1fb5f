# tests/site.mk - the tests of this room, and the site that other tests start.
check_PROGRAMS += tests/fault.t tests/site.t
EXTRA_DIST += tests/site.h
