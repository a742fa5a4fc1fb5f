#!/bin/sh
# bench_hooks.sh WITH WITHOUT - instructions a step, by callgrind at two numbers
# of steps: emission points compiled out (WITHOUT), off, and with four empty
# callbacks. Exits 1 when a ratio is above its bar: off/out 1.10, on/off 1.5.
# The last bar is for steps that take the loop or a thread (cps-sleep, file); a
# smaller one is shown beside them.
with=$1 without=$2 few=1000 many=3000
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
command -v valgrind >/dev/null || { echo "bench-hooks: valgrind is not installed" >&2; exit 77; }
total() { # PROGRAM STEP MODE N
	valgrind --tool=callgrind --callgrind-out-file="$out" "$@" >/dev/null 2>&1 || { echo "bench-hooks: $* failed" >&2; exit 2; }
	awk '/^(totals|summary):/ { print $2; exit }' "$out"
}
step() { # PROGRAM STEP MODE
	a=$(total "$@" $few) && b=$(total "$@" $many) || exit 2
	awk -v a="$a" -v b="$b" -v n=$((many - few)) 'BEGIN { printf "%.1f", (b - a) / n }'
}
bad=0
printf '%-10s %10s %10s %10s %8s %8s\n' step out off on off/out on/off
for s in ${STEPS:-cps-sleep co-sleep cps-await co-queue cps-file co-file}; do
	o=$(step "$without" "$s" off) && f=$(step "$with" "$s" off) && e=$(step "$with" "$s" on) || exit 2
	awk -v s="$s" -v o="$o" -v f="$f" -v e="$e" 'BEGIN {
		bar = s ~ /file|cps-sleep/ ? 1.5 : 9
		over = (f / o > 1.10 || e / f > bar)
		printf("%-10s %10.0f %10.0f %10.0f %8.3f %8.3f%s\n", s, o, f, e, f / o, e / f, over ? "  too much" : "")
		exit over }' || bad=1
done
exit $bad
