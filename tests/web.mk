# tests/web.mk - the tests of this room.
check_PROGRAMS += tests/sitemap.t
