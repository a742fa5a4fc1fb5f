# tests/compat.mk - the tests of this room.
check_PROGRAMS += tests/cps_laws.t
EXTRA_DIST += tests/cps_rows.h
dist_check_SCRIPTS += tests/faces.t
EXTRA_DIST += tests/faces.exempt
