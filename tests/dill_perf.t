#!/bin/sh
# dill_perf.t - the bars of the runtime that hold on any machine: instructions
# and system calls per operation, bytes per coroutine, lateness. Times are
# printed, not judged.
bench=${builddir:-.}/src/bench/bench_dill
. "${srcdir:-.}/tests/tap.sh"
for tool in valgrind jq; do
	command -v $tool >/dev/null 2>&1 || skip_all "no $tool here"
done
make -s -C "${builddir:-.}" src/bench/bench_dill >/dev/null 2>&1 || skip_all "bench_dill cannot be made here"
if nm "$bench" 2>/dev/null | grep -qE ' __(asan|tsan|ubsan)_' || nm -D "$bench" 2>/dev/null | grep -qE ' __(asan|tsan)_init'; then
	skip_all "instructions of a sanitizer say nothing"
fi
result=$("$bench" --json) || { echo "Bail out! bench_dill failed"; exit 1; }
bar() { # ROW FIELD LIMIT WHAT
	value=$(printf '%s' "$result" | jq -r ".rows[] | select(.name == \"$1\") | .$2")
	[ "$value" != null ] && awk -v a="$value" -v b="$3" 'BEGIN { exit !(a >= 0 && a <= b) }'
	ok $? "$4: $value, at most $3"
}
bar switch instructions 50 "instructions of a switch"
bar spawn instructions 150 "instructions of a cached spawn"
bar message instructions 200 "instructions of a message"
bar switch syscalls 0 "system calls of a switch"
bar spawn syscalls 0 "system calls of a cached spawn"
bar message syscalls 0 "system calls of a message"
bar cold syscalls 1.1 "system calls of a cold spawn and its end"
bar memory-10k figure 4300 "bytes of a parked coroutine, 10,000"
bar memory-100k figure 4300 "bytes of a parked coroutine, 100,000"
bar late figure 20 "ms a sleep is late beside a yielding coroutine"
printf '%s' "$result" | jq -r '.rows[] | "# \(.name): \(.figure) \(.unit)"'
done_testing
