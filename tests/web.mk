# tests/web.mk - the tests of this room.

# url, robots
check_PROGRAMS += tests/url.t tests/url_conformance.t tests/robots.t tests/robots_conformance.t
EXTRA_DIST += tests/jsonread.h

# scan, css, charset, links
check_PROGRAMS += tests/links.t
# sitemap, tidy, names
check_PROGRAMS += tests/sitemap.t
