# tests/foundation.mk - tests of the tree itself, and the scripts of ./dev.
dist_check_SCRIPTS += tests/layers.t
EXTRA_DIST += tests/lint.sh tests/mutants.sh tests/fuzz.sh tests/valgrind.sh tests/valgrind.supp tests/cppcheck.txt .clang-tidy
