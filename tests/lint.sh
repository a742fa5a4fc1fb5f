#!/bin/sh
# lint.sh JOBS - what the compilers and checkers say about the tree. Called by
# ./dev lint, which installs the tools. Every step runs; any finding fails.
set -eu
jobs=$1
bad=
step() { printf 'lint: %s\n' "$1" >&2; }

compile() { # NAME CONFIGURE-ARGUMENT...
	name=$1
	shift
	[ -x configure ] || autoreconf -fi >/dev/null 2>&1
	mkdir -p "build-$name"
	(cd "build-$name" && { [ -f Makefile ] || ../configure -q --disable-shared --enable-werror "$@" >/dev/null; } &&
		make -s -k -j"$jobs" all >make.log 2>&1 && make -s -k -j"$jobs" check TESTS= >>make.log 2>&1) || {
		grep -E 'warning|error' "build-$name/make.log" | sort -u | head -n 40 >&2
		bad="$bad $name"
	}
}

step "gcc -Werror"
compile lint-gcc CC=gcc
step "clang -Werror"
compile lint-clang CC=clang CXX=clang++

sources=$(git ls-files 'src/*.c' 'compat/*.c' 'examples/*.c' 2>/dev/null || find src compat examples -name '*.c')
flags="-std=gnu11 -D_GNU_SOURCE -DHAVE_CONFIG_H -Ibuild-lint-gcc -Ibuild-lint-gcc/src -Isrc -Icompat -Isrc/dill -Iexamples"

step "cppcheck"
# shellcheck disable=SC2086
cppcheck -q -j"$jobs" --error-exitcode=1 --inline-suppr --suppressions-list=tests/cppcheck.txt \
	--enable=warning,performance,portability --std=c11 -D__x86_64__ -D__linux__ -D__GNUC__=12 \
	-Isrc -Icompat -Isrc/dill -Ibuild-lint-gcc $sources || bad="$bad cppcheck"

# It takes minutes: LINT_TIDY=no leaves it out.
[ "${LINT_TIDY:-yes}" = no ] || {
	step "clang-tidy"
	# shellcheck disable=SC2086,SC2016
	printf '%s\n' $sources | xargs -P"$jobs" -n4 sh -c 'flags=$1; shift; clang-tidy --quiet "$@" -- $flags 2>/dev/null' sh "$flags" \
		>build-lint-gcc/tidy.log || {
		grep -E 'error:|warning:' build-lint-gcc/tidy.log | sort -u | head -n 60 >&2
		bad="$bad clang-tidy"
	}
}

step "man pages"
for page in man/*.[1-9]; do
	[ -e "$page" ] || continue
	mandoc -T lint -W warning "$page" || bad="$bad $page"
done

step "shell scripts"
# shellcheck disable=SC2046
shellcheck -s sh dev tests/*.sh $(grep -lx '#!/bin/sh' tests/*.t) -e SC1091,SC2034 || bad="$bad shellcheck"

step "mutants"
for mutant in tests/mutants/*.patch; do
	patch -s -f --dry-run -p1 <"$mutant" >/dev/null 2>&1 || bad="$bad $mutant"
done

[ -z "$bad" ] || { echo "lint: failed:$bad" >&2; exit 1; }
echo "lint: clean"
