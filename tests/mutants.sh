#!/bin/sh
# mutants.sh JOBS [NAME] - apply each tests/mutants/*.patch to a copy of the
# tree, build, and run the test its first line names: the test must fail. A
# patch that no longer applies, or a test that still passes, is a failure here.
set -eu
jobs=$1 only=${2:-}
work=build-mutants
passed=0 failed=0

rm -rf "$work"
mkdir -p "$work/tree"
tar -cf - --exclude=./build --exclude='./build-[!a]*' --exclude='./build-a[!u]*' --exclude=./.git --exclude=./demo . | tar -xf - -C "$work/tree"
mkdir -p "$work/tree/build"
(cd "$work/tree/build" && ../configure -q --disable-shared >/dev/null && make -s -j"$jobs" >/dev/null 2>&1)

verdict() { # NAME TEXT OK
	if [ "$3" = 1 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
	printf '%s: %s\n' "$1" "$2" >&2
}

for patch in tests/mutants/*.patch; do
	[ -e "$patch" ] || continue
	name=$(basename "$patch" .patch)
	[ -z "$only" ] || [ "$only" = "$name" ] || continue
	test=$(sed -n '1s/^# test: *//p' "$patch")
	if [ -z "$test" ]; then
		verdict "$name" "its first line names no test" 0
		continue
	fi
	if ! patch -s -p1 -d "$work/tree" <"$patch" >/dev/null 2>&1; then
		verdict "$name" "does not apply" 0
		continue
	fi
	if ! make -s -C "$work/tree/build" -j"$jobs" all "$test" >"$work/$name.log" 2>&1 &&
		! grep -q "$test" "$work/tree/tests/"*.mk; then
		verdict "$name" "does not build ($work/$name.log)" 0
	elif TAP_TIMEOUT=60 make -s -C "$work/tree/build" check TESTS="$test" >"$work/$name.log" 2>&1; then
		verdict "$name" "NOT noticed by $test" 0
	else
		verdict "$name" "noticed by $test" 1
	fi
	patch -s -R -p1 -d "$work/tree" <"$patch" >/dev/null
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
