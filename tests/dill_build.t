#!/bin/sh
# dill_build.t - the runtime's own tests under every compiler, optimiser,
# sanitizer and CPU at hand. The go macros count on what compilers do and do not
# do, so each way to build is a case of its own. A row whose compiler is missing
# is named and left out.
srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
quick="dill_cr dill_chan dill_choose dill_raw"
all="$quick dill_handle dill_fd dill_proc dill_stack"
. "${srcdir:-.}/tests/tap.sh"
explain() { grep -vE '^ok' "$work/log" | tail -n 20; }


# built_and_run RUNNER TESTS COMPILER FLAG...
built_and_run() {
	runner=$1 tests=$2
	shift 2
	rm -rf "$work/o" && mkdir "$work/o" && cd "$work/o" || return 1
	"$@" -g -std=gnu11 -D_GNU_SOURCE -I"$top/src/dill" -c "$top"/src/dill/*.c "$top/tests/tap.c" || return 1
	for test in $tests; do
		"$@" -g -std=gnu11 -D_GNU_SOURCE -I"$top/src/dill" -I"$top/tests" "$top/tests/$test.t.c" \
			./*.o -o "$test" -pthread || return 1
		# shellcheck disable=SC2086
		TAP_TIMEOUT=200 $runner "./$test" || { echo "failed: $test"; return 1; }
	done
}

row() { # TESTS COMPILER FLAG...
	tests=$1
	shift
	if ! command -v "$1" >/dev/null 2>&1; then
		echo "# left out, no $1: $*"
		return
	fi
	(built_and_run "" "$tests" "$@") >"$work/log" 2>&1
	ok $? "$*"
}

hard="-D_FORTIFY_SOURCE=2 -fstack-protector-strong -fcf-protection -fstack-clash-protection"
row "$quick" gcc -O0
row "$quick" gcc -O1
row "$quick" gcc -Os
row "$all" gcc -O3 -flto=auto
# shellcheck disable=SC2086
row "$quick" gcc -O2 $hard
row "$quick" gcc -O2 -fPIC -maccumulate-outgoing-args
row "$quick" gcc -O3 -mavx2 -mstackrealign
row "$quick" gcc -O2 -fno-omit-frame-pointer -fno-plt
row "$quick" gcc -O2 -w -DDILL_PORT_GENERIC
NO_CHEAP_GUARDS=1
export NO_CHEAP_GUARDS # as on kernels before 6.13: guards are mappings
row "dill_stack dill_cr" gcc -O2 -DMADV_GUARD_INSTALL=9999
unset NO_CHEAP_GUARDS
row "$all" gcc -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
row "$all" gcc -O1 -fsanitize=thread
row "$quick" clang -O0
row "$all" clang -O2
# shellcheck disable=SC2086
row "$quick" clang -O2 $hard
row "$quick" clang -O3 -mavx2 -mstackrealign
row "$quick" clang -O2 -DDILL_PORT_GENERIC
row "$all" clang -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
row "$all" clang -O1 -fsanitize=thread
command -v ld.lld >/dev/null 2>&1 && row "$all" clang -O3 -flto -fuse-ld=lld -Wno-unused-command-line-argument

export UNDER_VALGRIND=1 # fewer coroutines, no figures: emulators are slow
cross=aarch64-linux-gnu-gcc
if command -v $cross >/dev/null 2>&1; then
	for flags in "-O0" "-O2" "-O3 -mbranch-protection=standard"; do
		if command -v qemu-aarch64 >/dev/null 2>&1; then
			# shellcheck disable=SC2086
			(built_and_run qemu-aarch64 "$all" $cross -static $flags) >"$work/log" 2>&1
			ok $? "$cross $flags, run by qemu"
		else
			# shellcheck disable=SC2086
			(cd "$work" && $cross -std=gnu11 -D_GNU_SOURCE $flags -I"$top/src/dill" -c "$top"/src/dill/*.c) >"$work/log" 2>&1
			ok $? "$cross $flags, compiled only"
		fi
	done
else
	echo "# left out, no $cross"
fi
if command -v valgrind >/dev/null 2>&1; then
	(built_and_run "valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite" \
		"$all" gcc -O1) >"$work/log" 2>&1
	ok $? "valgrind"
else
	echo "# left out, no valgrind"
fi
done_testing
