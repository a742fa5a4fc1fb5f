#!/bin/sh
# valgrind.sh BUILD - the subset of the tests that says most under valgrind:
# the runtime, the parsers and base. The list is here, not in the tests, so that
# a test need not know how it is run.
set -eu
build=$1
bad=
passed=0
make -s -C "$build" -j2 check TESTS= >/dev/null
for test in dill_chan dill_cr dill_fd dill_handle buf set ring json page err url robots scan css charset path frontier op; do
	program=$build/tests/$test.t
	[ -x "$program" ] || continue
	printf 'valgrind: %s\n' "$test" >&2
	if srcdir=. TAP_TIMEOUT=600 UNDER_VALGRIND=1 valgrind -q --error-exitcode=99 --leak-check=full \
		--errors-for-leak-kinds=definite --suppressions=tests/valgrind.supp "$program" >"$build/valgrind-$test.log" 2>&1; then
		passed=$((passed + 1))
	else
		tail -n 20 "$build/valgrind-$test.log" >&2
		bad="$bad $test"
	fi
done
[ -z "$bad" ] || { echo "valgrind: failed:$bad" >&2; exit 1; }
echo "valgrind: $passed test programs clean"
