#!/bin/sh
# tutorial.t - the programs of coscrawl-tutorial(7), compiled as they stand there
# and run against the site: they all see each page of it once. Their parameters
# are part of what they show, used or not.
srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
cd "${builddir:-.}" || exit 1
work=$(mktemp -d) || exit 1
. "$top/tests/install-check.sh"
trap ended EXIT

awk -v dir="$work" '/^\.\\" program / { name = $3; next }
	name && /^\.Bd/ { file = dir "/" name ".c"; next }
	file && /^\.Ed/ { close(file); file = name = ""; next }
	file { gsub(/\\e/, "\\"); gsub(/\\-/, "-"); gsub(/\\&/, ""); print >file }' "$top/man/coscrawl-tutorial.7"
"$COSCRAWL" site --pages=20 --latency=5 >"$work/url" 2>>"$work/log" &
site=$!
tries=0
while [ ! -s "$work/url" ] && [ $tries -lt 200 ]; do
	sleep 0.05
	tries=$((tries + 1))
done
url=$(head -n 1 "$work/url")

for name in coroutines callbacks queue crawl hooks; do
	# shellcheck disable=SC2046
	${CC:-cc} $(instrumented) -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -I"$top/src" -I"$top/compat" \
		$(make_variable DILL_CPPFLAGS | sed "s|\$(top_srcdir)|$top|") \
		-o "$work/$name" "$work/$name.c" .libs/libcos.a $(make_variable DILL_LIBS) $(make_variable COS_LIBS) >"$work/log" 2>&1
	ok $? "$name: compiles"
	"$work/$name" "$url" >"$work/$name.out" 2>"$work/log"
	ok $? "$name: runs"
done
for name in coroutines callbacks queue; do
	sort "$work/$name.out" >"$work/log"
	[ "$(sort -u "$work/$name.out" | wc -l)" -eq "$(wc -l <"$work/$name.out")" ] &&
		[ "$(grep -c '^ok .*\.html$' "$work/$name.out")" -ge 20 ]
	ok $? "$name: every page once"
	sort "$work/coroutines.out" >"$work/first"
	cmp -s "$work/first" "$work/log"
	ok $? "$name: the pages of the first"
done
[ "$(grep -c '^200 .*/p[0-9]*\.html$' "$work/crawl.out")" -eq 19 ] && ! grep -q /private/ "$work/crawl.out"
ok $? "crawl: every page but what robots.txt disallows"
cp "$work/hooks.out" "$work/log"
grep -qE '^[1-9][0-9]* queue task$' "$work/log" && [ "$(sed -n 's/ fetch$//p' "$work/log")" -ge 20 ] &&
	tail -n 2 "$work/log" | head -n 1 | grep -q '^fetch at ' && tail -n 1 "$work/log" | grep -q '^queue task at '
ok $? "hooks: counts every kind, and shows what led to a fetch"
"$work/coroutines" http://127.0.0.1:1/ >"$work/log" 2>&1
grep -qx 'connection refused http://127.0.0.1:1/' "$work/log"
ok $? "an error is said"
grep -v '^#include' "$work/coroutines.c" | grep . >"$work/log"
[ "$(wc -l <"$work/log")" -le 30 ]
ok $? "the first one has 30 lines"
done_testing
