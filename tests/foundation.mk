# tests/foundation.mk - tests of the tree itself, and the scripts of ./dev.
dist_check_SCRIPTS += tests/layers.t
EXTRA_DIST += tests/lint.sh tests/mutants.sh tests/fuzz.sh tests/valgrind.sh tests/valgrind.supp tests/cppcheck.txt .clang-tidy

# what make install gives, and what a program makes of it
dist_check_SCRIPTS += tests/install.t tests/man3.t tests/tutorial.t
FULL_TESTS += tests/tarball.t
EXTRA_DIST += tests/install-check.sh tests/install/co.c tests/install/co.cc tests/install/cps.c
