#!/bin/sh
# bench_trace.sh COSCRAWL [ROUNDS] - what --trace costs a crawl of 1,000 pages:
# instructions by callgrind, once each way, and CPU time, ROUNDS times each way in
# turn. Exits 1 when the trace takes more than a tenth of the instructions.
set -eu
coscrawl=$1 rounds=${2:-5}
top=$(mktemp -d) || exit 2
site=
trap '[ -z "$site" ] || kill "$site"; rm -rf "$top"' EXIT
"$coscrawl" site --shape=cross --pages=1000 --port=0 >"$top/url" 2>/dev/null &
site=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$top/url" ] && break; sleep 0.2; done
url=$(grep -o 'http://[0-9.:]*/' "$top/url" | head -n 1)
crawl() { # [PROGRAM...] -- [OPTION...]
	before=
	while [ "$1" != -- ]; do before="$before $1"; shift; done
	shift
	rm -rf "$top/d"
	# shellcheck disable=SC2086
	$before "$coscrawl" -q -l inf -j 16 --host-concurrency=16 --no-adaptive --no-robots --list -o "$top/list" -P "$top/d" "$@" "$url" >/dev/null 2>&1
}
instructions() { # [OPTION...]
	crawl valgrind --tool=callgrind --callgrind-out-file="$top/cg" -- "$@"
	awk '/^(totals|summary):/ { print $2; exit }' "$top/cg"
}
cpu() { # [OPTION...]
	LC_ALL=C bash -c 'TIMEFORMAT="%U %S"; time { "$@"; } >/dev/null 2>&1' bash "$coscrawl" -q -l inf -j 16 --host-concurrency=16 \
		--no-adaptive --no-robots --list -o "$top/list" -P "$top/d" "$@" "$url" 2>&1 | awk '{ print $1 + $2 }'
}
bad=0
if command -v valgrind >/dev/null; then
	without=$(instructions) && with=$(instructions --trace="$top/t.json")
	awk -v a="$without" -v b="$with" 'BEGIN { printf("instructions: %.1f M without, %.1f M with --trace: %.3f (bar 1.10)\n", a / 1e6, b / 1e6, b / a); exit b / a > 1.10 }' || bad=1
fi
sum0=0 sum1=0 i=0
while [ $i -lt "$rounds" ]; do
	rm -rf "$top/d"
	sum0=$(cpu | awk -v s=$sum0 '{ print s + $1 }')
	rm -rf "$top/d"
	sum1=$(cpu --trace="$top/t.json" | awk -v s=$sum1 '{ print s + $1 }')
	i=$((i + 1))
done
awk -v a="$sum0" -v b="$sum1" -v n="$rounds" 'BEGIN { printf("CPU seconds a crawl: %.3f without, %.3f with --trace: %.3f\n", a / n, b / n, b / a) }'
exit $bad
