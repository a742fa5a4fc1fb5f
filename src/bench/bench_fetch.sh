#!/bin/sh
# bench_fetch.sh - runs bench_fetch twice: natively for time and lag, under
# callgrind for instructions, and says whether the bars hold. Exit 1: they do not.
# usage: bench_fetch.sh PROGRAM [REQUESTS [REQUESTS-UNDER-CALLGRIND]]
program=$1
n=${2:-20000}
m=${3:-1024}
"$program" "$n" || exit 1
command -v valgrind >/dev/null || {
	echo "valgrind not found: no instruction counts" >&2
	exit 1
}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
valgrind -q --tool=callgrind --collect-jumps=no --callgrind-out-file="$dir/out" \
	"$program" "$m" >/dev/null 2>"$dir/log" || {
	cat "$dir/log" >&2
	exit 1
}
# A dump per cell: "desc: Trigger: Client Request: FACE WIDTH N", later "totals: COUNT".
cat "$dir"/out.* | awk '
	/^desc: Trigger: Client Request:/ { face = $5; width = $6; n = $7 }
	/^totals:/ && face { count[face, width] = $2 / n; face = "" }
	function ratio(a, b, bar) {
		r = count[a, 64] / count[b, 64]
		printf "%s / %s at 64: %.3f (bar %.2f) %s\n", a, b, r, bar, r <= bar ? "ok" : "MISSED"
		if (r > bar) missed = 1
	}
	END {
		print "instructions per request"
		printf "%6s %10s %10s %10s\n", "width", "bare", "cps", "co"
		split("1 16 64 256", w)
		for (i = 1; i <= 4; i++)
			printf "%6d %10.0f %10.0f %10.0f\n", w[i], count["bare", w[i]], count["cps", w[i]], count["co", w[i]]
		ratio("co", "bare", 1.05)
		ratio("cps", "bare", 1.05)
		ratio("co", "cps", 1.03)
		exit missed
	}'
