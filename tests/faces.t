#!/bin/sh
# faces.t - the two faces have the same functions: for each cos_x(…, deadline) a
# cps_x(…, deadline, cb, arg), and the other way round. What has no twin is
# listed in tests/faces.exempt, with the reason; a line there that is not needed
# fails, too.
srcdir=${srcdir:-.}
cd "$srcdir" || exit 1
. tests/tap.sh

# Whole declarations on one line each: comments out, lines joined up to ";".
declarations() {
	sed -e 's|/\*.*\*/||' "$@" | awk '/\/\*/ { skip = 1 } !skip { printf "%s ", $0 } /\*\// { skip = 0 }' |
		tr -s ' \t' ' ' | sed 's/;/;\n/g'
}
co_headers='src/coscrawl.h src/flow/flow.h src/flow/future.h src/flow/cache.h src/flow/gate.h src/flow/once.h src/flow/queue.h'
cps_headers='compat/coscrawl-cps.h compat/cps_flow.h'
# shellcheck disable=SC2086
co=$(declarations $co_headers | grep -E 'int64_t deadline\);' |
	grep -oE '\bcos_[a-z0-9_]+\(' | tr -d '(' | sort -u)
# shellcheck disable=SC2086
cps=$(declarations $cps_headers | grep -E 'cb \*cb, void \*arg\);' |
	grep -oE '\bcps_[a-z0-9_]+\(' | tr -d '(' | sort -u)
exempt=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' tests/faces.exempt | awk '{ print $1 }')

is_in() { # WORD LIST
	printf '%s\n' "$2" | grep -qx "$1"
}
twin() { # NAME: the other face's name
	case $1 in cos_*) echo "cps_${1#cos_}" ;; *) echo "cos_${1#cps_}" ;; esac
}
alone=$(for f in $co; do is_in "$(twin "$f")" "$cps" || is_in "$f" "$exempt" || echo "$f has no $(twin "$f")"; done)
none "$alone" "every waiting function of the coroutine face has a twin"
alone=$(for f in $cps; do is_in "$(twin "$f")" "$co" || is_in "$f" "$exempt" || echo "$f has no $(twin "$f")"; done)
none "$alone" "every function of the callback face has a twin"
needless=$(for f in $exempt; do
	case $f in
	cos_*) is_in "$f" "$co" && ! is_in "$(twin "$f")" "$cps" || echo "$f" ;;
	*) is_in "$f" "$cps" && ! is_in "$(twin "$f")" "$co" || echo "$f" ;;
	esac
done)
none "$needless" "no exemption is needless"
found=$(printf '%s\n' "$co" | grep -c .)
[ "$found" -ge 10 ] && found=
none "${found:+only $found functions found}" "the headers were read"

undocumented=$(for h in src/coscrawl.h compat/coscrawl-cps.h; do
	awk -v h="$h" '
		/^\/\*/ { c = 1 } c { comment++ } /\*\// { if (c) { c = 0; next } }
		!c && NF { if ($0 ~ /\/\*.*\*\//) comment++; code++ }
		END { if (comment < code) print h ": " comment " comment lines, " code " lines of code" }' "$h"
done)
none "$undocumented" "public headers: at least a line of comment per line of code"
done_testing
