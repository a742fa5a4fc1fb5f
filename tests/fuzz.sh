#!/bin/sh
# fuzz.sh BUILD SECONDS - each fuzzer in turn, starting from its seed corpus.
# New inputs go to BUILD/fuzz/<name>; a finding is left there as crash-*.
set -eu
build=$1 seconds=$2
bad=
for program in "$build"/tests/fuzz/fuzz_*; do
	case $program in *.o | *.c) continue ;; esac
	[ -f "$program" ] || continue
	name=$(basename "$program" | sed 's/^fuzz_//')
	mkdir -p "$build/fuzz/$name"
	printf 'fuzz: %s for %s s\n' "$name" "$seconds" >&2
	"$program" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix="$build/fuzz/$name-" "$build/fuzz/$name" "tests/fuzz/corpus/$name" \
		>"$build/fuzz/$name.log" 2>&1 || bad="$bad $name"
	grep -E 'number_of_executed_units|SUMMARY' "$build/fuzz/$name.log" || true
done
[ -z "$bad" ] || { echo "fuzz: findings in:$bad" >&2; exit 1; }
echo "fuzz: no findings"
