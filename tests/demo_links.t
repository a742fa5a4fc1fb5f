#!/bin/sh
# demo_links.t - on the demo site the scanner and HTML Tidy find the same links,
# page by page. Where they differ on broken markup, tidy.t says why.
: "${COSCRAWL:=./coscrawl}"
dir=$(mktemp -d) || exit 1
"$COSCRAWL" site --pages=40 --die-with-parent >"$dir/url" &
site=$!
trap 'kill "$site"; rm -rf "$dir"' EXIT
. "${srcdir:-.}/tests/tap.sh"
explain() { cat "$dir/diff"; }
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ -s "$dir/url" ] && break
	sleep 0.2
done
: >"$dir/diff"
read -r url <"$dir/url"
"$COSCRAWL" -q -P "$dir/copy" "$url" 2>"$dir/diff"
ok $? "the demo site is crawled"

# Says which links only one of the two has; silent when the sets are equal.
differ() { # FILE
	"$COSCRAWL" links --base "$url" "$1" | sort -u >"$dir/scan" &&
		"$COSCRAWL" links --base "$url" --parser=tidy "$1" | sort -u >"$dir/tidy" &&
		diff "$dir/scan" "$dir/tidy" >>"$dir/diff" 2>&1
}
pages=0 links=0 status=0
: >"$dir/diff"
find "$dir/copy" -name '*.html' >"$dir/files"
while read -r file; do
	differ "$file" || { status=1 && echo "in $file" >>"$dir/diff"; }
	pages=$((pages + 1)) links=$((links + $(wc -l <"$dir/scan")))
done <"$dir/files"
ok "$status" "scan and tidy: the same links on every page"
[ "$pages" -ge 40 ] && [ "$links" -ge 200 ]
ok $? "there was something to compare: $pages pages, $links links"
done_testing
