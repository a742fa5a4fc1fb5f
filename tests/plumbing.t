#!/bin/sh
# plumbing.t - the commands resolve, path and robots: what they print, and with
# which exit code.
coscrawl=${COSCRAWL:-./coscrawl}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. "${srcdir:-.}/tests/tap.sh"
explain() {
	printf '%s\n' "$got" | sed 's/^/got: /'
	printf '%s\n' "$want" | sed 's/^/expected: /'
	sed 's/^/stderr: /' "$tmp/err"
	echo "exit $rc, expected $code"
}
# check CODE EXPECTED DESCRIPTION COMMAND...: stdout and the exit code.
check() {
	code=$1 want=$2 what=$3
	shift 3
	got=$("$coscrawl" "$@" 2>"$tmp/err" </dev/null)
	rc=$?
	[ "$got" = "$want" ] && [ "$rc" = "$code" ]
	ok $? "$what"
}

check 0 'http://h/a/c
http://h/a/b#f' "resolve, a line per reference" resolve http://h/a/b c '#f'
check 0 'https://x/' "resolve without a base" resolve '' https://X
check 0 'http://h/--help' "a reference is never an option" resolve http://h/ --help
check 1 'http://h/a
error: not a valid http or https URL
error: neither http nor https
http://h/b' "resolve says what is wrong, and goes on" resolve http://h/ a http:// mailto:x b
check 1 'error: base: not a valid http or https URL' "a base that is no URL" resolve x y
check 2 '' "resolve needs a reference" resolve http://h/

check 0 'h.org/a/b.html
h.org,http/,_index.html' "path of URLs" path https://h.org/a/b.html http://h.org/
check 1 'error: not a valid http or https URL' "path of no URL" path x
check 0 'https://h.org/A?b' "and back" path --reverse 'h.org/,A,@b'
check 1 'error: no URL has this file' "no URL has such a file" path --reverse h.org/../x
long=$(printf '%0300d' 1)
name=$("$coscrawl" path "https://h.org/$long")
check 1 'error: a hashed name: only the crawl database knows its URL (--db DIR)' "a hashed name" \
	path --reverse "$name"
if command -v sqlite3 >/dev/null 2>&1; then
	mkdir -p "$tmp/dir/.coscrawl"
	sqlite3 "$tmp/dir/.coscrawl/crawl.db" "CREATE TABLE pages(id INTEGER PRIMARY KEY, url TEXT, path TEXT);
		INSERT INTO pages(url, path) VALUES('https://h.org/$long', '$name');"
	check 0 "https://h.org/$long
https://h.org/a.html" "a hashed name and the database" path --reverse --db "$tmp/dir" "$name" "$tmp/dir/h.org/a.html"
	check 1 'error: no page in the crawl database has this file' "a hashed name it does not have" \
		path --reverse --db "$tmp/dir" "x$name"
else
	n=$((n + 1))
	echo "ok $n # SKIP no sqlite3 here"
fi
check 1 'error: crawl database failed' "no database" path --reverse --db "$tmp/none" "$name"
check 2 '' "an unknown option" path --frobnicate x
check 2 '' "no argument" path --reverse

printf 'User-agent: one\nDisallow: /a\nAllow: /a/b$\nUser-agent: *\nDisallow: /\033[31m\n' >"$tmp/robots.txt"
check 0 'deny Disallow: /a (line 2)
allow Allow: /a/b$ (line 3)
allow no rule matches
allow no rule matches' "robots names the rule" robots --agent one "$tmp/robots.txt" http://h/a/c http://h/a/b http://h/x http://h
check 0 'deny Disallow: /%1B[31m (line 5)' "nothing raw reaches the terminal" \
	robots --agent=two/1.0 "$tmp/robots.txt" "$(printf 'http://h/\033[31m')"
check 1 '' "no such file: exit 1, as links and tidy" robots --agent one "$tmp/none" http://h/
check 1 '' "the same for links" links "$tmp/none"
check 1 '' "and for tidy" tidy "$tmp/none"
check 2 '' "no agent" robots "$tmp/robots.txt" http://h/
check 2 '' "no URL" robots --agent one "$tmp/robots.txt"

for command in resolve path robots; do
	is "$("$coscrawl" $command --help | wc -l)" 2 "$command --help is two lines"
done
done_testing
