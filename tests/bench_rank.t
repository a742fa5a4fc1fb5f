#!/bin/sh
# bench_rank.t - with null leaves the ranking of the styles is the same in five runs,
# whatever else the machine does: it is by instructions. The instructions of the
# five runs are intervals, and those of neighbours do not overlap. Slow.
coscrawl=${COSCRAWL:-./coscrawl}
. "${srcdir:-.}/tests/tap.sh"
for tool in valgrind jq; do
	command -v $tool >/dev/null 2>&1 || skip_all "no $tool here"
done
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

for run in 1 2 3 4 5; do
	"$coscrawl" bench --leaves=null --shape=one,tree,cross --rounds=1 -q --json >"$tmp/$run.json" || failed=1
	jq -r '.cells | group_by(.shape)[] | sort_by(.rank) | .[0].shape + ": " + (map(.style + "-" + .face) | join(" "))' \
		"$tmp/$run.json" >"$tmp/$run.order"
done
grep -q 'valgrind could not' "$tmp/1.json" && skip_all "valgrind cannot run this build"
sed 's/^/# /' "$tmp/1.order"
for run in 2 3 4 5; do
	cmp -s "$tmp/1.order" "$tmp/$run.order"
	ok $? "run $run ranks as run 1 does"
done

# name, least and most instructions a page
jq -rs '[.[].cells[]] | group_by(.shape + .style + .face)[] |
	[.[0].shape, .[0].style + "-" + .[0].face, (map(.instructions_page) | min), (map(.instructions_page) | max), length] | @tsv' \
	"$tmp"/?.json | sort -k1,1 -k3,3g >"$tmp/intervals"
awk '{ printf "# %-6s %-15s %.0f to %.0f\n", $1, $2, $3, $4 }' "$tmp/intervals"
[ "$(awk '$5 != 5' "$tmp/intervals" | wc -l)" = 0 ] && [ -s "$tmp/intervals" ]
ok $? "five counts of every cell"
overlaps=$(awk '$1 == shape && $3 <= most { print name, $2 } { shape = $1; most = $4; name = $2 }' "$tmp/intervals")
none "$overlaps" "no two intervals overlap"
done_testing
