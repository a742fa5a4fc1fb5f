#!/bin/sh
# warcio.t - an independent reader (warcio, from npm) reads what we archive: all
# records, counted against the server's log, lengths and digests, after a kill,
# too; and its index of the archive says what ours says.
srcdir=$(cd "${srcdir:-.}" && pwd)
coscrawl=${COSCRAWL:-./coscrawl}
work=$(mktemp -d) || exit 1
site=
trap 'kill $site 2>/dev/null; rm -rf "$work"' EXIT
. "$srcdir/tests/tap.sh"

mkdir "$work/npm"
cp "$srcdir/tests/warcio.mjs" "$work/npm/read.mjs"
if ! command -v node >/dev/null || ! command -v npm >/dev/null ||
	! (cd "$work/npm" && timeout 120 npm install --no-audit --no-fund --silent warcio >npm.log 2>&1); then
	echo "1..0 # SKIP no warcio to be had from npm"
	exit 0
fi
cd "$work" || exit 1
read_all() { node npm/read.mjs "$@"; }
value() { sed -n "s/^$1 //p" report; }

"$coscrawl" site --pages=300 --errors=5 --die-with-parent >url &
site=$!
while [ ! -s url ]; do sleep 0.1; done
url=$(cat url)

"$coscrawl" -q --sitemap -P one --warc-file=one --warc-cdx --waitretry=0.1 "$url"
asked=$(curl -s "$url.stats" | sed -n 's/^{"requests":\([0-9]*\),.*/\1/p')
read_all one.warc.gz >report
is "$(value wrong)" "" "every length and digest holds"
is "$(value request)" "$asked" "a request record for each of the $asked requests in the server's log"
is "$(($(value response) + $(value revisit)))" "$asked" "and an answer for each"
is "$(value metadata)" "$asked" "and a metadata record"
test "$(value revisit)" -gt 5
ok $? "equal payloads are revisits: $(value revisit)"
node npm/node_modules/warcio/dist/cli.js cdx-index --format cdxj one.warc.gz 2>/dev/null | LC_ALL=C sort >theirs
cut -d' ' -f1,2 theirs >theirs.keys
cut -d' ' -f1,2 one.cdxj >ours.keys
cmp -s theirs.keys ours.keys
ok $? "our index has the lines of theirs: $(wc -l <theirs.keys)"
for field in url status digest offset length filename; do
	jq -c "[.$field]" <<-END >theirs.$field
		$(cut -d' ' -f3- theirs)
	END
	jq -c "[.$field]" <<-END >ours.$field
		$(cut -d' ' -f3- one.cdxj)
	END
	cmp -s theirs.$field ours.$field
	ok $? "with the same $field"
done

"$coscrawl" -q -l1 -P faults --warc-file=faults -t1 --accept-regex='/fault/(chunked|gzip|interim|length-short|$)' "${url}fault/"
read_all faults.warc.gz >report
is "$(value wrong)" "" "chunks and compression are kept as they came"
test "$(value chunked)" -ge 1 && test "$(value gzip)" -ge 1
ok $? "and there are such answers"

"$coscrawl" -q -P sizes --warc-file=sizes --warc-max-size=100k "$url"
read_all sizes-*.warc.gz >report
is "$(value wrong)" "" "several files: every length and digest holds"
test "$(find . -name 'sizes-*.warc.gz' -size -101k | wc -l)" -gt 3
ok $? "of the size asked for"

for i in 1 2 3 4 5; do
	"$coscrawl" -q -P killed --warc-file=killed "$url" &
	pid=$!
	sleep 0.1
	kill -9 $pid
	wait $pid 2>/dev/null
	[ -s killed.warc.gz ] || continue
	cp killed.warc.gz "at-$i.warc.gz"
	read_all "at-$i.warc.gz" >>kills 2>&1
done
grep -q wrong kills
test $? = 1 && test -s kills
ok $? "after kill -9 it reads to the last record"
"$coscrawl" -q -P killed --warc-file=killed "$url"
read_all killed.warc.gz >report 2>&1
is "$(value wrong)" "" "and after the crawl has gone on"
is "$(grep -c 'Content-Length Too Small' report)" 0 "without a remainder"
done_testing
