#!/bin/sh
# man3.t - section 3 of the manual against the compiler: gcc lists the functions
# that the public headers declare, each must have its entry, and a program that
# declares each once more, as the manual has it, must compile.
srcdir=${srcdir:-.}
man=${builddir:-.}/man
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/tap.sh"
command -v mandoc >/dev/null 2>&1 || skip_all "no mandoc here"
explain() { head -n 20 "$work/log"; }
include="-I$srcdir/src -I$srcdir/compat"

echo '#include <coscrawl-cps.h>' >"$work/all.c"
# shellcheck disable=SC2086
gcc -std=gnu11 $include -fsyntax-only -aux-info "$work/aux" "$work/all.c" >"$work/log" 2>&1
sed -nE 's/^.* extern [^(]*\b(c(os|ps)_[a-z0-9][a-z0-9_]+) \(.*/\1/p' "$work/aux" | sort -u >"$work/declared"
[ "$(wc -l <"$work/declared")" -gt 150 ]
ok $? "the compiler lists the public functions"
sort "$man/functions/list" | awk '{ print $1 }' >"$work/entries"
diff "$work/declared" "$work/entries" >"$work/log" 2>&1
ok $? "each has its entry, and no entry is of another"

# prototypes PAGE…: from the .Ft, .Fo, .Fa and .Fc of the pages.
prototypes() {
	awk '/^\.Ft / { sub(/^\.Ft /, ""); type = $0 }
		/^\.Fo / { text = type " " $2 "("; between = "" }
		/^\.Fa / { sub(/^\.Fa "/, ""); sub(/"$/, ""); text = text between $0; between = ", " }
		/^\.Fc/ { print text ");" }' "$@"
}
for pages in "$man/functions/*.3" "$man/*.3"; do
	# shellcheck disable=SC2086
	{ cat "$work/all.c" && prototypes $pages; } >"$work/again.c"
	# shellcheck disable=SC2086
	gcc -std=gnu11 $include -Werror -fsyntax-only "$work/again.c" >"$work/log" 2>&1 &&
		grep -oE '^[^(]*\b(cos|cps)_[a-z0-9_]+\(' "$work/again.c" | grep -oE '(cos|cps)_[a-z0-9_]+\(' | tr -d '(' |
		sort -u | diff - "$work/declared" >"$work/log"
	ok $? "every prototype in ${pages##*/man/} is the header's"
done

# Our own pages are not installed where mandoc looks for them.
mandoc -T lint "$man"/*.3 "$man"/functions/*.3 2>&1 | grep -v 'referenced manual not found' >"$work/log"
[ ! -s "$work/log" ]
ok $? "mandoc -T lint finds nothing, not even in style"
: >"$work/log"
for page in "$man"/functions/*.3; do
	[ "$(awk '/^\.Sh DESCRIPTION/ { on = 1; next } /^\.Sh/ { on = 0 } on' "$page" | wc -w)" -ge 3 ] || echo "$page" >>"$work/log"
done
[ ! -s "$work/log" ]
ok $? "every entry says something"
mandoc -T utf8 "$man/functions/cps_fetch.3" | col -b >"$work/log"
grep -q 'cos_fetch(3)' "$work/log" && grep -q 'One HTTP exchange' "$work/log"
ok $? "a callback twin's page says what its twin's does"
done_testing
