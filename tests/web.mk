# tests/web.mk - the tests of this room.

# url, robots
check_PROGRAMS += tests/url.t tests/url_conformance.t
EXTRA_DIST += tests/jsonread.h

# scan, css, charset, links
check_PROGRAMS += tests/links.t
# sitemap, tidy, names
check_PROGRAMS += tests/names.t tests/sitemap.t
# fetch
check_PROGRAMS += tests/fetch.t
EXTRA_DIST += tests/fetch_rows.h
EXTRA_DIST += tests/dnsstub.h
