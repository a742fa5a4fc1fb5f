#!/bin/sh
# growth.sh BUILD-DIRECTORY [LARGEST] - what a page costs when a crawl knows a
# thousand, ten thousand, a hundred thousand and a million URLs, on tiny pages of
# `coscrawl site`; memory and database for each known URL. Called by
# make bench-growth. About five minutes for the million on two quiet cores.
#
# A site of each size is crawled to its end, saved on tmpfs. The sizes take turns,
# the small ones often, so that a machine that becomes busy is busy for all. Exit 1:
# a page at the largest size costs more than 1.15 of one at ten thousand.
set -eu

build=$1 largest=${2:-1000000}
work=$(mktemp -d /dev/shm/coscrawl-growth.XXXXXX)
site=
cleanup() {
	[ -z "$site" ] || kill "$site" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# serve PAGES: the same shape at every size: four links to children, three across.
serve() {
	: >"$work/url"
	"$build/coscrawl" site --pages="$1" --links=4 --bytes=600 --shape=cross >"$work/url" &
	site=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ -s "$work/url" ] && return 0
		sleep 0.2
	done
	echo "bench-growth: the site did not start" >&2
	exit 1
}

run() { # PAGES
	[ "$1" -le "$largest" ] || return 0
	printf '\rbench-growth: %-8s' "$1" >&2
	serve "$1"
	mkdir "$work/out"
	"$build/bench_cost" "$work/cost" "$build/coscrawl" -q -l inf -j 64 --host-concurrency=64 \
		--no-adaptive -P "$work/out" "$(head -n 1 "$work/url")"
	kill "$site"
	wait "$site" 2>/dev/null || true
	site=
	pages=$(find "$work/out" -name '*.html' | wc -l)
	[ "$pages" = "$1" ] || { echo "bench-growth: $pages pages saved of $1" >&2; exit 1; }
	echo "$1 $(cat "$work/cost") $(stat -c %s "$work/out/.coscrawl/crawl.db")" >>"$work/results"
	rm -rf "$work/out"
}

small() {
	run 1000
	run 10000
}

small; small; run 100000; small; run 1000000; small; run 100000; small; run 100000; small
printf '\r%30s\r' '' >&2
awk '
function sorted(values, n,   i, j, t) {
	for (i = 2; i <= n; i++) for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
		t = values[j]; values[j] = values[j - 1]; values[j - 1] = t } }
function median(size, field,   a, i) {
	delete a
	for (i = 1; i <= rounds[size]; i++) a[i] = v[size, i, field]
	sorted(a, rounds[size])
	return a[int((rounds[size] + 1) / 2)] }
function more(n) { return n > 1000 ? sprintf("%.0f", (median(n, "rss") - median(1000, "rss")) * 1024 / (n - 1000)) : "-" }
{ if (!($1 in rounds)) order[++count] = $1
  i = ++rounds[$1]
  v[$1, i, "cpu"] = $2 / $1 * 1e6; v[$1, i, "rate"] = $1 / $3; v[$1, i, "rss"] = $4; v[$1, i, "db"] = $6 }
END {
	printf "%9s %6s %8s %8s %7s %11s %11s %9s\n", "known", "rounds", "us/page", "pages/s", "RSS MB", "bytes/URL", "db/URL", "CPU / 10k"
	for (i = 1; i <= count; i++) {
		n = order[i]; ratio = median(n, "cpu") / median(10000, "cpu")
		printf "%9d %6d %8.1f %8.0f %7.1f %11s %11.0f %9.2f\n", n, rounds[n], median(n, "cpu"), median(n, "rate"), median(n, "rss") / 1024, more(n), median(n, "db") / n, ratio
		if (n > largest) { largest = n; last = ratio }
	}
	if (last > 1.15) { print "a page costs too much more at the largest size"; exit 1 }
}' "$work/results"
