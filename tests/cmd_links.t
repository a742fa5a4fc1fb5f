#!/bin/sh
# cmd_links.t - `coscrawl links`: the formats and exit codes that scripts rely on.
: "${COSCRAWL:=./coscrawl}"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. "${srcdir:-.}/tests/tap.sh"
explain() { cat "$dir/out" "$dir/err"; }
links() { "$COSCRAWL" links "$@" >"$dir/out" 2>"$dir/err"; }
same() { # DESCRIPTION: stdin is what out must be
	cat >"$dir/want"
	cmp -s "$dir/want" "$dir/out"
	ok $? "$1"
}

cat >"$dir/page.html" <<'PAGE'
<title>t</title>
<a href="x#f">1</a><a href=x#f>2</a> é <img src=i.png>
<form action=/f></form><a href="mailto:a@b">3</a>
<p style="background:url(&quot;bg.png&quot;)">
PAGE
links --base http://h.example/d/p "$dir/page.html"
ok $? "exit 0"
same "one URL a line, duplicates and form actions too" <<'WANT'
http://h.example/d/x#f
http://h.example/d/x#f
http://h.example/d/i.png
http://h.example/f
http://h.example/d/bg.png
WANT
links --base=http://h.example/d/p <"$dir/page.html"
ok $? "standard input"
[ "$(wc -l <"$dir/out")" -eq 5 ]
ok $? "standard input: as many lines"
links --base http://h.example/d/p --parser=scan --json "$dir/page.html"
head -n 3 "$dir/out" | tail -n 1 >"$dir/line" && mv "$dir/line" "$dir/out"
same "--json: one object a line" <<'WANT'
{"element":"img","attribute":"src","raw":"i.png","url":"http://h.example/d/i.png","offset":66,"line":2,"column":49}
WANT
printf '@import "a.css"; b{c:url(d)}' >"$dir/s.css"
links --base http://h.example/d/ "$dir/s.css"
same "a CSS file" <<'WANT'
http://h.example/d/a.css
http://h.example/d/d
WANT
printf '<a href="?\351">' >"$dir/l1.html"
links --base http://h.example/ --charset latin1 "$dir/l1.html"
same "--charset" <<'WANT'
http://h.example/?%E9
WANT
printf '<a href=http://a.example/x><a href=y><base href=http://b.example/z/>' >"$dir/nobase.html"
links "$dir/nobase.html"
same "without --base the page's own base serves" <<'WANT'
http://a.example/x
http://b.example/z/y
WANT
: >"$dir/empty.html"
links "$dir/empty.html"
ok $? "an empty file has no links, and that is no error"

refuse() { # EXIT DESCRIPTION ARGUMENT...
	want=$1 what=$2
	shift 2
	links "$@" </dev/null
	[ $? -eq "$want" ] && [ -s "$dir/err" ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ]
	ok $? "$what: exit $want and one line on stderr"
}
refuse 1 "a file that is not there" "$dir/none.html"
refuse 1 "a directory" "$dir"
refuse 1 "a base that is no URL" --base nonsense "$dir/page.html"
refuse 2 "an unknown option" --nonsense
refuse 2 "an option without its value" --base
refuse 2 "an unknown parser" --parser=guess
refuse 2 "an unknown character set" --charset=nonsense
refuse 2 "two files" "$dir/page.html" "$dir/s.css"
done_testing
