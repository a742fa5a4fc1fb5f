#!/bin/sh
# mutants.sh JOBS [NAME...] - apply each tests/mutants/*.patch to a copy of the
# tree, build, and run the test its first line names: the test must fail. NAME
# may be a pattern ('C6*'). A patch that no longer applies or does not build, a
# test that still passes, or one that fails without the patch, too, is a failure
# here. A test may wait for what a mutant never does: TAP_TIMEOUT ends it.
set -eu
jobs=$1
shift
work=build-mutants
passed=0 failed=0

rm -rf "$work"
mkdir -p "$work/tree/build" "$work/sound"
tar -cf - --exclude=./build --exclude='./build-[!a]*' --exclude='./build-a[!u]*' --exclude=./.git --exclude=./demo . |
	tar -xf - -C "$work/tree"
tree=$work/tree/build
(cd "$tree" && ../configure -q --disable-shared >/dev/null)

# built TEST: what the test needs, no more: a script may run any program.
built() {
	make -s -C "$tree" -j"$jobs" all || return 1
	if [ -e "$work/tree/$1.c" ]; then
		make -s -C "$tree" -j"$jobs" "$1"
	else
		make -s -C "$tree" -j"$jobs" check TESTS=
	fi
}

# fails TEST: it ran, and some check of it failed.
fails() {
	rm -f "$tree/${1%.t}.trs" "$tree/${1%.t}.log"
	TAP_TIMEOUT=60 make -s -C "$tree" check-TESTS TESTS="$1" || :
	grep -qE '^:test-result: (FAIL|ERROR|XPASS)' "$tree/${1%.t}.trs"
}

# sound TEST: it passes while nothing is broken; looked at once.
sound() {
	mark=$work/sound/$(basename "$1")
	[ -e "$mark" ] || { built "$1" && ! fails "$1" && : >"$mark"; } >"$mark.log" 2>&1
}

verdict() { # OK NAME TEXT
	if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
	printf '%s: %s\n' "$2" "$3" >&2
}

try() { # NAME PATCH TEST
	if ! patch -s -p1 -d "$work/tree" <"$2" >/dev/null 2>&1; then
		verdict bad "$1" "does not apply"
		return
	fi
	if ! built "$3" >"$work/$1.log" 2>&1; then
		verdict bad "$1" "does not build ($work/$1.log)"
	elif fails "$3" >"$work/$1.log" 2>&1; then
		verdict ok "$1" "noticed by $3"
	else
		verdict bad "$1" "NOT noticed by $3"
	fi
	patch -s -R -p1 -d "$work/tree" <"$2" >/dev/null
}

wanted() { # NAME PATTERN...
	name=$1
	shift
	[ $# -gt 0 ] || return 0
	for pattern; do
		# shellcheck disable=SC2254
		case $name in $pattern) return 0 ;; esac
	done
	return 1
}

for patch in tests/mutants/*.patch; do
	name=$(basename "$patch" .patch)
	wanted "$name" "$@" || continue
	test=$(sed -n '1s/^# test: *//p' "$patch")
	if [ -z "$test" ]; then
		verdict bad "$name" "its first line names no test"
	elif ! sound "$test"; then
		verdict bad "$name" "$test fails without it, too ($work/sound/$(basename "$test").log)"
	else
		try "$name" "$patch" "$test"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
