#!/bin/sh
# noblock_crawl.t - whole crawls, and the loop thread never calls what may wait
# for a disk: open, write, stat, mkdir, unlink, rename, fsync and their kin. The
# calls are counted by a library in front of libc (noblock_preload.c).
coscrawl=${COSCRAWL:-./coscrawl}
here=$(cd "${srcdir:-.}" && pwd)
tmp=$(mktemp -d) || exit 1
site=
trap '[ -z "$site" ] || kill "$site"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
# shellcheck disable=SC2086
${CC:-cc} -shared -fPIC -O1 -w -o front.so "$here/tests/noblock_preload.c" -ldl -lpthread 2>log || {
	echo "Bail out! $(head -n 1 log)"
	exit 1
}
"$coscrawl" site --pages=60 --die-with-parent >address &
site=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ -s address ] && break
	sleep 0.1
done
url=$(head -n 1 address)

n=0 failed=0
check() { # HELD DESCRIPTION
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
		sort report | uniq -c | sort -rn | sed 's/^/# /' | head -n 20
		sed 's/^/# /' err
	fi
}
# A sanitizer wants to be first; it need not be here.
crawl() { # WANTED-CODE ARGUMENT...
	want=$1
	shift
	ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS NOBLOCK_FD=9 LD_PRELOAD="$tmp/front.so" \
		"$coscrawl" -q "$@" 9>report >out 2>err
	code=$?
	[ $code = "$want" ] && grep -q '^elsewhere [1-9]' report
	check $? "$*: exit $want (got $code), and other threads did the work"
	! grep -v '^elsewhere ' report >/dev/null
	check $? "$*: the loop thread did not"
}
crawl 0 -P a "$url"
crawl 0 --fresh -P a "$url"
crawl 14 --max-pages=20 -P b "$url"
crawl 0 -P b "$url"
crawl 0 -P b "$url"
crawl 0 -P c -o list.jsonl --format=jsonl --log-file=log.txt "$url"
[ "$(wc -l <list.jsonl)" -ge 60 ] && [ "$(wc -l <log.txt)" -ge 60 ]
check $? "and the list and the log are whole"
crawl 0 -P d --save-cookies=jar "${url}fault/cookie" "$url"
crawl 0 -P d --fresh --load-cookies=jar --save-cookies=jar "$url"
crawl 0 -P e -m -K --dedup=link "$url"
crawl 0 -P e -m -K --dedup=link "$url"
crawl 0 -P f --warc-file=archive --sitemap "$url"
crawl 0 -P g --trace=trace.json --stats -l 0 "${url}fault/huge?mb=4" "$url"
crawl 8 -P h "${url}fault/404" "${url}fault/truncated?times=1"
# In memory the database has no file, so fewer calls are made at all.
crawl 0 -P i --list "$url"
[ "$(wc -l <out)" -ge 60 ]
check $? "--list: the list is whole"
echo "1..$n"
exit $failed
